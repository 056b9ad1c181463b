#pragma once
/*
 * The fixture of admission tests: manifests in YAML, stored objects that admission can look up, and
 * findings by path. One struct holds everything; a test initialises and releases it.
 */
#include "api/types/admission.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/text/yaml.h"
#include "tests/unit.h"

enum { FIXTURE_OBJECTS_MAX = 128 };

struct admission_fixture {
    struct object *objects[FIXTURE_OBJECTS_MAX]; /* stored objects; owned */
    size_t count;
    struct admission adm;
    struct error_list errors; /* findings of the last admission */
    struct error_list warnings;
};

static const struct object *fixture_get(void *ctx, const struct kind *kind, const char *ns,
                                        const char *name)
{
    struct admission_fixture *fixture = ctx;

    for (size_t i = 0; i < fixture->count; i++)
        if (fixture->objects[i]->kind == kind &&
            strcmp(object_name(fixture->objects[i]), name) == 0 &&
            (!kind->namespaced || strcmp(object_namespace(fixture->objects[i]), ns) == 0))
            return fixture->objects[i];
    return NULL;
}

static void fixture_each(void *ctx, const struct kind *kind, const char *ns,
                         void (*visit)(void *arg, const struct object *object), void *arg)
{
    struct admission_fixture *fixture = ctx;

    for (size_t i = 0; i < fixture->count; i++)
        if (fixture->objects[i]->kind == kind)
            visit(arg, fixture->objects[i]);
}

/* Returns the first document of a YAML text. Owned. */
static json_t *document(const char *yaml)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_flow, &err);

    if (!stream)
        check_fail("%s in\n%s", err.message, yaml);
    return json_deep_copy(yaml_document(stream, 0));
}

/** Stores an object without admission, so that admission of others finds it. */
static inline UNUSED const struct object *fixture_add(struct admission_fixture *fixture,
                                                      const char *yaml)
{
    scoped(json) json_t *doc = document(yaml);
    struct error_list errors = {0};

    assert_true(fixture->count < FIXTURE_OBJECTS_MAX);
    fixture->objects[fixture->count] = object_from_json(doc, &errors);
    if (!fixture->objects[fixture->count])
        check_fail("%s: %s in\n%s", errors.items[0].field, errors.items[0].message, yaml);
    return fixture->objects[fixture->count++];
}

#define QUEUE_YAML(name, spec, state)                                                              \
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " name "}\n"         \
    "spec: " spec "\nstatus: {state: " state "}\n"

/** Initialises the fixture with an open queue named default. */
static inline UNUSED void fixture_init(struct admission_fixture *fixture)
{
    *fixture = (struct admission_fixture){
        .adm = {.get = fixture_get, .each = fixture_each, .scheduler_name = "volcano"},
    };
    fixture->adm.ctx = fixture;
    fixture->adm.warnings = &fixture->warnings;
    fixture_add(fixture, QUEUE_YAML("default", "{weight: 1}", "Open"));
}

static inline UNUSED void fixture_release(struct admission_fixture *fixture)
{
    for (size_t i = 0; i < fixture->count; i++)
        object_unref(fixture->objects[i]);
    error_list_release(&fixture->errors);
    error_list_release(&fixture->warnings);
}

/** Admits a manifest and leaves the findings in `errors` and `warnings`. Returns the object, owned,
 * or NULL when it is refused. */
static inline UNUSED struct object *fixture_admit(struct admission_fixture *fixture,
                                                  const char *yaml, const struct object *old)
{
    scoped(json) json_t *doc = document(yaml);

    error_list_release(&fixture->errors);
    error_list_release(&fixture->warnings);
    return admission_admit(&fixture->adm, doc, old, UNKNOWN_ERROR, &fixture->errors);
}

/** Returns whether a finding at `field` (NULL: anywhere) contains `text`. */
static inline UNUSED bool has_finding(const struct error_list *list, const char *field,
                                      const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if ((!field || strcmp(list->items[i].field, field) == 0) &&
            strstr(list->items[i].message, text))
            return true;
    return false;
}

static inline UNUSED void print_findings(const struct error_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        print_error("    %s: %s\n", list->items[i].field, list->items[i].message);
}

/* A manifest and the expected verdict of its admission. */
struct verdict_case {
    const char *name;
    const char *yaml;
    const char *field; /* field of the expected finding; NULL = any */
    const char *text;  /* part of the expected finding's message; NULL = accepted */
};

static inline UNUSED void check_verdict(struct admission_fixture *fixture,
                                        const struct verdict_case *c, const struct object *old)
{
    scoped(object) struct object *object = fixture_admit(fixture, c->yaml, old);

    if (object && !c->text)
        return;
    if (object)
        check_fail("%s: accepted", c->name);
    if (!c->text || !has_finding(&fixture->errors, c->field, c->text)) {
        print_findings(&fixture->errors);
        check_fail("%s: refused, %s %s", c->name, c->text ? "but not with" : "not accepted",
                   c->text ? c->text : "");
    }
}

/** Checks each case against one fixture. Accepted objects are not stored. */
static inline UNUSED void check_verdicts(const struct verdict_case *cases, size_t count)
{
    struct admission_fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < count; i++)
        check_verdict(&fixture, &cases[i], NULL);
    fixture_release(&fixture);
}
