#include "tests/support/registry_fixture.h"
#include "tests/unit.h"

#include "base/mem.h"

/* ---- history ---- */

static bool on_change(void *ctx, enum store_change change, const struct object *old,
                      const struct object *object)
{
    struct world *world = ctx;

    if (object->kind != &kind_event)
        buf_printf(&world->history, "%c%s/%s ", "+~-"[change], object -> kind -> name,
                   object_name(object));
    return true;
}

static void watch_all(struct world *world)
{
    for (int id = 0; id < KIND_N; id++) {
        struct store_watch_options options = {
            .kind = kind_by_id((enum kind_id)id),
            .since_revision = store_revision(world->store),
            .changed = on_change,
            .ctx = world,
        };

        world->watches[id] = store_watch_open(world->store, &options, NULL);
    }
}

/* ---- life ---- */

static void start(struct world *world)
{
    const struct store_options options = {.directory = world->directory};
    struct error err;

    world->store = store_open(world->loop, &options, &err);
    check_ok("store", world->store, err);
    world->registry = registry_new(world->loop, world->store, &world->options);
    loop_settle(world->loop);
    watch_all(world);
    loop_settle(world->loop);
}

static void stop(struct world *world)
{
    registry_free(take(world->registry));
    store_close(take(world->store));
    loop_settle(world->loop);
}

struct world *world_new(const char *directory, const struct registry_options *options)
{
    struct world *world = mem_alloc(sizeof *world);

    world->clock = clock_virtual_new(1767323045000, 5);
    world->loop = loop_new(world->clock);
    world->options = options ? *options
                             : (struct registry_options){.flows.deletion_protection = true,
                                                         .flows.reject_updates = true,
                                                         .virtual_runtime = true};
    world->directory = mem_strdup(directory);
    start(world);
    return world;
}

void world_free(struct world *world)
{
    if (!world)
        return;
    stop(world);
    loop_free(world->loop);
    clock_free(world->clock);
    error_list_release(&world->errors);
    buf_release(&world->history);
    mem_free(world->directory);
    mem_free(world);
}

void world_restart(struct world *world)
{
    stop(world);
    start(world);
}

void world_settle(struct world *world)
{
    loop_settle(world->loop);
}

/* ---- words ---- */

json_t *world_json(const char *json)
{
    scoped_str text = mem_strdup(json);
    json_error_t why;
    json_t *doc;

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    doc = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!doc)
        check_fail("%s: %s", json, why.text);
    return doc;
}

static void expect_no_errors(struct world *world, const char *what)
{
    struct error err;

    if (!error_list_ok(&world->errors, &err))
        check_fail("%s: %s", what, err.message);
}

static bool create(struct world *world, const char *json, const struct object **out)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = world_json(json);
    bool ok;

    error_list_release(&world->errors);
    ok = registry_create(world->registry, doc, &how, out, &world->errors);
    check("an error for each failure", ok == (world->errors.count == 0));
    return ok;
}

const struct object *world_create(struct world *world, const char *json)
{
    const struct object *object = NULL;

    create(world, json, &object);
    expect_no_errors(world, json);
    loop_settle(world->loop);
    return object;
}

void world_failed(const struct world *world, enum error_code code, const char *text)
{
    struct error err = {0};

    check("it failed", !error_list_ok(&world->errors, &err));
    check_int(err.message, err.code, code);
    check_has("error", err.message, text);
}

void world_refuses(struct world *world, const char *json, enum error_code code, const char *text)
{
    check(json, !create(world, json, NULL));
    world_failed(world, code, text);
}

const struct object *world_get(struct world *world, const struct kind *kind, const char *name)
{
    const struct object *object =
        store_get(world->store, kind, kind->namespaced ? "default" : "", name);

    check(name, object);
    return object;
}

bool world_has(struct world *world, const struct kind *kind, const char *name)
{
    return store_get(world->store, kind, kind->namespaced ? "default" : "", name);
}

static bool patch(struct world *world, const struct kind *kind, const char *name, const char *json,
                  enum registry_subresource sub)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = world_json(json);
    bool ok;

    error_list_release(&world->errors);
    ok = registry_patch(world->registry, kind, kind->namespaced ? "default" : "", name,
                        REGISTRY_PATCH_MERGE, doc, sub, &how, NULL, &world->errors);
    loop_settle(world->loop);
    return ok;
}

bool world_patch(struct world *world, const struct kind *kind, const char *name, const char *json)
{
    return patch(world, kind, name, json, REGISTRY_MAIN);
}

bool world_patch_status(struct world *world, const struct kind *kind, const char *name,
                        const char *json)
{
    return patch(world, kind, name, json, REGISTRY_STATUS);
}

bool world_delete(struct world *world, const struct kind *kind, const char *name,
                  const struct registry_delete *how)
{
    bool ok;

    error_list_release(&world->errors);
    ok = registry_delete(world->registry, kind, kind->namespaced ? "default" : "", name, how, NULL,
                         &world->errors);
    loop_settle(world->loop);
    return ok;
}
