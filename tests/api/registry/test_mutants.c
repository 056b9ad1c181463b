/*
 * Mutates objects: members are removed or get another type.
 *
 * The originals are a manifest that uses every field of a flow, and one object of every kind. Each
 * mutant is created, or replaces its original. It must be accepted or rejected with findings; the
 * rules of a kind treat a missing member as absent.
 *
 * covers: reliability.md FZ-15
 */
#include "tests/unit.h"

#include <glob.h>
#include <stdlib.h>

#include "api/types/text/yaml.h"
#include "base/file.h"
#include "tests/support/mutants.h"
#include "tests/support/registry_fixture.h"

enum { FILE_MAX = 1 << 20 };

struct bodies {
    struct mutants mutants;
    struct registry_fixture *fixture;
    bool stored; /* the original is stored */
    size_t tried, taken;
};

static void check_findings(const char *what, bool ok, const struct error_list *errors)
{
    check(what, ok || errors->count);
    for (size_t i = 0; i < errors->count; i++)
        check(what, *errors->items[i].message);
}

static void try_body(struct mutants *mutants, const char *what)
{
    static const struct registry_write how = {.dry_run = REGISTRY_DRY_RUN};
    struct bodies *m = container_of(mutants, struct bodies, mutants);
    scoped(json) json_t *doc = json_deep_copy(mutants->whole);
    scoped(json) json_t *again = json_deep_copy(mutants->whole);
    json_t *metadata = json_object_get(doc, "metadata");
    struct error_list errors = {0};
    bool ok;

    m->tried++;
    if (m->stored) {
        ok = registry_update(m->fixture->registry, again, REGISTRY_MAIN, &how, NULL, &errors);
        check_findings(what, ok, &errors);
        error_list_release(&errors);
        if (json_is_object(metadata) && json_object_get(metadata, "name"))
            json_object_set_new(metadata, "name", json_string("another"));
    }
    ok = registry_create(m->fixture->registry, doc, &how, NULL, &errors);
    check_findings(what, ok, &errors);
    m->taken += ok;
    error_list_release(&errors);
}

/* Creates every mutant of one document. Returns the number of mutants. */
static size_t mutants_of(const json_t *doc, const char *what)
{
    scoped(json) json_t *copy = json_deep_copy(doc), *original = json_deep_copy(doc);
    struct error_list errors = {0};
    struct bodies m = {.mutants = {copy, try_body},
                       .fixture = registry_fixture_new(NULL, &(struct registry_options){0})};

    m.stored =
        registry_create(m.fixture->registry, original, &(struct registry_write){0}, NULL, &errors);
    error_list_release(&errors);
    registry_fixture_settle(m.fixture);
    mutants_walk(&m.mutants, copy);
    check(what, json_equal(copy, doc));
    check(what, m.taken < m.tried);
    registry_fixture_free(m.fixture);
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

/* Creates every mutant of the object in a seed. The first line of a seed is `POST <path>
 * <object>`. */
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
