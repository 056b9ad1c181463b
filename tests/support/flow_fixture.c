/*
 * Runs the flow controllers on a registry in memory and plays user, job controller and kubelet.
 */
#include "tests/support/flow_fixture.h"
#include "tests/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "api/cluster_remote/cluster_remote.h"
#include "api/types/text/yaml.h"
#include "base/log.h"

enum { START_MS = 1700000000 };

static void on_flow(struct cluster_watcher *watcher, enum cluster_change change,
                    const struct object *old, const struct object *object)
{
    struct flow_fixture *fixture = container_of(watcher, struct flow_fixture, flow_watcher);
    const char *before = old ? flow_phase_text(jobflow_phase_of(old)) : "";
    const char *phase = flow_phase_text(jobflow_phase_of(object));

    if (change == CHANGE_MODIFIED)
        fixture->flow_writes++;
    if (change != CHANGE_DELETED && strcmp(before, phase) != 0)
        buf_printf(&fixture->phases, "%s%s:%s", fixture->phases.len ? " " : "", object_name(object),
                   phase);
}

static void on_job(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *object)
{
    struct flow_fixture *fixture = container_of(watcher, struct flow_fixture, job_watcher);

    if (change == CHANGE_ADDED)
        buf_printf(&fixture->created, "%s%s", fixture->created.len ? " " : "", object_name(object));
}

void flow_fixture_start(struct flow_fixture *fixture)
{
    fixture->templates = template_controller_start(fixture->cluster);
    fixture->flows = flow_controller_start(fixture->cluster, &fixture->options);
    flow_fixture_settle(fixture);
}

void flow_fixture_stop(struct flow_fixture *fixture)
{
    flow_controller_stop(take(fixture->flows));
    template_controller_stop(take(fixture->templates));
    flow_fixture_settle(fixture);
}

void flow_fixture_restart(struct flow_fixture *fixture)
{
    flow_fixture_stop(fixture);
    flow_fixture_start(fixture);
}

static void on_synced(void *ctx)
{
}

static void on_unsupported(void *ctx, const struct error *err)
{
    check_fail("the server is not supported: %s", err->message);
}

static void connect_remote(struct flow_fixture *fixture)
{
    static const struct cluster_remote_kind kinds[] = {
        {&kind_job_flow, NULL}, {&kind_job_template, NULL},
        {&kind_job, NULL},      {&kind_command, NULL},
        {&kind_pod, NULL},      {&kind_pod_log, NULL},
        {&kind_event, NULL},    {0}};
    struct cluster_remote_options options = {
        .max_in_flight = 64, .kinds = kinds, .synced = on_synced, .unsupported = on_unsupported};

    fixture->api = api_new(fixture->loop, fixture->registry, NULL);
    fixture->transport = api_transport_new(fixture->loop, fixture->api);
    fixture->remote = remote_new(fixture->loop, api_transport_base(fixture->transport), NULL);
    options.streams = options.calls = fixture->remote;
    fixture->cluster = cluster_remote_new(fixture->loop, &options);
    cluster_remote_start(fixture->cluster);
    cluster_remote_unfence(fixture->cluster);
    loop_settle(fixture->loop);
}

static void disconnect(struct flow_fixture *fixture)
{
    if (!fixture->api) {
        cluster_embedded_free(fixture->cluster);
        return;
    }
    cluster_remote_free(fixture->cluster);
    remote_free(fixture->remote);
    api_transport_free(fixture->transport);
    api_free(fixture->api);
}

static struct flow_fixture *make(struct clock *clock, const struct flow_options *options)
{
    struct flow_fixture *fixture = mem_alloc(sizeof *fixture);
    struct error err = {0};
    const struct store_options memory = {0};
    const struct registry_options rules = {.virtual_runtime = true,
                                           .flows.deletion_protection = true,
                                           .flows.reject_updates = true,
                                           .upstream_compat = options && options->upstream_compat};

    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT);
    fixture->clock = clock;
    fixture->loop = loop_new(clock);
    fixture->store = store_open(fixture->loop, &memory, &err);
    check_ok("store", fixture->store != NULL, err);
    fixture->registry = registry_new(fixture->loop, fixture->store, &rules);
    if (clock != clock_real() && getenv(FLOW_FIXTURE_REMOTE))
        connect_remote(fixture);
    else
        fixture->cluster = cluster_embedded_new(fixture->loop, fixture->registry);
    if (options)
        fixture->options = *options;
    fixture->flow_watcher = (struct cluster_watcher){on_flow, &kind_job_flow};
    fixture->job_watcher = (struct cluster_watcher){on_job, &kind_job};
    cluster_watch(fixture->cluster, &fixture->flow_watcher);
    cluster_watch(fixture->cluster, &fixture->job_watcher);
    flow_fixture_start(fixture);
    return fixture;
}

struct flow_fixture *flow_fixture_new(const struct flow_options *options)
{
    return make(clock_virtual_new(START_MS * INT64_C(1000), 1), options);
}

struct flow_fixture *flow_fixture_new_real(const struct flow_options *options)
{
    return make(clock_real(), options);
}

void flow_fixture_free(struct flow_fixture *fixture)
{
    flow_fixture_stop(fixture);
    cluster_unwatch(fixture->cluster, &fixture->flow_watcher);
    cluster_unwatch(fixture->cluster, &fixture->job_watcher);
    flow_fixture_settle(fixture);
    disconnect(fixture);
    registry_free(fixture->registry);
    store_close(fixture->store);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    buf_release(&fixture->phases);
    buf_release(&fixture->created);
    mem_free(fixture);
}

void flow_fixture_fence(struct flow_fixture *fixture)
{
    cluster_remote_fence(fixture->cluster, "this process does not lead any more");
}

void flow_fixture_unfence(struct flow_fixture *fixture)
{
    cluster_remote_unfence(fixture->cluster);
}

void flow_fixture_settle(struct flow_fixture *fixture)
{
    loop_settle(fixture->loop);
}

void flow_fixture_advance(struct flow_fixture *fixture, int64_t ms)
{
    loop_advance(fixture->loop, ms);
}

void flow_fixture_restart_if(struct flow_fixture *fixture, bool wanted)
{
    if (wanted)
        flow_fixture_restart(fixture);
}

static void check_none(const struct error_list *errors)
{
    struct error err = {0};

    check_ok("write", error_list_ok(errors, &err), err);
}

static void apply_document(struct flow_fixture *fixture, json_t *doc, struct error_list *errors)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    const json_t *metadata = json_object_get(doc, "metadata");
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const struct kind *kind = kind_by_gvk(json_string_value(json_object_get(doc, "apiVersion")),
                                          json_string_value(json_object_get(doc, "kind")));

    if (!ns && (!kind || kind->namespaced))
        json_object_set_new(json_object_get(doc, "metadata"), "namespace", json_string("default"));
    if (kind && name && store_get(fixture->store, kind, ns ? ns : "default", name))
        registry_update(fixture->registry, doc, REGISTRY_MAIN, &how, NULL, errors);
    else
        registry_create(fixture->registry, doc, &how, NULL, errors);
}

static void apply(struct flow_fixture *fixture, const char *yaml, struct error_list *errors)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);

    check_ok(yaml, stream != NULL, err);
    for (size_t i = 0; i < yaml_count(stream); i++)
        apply_document(fixture, yaml_document(stream, i), errors);
    flow_fixture_settle(fixture);
}

bool flow_fixture_try(struct flow_fixture *fixture, const char *yaml)
{
    struct error_list errors = {0};
    bool good;

    apply(fixture, yaml, &errors);
    good = error_list_ok(&errors, NULL);
    error_list_release(&errors);
    return good;
}

void flow_fixture_apply(struct flow_fixture *fixture, const char *yaml)
{
    struct error_list errors = {0};

    apply(fixture, yaml, &errors);
    check_none(&errors);
    error_list_release(&errors);
}

void flow_fixture_templates(struct flow_fixture *fixture, const char *names)
{
    scoped(buf) struct buf yaml = {0};
    scoped_str list = mem_strdup(names);
    char *rest = NULL;

    for (char *name = strtok_r(list, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        buf_printf(&yaml,
                   "---\n"
                   "apiVersion: flow.volcano.sh/v1alpha1\n"
                   "kind: JobTemplate\n"
                   "metadata: {name: \"%s\"}\n"
                   "spec: {tasks: [{name: main, replicas: 1, template: {spec: {containers: "
                   "[{name: c, image: i, command: [c]}]}}}]}\n",
                   name);
    if (yaml.len)
        flow_fixture_apply(fixture, yaml.data);
}

void flow_fixture_flow(struct flow_fixture *fixture, const char *name, const char *steps,
                       const char *extra)
{
    scoped(buf) struct buf yaml = {0};
    scoped_str list = mem_strdup(steps);
    char *rest = NULL;

    buf_printf(&yaml,
               "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
               "metadata: {name: %s, annotations: {flow.volcano.sh/allow-updates: \"true\"}}\n"
               "spec: {%s%sflows: [",
               name, extra ? extra : "", extra ? ", " : "");
    for (char *step = strtok_r(list, ", ", &rest); step; step = strtok_r(NULL, ", ", &rest)) {
        char *targets = strstr(step, "<-");

        if (targets)
            *targets = '\0';
        buf_printf(&yaml, "{name: \"%s\"", step);
        if (targets) {
            buf_str(&yaml, ", dependsOn: {targets: [\"");
            for (const char *c = targets + 2; *c; c++)
                if (*c == '+')
                    buf_str(&yaml, "\", \"");
                else
                    buf_char(&yaml, *c);
            buf_str(&yaml, "\"]}");
        }
        buf_str(&yaml, "},");
    }
    buf_str(&yaml, "]}\n");
    flow_fixture_apply(fixture, yaml.data);
}

void flow_fixture_run(struct flow_fixture *fixture, const char *name, const char *steps)
{
    scoped(buf) struct buf names = {0};
    scoped_str list = mem_strdup(steps);
    char *rest = NULL;

    for (char *step = strtok_r(list, ", ", &rest); step; step = strtok_r(NULL, ", ", &rest)) {
        char *targets = strstr(step, "<-");

        if (targets)
            *targets = '\0';
        buf_printf(&names, "%s ", step);
    }
    flow_fixture_templates(fixture, names.data);
    flow_fixture_flow(fixture, name, steps, NULL);
}

void flow_fixture_run_f(struct flow_fixture *fixture, const char *steps, const char *extra)
{
    flow_fixture_templates(fixture, "a b c d e");
    flow_fixture_flow(fixture, "f", steps, extra);
}

const struct object *flow_fixture_get(struct flow_fixture *fixture, const struct kind *kind,
                                      const char *name)
{
    return store_get(fixture->store, kind, "default", name);
}

bool flow_fixture_has_job(struct flow_fixture *fixture, const char *name)
{
    return flow_fixture_get(fixture, &kind_job, name) != NULL;
}

void flow_fixture_annotate(struct flow_fixture *fixture, const char *flow, const char *key,
                           const char *value)
{
    const struct object *now = flow_fixture_get(fixture, &kind_job_flow, flow);
    struct meta draft = *now->meta;
    struct error_list errors = {0};
    struct kv annotations[16];
    uint32_t count = 0;

    for (uint32_t i = 0; i < draft.n_annotations; i++)
        if (strcmp(draft.annotations[i].key, key) != 0)
            annotations[count++] = draft.annotations[i];
    annotations[count++] = (struct kv){key, value};
    draft.annotations = annotations;
    draft.n_annotations = count;
    registry_update_object(fixture->registry, object_with_meta(now, meta_new(&draft)), NULL,
                           &errors);
    check_none(&errors);
    error_list_release(&errors);
}

void flow_fixture_delete(struct flow_fixture *fixture, const struct kind *kind, const char *name,
                         enum registry_propagation how)
{
    const struct registry_delete deletion = {.grace_s = 0, .propagation = how};
    struct error_list errors = {0};

    registry_delete(fixture->registry, (struct registry_target){kind, "default", name}, &deletion,
                    NULL, &errors);
    check_none(&errors);
    error_list_release(&errors);
    flow_fixture_settle(fixture);
}

static const struct object *job_of(struct flow_fixture *fixture, const char *name)
{
    const struct object *job = flow_fixture_get(fixture, &kind_job, name);

    if (!job)
        check_fail("there is no job %s; created so far: %s", name,
                   fixture->created.data ? fixture->created.data : "none");
    return job;
}

static void put_status(struct flow_fixture *fixture, const struct object *object,
                       struct blob *status)
{
    struct error_list errors = {0};

    registry_update_status(fixture->registry, object, status, NULL, &errors);
    check_none(&errors);
    error_list_release(&errors);
}

void flow_fixture_status(struct flow_fixture *fixture, const char *job,
                         const struct job_status *status)
{
    put_status(fixture, job_of(fixture, job), job_status_blob(status));
    flow_fixture_settle(fixture);
}

void flow_fixture_phase_soon(struct flow_fixture *fixture, const char *name, enum job_phase phase)
{
    const struct object *job = job_of(fixture, name);
    const struct job_status *before = job_status_of(job);
    struct job_condition conditions[JOB_PHASE_N];
    struct job_status status = *before;
    size_t count = 0;

    for (size_t i = 0; i < before->conditions.count; i++) /* conditions have at most one entry
                                                           * per phase, the newest last */
        if (before->conditions.items[i].phase != phase)
            conditions[count++] = before->conditions.items[i];
    conditions[count++] = (struct job_condition){phase, loop_wall_ms(fixture->loop)};
    status.phase = phase;
    status.transition_ms = loop_wall_ms(fixture->loop);
    status.conditions.items = conditions;
    status.conditions.count = count;
    if (!job->status)
        status.running_duration_ns = -1;
    put_status(fixture, job, job_status_blob(&status));
}

void flow_fixture_phase(struct flow_fixture *fixture, const char *job, enum job_phase phase)
{
    flow_fixture_phase_soon(fixture, job, phase);
    flow_fixture_settle(fixture);
}

void flow_fixture_complete(struct flow_fixture *fixture, const char *job)
{
    flow_fixture_phase(fixture, job, JOB_PENDING);
    flow_fixture_phase(fixture, job, JOB_RUNNING);
    flow_fixture_phase(fixture, job, JOB_COMPLETED);
}

static void create_pod(struct flow_fixture *fixture, const struct object *job, const char *task,
                       const char *name)
{
    const struct kv labels[] = {{LABEL_TASK_SPEC, task}, {LABEL_JOB_NAME, object_name(job)}};
    const struct owner_ref owner = {
        "batch.volcano.sh/v1alpha1", "Job", object_name(job), object_uid(job), true, true};
    const struct meta draft = {.namespace = "default",
                               .name = name,
                               .uid = "",
                               .deletion_grace_s = -1,
                               .labels = labels,
                               .n_labels = countof(labels),
                               .owners = &owner,
                               .n_owners = 1};
    static const char body[] = "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                               "\"command\":[\"c\"]}]}}";
    struct error_list errors = {0};

    registry_create_object(
        fixture->registry,
        object_new(&kind_pod, meta_new(&draft), blob_intern(body, strlen(body)), NULL), NULL,
        &errors);
    check_none(&errors);
    error_list_release(&errors);
}

void flow_fixture_end_pod(struct flow_fixture *fixture, const char *job, const char *task,
                          int index, int exit_code, const char *message)
{
    struct container_status container = {
        .name = "c", .state = CONTAINER_TERMINATED, .exit_code = exit_code, .message = message};
    struct pod_status status = {.phase = exit_code ? POD_FAILED : POD_SUCCEEDED};
    char name[128];

    status.containers.items = &container;
    status.containers.count = 1;
    snprintf(name, sizeof name, "%s-%s-%d", job, task, index);
    if (!flow_fixture_get(fixture, &kind_pod, name))
        create_pod(fixture, job_of(fixture, job), task, name);
    put_status(fixture, flow_fixture_get(fixture, &kind_pod, name), pod_status_blob(&status));
    flow_fixture_settle(fixture);
}

void flow_fixture_end(struct flow_fixture *fixture, const char *job, int exit_code,
                      const char *message)
{
    flow_fixture_phase(fixture, job, JOB_RUNNING);
    flow_fixture_end_pod(fixture, job, "main", 0, exit_code, message);
    flow_fixture_phase(fixture, job, exit_code ? JOB_FAILED : JOB_COMPLETED);
}

void flow_fixture_spec(struct flow_fixture *fixture, const char *name, const char *templates,
                       const char *spec)
{
    scoped_str yaml =
        mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\n"
                   "metadata: {name: %s, annotations: {flow.volcano.sh/allow-updates: \"true\"}}\n"
                   "spec: {%s}\n",
                   name, spec);

    flow_fixture_templates(fixture, templates);
    flow_fixture_apply(fixture, yaml);
}

static void set_pod(struct flow_fixture *fixture, const char *job, const char *task, int index,
                    const struct pod_status *status)
{
    char name[128];

    snprintf(name, sizeof name, "%s-%s-%d", job, task, index);
    if (!flow_fixture_get(fixture, &kind_pod, name))
        create_pod(fixture, job_of(fixture, job), task, name);
    put_status(fixture, flow_fixture_get(fixture, &kind_pod, name), pod_status_blob(status));
    flow_fixture_settle(fixture);
}

void flow_fixture_pod(struct flow_fixture *fixture, const char *job, const char *task, int index,
                      enum pod_phase phase, const char *ip)
{
    set_pod(fixture, job, task, index, &(struct pod_status){.phase = phase, .pod_ip = ip});
}

void flow_fixture_ready(struct flow_fixture *fixture, const char *job)
{
    const struct pod_status status = {.phase = POD_RUNNING,
                                      .scheduled = true,
                                      .initialized = true,
                                      .ready = true,
                                      .start_ms = 1000};

    set_pod(fixture, job, "main", 0, &status);
}
