/*
 * The subresources scale (of jobs) and binding (of pods), and the refusal of exec, attach and
 * port-forward. Ref: spec/kube-api.md 6.8, 6.11.
 */
#include <string.h>

#include "api/server/rest/internal.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/encoding/jsonw.h"

struct api_stream *verb_stream_unsupported(const struct api_call *call)
{
    struct error err = {0};

    error_set(&err, ERR_NOT_IMPLEMENTED, "",
              "exec, attach and port-forward are not available here: pods are processes of this "
              "machine; use kubectl logs, or the tools of the machine");
    return reply_error(call, &err);
}

/*
 * Returns the task whose replicas a Scale sets. Only a job with exactly one task can be scaled.
 */
static json_t *only_task(const struct api_call *call, json_t *doc, struct error *err)
{
    json_t *tasks = json_object_get(json_object_get(doc, "spec"), "tasks");

    if (json_array_size(tasks) == 1)
        return json_array_get(tasks, 0);
    error_set(err, ERR_INVALID, "spec.replicas",
              "Forbidden: job \"%s\" has %zu tasks, and scale does not say which; set "
              "spec.tasks[i].replicas with kubectl patch, edit or apply",
              call->route.name, json_array_size(tasks));
    return NULL;
}

static void write_selector(struct jsonw *w, const struct object *job)
{
    scoped(buf) struct buf text = {0};

    buf_printf(&text, "volcano.sh/job-name=%s", object_name(job));
    jsonw_member_str(w, "selector", text.data);
}

static struct api_stream *reply_scale(const struct api_call *call, const struct object *job,
                                      struct error_list *warnings)
{
    struct reply reply = {.status = 200, .warnings = warnings};
    const struct job_spec *spec = job_spec_of(job);
    const struct job_status *status = job_status_of(job);
    struct jsonw w = jsonw_to(&reply.body);
    int64_t replicas = 0;
    char revision[24];

    for (size_t i = 0; i < spec->tasks.count; i++)
        replicas += spec->tasks.items[i].replicas;
    snprintf(revision, sizeof revision, "%lld", (long long)job->revision);
    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "Scale");
    jsonw_member_str(&w, "apiVersion", "autoscaling/v1");
    jsonw_member_open(&w, "metadata");
    jsonw_member_str(&w, "name", object_name(job));
    jsonw_member_str(&w, "namespace", object_namespace(job));
    jsonw_member_str(&w, "uid", object_uid(job));
    jsonw_member_str(&w, "resourceVersion", revision);
    jsonw_member_time(&w, "creationTimestamp", job->meta->created_at_ms);
    jsonw_close(&w);
    jsonw_member_open(&w, "spec");
    jsonw_member_int(&w, "replicas", replicas);
    jsonw_close(&w);
    jsonw_member_open(&w, "status");
    jsonw_member_int(&w, "replicas", status->pending + status->running);
    write_selector(&w, job);
    jsonw_close(&w);
    jsonw_close(&w);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_DURABLE);
}

struct api_stream *verb_scale_get(const struct api_call *call)
{
    struct error err = {0};
    const struct object *job = find_object(call, &err);

    return job ? reply_scale(call, job, NULL) : reply_error(call, &err);
}

/* Puts the replicas and the revision of the Scale `body` into the job's document. A minAvailable
 * that equals the replicas follows them. */
static bool set_scale(const struct api_call *call, json_t *doc, const json_t *body,
                      struct error *err)
{
    const json_t *wanted = json_object_get(json_object_get(body, "spec"), "replicas");
    const char *revision = doc_text(body, "metadata.resourceVersion");
    json_t *spec = json_object_get(doc, "spec"), *task = only_task(call, doc, err);
    json_int_t before;

    if (!task)
        return false;
    if (!json_is_integer(wanted) || json_integer_value(wanted) < 0)
        return error_set(err, ERR_INVALID, "spec.replicas",
                         "Invalid value: must be a number greater than or equal to 0");
    before = json_integer_value(json_object_get(task, "replicas"));
    if (json_integer_value(json_object_get(spec, "minAvailable")) == before)
        json_object_set(spec, "minAvailable", (json_t *)(uintptr_t)wanted);
    if (json_integer_value(json_object_get(task, "minAvailable")) == before)
        json_object_set(task, "minAvailable", (json_t *)(uintptr_t)wanted);
    json_object_set(task, "replicas", (json_t *)(uintptr_t)wanted);
    json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                        json_string(revision ? revision : ""));
    return true;
}

struct api_stream *verb_scale_set(const struct api_call *call)
{
    scoped(write) struct write write = {0};
    scoped(json) json_t *body = NULL, *doc = NULL;
    struct error err = {0};
    const struct object *job;

    if (!write_init(&write, call, &err))
        return reply_option_error(call, "UpdateOptions", &err);
    body = body_parse(call, NULL, &err);
    job = body ? find_object(call, &err) : NULL;
    if (!job)
        return reply_error(call, &err);
    doc = object_to_json(job);
    if (!set_scale(call, doc, body, &err))
        return reply_error(call, &err);
    if (!registry_update(call->api->registry, doc, REGISTRY_MAIN, &write.how, &write.object,
                         &write.errors))
        return reply_errors(call, &write.errors);
    return reply_scale(call, write.object, &write.warnings);
}

struct api_stream *verb_bind(const struct api_call *call)
{
    scoped(write) struct write write = {0};
    scoped(json) json_t *body = NULL, *doc = NULL;
    struct error err = {0};
    const struct object *pod;
    const char *node;

    if (!write_init(&write, call, &err))
        return reply_option_error(call, "CreateOptions", &err);
    body = body_parse(call, NULL, &err);
    pod = body ? find_object(call, &err) : NULL;
    if (!pod)
        return reply_error(call, &err);
    node = doc_text(body, "target.name");
    if (!node || !*node) {
        error_set(&err, ERR_INVALID, "target.name", "Required value");
        return reply_error(call, &err);
    }
    if (pod_spec_of(pod)->node_name && *pod_spec_of(pod)->node_name) {
        error_set(&err, ERR_CONFLICT, "",
                  "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is already "
                  "assigned to node \"%s\"",
                  call->route.name, call->route.name, pod_spec_of(pod)->node_name);
        return reply_error(call, &err);
    }
    if (json_array_size(pod_spec_of(pod)->scheduling_gates)) {
        error_set(&err, ERR_CONFLICT, "",
                  "Operation cannot be fulfilled on pods/binding \"%s\": pod %s has non-empty "
                  ".spec.schedulingGates",
                  call->route.name, call->route.name);
        return reply_error(call, &err);
    }
    doc = object_to_json(pod);
    json_object_set_new(json_object_get(doc, "spec"), "nodeName", json_string(node));
    if (!registry_update(call->api->registry, doc, REGISTRY_MAIN, &write.how, &write.object,
                         &write.errors))
        return reply_errors(call, &write.errors);
    return reply_success(call, 201);
}
