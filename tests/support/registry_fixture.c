#include "tests/support/registry_fixture.h"
#include "tests/unit.h"

#include "base/mem.h"

/* Appends a durable change to the history of the fixture. */

static bool on_change(void *ctx, enum store_change change, const struct object *old,
                      const struct object *object)
{
    struct registry_fixture *fixture = ctx;

    if (object->kind != &kind_event)
        buf_printf(&fixture->history, "%c%s/%s ", "+~-"[change], object -> kind -> name,
                   object_name(object));
    return true;
}

static void watch_all(struct registry_fixture *fixture)
{
    for (int id = 0; id < KIND_N; id++) {
        struct store_watch_options options = {
            .kind = kind_by_id((enum kind_id)id),
            .since_revision = store_revision(fixture->store),
            .changed = on_change,
            .ctx = fixture,
        };

        fixture->watches[id] = store_watch_open(fixture->store, &options, NULL);
    }
}

static void start(struct registry_fixture *fixture)
{
    const struct store_options options = {.directory = fixture->directory};
    struct error err;

    fixture->store = store_open(fixture->loop, &options, &err);
    check_ok("store", fixture->store, err);
    fixture->registry = registry_new(fixture->loop, fixture->store, &fixture->options);
    loop_settle(fixture->loop);
    watch_all(fixture);
    loop_settle(fixture->loop);
}

static void stop(struct registry_fixture *fixture)
{
    registry_free(take(fixture->registry));
    store_close(take(fixture->store));
    loop_settle(fixture->loop);
}

struct registry_fixture *registry_fixture_new(const char *directory,
                                              const struct registry_options *options)
{
    struct registry_fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->clock = clock_virtual_new(1767323045000, 5);
    fixture->loop = loop_new(fixture->clock);
    fixture->options = options ? *options
                               : (struct registry_options){.flows.deletion_protection = true,
                                                           .flows.reject_updates = true,
                                                           .virtual_runtime = true};
    fixture->directory = mem_strdup(directory);
    start(fixture);
    return fixture;
}

void registry_fixture_free(struct registry_fixture *fixture)
{
    if (!fixture)
        return;
    stop(fixture);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    error_list_release(&fixture->errors);
    buf_release(&fixture->history);
    mem_free(fixture->directory);
    mem_free(fixture);
}

void registry_fixture_restart(struct registry_fixture *fixture)
{
    stop(fixture);
    start(fixture);
}

void registry_fixture_settle(struct registry_fixture *fixture)
{
    loop_settle(fixture->loop);
}

json_t *registry_fixture_json(const char *json)
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

static void expect_no_errors(struct registry_fixture *fixture, const char *what)
{
    struct error err;

    if (!error_list_ok(&fixture->errors, &err))
        check_fail("%s: %s", what, err.message);
}

static bool create(struct registry_fixture *fixture, const char *json, const struct object **out)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = registry_fixture_json(json);
    bool ok;

    error_list_release(&fixture->errors);
    ok = registry_create(fixture->registry, doc, &how, out, &fixture->errors);
    check("an error for each failure", ok == (fixture->errors.count == 0));
    return ok;
}

const struct object *registry_fixture_create(struct registry_fixture *fixture, const char *json)
{
    const struct object *object = NULL;

    create(fixture, json, &object);
    expect_no_errors(fixture, json);
    loop_settle(fixture->loop);
    return object;
}

void registry_fixture_failed(const struct registry_fixture *fixture, enum error_code code,
                             const char *text)
{
    struct error err = {0};

    check("it failed", !error_list_ok(&fixture->errors, &err));
    check_int(err.message, err.code, code);
    check_has("error", err.message, text);
}

void registry_fixture_refuses(struct registry_fixture *fixture, const char *json,
                              enum error_code code, const char *text)
{
    check(json, !create(fixture, json, NULL));
    registry_fixture_failed(fixture, code, text);
}

const struct object *registry_fixture_get(struct registry_fixture *fixture, const struct kind *kind,
                                          const char *name)
{
    const struct object *object =
        store_get(fixture->store, kind, kind->namespaced ? "default" : "", name);

    check(name, object);
    return object;
}

bool registry_fixture_has(struct registry_fixture *fixture, const struct kind *kind,
                          const char *name)
{
    return store_get(fixture->store, kind, kind->namespaced ? "default" : "", name);
}

static bool patch(struct registry_fixture *fixture, const struct kind *kind, const char *name,
                  const char *json, enum registry_subresource sub)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    scoped(json) json_t *doc = registry_fixture_json(json);
    bool ok;

    error_list_release(&fixture->errors);
    ok = registry_patch(
        fixture->registry, (struct registry_target){kind, kind->namespaced ? "default" : "", name},
        &(struct registry_patch){REGISTRY_PATCH_MERGE, doc, sub}, &how, NULL, &fixture->errors);
    loop_settle(fixture->loop);
    return ok;
}

bool registry_fixture_patch(struct registry_fixture *fixture, const struct kind *kind,
                            const char *name, const char *json)
{
    return patch(fixture, kind, name, json, REGISTRY_MAIN);
}

bool registry_fixture_patch_status(struct registry_fixture *fixture, const struct kind *kind,
                                   const char *name, const char *json)
{
    return patch(fixture, kind, name, json, REGISTRY_STATUS);
}

bool registry_fixture_delete(struct registry_fixture *fixture, const struct kind *kind,
                             const char *name, const struct registry_delete *how)
{
    bool ok;

    error_list_release(&fixture->errors);
    ok = registry_delete(fixture->registry,
                         (struct registry_target){kind, kind->namespaced ? "default" : "", name},
                         how, NULL, &fixture->errors);
    loop_settle(fixture->loop);
    return ok;
}
