/*
 * Tests what a list of the server may contain. covers: cluster.md CLU-055 CLU-056
 */
#include "tests/unit.h"

#include "api/cluster_remote/cluster_remote.h"
#include "base/log.h"
#include "tests/support/scripted_server.h"

static const struct cluster_remote_kind kinds[] = {{&kind_config_map, NULL}, {0}};

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct scripted_server *scripted;
    struct remote *remote;
    struct cluster *cluster;
    const char *items; /* items of the list */
    const char *revision;
    unsigned synced;
    struct error unsupported;
};

static void serve(void *ctx, struct scripted_exchange *ask)
{
    const struct fixture *fixture = ctx;

    ask->status = 200;
    ask->stays_open = strstr(ask->target, "watch=true") != NULL;
    if (!ask->stays_open)
        buf_printf(&ask->text, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[%s]}",
                   fixture->revision, fixture->items);
}

static void on_synced(void *ctx)
{
    ((struct fixture *)ctx)->synced++;
}

static void on_unsupported(void *ctx, const struct error *err)
{
    ((struct fixture *)ctx)->unsupported = *err;
}

static void start(struct fixture *fixture, const char *items, const char *revision)
{
    struct cluster_remote_options options = {.max_in_flight = 4,
                                             .kinds = kinds,
                                             .synced = on_synced,
                                             .unsupported = on_unsupported,
                                             .ctx = fixture};

    *fixture = (struct fixture){
        .clock = clock_virtual_new(1767225600000, 7), .items = items, .revision = revision};
    fixture->loop = loop_new(fixture->clock);
    fixture->scripted = scripted_new(fixture->loop, serve, fixture);
    fixture->remote = remote_new(fixture->loop, scripted_transport(fixture->scripted), NULL);
    options.streams = options.calls = fixture->remote;
    fixture->cluster = cluster_remote_new(fixture->loop, &options);
    cluster_remote_start(fixture->cluster);
    loop_settle(fixture->loop);
}

static void stop(struct fixture *fixture)
{
    cluster_remote_free(fixture->cluster);
    remote_free(fixture->remote);
    scripted_free(fixture->scripted);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
}

#define ITEM(name, more)                                                                           \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"u" name              \
    "\",\"resourceVersion\":\"3\"" more "}}"

static void an_unreadable_object_stops_no_other(void **state)
{
    struct fixture fixture;

    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT);
    start(&fixture, ITEM("a", "") "," ITEM("b", ",\"labels\":7") "," ITEM("c", ""), "9");
    check_int("synced", (int)fixture.synced, 1);
    check_int("supported", fixture.unsupported.code, ERR_NONE);
    check("a", cluster_get(fixture.cluster, &kind_config_map, "default", "a") != NULL);
    check("b", cluster_get(fixture.cluster, &kind_config_map, "default", "b") == NULL);
    check("c", cluster_get(fixture.cluster, &kind_config_map, "default", "c") != NULL);
    stop(&fixture);
}

static void revisions_that_are_no_numbers_are_not_supported(void **state)
{
    static const struct {
        const char *name, *items, *revision;
    } cases[] = {
        {"of the list", "", "abc"},
        {"of an object",
         "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"abc\"}}", "9"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct fixture fixture;

        start(&fixture, cases[i].items, cases[i].revision);
        check_int(cases[i].name, fixture.unsupported.code, ERR_NOT_IMPLEMENTED);
        check_str(cases[i].name, fixture.unsupported.message,
                  "resourceVersion \"abc\" is not a number: this API server is not supported");
        stop(&fixture);
    }
}

/* Fields that no controller uses cost memory for each object. */
static void managed_fields_are_dropped(void **state)
{
    struct fixture fixture;
    const struct object *object;

    start(&fixture,
          ITEM("a", ",\"managedFields\":[{\"manager\":\"x\"}],\"annotations\":{\"k\":\"v\","
                    "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\"}"),
          "9");
    object = cluster_get(fixture.cluster, &kind_config_map, "default", "a");
    check("known", object != NULL);
    check_str("managed fields", object->meta->managed_fields, NULL);
    check_int("annotations", (int)object->meta->n_annotations, 1);
    stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unreadable_object_stops_no_other),
        cmocka_unit_test(revisions_that_are_no_numbers_are_not_supported),
        cmocka_unit_test(managed_fields_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
