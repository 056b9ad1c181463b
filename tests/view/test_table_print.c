#include "tests/unit.h"

#include "api/types/text/json_text.h"
#include "cli/client/object_print.h"
#include "view/table_print.h"

/* Prints a table into memory. */
struct page {
    FILE *out;
    char *text;
    size_t len;
};

static void page_open(struct page *page)
{
    page->out = open_memstream(&page->text, &page->len);
}

static void check_page(const char *name, struct page *page, const char *want)
{
    fclose(page->out);
    check_str(name, page->text, want);
    free(page->text);
}

#define COLUMNS                                                                                    \
    "\"columnDefinitions\":[{\"name\":\"Name\",\"priority\":0},{\"name\":\"Status\","              \
    "\"priority\":0},{\"name\":\"Node\",\"priority\":1}]"
#define ROW(name, status)                                                                          \
    "{\"cells\":[\"" name "\",\"" status "\",\"n1\"],\"object\":{\"metadata\":{\"namespace\":"     \
    "\"ns\",\"labels\":{\"b\":\"2\",\"a\":\"1\"}}}}"

struct table_case {
    const char *name;
    struct table_print_options options;
    const char *tables[3];
    const char *want;
};

/* covers: kube-api.md 61 63 65 89 */
static const struct table_case cases[] = {
    {"three blanks between columns",
     {0},
     {"{" COLUMNS ",\"rows\":[" ROW("p", "Running") "," ROW("longer-name", "Ok") "]}"},
     "NAME          STATUS\np             Running\nlonger-name   Ok\n"},
    {"six letters at least",
     {.no_headers = true},
     {"{" COLUMNS ",\"rows\":[" ROW("p", "x") "]}"},
     "p     x\n"},
    {"wide",
     {.wide = true},
     {"{" COLUMNS ",\"rows\":[" ROW("p", "x") "]}"},
     "NAME   STATUS   NODE\np      x        n1\n"},
    {"namespace and labels",
     {.with_namespace = true, .show_labels = true},
     {"{" COLUMNS ",\"rows\":[" ROW("p", "x") "]}"},
     "NAMESPACE   NAME   STATUS   LABELS\nns          p      x        a=1,b=2\n"},
    {"names with their kind",
     {.prefix = "pod/"},
     {"{" COLUMNS ",\"rows\":[" ROW("p", "x") "]}"},
     "NAME    STATUS\npod/p   x\n"},
    {"no rows, no headers", {0}, {"{" COLUMNS ",\"rows\":[]}"}, ""},
    {"headers come with the first row",
     {0},
     {"{" COLUMNS ",\"rows\":[]}", "{\"columnDefinitions\":null,\"rows\":[" ROW("p", "x") "]}"},
     "NAME   STATUS\np      x\n"},
    {"widths are remembered and grow",
     {0},
     {"{" COLUMNS ",\"rows\":[" ROW("abcdefgh", "x") "]}",
      "{\"columnDefinitions\":null,\"rows\":[" ROW("p", "y") "]}",
      "{\"columnDefinitions\":null,\"rows\":[" ROW("abcdefghijk", "z") "]}"},
     "NAME       STATUS\nabcdefgh   x\np          y\nabcdefghijk   z\n"},
    {"one line, nothing a terminal obeys",
     {.no_headers = true},
     {"{" COLUMNS ",\"rows\":[" ROW("a\\u001b[2J", "x\\ny") "]}"},
     "a^[[2J   x...\n"},
};

static void tables_look_as_kubectl_prints_them(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(table_print) struct table_print table;
        struct page page;

        page_open(&page);
        table_print_init(&table, page.out, &cases[i].options);
        for (size_t j = 0; j < countof(cases[i].tables) && cases[i].tables[j]; j++) {
            scoped(json) json_t *doc = json_loads(cases[i].tables[j], 0, NULL);

            check(cases[i].name, doc);
            table_print_table(&table, doc);
        }
        check_page(cases[i].name, &page, cases[i].want);
    }
}

struct object_case {
    const char *form, *docs[2];
    bool as_list;
    const char *want;
};

#define OBJECT(name)                                                                               \
    "{\"kind\":\"Queue\",\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"metadata\":{"          \
    "\"name\":\"" name "\",\"managedFields\":[{}]},\"b\":{\"z\":1,\"y\":[\"t\"]}}"

/* covers: kube-api.md 64 */
static const struct object_case objects[] = {
    {"name", {OBJECT("q")}, false, "queue.scheduling.volcano.sh/q\n"},
    {"jsonpath={.b.z}", {OBJECT("q")}, false, "1"},
    {"jsonpath={.items[*].metadata.name}", {OBJECT("q"), OBJECT("r")}, true, "q r"},
    {"yaml",
     {OBJECT("q")},
     false,
     "apiVersion: scheduling.volcano.sh/v1beta1\nb:\n  \"y\":\n  - t\n  z: 1\nkind: Queue\n"
     "metadata:\n  name: q\n"},
    {"yaml",
     {OBJECT("q")},
     true,
     "apiVersion: v1\nitems:\n- apiVersion: scheduling.volcano.sh/v1beta1\n  b:\n    \"y\":\n"
     "    - t\n    z: 1\n  kind: Queue\n  metadata:\n    name: q\nkind: List\nmetadata:\n"
     "  resourceVersion: \"\"\n"},
    {"yaml",
     {NULL},
     true,
     "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: "
     "\"\"\n"},
    {"json",
     {OBJECT("q")},
     false,
     "{\n    \"apiVersion\": \"scheduling.volcano.sh/v1beta1\",\n    \"b\": {\n        \"y\": [\n"
     "            \"t\"\n        ],\n        \"z\": 1\n    },\n    \"kind\": \"Queue\",\n"
     "    \"metadata\": {\n        \"name\": \"q\"\n    }\n}\n"},
};

static void objects_are_printed_as_documents(void **state)
{
    for (size_t i = 0; i < countof(objects); i++) {
        const struct object_case *c = &objects[i];
        struct page page;
        struct objectprint print;
        struct error err = {0};

        page_open(&page);
        check_ok(c->form, objectprint_parse(c->form, &print, &err), err);
        print.out = page.out;
        print.as_list = c->as_list;
        for (size_t j = 0; j < countof(c->docs) && c->docs[j]; j++) {
            scoped(json) json_t *doc = json_loads(c->docs[j], 0, NULL);

            check_ok(c->form, objectprint_one(&print, doc, &err), err);
        }
        check_ok(c->form, objectprint_end(&print, &err), err);
        objectprint_release(&print);
        check_page(c->form, &page, c->want);
    }
}

static void a_list_as_json_is_json(void **state)
{
    for (int n = 0; n < 3; n++) {
        struct page page;
        struct objectprint print;
        scoped(json) json_t *list = NULL;

        page_open(&page);
        check("form", objectprint_parse("json", &print, NULL));
        print.out = page.out;
        print.as_list = true;
        for (int i = 0; i < n; i++) {
            scoped(json) json_t *doc = json_loads(OBJECT("q"), 0, NULL);

            check("one", objectprint_one(&print, doc, NULL));
        }
        check("end", objectprint_end(&print, NULL));
        fclose(page.out);
        list = json_loads(page.text, 0, NULL);
        check_int("items", json_array_size(json_object_get(list, "items")), n);
        free(page.text);
    }
}

static void other_forms_are_refused(void **state)
{
    struct objectprint print;
    struct error err = {0};

    check_error("xml", objectprint_parse("xml", &print, &err), err, ERR_BAD_REQUEST);
    check_has("xml", err.message, "allowed formats are");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_look_as_kubectl_prints_them),
        cmocka_unit_test(objects_are_printed_as_documents),
        cmocka_unit_test(a_list_as_json_is_json),
        cmocka_unit_test(other_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
