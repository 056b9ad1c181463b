#pragma once
/*
 * A small world for tests of admission: manifests in YAML, objects that admission may look up,
 * findings by path.
 *
 * Included by the tests of kinds only. Everything lives in one struct that a test makes and
 * releases.
 */
#include "api/types/admission.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/text/yaml.h"
#include "tests/unit.h"

enum { WORLD_MAX = 128 };

struct world {
    struct object *objects[WORLD_MAX]; /* owned */
    size_t count;
    struct admission adm;
    struct error_list errors; /* of the last admission */
    struct error_list warnings;
};

static const struct object *world_get(void *ctx, const struct kind *kind, const char *ns,
                                      const char *name)
{
    struct world *world = ctx;

    for (size_t i = 0; i < world->count; i++)
        if (world->objects[i]->kind == kind && strcmp(object_name(world->objects[i]), name) == 0 &&
            (!kind->namespaced || strcmp(object_namespace(world->objects[i]), ns) == 0))
            return world->objects[i];
    return NULL;
}

static void world_each(void *ctx, const struct kind *kind, const char *ns,
                       void (*visit)(void *arg, const struct object *object), void *arg)
{
    struct world *world = ctx;

    for (size_t i = 0; i < world->count; i++)
        if (world->objects[i]->kind == kind)
            visit(arg, world->objects[i]);
}

/* The one document of a text (owned). */
static json_t *document(const char *yaml)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_flow, &err);

    if (!stream)
        check_fail("%s in\n%s", err.message, yaml);
    return json_deep_copy(yaml_document(stream, 0));
}

/** Put an object where admission finds it, as it is, without admission. */
static inline UNUSED const struct object *world_add(struct world *world, const char *yaml)
{
    scoped(json) json_t *doc = document(yaml);
    struct error_list errors = {0};

    assert_true(world->count < WORLD_MAX);
    world->objects[world->count] = object_from_json(doc, &errors);
    if (!world->objects[world->count])
        check_fail("%s: %s in\n%s", errors.items[0].field, errors.items[0].message, yaml);
    return world->objects[world->count++];
}

#define QUEUE_YAML(name, spec, state)                                                              \
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " name "}\n"         \
    "spec: " spec "\nstatus: {state: " state "}\n"

/** With queue default open. */
static inline UNUSED void world_init(struct world *world)
{
    *world = (struct world){
        .adm = {.get = world_get, .each = world_each, .scheduler_name = "volcano"},
    };
    world->adm.ctx = world;
    world->adm.warnings = &world->warnings;
    world_add(world, QUEUE_YAML("default", "{weight: 1}", "Open"));
}

static inline UNUSED void world_release(struct world *world)
{
    for (size_t i = 0; i < world->count; i++)
        object_unref(world->objects[i]);
    error_list_release(&world->errors);
    error_list_release(&world->warnings);
}

/** Admit a manifest; the findings are in `errors` and `warnings` afterwards. Owned, or NULL. */
static inline UNUSED struct object *world_admit(struct world *world, const char *yaml,
                                                const struct object *old)
{
    scoped(json) json_t *doc = document(yaml);

    error_list_release(&world->errors);
    error_list_release(&world->warnings);
    return admission_admit(&world->adm, doc, old, UNKNOWN_ERROR, &world->errors);
}

/** Whether a finding at `field` (NULL: anywhere) contains `text`. */
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

/* What should become of a manifest. */
struct verdict_case {
    const char *name;
    const char *yaml;
    const char *field; /* of the finding; NULL: anywhere */
    const char *text;  /* part of the finding's message; NULL: accepted */
};

static inline UNUSED void check_verdict(struct world *world, const struct verdict_case *c,
                                        const struct object *old)
{
    scoped(object) struct object *object = world_admit(world, c->yaml, old);

    if (object && !c->text)
        return;
    if (object)
        check_fail("%s: accepted", c->name);
    if (!c->text || !has_finding(&world->errors, c->field, c->text)) {
        print_findings(&world->errors);
        check_fail("%s: refused, %s %s", c->name, c->text ? "but not with" : "not accepted",
                   c->text ? c->text : "");
    }
}

/** Each in the same new world, none of them kept. */
static inline UNUSED void check_verdicts(const struct verdict_case *cases, size_t count)
{
    struct world world;

    world_init(&world);
    for (size_t i = 0; i < count; i++)
        check_verdict(&world, &cases[i], NULL);
    world_release(&world);
}
