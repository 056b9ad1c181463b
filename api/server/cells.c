/*
 * Worked-out columns: pods, events and the small core kinds.
 */
#include "api/server/cells.h"
#include "api/types/pod.h"
#include "base/timefmt.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

void cell_name(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    jsonw_str(w, object_name(object));
}

void cell_write_age(struct jsonw *w, int64_t at_ms, int64_t now_ms)
{
    char text[TIME_TEXT_MAX];

    if (at_ms == 0) {
        jsonw_str(w, "<unknown>");
        return;
    }
    duration_human(now_ms - at_ms, text);
    jsonw_str(w, text);
}

void cell_age(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    cell_write_age(w, object->meta->created_at_ms, now_ms);
}

static void write_or_none(struct jsonw *w, const char *text)
{
    jsonw_str(w, text && *text ? text : "<none>");
}

/* ---- pods ---- */

static void pod_ready(struct jsonw *w, const struct object *pod, int64_t now_ms)
{
    const struct pod_status *status = pod_status_of(pod);
    size_t ready = 0, total = pod_spec_of(pod)->containers.count;
    char text[48];

    for (size_t i = 0; i < status->containers.count; i++)
        ready += status->containers.items[i].ready;
    snprintf(text, sizeof text, "%zu/%zu", ready, total);
    jsonw_str(w, text);
}

/* What holds up the init containers; false when all are done. */
static bool init_status_text(const struct pod_status *status, char *out, size_t size)
{
    for (size_t i = 0; i < status->init_containers.count; i++) {
        const struct container_status *container = &status->init_containers.items[i];

        if (container->state == CONTAINER_TERMINATED && container->exit_code == 0)
            continue;
        if (container->state == CONTAINER_TERMINATED && container->reason && *container->reason)
            snprintf(out, size, "Init:%s", container->reason);
        else if (container->state == CONTAINER_TERMINATED && container->signal)
            snprintf(out, size, "Init:Signal:%d", (int)container->signal);
        else if (container->state == CONTAINER_TERMINATED)
            snprintf(out, size, "Init:ExitCode:%d", (int)container->exit_code);
        else if (container->state == CONTAINER_WAITING && container->reason &&
                 strcmp(container->reason, "PodInitializing") != 0)
            snprintf(out, size, "Init:%s", container->reason);
        else
            snprintf(out, size, "Init:%zu/%zu", i, status->init_containers.count);
        return true;
    }
    return false;
}

static void containers_status_text(const struct pod_status *status, char *out, size_t size)
{
    bool running = false;

    for (size_t i = status->containers.count; i-- > 0;) {
        const struct container_status *container = &status->containers.items[i];

        if (container->state == CONTAINER_RUNNING)
            running = true;
        else if (container->reason && *container->reason)
            snprintf(out, size, "%s", container->reason);
        else if (container->state == CONTAINER_TERMINATED && container->signal)
            snprintf(out, size, "Signal:%d", (int)container->signal);
        else if (container->state == CONTAINER_TERMINATED)
            snprintf(out, size, "ExitCode:%d", (int)container->exit_code);
    }
    if (running && strcmp(out, "Completed") == 0)
        snprintf(out, size, "%s", status->ready ? "Running" : "NotReady");
}

void cell_pod_status_text(const struct object *pod, char *out, size_t size)
{
    const struct pod_status *status = pod_status_of(pod);
    bool over = status->phase == POD_SUCCEEDED || status->phase == POD_FAILED;

    snprintf(out, size, "%s",
             status->reason && *status->reason ? status->reason : pod_phase_text(status->phase));
    if (!init_status_text(status, out, size))
        containers_status_text(status, out, size);
    if (object_deleting(pod) && !over)
        snprintf(out, size, "Terminating");
}

static void pod_status(struct jsonw *w, const struct object *pod, int64_t now_ms)
{
    char text[128];

    cell_pod_status_text(pod, text, sizeof text);
    jsonw_str(w, text);
}

static void pod_restarts(struct jsonw *w, const struct object *pod, int64_t now_ms)
{
    const struct pod_status *status = pod_status_of(pod);
    char text[24];
    int sum = 0;

    for (size_t i = 0; i < status->init_containers.count; i++)
        sum += status->init_containers.items[i].restart_count;
    for (size_t i = 0; i < status->containers.count; i++)
        sum += status->containers.items[i].restart_count;
    snprintf(text, sizeof text, "%d", sum);
    jsonw_str(w, text);
}

static void pod_ip(struct jsonw *w, const struct object *pod, int64_t now_ms)
{
    write_or_none(w, pod_status_of(pod)->pod_ip);
}

static void pod_node(struct jsonw *w, const struct object *pod, int64_t now_ms)
{
    write_or_none(w, pod_spec_of(pod)->node_name);
}

static void cell_none(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    jsonw_str(w, "<none>");
}

static const struct cell_column pod_columns[] = {
    {"Name", "string", 0, cell_name},
    {"Ready", "string", 0, pod_ready},
    {"Status", "string", 0, pod_status},
    {"Restarts", "string", 0, pod_restarts},
    {"Age", "string", 0, cell_age},
    {"IP", "string", 1, pod_ip},
    {"Node", "string", 1, pod_node},
    {"Nominated Node", "string", 1, cell_none},
    {"Readiness Gates", "string", 1, cell_none},
    {0},
};

/* ---- events: read from the body, a few members each ---- */

static const char *member_text(const json_t *doc, const char *first, const char *second)
{
    const json_t *value = json_object_get(doc, first);

    if (second)
        value = json_object_get(value, second);
    return json_string_value(value);
}

/* One member of the body, or of an object in it, as text. */
static void event_text(struct jsonw *w, const struct object *event, const char *first,
                       const char *second)
{
    scoped(json) json_t *body = object_body_json(event);
    const char *text = member_text(body, first, second);

    jsonw_str(w, text ? text : "");
}

static void event_age(struct jsonw *w, const struct object *event, const char *member,
                      int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(event);
    const char *text = member_text(body, member, NULL);
    int64_t at_ms = event->meta->created_at_ms;

    if (!text || !time_parse(text, &at_ms, NULL)) {
        text = member_text(body, "eventTime", NULL);
        if (text)
            time_parse(text, &at_ms, NULL);
    }
    cell_write_age(w, at_ms, now_ms);
}

static void event_last_seen(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    event_age(w, event, "lastTimestamp", now_ms);
}

static void event_first_seen(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    event_age(w, event, "firstTimestamp", now_ms);
}

static void event_type(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    event_text(w, event, "type", NULL);
}

static void event_reason(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    event_text(w, event, "reason", NULL);
}

static void event_object(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(event);
    const char *kind = member_text(body, "involvedObject", "kind");
    const char *name = member_text(body, "involvedObject", "name");
    char text[512];

    snprintf(text, sizeof text, "%s/%s", kind ? kind : "", name ? name : "");
    for (char *c = text; *c && *c != '/'; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
    jsonw_str(w, text);
}

static void event_source(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    event_text(w, event, "source", "component");
}

static void event_message(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    event_text(w, event, "message", NULL);
}

static void event_count(struct jsonw *w, const struct object *event, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(event);
    const json_t *count = json_object_get(body, "count");

    jsonw_int(w, json_is_integer(count) ? json_integer_value(count) : 1);
}

static const struct cell_column event_columns[] = {
    {"Last Seen", "string", 0, event_last_seen},
    {"Type", "string", 0, event_type},
    {"Reason", "string", 0, event_reason},
    {"Object", "string", 0, event_object},
    {"Source", "string", 1, event_source},
    {"Message", "string", 0, event_message},
    {"First Seen", "string", 1, event_first_seen},
    {"Count", "integer", 1, event_count},
    {"Name", "string", 1, cell_name},
    {0},
};

/* ---- small core kinds ---- */

static void status_phase(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    scoped(json) json_t *status = object_status_json(object);
    const char *phase = json_string_value(json_object_get(status, "phase"));

    jsonw_str(w, object_deleting(object) ? "Terminating" : phase ? phase : "Active");
}

static void data_count(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(object);

    jsonw_int(w, (int64_t)(json_object_size(json_object_get(body, "data")) +
                           json_object_size(json_object_get(body, "binaryData"))));
}

static void body_type(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(object);
    const char *type = json_string_value(json_object_get(body, "type"));

    jsonw_str(w, type ? type : "Opaque");
}

static void service_cluster_ip(struct jsonw *w, const struct object *service, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(service);

    write_or_none(w, member_text(body, "spec", "clusterIP"));
}

static void node_ready(struct jsonw *w, const struct object *node, int64_t now_ms)
{
    scoped(json) json_t *status = object_status_json(node);
    const char *text = "Unknown";
    size_t i;
    json_t *condition;

    json_array_foreach(json_object_get(status, "conditions"), i, condition)
    {
        const char *type = json_string_value(json_object_get(condition, "type"));
        const char *value = json_string_value(json_object_get(condition, "status"));

        if (type && value && strcmp(type, "Ready") == 0)
            text = strcmp(value, "True") == 0 ? "Ready" : "NotReady";
    }
    jsonw_str(w, text);
}

static void node_version(struct jsonw *w, const struct object *node, int64_t now_ms)
{
    scoped(json) json_t *status = object_status_json(node);
    const char *version = member_text(status, "nodeInfo", "kubeletVersion");

    jsonw_str(w, version ? version : "");
}

static void priority_value(struct jsonw *w, const struct object *object, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(object);

    jsonw_int(w, json_integer_value(json_object_get(body, "value")));
}

static void lease_holder(struct jsonw *w, const struct object *lease, int64_t now_ms)
{
    scoped(json) json_t *body = object_body_json(lease);
    const char *holder = member_text(body, "spec", "holderIdentity");

    jsonw_str(w, holder ? holder : "");
}

static const struct cell_column namespace_columns[] = {{"Name", "string", 0, cell_name},
                                                       {"Status", "string", 0, status_phase},
                                                       {"Age", "string", 0, cell_age},
                                                       {0}};
static const struct cell_column config_map_columns[] = {{"Name", "string", 0, cell_name},
                                                        {"Data", "integer", 0, data_count},
                                                        {"Age", "string", 0, cell_age},
                                                        {0}};
static const struct cell_column secret_columns[] = {{"Name", "string", 0, cell_name},
                                                    {"Type", "string", 0, body_type},
                                                    {"Data", "integer", 0, data_count},
                                                    {"Age", "string", 0, cell_age},
                                                    {0}};
static const struct cell_column service_columns[] = {
    {"Name", "string", 0, cell_name},
    {"Cluster-IP", "string", 0, service_cluster_ip},
    {"Age", "string", 0, cell_age},
    {0}};
static const struct cell_column pvc_columns[] = {{"Name", "string", 0, cell_name},
                                                 {"Status", "string", 0, status_phase},
                                                 {"Age", "string", 0, cell_age},
                                                 {0}};
static const struct cell_column node_columns[] = {
    {"Name", "string", 0, cell_name},       {"Status", "string", 0, node_ready},
    {"Roles", "string", 0, cell_none},      {"Age", "string", 0, cell_age},
    {"Version", "string", 0, node_version}, {0}};
static const struct cell_column priority_columns[] = {{"Name", "string", 0, cell_name},
                                                      {"Value", "integer", 0, priority_value},
                                                      {"Age", "string", 0, cell_age},
                                                      {0}};
static const struct cell_column lease_columns[] = {{"Name", "string", 0, cell_name},
                                                   {"Holder", "string", 0, lease_holder},
                                                   {"Age", "string", 0, cell_age},
                                                   {0}};

const struct cell_column *cells_of(const struct kind *kind)
{
    static const struct cell_column *const by_kind[KIND_N] = {
        [KIND_POD] = pod_columns,
        [KIND_EVENT] = event_columns,
        [KIND_NAMESPACE] = namespace_columns,
        [KIND_CONFIG_MAP] = config_map_columns,
        [KIND_SECRET] = secret_columns,
        [KIND_SERVICE] = service_columns,
        [KIND_PVC] = pvc_columns,
        [KIND_NODE] = node_columns,
        [KIND_PRIORITY_CLASS] = priority_columns,
        [KIND_LEASE] = lease_columns,
    };

    return by_kind[kind->id];
}
