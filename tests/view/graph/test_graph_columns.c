/*
 * Tests the columns of a graph: names, templates, layers, targets, marks and states of each step.
 */
#include "tests/unit.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "view/graph/graph_forms.h"

enum { HEAD = 8, ALIGN = 8 };

struct file {
    struct buf bytes;
    json_t *header;
    size_t first; /* where the first section begins */
};

static void make(const char *text, struct file *out)
{
    scoped(buf) struct buf source = {0};
    struct error err = {0};
    struct flow_view *view;
    uint32_t len;

    buf_str(&source, text);
    view = flow_view_from_text(&source, &err);
    check_ok("view", view && flow_view_link(view, &err), err);
    *out = (struct file){0};
    graph_columns(view, &out->bytes);
    flow_view_free(view);
    memcpy(&len, out->bytes.data + 4, sizeof len);
    out->header = json_loadb(out->bytes.data + HEAD, len, 0, NULL);
    assert_non_null(out->header);
    out->first = (HEAD + len + ALIGN - 1) / ALIGN * ALIGN;
}

static void release(struct file *file)
{
    buf_release(&file->bytes);
    json_decref(file->header);
}

static const char *section(const struct file *file, const char *name, size_t len)
{
    size_t i;
    const json_t *one;

    json_array_foreach(json_object_get(file->header, "sections"), i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "name")), name) != 0)
            continue;
        check_int(name, json_integer_value(json_object_get(one, "length")), (long)len);
        return file->bytes.data + file->first + json_integer_value(json_object_get(one, "offset"));
    }
    fail_msg("no section %s", name);
    return NULL;
}

static void check_words(const struct file *file, const char *name, const uint32_t *wanted, size_t n)
{
    assert_memory_equal(section(file, name, n * sizeof *wanted), wanted, n * sizeof *wanted);
}

static const char *text_of(const struct file *file, const char *list, int i)
{
    return json_string_value(json_array_get(json_object_get(file->header, list), (size_t)i));
}

#define FLOW                                                                                       \
    "{\"metadata\":{\"name\":\"f\",\"namespace\":\"n\",\"uid\":\"u\",\"generation\":2},"           \
    "\"spec\":{\"flows\":["                                                                        \
    "{\"name\":\"a\",\"jobTemplateName\":\"t\"},"                                                  \
    "{\"name\":\"b\",\"jobTemplateName\":\"s\",\"dependsOn\":{\"targets\":[\"a\"]}},"              \
    "{\"name\":\"cc\",\"jobTemplateName\":\"t\",\"dependsOn\":{\"targets\":[\"b\",\"a\"],"         \
    "\"strategy\":\"any\"}},"                                                                      \
    "{\"name\":\"d\",\"switch\":{},\"when\":\"always\",\"dependsOn\":{\"targets\":[\"a\"]}}]},"    \
    "\"status\":{\"state\":{\"phase\":\"Running\"},\"nodes\":[{\"name\":\"a\",\"phase\":"          \
    "\"Completed\"},{\"name\":\"b\",\"phase\":\"Running\"}]}}"

/* covers: web.md WEB-060 */
static void each_section_has_a_value_for_each_step(void **state)
{
    const uint32_t none = UINT32_MAX;
    struct file file, again;
    const char *states;

    make(FLOW, &file);
    check_str("kind", json_string_value(json_object_get(file.header, "kind")), "FlowGraph");
    check_str("uid", json_string_value(json_object_get(file.header, "uid")), "u");
    check_int("count", json_integer_value(json_object_get(file.header, "count")), 4);
    assert_memory_equal(section(&file, "name", 5), "abccd", 5);
    check_words(&file, "nameAt", (uint32_t[]){0, 1, 2, 4, 5}, 5);
    assert_memory_equal(section(&file, "templateName", 2), "ts", 2);
    check_words(&file, "template", (uint32_t[]){0, 1, 0, none}, 4);
    check_words(&file, "layer", (uint32_t[]){0, 1, 2, 3}, 4);
    assert_int_equal(section(&file, "flags", 4)[2] & 1, 1);
    assert_int_equal(section(&file, "flags", 4)[1] & 1, 0);
    check_words(&file, "afterAt", (uint32_t[]){0, 0, 1, 3, 4}, 5);
    check_words(&file, "after", (uint32_t[]){0, 1, 0, 0}, 4);
    states = section(&file, "state", 4);
    check_str("a", text_of(&file, "states", states[0]), "Completed");
    check_str("b", text_of(&file, "states", states[1]), "Running");
    check_str("cc", text_of(&file, "states", states[2]), "Waiting");
    check_words(&file, "mark", (uint32_t[]){0, 0, 1, 2}, 4);
    check_str("no marks", text_of(&file, "marks", 0), "");
    check_str("any", text_of(&file, "marks", 1), "any of");
    check_str("switch", text_of(&file, "marks", 2), "always, switch");
    make(FLOW, &again);
    assert_int_equal(again.bytes.len, file.bytes.len);
    assert_memory_equal(again.bytes.data, file.bytes.data, file.bytes.len);
    release(&file);
    release(&again);
}

static void a_flow_without_steps_has_empty_sections(void **state)
{
    struct file file;

    make("{\"metadata\":{\"name\":\"f\"},\"spec\":{\"flows\":[]}}", &file);
    section(&file, "name", 0);
    section(&file, "nameAt", 4);
    section(&file, "afterAt", 4);
    section(&file, "after", 0);
    release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_section_has_a_value_for_each_step),
        cmocka_unit_test(a_flow_without_steps_has_empty_sections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
