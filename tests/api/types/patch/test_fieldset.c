/* Tests the set operations of api/types/patch/fieldset and the ownership rules of
 * managed_fields. */
#include "tests/unit.h"

#include "api/types/kind.h"
#include "api/types/patch/managed_fields.h"
#include "api/types/text/json_text.h"

/* Parses a document, in which the tables below have single quotes for double ones. */

static json_t *doc(const char *quoted)
{
    scoped_str text = mem_strdup(quoted);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return json_loads(text, 0, NULL);
}

#define check_doc(name, got, quoted)                                                               \
    do {                                                                                           \
        scoped(json) json_t *want_ = doc(quoted);                                                  \
        scoped(buf) struct buf got_ = {0};                                                         \
        json_text((got), &got_);                                                                   \
        if (!json_equal((got), want_))                                                             \
            check_fail("%s: %s is\n  %s\nnot\n  %s", (name), #got, got_.data, (quoted));           \
    } while (0)

static const struct {
    const char *name, *a, *b, *both, *common, *rest;
} algebra[] = {
    /* clang-format off */
    {"nothing", "{}", "{}", "{}", "{}", "{}"},
    {"apart", "{'f:a':{}}", "{'f:b':{}}", "{'f:a':{},'f:b':{}}", "{}", "{'f:a':{}}"},
    {"below a member", "{'f:a':{}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'.':{},'f:b':{}}}", "{}", "{'f:a':{}}"},
    {"a member and below", "{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'f:b':{}}}",
     "{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'.':{},'f:c':{}}}"},
    {"the same", "{'f:a':{'f:b':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'f:b':{}}}", "{}"},
    /* clang-format on */
};

static void set_operations_follow_the_laws_of_sets(void **state)
{
    for (size_t i = 0; i < countof(algebra); i++) {
        scoped(json) json_t *a = doc(algebra[i].a), *b = doc(algebra[i].b);
        scoped(json) json_t *both = fieldset_union(a, b), *common = fieldset_intersection(a, b);
        scoped(json) json_t *rest = fieldset_difference(a, b);

        check_doc(algebra[i].name, both, algebra[i].both);
        check_doc(algebra[i].name, common, algebra[i].common);
        check_doc(algebra[i].name, rest, algebra[i].rest);
    }
}

static const struct {
    const char *name, *text;
    bool valid;
} texts[] = {
    {"empty", "{}", true},
    {"fields", "{'f:a':{'.':{},'k:{\\'n\\':1}':{},'v:1':{},'i:0':{}}}", true},
    {"no prefix", "{'a':{}}", false},
    {"no object", "{'f:a':1}", false},
    {"a key that is none", "{'k:x':{}}", false},
    {"an empty key", "{'k:{}':{}}", false},
    {"a list", "[]", false},
};

static void invalid_sets_are_rejected(void **state)
{
    for (size_t i = 0; i < countof(texts); i++) {
        scoped(json) json_t *value = doc(texts[i].text);

        check_int(texts[i].name, fieldset_is_valid(value), texts[i].valid);
    }
}

static void collect(void *ctx, const char *path)
{
    buf_printf(ctx, "%s\n", path);
}

static void paths_are_written_as_in_conflict_messages(void **state)
{
    scoped(json) json_t *set =
        doc("{'f:spec':{'f:containers':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:ports':{"
            "'k:{\\'containerPort\\':80,\\'protocol\\':\\'TCP\\'}':{}}}}},"
            "'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}");
    scoped(buf) struct buf paths = {0};

    fieldset_each(set, collect, &paths);
    check_str("paths", paths.data,
              ".spec.containers[name=\"c\"]\n"
              ".spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"]\n"
              ".metadata.finalizers[=\"x\"]\n");
}

static const struct {
    const char *name, *live, *config, *merged, *wanted, *changed;
} merges[] = {
    /* clang-format off */
    {"maps merge", "{'metadata':{'labels':{'a':'1'}}}", "{'metadata':{'labels':{'b':'2'}}}",
     "{'metadata':{'labels':{'a':'1','b':'2'}}}", "{'f:metadata':{'f:labels':{'f:b':{}}}}",
     "{'f:metadata':{'f:labels':{'f:b':{}}}}"},
    {"lists with keys merge, new entries come last",
     "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b'}]}}",
     "{'spec':{'containers':[{'name':'c'},{'name':'a','image':'2'}]}}",
     "{'spec':{'containers':[{'name':'a','image':'2'},{'name':'b'},{'name':'c'}]}}",
     "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:name':{}},"
     "'k:{\\'name\\':\\'a\\'}':{'.':{},'f:name':{},'f:image':{}}}}}",
     "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:name':{}},'k:{\\'name\\':\\'a\\'}':{'f:image':{}}}}}"},
    {"sets unite", "{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['c','b']}}",
     "{'metadata':{'finalizers':['a','b','c']}}", "{'f:metadata':{'f:finalizers':{'v:\\'c\\'':{},'v:\\'b\\'':{}}}}",
     "{'f:metadata':{'f:finalizers':{'v:\\'c\\'':{}}}}"},
    {"other lists are wholes", "{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}",
     "{'spec':{'tolerations':[{'key':'b'}]}}", "{'f:spec':{'f:tolerations':{}}}", "{'f:spec':{'f:tolerations':{}}}"},
    {"entries without their key make a whole", "{'spec':{'containers':[{'image':'1'}]}}",
     "{'spec':{'containers':[{'image':'2'}]}}", "{'spec':{'containers':[{'image':'2'}]}}",
     "{'f:spec':{'f:containers':{}}}", "{'f:spec':{'f:containers':{}}}"},
    {"what is empty is owned itself", "{}", "{'spec':{'volumes':[],'nodeSelector':{}}}",
     "{'spec':{'volumes':[],'nodeSelector':{}}}", "{'f:spec':{'f:volumes':{},'f:nodeSelector':{}}}",
     "{'f:spec':{'.':{},'f:volumes':{},'f:nodeSelector':{}}}"},
    /* clang-format on */
};

static void configurations_merge_into_the_live_object(void **state)
{
    const struct schema_at at = schema_at_root(kind_pod.schema, false);

    for (size_t i = 0; i < countof(merges); i++) {
        scoped(json) json_t *live = doc(merges[i].live), *config = doc(merges[i].config);
        scoped(json) json_t *merged = fieldset_merge(&at, live, config);
        scoped(json) json_t *wanted = fieldset_of(&at, config);
        scoped(fieldset_changes) struct fieldset_changes changes =
            fieldset_compare(&at, live, merged);

        check_doc(merges[i].name, merged, merges[i].merged);
        check_doc(merges[i].name, wanted, merges[i].wanted);
        check_doc(merges[i].name, changes.changed, merges[i].changed);
        check_doc(merges[i].name, live, merges[i].live);
    }
}

static void set_of_new_object_equals_compared_set(void **state)
{
    const struct schema_at at = schema_at_root(kind_pod.schema, false);
    scoped(json) json_t *nothing = json_object();

    for (size_t i = 0; i < countof(merges); i++) {
        const char *const documents[] = {merges[i].live, merges[i].config, merges[i].merged};

        for (size_t k = 0; k < countof(documents); k++) {
            scoped(json) json_t *document = doc(documents[k]), *written = NULL;
            scoped(fieldset_changes) struct fieldset_changes changes =
                fieldset_compare(&at, nothing, document);
            scoped(buf) struct buf text = {0};
            struct jsonw w = jsonw_to(&text);

            jsonw_open(&w);
            fieldset_write_members(&at, document, &w);
            jsonw_close(&w);
            written = json_loads(text.data, JSON_REJECT_DUPLICATES, NULL);
            if (!json_equal(written, changes.changed))
                fail_msg("%s: %s is written as %s", merges[i].name, documents[k], text.data);
        }
    }
}

static const struct {
    const char *name, *live, *set, *kept, *left;
} removals[] = {
    /* clang-format off */
    {"a field, and what it leaves empty", "{'metadata':{'labels':{'a':'1'}},'spec':{}}",
     "{'f:metadata':{'f:labels':{'f:a':{}}}}", "{}", "{'spec':{}}"},
    {"but not what others are in", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
     "{'f:metadata':{'f:labels':{'f:a':{}}}}", "{'f:metadata':{'f:labels':{'f:b':{}}}}",
     "{'metadata':{'labels':{'b':'2'}}}"},
    {"an entry", "{'spec':{'containers':[{'name':'a','image':'x','tty':true},{'name':'b'}]}}",
     "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:name':{},'f:image':{}}}}}", "{}",
     "{'spec':{'containers':[{'name':'b'}]}}"},
    {"an entry others hold part of keeps its key", "{'spec':{'containers':[{'name':'a','image':'x','tty':true}]}}",
     "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:name':{},'f:tty':{}}}}}",
     "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'f:image':{}}}}}",
     "{'spec':{'containers':[{'name':'a','image':'x'}]}}"},
    {"a member of a set", "{'metadata':{'finalizers':['a','b']}}",
     "{'f:metadata':{'f:finalizers':{'v:\\'a\\'':{}}}}", "{}", "{'metadata':{'finalizers':['b']}}"},
    {"what is not there", "{'spec':{}}", "{'f:x':{},'f:metadata':{'f:y':{}}}", "{}", "{'spec':{}}"},
    /* clang-format on */
};

static void fields_are_removed_unless_others_own_them(void **state)
{
    const struct schema_at at = schema_at_root(kind_pod.schema, false);

    for (size_t i = 0; i < countof(removals); i++) {
        scoped(json) json_t *live = doc(removals[i].live), *set = doc(removals[i].set);
        scoped(json) json_t *kept = doc(removals[i].kept);

        fieldset_remove(&at, live, set, kept);
        check_doc(removals[i].name, live, removals[i].left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_operations_follow_the_laws_of_sets),
        cmocka_unit_test(invalid_sets_are_rejected),
        cmocka_unit_test(paths_are_written_as_in_conflict_messages),
        cmocka_unit_test(configurations_merge_into_the_live_object),
        cmocka_unit_test(set_of_new_object_equals_compared_set),
        cmocka_unit_test(fields_are_removed_unless_others_own_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
