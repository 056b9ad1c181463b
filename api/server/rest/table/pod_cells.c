/*
 * Table cells of pods and events, with the same results as kube-apiserver's printers.
 *
 * Ref: Kubernetes pkg/printers/internalversion/printers.go, printPod and printEvent.
 */
#include <stdio.h>
#include <string.h>

#include "api/server/rest/table/cells.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/timefmt.h"

static void pod_ready(struct jsonw *w, struct cell_row *row)
{
    const struct pod_status *status = pod_status_of(row->object);
    size_t ready = 0;
    char text[48];

    for (size_t i = 0; i < status->containers.count; i++)
        ready += status->containers.items[i].ready;
    snprintf(text, sizeof text, "%zu/%zu", ready, pod_spec_of(row->object)->containers.count);
    jsonw_str(w, text);
}

/* Returns true for a sidecar: an init container that is restarted beside the main containers. */
static bool is_sidecar(const struct object *pod, const struct container_status *container)
{
    const struct pod_spec *spec = pod_spec_of(pod);

    for (size_t i = 0; i < spec->init_containers.count; i++)
        if (strcmp(spec->init_containers.items[i].name, container->name) == 0)
            return spec->init_containers.items[i].restart_policy &&
                   strcmp(spec->init_containers.items[i].restart_policy, "Always") == 0;
    return false;
}

/* Writes what the init containers wait for; false when all of them are done. */
static bool init_status_text(const struct object *pod, char *out, size_t size)
{
    const struct pod_status *status = pod_status_of(pod);

    for (size_t i = 0; i < status->init_containers.count; i++) {
        const struct container_status *container = &status->init_containers.items[i];
        bool has_reason = container->reason && *container->reason;

        if ((container->state == CONTAINER_TERMINATED && container->exit_code == 0) ||
            (container->state == CONTAINER_RUNNING && is_sidecar(pod, container)))
            continue;
        if (has_reason && (container->state == CONTAINER_TERMINATED ||
                           (container->state == CONTAINER_WAITING &&
                            strcmp(container->reason, "PodInitializing") != 0)))
            snprintf(out, size, "Init:%s", container->reason);
        else if (container->state == CONTAINER_TERMINATED && container->signal)
            snprintf(out, size, "Init:Signal:%d", (int)container->signal);
        else if (container->state == CONTAINER_TERMINATED)
            snprintf(out, size, "Init:ExitCode:%d", (int)container->exit_code);
        else
            snprintf(out, size, "Init:%zu/%zu", i, pod_spec_of(pod)->init_containers.count);
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

/* The STATUS column: CrashLoopBackOff, Completed, Init:0/1, … Ref: spec/kube-api.md 7.3. */
static void status_text(const struct object *pod, char *out, size_t size)
{
    const struct pod_status *status = pod_status_of(pod);
    bool over = status->phase == POD_SUCCEEDED || status->phase == POD_FAILED;

    snprintf(out, size, "%s",
             status->reason && *status->reason ? status->reason
             : status->gated                   ? POD_REASON_GATED
                                               : pod_phase_text(status->phase));
    if (!init_status_text(pod, out, size))
        containers_status_text(status, out, size);
    if (object_deleting(pod) && status->reason && strcmp(status->reason, "NodeLost") == 0)
        snprintf(out, size, "Unknown");
    else if (object_deleting(pod) && !over)
        snprintf(out, size, "Terminating");
}

static void pod_status(struct jsonw *w, struct cell_row *row)
{
    char text[128];

    status_text(row->object, text, sizeof text);
    jsonw_str(w, text);
}

/* Returns the statuses of the init containers, followed by those of the containers; NULL at the
 * end. */
static const struct container_status *container_at(const struct pod_status *status, size_t i)
{
    if (i < status->init_containers.count)
        return &status->init_containers.items[i];
    i -= status->init_containers.count;
    return i < status->containers.count ? &status->containers.items[i] : NULL;
}

static void pod_restarts(struct jsonw *w, struct cell_row *row)
{
    const struct pod_status *status = pod_status_of(row->object);
    const struct container_status *container;
    char text[24];
    int sum = 0;

    for (size_t i = 0; (container = container_at(status, i)); i++)
        sum += container->restart_count;
    snprintf(text, sizeof text, "%d", sum);
    jsonw_str(w, text);
}

static void pod_ip(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, pod_status_of(row->object)->pod_ip, "<none>");
}

static void pod_node(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, pod_spec_of(row->object)->node_name, "<none>");
}

/* CPU Time is the sum over the container runs that have ended, Memory Peak their largest peak. */
static void pod_cpu_time(struct jsonw *w, struct cell_row *row)
{
    const struct pod_status *status = pod_status_of(row->object);
    const struct container_status *container;
    int64_t sum_ms = 0;
    char text[32];

    for (size_t i = 0; (container = container_at(status, i)); i++)
        sum_ms += container->cpu_ms;
    snprintf(text, sizeof text, "%lld.%02llds", (long long)(sum_ms / 1000),
             (long long)(sum_ms % 1000 / 10));
    jsonw_str(w, sum_ms ? text : "<none>");
}

static void pod_memory_peak(struct jsonw *w, struct cell_row *row)
{
    const struct pod_status *status = pod_status_of(row->object);
    const struct container_status *container;
    int64_t peak = 0;
    char text[32];

    for (size_t i = 0; (container = container_at(status, i)); i++)
        if (container->memory_peak_bytes > peak)
            peak = container->memory_peak_bytes;
    snprintf(text, sizeof text, "%lldMi", (long long)((peak + (1 << 20) - 1) >> 20));
    jsonw_str(w, peak ? text : "<none>");
}

const struct cell_column cells_pod[] = {
    /* clang-format off */
    {"Name",            "string", 0, cell_name},
    {"Ready",           "string", 0, pod_ready},
    {"Status",          "string", 0, pod_status},
    {"Restarts",        "string", 0, pod_restarts},
    {"Age",             "date",   0, cell_age},
    {"IP",              "string", 1, pod_ip},
    {"Node",            "string", 1, pod_node},
    {"Nominated Node",  "string", 1, cell_none},
    {"Readiness Gates", "string", 1, cell_none},
    {"CPU Time",        "string", 1, pod_cpu_time},
    {"Memory Peak",     "string", 1, pod_memory_peak},
    {0},
    /* clang-format on */
};

/* Returns the first of these times that is present, else the event's creation time. */
static int64_t event_time(struct cell_row *row, const char *const *paths, size_t n)
{
    int64_t at_ms;

    for (size_t i = 0; i < n; i++) {
        const char *text = doc_text(cell_body(row), paths[i]);

        if (text && time_parse(text, &at_ms, NULL))
            return at_ms;
    }
    return row->object->meta->created_at_ms;
}

static void event_last_seen(struct jsonw *w, struct cell_row *row)
{
    static const char *const paths[] = {"series.lastObservedTime", "lastTimestamp",
                                        "firstTimestamp", "eventTime"};

    cell_write_age(w, event_time(row, paths, countof(paths)), row->now_ms);
}

static void event_first_seen(struct jsonw *w, struct cell_row *row)
{
    static const char *const paths[] = {"firstTimestamp", "eventTime"};

    cell_write_age(w, event_time(row, paths, countof(paths)), row->now_ms);
}

static void event_object(struct jsonw *w, struct cell_row *row)
{
    const char *kind = doc_text(cell_body(row), "involvedObject.kind");
    const char *name = doc_text(cell_body(row), "involvedObject.name");
    char text[512];

    snprintf(text, sizeof text, "%s/%s", kind ? kind : "", name ? name : "");
    for (char *c = text; *c && *c != '/'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    jsonw_str(w, text);
}

static void event_source(struct jsonw *w, struct cell_row *row)
{
    const char *component = doc_text(cell_body(row), "source.component");

    if (!component)
        component = doc_text(cell_body(row), "reportingComponent");
    cell_write_or(w, component, "");
}

static void event_count(struct jsonw *w, struct cell_row *row)
{
    const json_t *series = json_object_get(cell_body(row), "series");
    const json_t *count = json_object_get(series ? series : cell_body(row), "count");

    jsonw_int(w, json_is_integer(count) ? json_integer_value(count) : 1);
}

const struct cell_column cells_event[] = {
    /* clang-format off */
    {"Last Seen",  "string",  0, event_last_seen},
    {"Type",       "string",  0, NULL, "type", ""},
    {"Reason",     "string",  0, NULL, "reason", ""},
    {"Object",     "string",  0, event_object},
    {"Subobject",  "string",  1, NULL, "involvedObject.fieldPath", ""},
    {"Source",     "string",  1, event_source},
    {"Message",    "string",  0, NULL, "message", ""},
    {"First Seen", "string",  1, event_first_seen},
    {"Count",      "integer", 1, event_count},
    {"Name",       "string",  1, cell_name},
    {0},
    /* clang-format on */
};
