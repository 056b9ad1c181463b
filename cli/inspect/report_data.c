/*
 * Gathers the data of a report. Each list is bounded, and what exceeds its bound is told in a
 * sentence.
 */
#include "cli/inspect/report_data.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/encoding/base64.h"
#include "base/encoding/jsonchars.h"
#include "base/encoding/jsonscan.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/client/step_fetch.h"
#include "view/flow_line.h"
#include "view/graph/graph_forms.h"

enum {
    RECORDS_MAX = 2000, /* entries of …/steps, besides those that failed or ran more than once */
    RECORDS_TOLD_MAX = 4000,
    STEPS_WITH_SPEC_MAX = 10000, /* steps of the largest flow whose own spec is there */
    JOBS_MAX = 1000,
    PODS_MAX = 5000,
    EVENTS_MAX = 5000,
};

struct gather {
    const struct report *report;
    enum report_specs specs;
    json_t *out;     /* the flow's data */
    json_t *names;   /* {name: true} of the flow, its jobs, pods and pod groups */
    json_t *list;    /* the list that is being filled */
    size_t most;     /* bound of that list */
    size_t left_out; /* objects beyond the bound */
};

static void say(struct gather *gather, char *text)
{
    json_array_append_new(json_object_get(gather->out, "leftOut"), json_string(text));
    mem_free(text);
}

static void note_name(struct gather *gather, const char *name)
{
    if (name)
        json_object_set_new(gather->names, name, json_true());
}

static bool is_known(const struct gather *gather, const char *name)
{
    return name && json_object_get(gather->names, name);
}

/* Returns whether the string that begins at `value` is a known name. One that cannot be told from
 * the text counts as known. */
static bool is_known_text(const struct gather *gather, const char *value)
{
    char name[256];
    size_t len = 0;
    const char *text = value ? jsonscan_string(value, &len) : NULL;

    if (!value)
        return false;
    if (!text || len >= sizeof name)
        return true;
    memcpy(name, text, len);
    name[len] = '\0';
    return is_known(gather, name);
}

static bool wants_job(const void *ctx, const char *job)
{
    return is_known_text(ctx, jsonscan_member(jsonscan_member(job, "metadata"), "name"));
}

static bool wants_pod(const void *ctx, const char *pod)
{
    const char *labels = jsonscan_member(jsonscan_member(pod, "metadata"), "labels");

    return is_known_text(ctx, jsonscan_member(labels, LABEL_JOB_NAME));
}

static bool wants_event(const void *ctx, const char *event)
{
    return is_known_text(ctx, jsonscan_member(jsonscan_member(event, "involvedObject"), "name"));
}

/* Begins a list of at most so many objects. */
static void begin(struct gather *gather, const char *member, size_t most)
{
    gather->list = json_array();
    gather->most = most;
    gather->left_out = 0;
    json_object_set_new(gather->out, member, gather->list);
}

/* Adds an object, which is consumed. */
static void add(struct gather *gather, json_t *object)
{
    if (json_array_size(gather->list) < gather->most) {
        json_array_append_new(gather->list, object);
        return;
    }
    gather->left_out++;
    json_decref(object);
}

static void end(struct gather *gather, const char *what)
{
    if (gather->left_out)
        say(gather, mem_printf("%zu more %s.", gather->left_out, what));
}

/* Returns a new object with the members of another that are there. */
static json_t *picked(const json_t *from, const char *const *members)
{
    json_t *out = json_object();

    for (; *members; members++) {
        json_t *value = json_object_get(from, *members);

        if (value)
            json_object_set(out, *members, value);
    }
    return out;
}

/* Removes from an object what the views do not show: status, owners of fields, and the copy of the
 * object that kubectl keeps in an annotation. */
static void trim(json_t *object)
{
    json_t *meta = json_object_get(object, "metadata");

    json_object_del(object, "status");
    json_object_del(meta, "managedFields");
    json_object_del(json_object_get(meta, "annotations"),
                    "kubectl.kubernetes.io/last-applied-configuration");
}

static bool ran_again_or_failed(const json_t *item)
{
    const json_t *attempts = json_object_get(item, "attempts");
    const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);
    const char *phase = doc_text(last ? last : item, "phase");

    return json_array_size(attempts) > 1 || (phase && strcmp(phase, "Failed") == 0);
}

static bool take_records(void *ctx, json_t *page)
{
    struct gather *gather = ctx;
    size_t i, j;
    json_t *item, *job;

    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        bool ordinary = json_array_size(gather->list) >= RECORDS_MAX && !ran_again_or_failed(item);

        if (ordinary || json_array_size(gather->list) >= gather->most) {
            gather->left_out++;
            continue;
        }
        if (gather->specs == REPORT_WITHOUT_SPECS)
            json_object_del(item, "item"); /* of a loop: it may be the value of a parameter */
        json_array_append(gather->list, item);
        json_array_foreach(json_object_get(item, "jobs"), j, job)
            note_name(gather, json_string_value(job));
    }
    return true;
}

static bool take_job(void *ctx, json_t *job)
{
    struct gather *gather = ctx;

    if (is_known(gather, doc_text(job, "metadata.name"))) {
        trim(job);
        add(gather, json_incref(job));
    }
    return true;
}

/* Returns the names of a pod's containers as [{"name": …}]. */
static json_t *container_names(const json_t *pod, const char *path)
{
    static const char *const members[] = {"name", NULL};
    json_t *out = json_array();
    size_t i;
    json_t *container;

    json_array_foreach(doc_at(pod, path), i, container)
        json_array_append_new(out, picked(container, members));
    return out;
}

static json_t *pod_summary(const json_t *pod)
{
    static const char *const metas[] = {"name",   "namespace", "uid", "creationTimestamp",
                                        "labels", NULL};
    static const char *const states[] = {
        "phase", "reason", "message", "podIP", "containerStatuses", "initContainerStatuses", NULL};
    static const char group[] = "scheduling.k8s.io/group-name";
    const json_t *annotations = doc_at(pod, "metadata.annotations");
    json_t *meta = picked(json_object_get(pod, "metadata"), metas);
    json_t *spec = json_object();
    const char *node = doc_text(pod, "spec.nodeName");
    const char *of = json_string_value(json_object_get(annotations, group));

    if (of)
        json_object_set_new(meta, "annotations", json_pack("{s:s}", group, of));
    if (node)
        json_object_set_new(spec, "nodeName", json_string(node));
    json_object_set_new(spec, "containers", container_names(pod, "spec.containers"));
    json_object_set_new(spec, "initContainers", container_names(pod, "spec.initContainers"));
    return json_pack("{s:o, s:o, s:o}", "metadata", meta, "spec", spec, "status",
                     picked(json_object_get(pod, "status"), states));
}

static bool take_pod(void *ctx, json_t *pod)
{
    struct gather *gather = ctx;
    const json_t *labels = doc_at(pod, "metadata.labels");
    const json_t *annotations = doc_at(pod, "metadata.annotations");

    if (!is_known(gather, json_string_value(json_object_get(labels, LABEL_JOB_NAME))))
        return true;
    note_name(gather, doc_text(pod, "metadata.name"));
    note_name(gather,
              json_string_value(json_object_get(annotations, "scheduling.k8s.io/group-name")));
    add(gather, pod_summary(pod));
    return true;
}

static bool take_event(void *ctx, json_t *event)
{
    static const char *const members[] = {"metadata",      "involvedObject", "type",
                                          "reason",        "message",        "count",
                                          "lastTimestamp", "eventTime",      NULL};
    struct gather *gather = ctx;

    if (is_known(gather, doc_text(event, "involvedObject.name"))) {
        trim(event);
        add(gather, picked(event, members));
    }
    return true;
}

/* Passes the objects of a kind that are wanted. A namespace may have hundreds of thousands that are
 * not. */
static bool each_wanted(struct gather *gather, struct client *client, const struct kind *kind,
                        bool (*wanted)(const void *ctx, const char *object),
                        bool (*each)(void *ctx, json_t *object), struct error *err)
{
    const struct list_query query = {.kind = kind,
                                     .ns = gather->report->about->view->ns,
                                     .wanted = wanted,
                                     .wanted_ctx = gather};

    return list_each(client, &query, each, gather, NULL, err);
}

static bool gather_objects(struct gather *gather, struct client *client, enum report_specs specs,
                           struct error *err)
{
    begin(gather, "jobs", JOBS_MAX);
    if (specs == REPORT_WITH_SPECS &&
        !each_wanted(gather, client, &kind_job, wants_job, take_job, err))
        return false;
    end(gather, "jobs have no spec here");
    begin(gather, "pods", PODS_MAX);
    if (!each_wanted(gather, client, &kind_pod, wants_pod, take_pod, err))
        return false;
    end(gather, "pods are left out");
    begin(gather, "events", EVENTS_MAX);
    if (!each_wanted(gather, client, &kind_event, wants_event, take_event, err))
        return false;
    end(gather, "events are left out");
    return true;
}

/* Adds the flow without its status, and without what the report is not to have of its spec. */
static bool gather_flow(struct gather *gather, struct client *client, enum report_specs specs,
                        struct error *err)
{
    const struct flow_view *view = gather->report->about->view;
    scoped(buf) struct buf path = {0};
    json_t *flow;

    resource_write_path(&kind_job_flow, view->ns, view->name, &path);
    flow = client_get(client, path.data, err);
    if (!flow)
        return false;
    trim(flow);
    if (specs == REPORT_WITHOUT_SPECS) {
        json_object_del(flow, "spec");
        say(gather, mem_strdup("Specs: commands, arguments, environment and parameters."));
    } else if (view->n_steps > STEPS_WITH_SPEC_MAX) {
        json_object_del(json_object_get(flow, "spec"), "flows");
        say(gather, mem_strdup("The spec of each step: the flow has too many."));
    }
    json_object_set_new(gather->out, "flow", flow);
    return true;
}

/* Returns the line of the stream that tells the flow and all its steps. */
static json_t *line_of(const struct flow_view *view)
{
    const char *uid = doc_text(view->doc, "metadata.uid");
    json_t *steps = json_array();

    for (uint32_t i = 0; i < view->n_steps; i++)
        json_array_append_new(steps, flow_line_step(&view->steps[i]));
    return json_pack("{s:b, s:s, s:I, s:o, s:o, s:b}", "reset", 1, "uid", uid ? uid : "",
                     "generation",
                     (json_int_t)json_integer_value(doc_at(view->doc, "metadata.generation")),
                     "flow", flow_line(view, view->doc), "steps", steps, "ready", 1);
}

/* Returns bytes as text: those that are no UTF-8 become U+FFFD. */
static json_t *text_of(const struct buf *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes->data;
    scoped(buf) struct buf text = {0};

    for (size_t i = 0, n; i < bytes->len; i += n) {
        n = at[i] < 0x80 ? 1 : jsonchars_utf8(at + i, bytes->len - i);
        if (n)
            buf_add(&text, at + i, n);
        else
            buf_str(&text, "\xef\xbf\xbd");
        n = n ? n : 1;
    }
    return json_stringn(text.len ? text.data : "", text.len);
}

static json_t *logs_of(const struct report *report)
{
    json_t *logs = json_array();

    for (size_t i = 0; i < report->n_logs; i++) {
        const struct report_log *log = &report->logs[i];

        json_array_append_new(logs, json_pack("{s:s, s:s, s:o, s:b}", "pod", log->pod, "container",
                                              log->container, "text", text_of(&log->text), "cut",
                                              (int)log->cut));
    }
    return logs;
}

/* Says what the logs and times do not tell. */
static void say_rest(struct gather *gather)
{
    const struct report *report = gather->report;
    size_t cut = 0;

    for (size_t i = 0; i < report->n_logs; i++)
        cut += report->logs[i].cut;
    if (cut)
        say(gather, mem_printf("The beginnings of %zu logs.", cut));
    if (report->logs_left_out)
        say(gather, mem_printf("%zu more logs.", report->logs_left_out));
    if (report->trace->untimed)
        say(gather,
            mem_printf("The times of %u attempts, which are not known.", report->trace->untimed));
}

/* Returns the graph as columns, in base64. */
static json_t *graph_of(const struct flow_view *view)
{
    scoped(buf) struct buf columns = {0}, text = {0};

    graph_columns(view, &columns);
    base64_encode(columns.data, columns.len, &text);
    return json_stringn(text.data, text.len);
}

json_t *report_data(struct report *report, struct client *client, enum report_specs specs,
                    struct error *err)
{
    const struct flow_view *view = report->about->view;
    scoped(json) json_t *out = json_object(), *names = json_object();
    struct gather gather = {.report = report, .specs = specs, .out = out, .names = names};

    json_object_set_new(out, "ns", json_string(view->ns));
    json_object_set_new(out, "name", json_string(view->name));
    json_object_set_new(out, "leftOut", json_array());
    json_object_set_new(out, "graph", graph_of(view));
    json_object_set_new(out, "line", line_of(view));
    json_object_set(out, "why", report->why);
    json_object_set_new(out, "logs", logs_of(report));
    note_name(&gather, view->name);
    if (!gather_flow(&gather, client, specs, err))
        return NULL;
    begin(&gather, "steps", RECORDS_TOLD_MAX);
    if (!step_fetch(client, view->ns, view->name, false, take_records, &gather, err))
        return NULL;
    end(&gather, "steps have no attempts, specs, pods and events here");
    if (!gather_objects(&gather, client, specs, err))
        return NULL;
    say_rest(&gather);
    return json_incref(out);
}
