/*
 * Puts the API server of tests/support/api.h, the transport of api_transport.h and a remote cluster
 * together.
 */
#include "tests/support/remote_fixture.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"

static const struct cluster_remote_kind kinds[] = {
    {&kind_config_map, NULL}, {&kind_job_flow, NULL}, {&kind_job, LABEL_CREATED_BY_FLOW}, {0}};

static enum api_fate fate_of(void *ctx, const char *method, const char *target)
{
    struct remote_fixture *fixture = ctx;

    if (strstr(target, "watch=true") || !fixture->method || strcmp(method, fixture->method) != 0 ||
        fixture->skip-- > 0 || fixture->times <= 0)
        return API_ANSWERED;
    fixture->times--;
    return fixture->fate;
}

static void on_synced(void *ctx)
{
    ((struct remote_fixture *)ctx)->synced++;
}

static void on_unsupported(void *ctx, const struct error *err)
{
    ((struct remote_fixture *)ctx)->unsupported = *err;
}

static void on_changed(struct cluster_watcher *watcher, enum cluster_change change,
                       const struct object *old, const struct object *object)
{
    static const char signs[] = {
        [CHANGE_ADDED] = '+', [CHANGE_MODIFIED] = '~', [CHANGE_DELETED] = '-'};
    struct remote_fixture *fixture = container_of(watcher, struct remote_fixture, watcher);

    buf_printf(&fixture->told, "%s%c%s", fixture->told.len ? " " : "", signs[change],
               object_name(object));
}

void remote_fixture_start(struct remote_fixture *fixture)
{
    struct cluster_remote_options options = {.max_in_flight = 16,
                                             .kinds = kinds,
                                             .synced = on_synced,
                                             .unsupported = on_unsupported,
                                             .ctx = fixture};

    *fixture = (struct remote_fixture){.watcher = {on_changed, &kind_config_map}};
    buf_str(&fixture->told, "");
    api_fixture_start(&fixture->api, NULL);
    fixture->transport = api_transport_new(fixture->api.loop, fixture->api.api);
    api_transport_plan(fixture->transport, fate_of, fixture);
    fixture->remote = remote_new(fixture->api.loop, api_transport_base(fixture->transport), NULL);
    options.streams = options.calls = fixture->remote;
    fixture->cluster = cluster_remote_new(fixture->api.loop, &options);
    cluster_remote_start(fixture->cluster);
    cluster_remote_unfence(fixture->cluster);
    cluster_watch(fixture->cluster, &fixture->watcher);
    loop_settle(fixture->api.loop);
}

void remote_fixture_stop(struct remote_fixture *fixture)
{
    cluster_remote_free(fixture->cluster);
    remote_free(fixture->remote);
    api_transport_free(fixture->transport);
    api_fixture_stop(&fixture->api);
    buf_release(&fixture->told);
}

void remote_write_done(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct remote_write *write = container_of(call, struct remote_write, call);

    write->ended++;
    object_unref(write->result);
    write->result = object_ref(result);
    if (err)
        write->err = *err;
}

void remote_write_release(struct remote_write *write)
{
    object_unref(write->result);
    *write = (struct remote_write)REMOTE_WRITE;
}
