/*
 * Objects with something missing, or of another shape than it should be.
 *
 * From a manifest that uses every field of a flow, and from one object of every kind, each member
 * and each entry of a list is taken away, and put in the place of everything else that JSON has.
 * Whatever comes of it, created anew or in the place of the original, is taken or refused with
 * findings; the rules of a kind see what is not there as absent.
 *
 * covers: reliability.md FZ-15
 */
#include "tests/unit.h"

#include <glob.h>
#include <stdlib.h>

#include "api/types/yaml.h"
#include "base/file.h"
#include "tests/support/world.h"

enum { FILE_MAX = 1 << 20 };

struct mutants {
    struct world *world;
    json_t *whole; /* borrowed; mutated in place */
    bool stored;   /* its original is */
    size_t tried, taken;
};

static const char *const shapes[] = {
    "null", "{}", "[]", "\"\"", "\"x\"", "-1", "[{}]", "[{}, {}]", "[null]", "[\"\"]", "{\"\": {}}",
};

static void check_findings(const char *what, bool ok, const struct error_list *errors)
{
    check(what, ok || errors->count);
    for (size_t i = 0; i < errors->count; i++)
        check(what, *errors->items[i].message);
}

static void try_it(struct mutants *m, const char *what)
{
    static const struct registry_write how = {.dry_run = REGISTRY_DRY_RUN};
    scoped(json) json_t *doc = json_deep_copy(m->whole), *again = json_deep_copy(m->whole);
    json_t *metadata = json_object_get(doc, "metadata");
    struct error_list errors = {0};
    bool ok;

    m->tried++;
    if (m->stored) {
        ok = registry_update(m->world->registry, again, REGISTRY_MAIN, &how, NULL, &errors);
        check_findings(what, ok, &errors);
        error_list_release(&errors);
        if (json_is_object(metadata) && json_object_get(metadata, "name"))
            json_object_set_new(metadata, "name", json_string("another"));
    }
    ok = registry_create(m->world->registry, doc, &how, NULL, &errors);
    check_findings(what, ok, &errors);
    m->taken += ok;
    error_list_release(&errors);
}

static void mutate(struct mutants *m, json_t *at);

/* Everything that can stand in the place of one value; `set` puts it there. */
static void mutate_place(struct mutants *m, const char *name, json_t *holder, size_t index,
                         void (*set)(json_t *holder, const char *name, size_t index, json_t *value))
{
    json_t *was = json_incref(json_is_object(holder) ? json_object_get(holder, name)
                                                     : json_array_get(holder, index));

    for (size_t i = 0; i < countof(shapes); i++) {
        set(holder, name, index, json_loads(shapes[i], JSON_DECODE_ANY, NULL));
        try_it(m, name);
    }
    set(holder, name, index, was);
    mutate(m, was);
}

static void set_member(json_t *holder, const char *name, size_t index, json_t *value)
{
    json_object_set_new(holder, name, value);
}

static void set_entry(json_t *holder, const char *name, size_t index, json_t *value)
{
    json_array_set_new(holder, index, value);
}

static void mutate_members(struct mutants *m, json_t *object)
{
    scoped(json) json_t *names = json_array();
    const char *key;
    json_t *value, *name;
    size_t i;

    json_object_foreach(object, key, value) json_array_append_new(names, json_string(key));
    json_array_foreach(names, i, name)
    {
        key = json_string_value(name);
        if (object == m->whole && (strcmp(key, "kind") == 0 || strcmp(key, "apiVersion") == 0))
            continue;
        value = json_incref(json_object_get(object, key));
        json_object_del(object, key);
        try_it(m, key);
        json_object_set_new(object, key, value);
        mutate_place(m, key, object, 0, set_member);
    }
}

static void mutate(struct mutants *m, json_t *at)
{
    size_t n = json_is_array(at) ? json_array_size(at) : 0;

    if (json_is_object(at))
        mutate_members(m, at);
    for (size_t i = 0; i < n; i++)
        mutate_place(m, "entry", at, i, set_entry);
}

/* Of one document: how many were tried. */
static size_t mutants_of(const json_t *doc, const char *what)
{
    scoped(json) json_t *copy = json_deep_copy(doc), *original = json_deep_copy(doc);
    struct error_list errors = {0};
    struct mutants m = {.world = world_new(NULL, &(struct registry_options){0}), .whole = copy};

    m.stored =
        registry_create(m.world->registry, original, &(struct registry_write){0}, NULL, &errors);
    error_list_release(&errors);
    world_settle(m.world);
    mutate(&m, copy);
    check(what, json_equal(copy, doc));
    check(what, m.taken < m.tried);
    world_free(m.world);
    return m.tried;
}

static char *source(const char *path)
{
    const char *root = getenv("JOBFLOW_SOURCE");

    return mem_printf("%s/%s", root ? root : ".", path);
}

static void a_flow_that_uses_every_field(void **state)
{
    scoped_str path = source("tests/system/everything.yaml");
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    size_t tried = 0;

    check_ok("read", file_read(path, FILE_MAX, &text, &err), err);

    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(text.data, text.len, &yaml_limits_default, &err);

    check_ok("parsed", stream != NULL, err);
    for (size_t i = 0; i < yaml_count(stream); i++)
        tried += mutants_of(yaml_document(stream, i), path);
    check("all of it", tried > 1000);
}

/* The first line of a seed is `POST <path> <object>`. */
static size_t mutants_of_seed(const char *path)
{
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    const char *object;

    check_ok(path, file_read(path, FILE_MAX, &text, &err), err);
    object = strncmp(text.data, "POST ", 5) == 0 ? strchr(text.data + 5, ' ') : NULL;
    if (!object)
        return 0;

    scoped(json) json_t *doc = json_loads(object, JSON_DISABLE_EOF_CHECK, NULL);

    return json_is_object(doc) ? mutants_of(doc, path) : 0;
}

static void an_object_of_every_kind(void **state)
{
    enum { KINDS = 15 };
    scoped_str pattern = source("tests/fuzz/corpus/api/*");
    glob_t seeds = {0};
    size_t used = 0;

    check_int("seeds", glob(pattern, 0, NULL, &seeds), 0);
    for (size_t i = 0; i < seeds.gl_pathc; i++)
        used += mutants_of_seed(seeds.gl_pathv[i]) > 0;
    globfree(&seeds);
    check("kinds", used >= KINDS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_that_uses_every_field),
        cmocka_unit_test(an_object_of_every_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
