/*
 * The player of scheduler and kubelet.
 */
#include "tests/support/job_fixture.h"
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/yaml.h"
#include "tests/fake/faulty.h"

static void note(char trace[STAGE_TRACE_MAX], const char *word)
{
    size_t len = strlen(trace);

    if (len + strlen(word) + 2 < STAGE_TRACE_MAX)
        snprintf(trace + len, STAGE_TRACE_MAX - len, "%s%s", len ? " " : "", word);
}

/* ---- kubelet ---- */

static void write_status(struct stage *stage, const struct object *pod,
                         const struct pod_status *status)
{
    cluster_update_status(stage->backend, NULL, stage_get(stage, &kind_pod, object_name(pod)),
                          pod_status_blob(status));
}

static void report(struct stage *stage, const struct object *pod, enum pod_phase phase,
                   int exit_code, int restarts, bool ready)
{
    bool ended = phase == POD_SUCCEEDED || phase == POD_FAILED;
    struct container_status container = {
        .name = "main",
        .state = ended                  ? CONTAINER_TERMINATED
                 : phase == POD_RUNNING ? CONTAINER_RUNNING
                                        : CONTAINER_WAITING,
        .exit_code = ended ? exit_code : 0,
        .restart_count = restarts,
        .ready = ready && phase == POD_RUNNING,
        .started_ms = loop_wall_ms(stage->loop),
        .finished_ms = ended ? loop_wall_ms(stage->loop) : 0,
    };

    write_status(stage, pod, &(struct pod_status){.phase = phase, .containers = {&container, 1}});
}

static void let_go(struct stage *stage, const struct object *pod)
{
    const struct cluster_removal how = {.grace_s = 0};

    cluster_remove(stage->backend, NULL, &kind_pod, object_namespace(pod), object_name(pod), &how);
}

/* Give the pod a node, so that deleting it takes a grace period. */
static void bind_pod(struct stage *stage, const struct object *pod)
{
    scoped(json) json_t *body = object_body_json(pod);

    json_object_set_new(json_object_get(body, "spec"), "nodeName", json_string("node"));
    cluster_update(stage->backend, NULL, object_with_body(pod, object_body_from_json(body)));
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct stage *stage = container_of(watcher, struct stage, pods);
    const struct object *now = stage_get(stage, &kind_pod, object_name(pod));
    const char *node;

    if (change == CHANGE_ADDED)
        note(stage->created, object_name(pod));
    if (change == CHANGE_DELETED ? !old || !object_deleting(old)
                                 : object_deleting(pod) && !object_deleting(old))
        note(stage->deleted, object_name(pod));
    if (change == CHANGE_DELETED || !now || strcmp(object_uid(now), object_uid(pod)) != 0)
        return;
    if (object_deleting(now)) {
        if (!stage->options.slow_deletion)
            let_go(stage, now);
        return;
    }
    node = pod_spec_of(now)->node_name;
    if (!node || !*node)
        bind_pod(stage, now);
    else if (pod_status_of(now)->phase == POD_PENDING &&
             pod_status_of(now)->containers.count == 0 && stage->options.run_pods)
        report(stage, now, POD_RUNNING, 0, 0, true);
    else if (stage->options.finish_pods && pod_status_of(now)->phase == POD_RUNNING)
        report(stage, now, POD_SUCCEEDED, 0, 0, false);
}

/* ---- scheduler ---- */

static void set_group_phase(struct stage *stage, const struct object *group,
                            enum podgroup_phase phase)
{
    struct podgroup_condition condition = {
        .type = phase == PODGROUP_UNKNOWN ? "Unschedulable" : "Scheduled",
        .status = "True",
        .reason = "Test",
        .message = "as the test says",
        .at_ms = loop_wall_ms(stage->loop),
    };

    cluster_update(stage->backend, NULL,
                   object_with_status(group, podgroup_status_blob(&(struct podgroup_status){
                                                 .phase = phase, .conditions = {&condition, 1}})));
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct stage *stage = container_of(watcher, struct stage, groups);
    const struct object *now = stage_get(stage, &kind_pod_group, object_name(group));

    stage->group_creations += change == CHANGE_ADDED;
    stage->group_deletions += change == CHANGE_DELETED;
    if (change == CHANGE_ADDED && now && !stage->options.hold_groups &&
        podgroup_status_of(now)->phase == PODGROUP_NONE)
        set_group_phase(stage, now, PODGROUP_INQUEUE);
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct stage *stage = container_of(watcher, struct stage, jobs);
    enum job_phase before = old ? job_status_of(old)->phase : JOB_NONE;
    enum job_phase after = job_status_of(job)->phase;

    stage->job_writes++;
    if (change != CHANGE_DELETED && after != before)
        note(stage->phases, job_phase_text(after));
}

/* ---- life ---- */

void stage_start_controller(struct stage *stage)
{
    const struct job_options options = {
        .scheduler_name = "volcano",
        .max_requeue = stage->options.no_limit ? -1 : 15,
        .whole_gang = stage->options.whole_gang,
        .gc_aborted = stage->options.gc_aborted,
        .local_pods = !stage->options.elsewhere,
    };

    stage->controller = job_controller_start(stage->cluster, &options);
    loop_settle(stage->loop);
}

void stage_stop_controller(struct stage *stage)
{
    job_controller_stop(stage->controller);
    stage->controller = NULL;
    loop_settle(stage->loop);
}

enum { SETTLE_MS = 30 }; /* longer than status writes are gathered */

static struct faulty_rule fault;
static bool has_fault;
static int most_writes;

void stage_fault(const struct faulty_rule *rule)
{
    has_fault = rule != NULL;
    if (rule)
        fault = *rule;
}

bool stage_has_fault(void)
{
    return has_fault;
}

int stage_count_writes(void)
{
    int writes = most_writes;

    most_writes = 0;
    return writes;
}

static void open_world(struct stage *stage)
{
    const struct store_options where = {.directory = stage->options.directory};
    const struct registry_options rules = {.virtual_runtime = true};
    struct error err = {0};

    stage->store = store_open(stage->loop, &where, &err);
    check_ok("store", stage->store != NULL, err);
    stage->registry = registry_new(stage->loop, stage->store, &rules);
    stage->backend = cluster_embedded_new(stage->loop, stage->registry);
    stage->cluster = faulty_new(stage->backend);
    if (has_fault)
        faulty_plan(stage->cluster, &fault);
    stage->pods = (struct cluster_watcher){pod_changed, &kind_pod};
    stage->groups = (struct cluster_watcher){group_changed, &kind_pod_group};
    stage->jobs = (struct cluster_watcher){job_changed, &kind_job};
    cluster_watch(stage->backend, &stage->pods);
    cluster_watch(stage->backend, &stage->groups);
    cluster_watch(stage->backend, &stage->jobs);
}

static void close_world(struct stage *stage)
{
    cluster_unwatch(stage->backend, &stage->jobs);
    cluster_unwatch(stage->backend, &stage->groups);
    cluster_unwatch(stage->backend, &stage->pods);
    loop_settle(stage->loop);
    if (faulty_writes(stage->cluster) > most_writes)
        most_writes = faulty_writes(stage->cluster);
    faulty_free(stage->cluster);
    cluster_embedded_free(stage->backend);
    registry_free(stage->registry);
    store_close(stage->store);
}

struct stage *stage_new(const struct stage_options *options)
{
    struct stage *stage = mem_alloc(sizeof *stage);

    stage->options = *options;
    stage->clock = clock_virtual_new(1800000000000, 1);
    stage->loop = loop_new(stage->clock);
    open_world(stage);
    stage_start_controller(stage);
    return stage;
}

void stage_free(struct stage *stage)
{
    stage_stop_controller(stage);
    close_world(stage);
    loop_free(stage->loop);
    clock_free(stage->clock);
    mem_free(stage);
}

void stage_restart(struct stage *stage)
{
    stage_stop_controller(stage);
    if (stage->options.directory) {
        close_world(stage);
        open_world(stage);
    }
    stage_start_controller(stage);
}

/* After a fault a little longer: what went wrong is tried again. */
void stage_settle(struct stage *stage)
{
    int before = faulty_hits(stage->cluster);

    loop_advance(stage->loop, SETTLE_MS);
    if (has_fault && faulty_hits(stage->cluster) > before)
        loop_advance(stage->loop, INT64_C(3) * SETTLE_MS);
}

void stage_advance(struct stage *stage, int64_t ms)
{
    loop_advance(stage->loop, ms);
}

/* ---- user ---- */

static void check_errors(const struct error_list *errors)
{
    struct error err = {0};

    check_ok("write", error_list_ok(errors, &err), err);
}

void stage_apply(struct stage *stage, const char *yaml)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};

    check_ok("manifest", stream != NULL, err);
    for (size_t i = 0; i < yaml_count(stream); i++) {
        struct error_list errors = {0};
        const struct object *out;

        registry_create(stage->registry, yaml_document(stream, i), &how, &out, &errors);
        check_errors(&errors);
    }
    stage_settle(stage);
}

void stage_patch(struct stage *stage, const struct kind *kind, const char *name, const char *json)
{
    scoped(json) json_t *patch = json_loads(json, 0, NULL);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    struct error_list errors = {0};
    const struct object *out;

    if (!patch)
        check_fail("patch is no JSON: %s", json);
    registry_patch(stage->registry, kind, kind->namespaced ? "default" : "", name,
                   REGISTRY_PATCH_MERGE, patch, REGISTRY_MAIN, &how, &out, &errors);
    check_errors(&errors);
    stage_settle(stage);
}

void stage_scale(struct stage *stage, const char *job, size_t task, int replicas, int min_available)
{
    scoped(json) json_t *body = object_body_json(stage_get(stage, &kind_job, job));
    json_t *tasks = json_object_get(json_object_get(body, "spec"), "tasks");
    scoped(json) json_t *patch = NULL;
    char *text;

    json_object_set_new(json_array_get(tasks, task), "replicas", json_integer(replicas));
    json_object_set_new(json_array_get(tasks, task), "minAvailable", json_integer(replicas));
    patch = json_pack("{s:{s:i, s:O}}", "spec", "minAvailable", min_available, "tasks", tasks);
    text = json_dumps(patch, 0);
    stage_patch(stage, &kind_job, job, text);
    free(text);
}

void stage_delete(struct stage *stage, const struct kind *kind, const char *name)
{
    const struct registry_delete how = {.grace_s = -1};
    struct error_list errors = {0};
    const struct object *out;

    registry_delete(stage->registry, kind, kind->namespaced ? "default" : "", name, &how, &out,
                    &errors);
    check_errors(&errors);
    stage_settle(stage);
}

void stage_job_simple(struct stage *stage, const char *name, const char *tasks, const char *extra)
{
    struct buf yaml = {0};
    const char *at = tasks;

    buf_printf(&yaml,
               "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s, namespace: "
               "default}\nspec:\n",
               name);
    for (const char *line = extra; line && *line;
         line = strchr(line, ';') ? strchr(line, ';') + 1 : NULL)
        buf_printf(&yaml, "  %.*s\n", (int)strcspn(line, ";"), line);
    buf_str(&yaml, "  tasks:\n");
    while (*at) {
        char task[64];
        char *end;
        long replicas;
        int used = 0;

        assert_int_equal(sscanf(at, " %60[^*]*%n", task, &used), 1);
        replicas = strtol(at + used, &end, 10);
        assert_true(end > at + used);
        buf_printf(
            &yaml,
            "  - {name: %s, replicas: %ld, template: {spec: {restartPolicy: Never, containers: "
            "[{name: main, image: x, command: [run]}]}}}\n",
            task, replicas);
        at = end;
        while (*at == ' ')
            at++;
    }
    stage_apply(stage, yaml.data);
    buf_release(&yaml);
}

/* ---- reports ---- */

static const struct object *pod_named(struct stage *stage, const char *name)
{
    const struct object *pod = stage_get(stage, &kind_pod, name);

    if (!pod)
        check_fail("pod %s is gone", name);
    return pod;
}

void stage_pod(struct stage *stage, const char *name, enum pod_phase phase)
{
    report(stage, pod_named(stage, name), phase, phase == POD_FAILED ? 1 : 0, 0, true);
    stage_settle(stage);
}

void stage_pod_failed(struct stage *stage, const char *name, int exit_code)
{
    report(stage, pod_named(stage, name), POD_FAILED, exit_code, 0, false);
    stage_settle(stage);
}

void stage_pod_restarts(struct stage *stage, const char *name, int restarts)
{
    report(stage, pod_named(stage, name), POD_RUNNING, 0, restarts, true);
    stage_settle(stage);
}

void stage_not_ready(struct stage *stage, const char *name)
{
    report(stage, pod_named(stage, name), POD_RUNNING, 0, 0, false);
    stage_settle(stage);
}

void stage_report(struct stage *stage, const char *name, enum pod_phase phase, int exit_code,
                  int restarts)
{
    report(stage, pod_named(stage, name), phase, exit_code, restarts, true);
}

struct pod_names {
    char names[256][128];
    size_t count;
    bool deleting;
};

static void collect_pod(void *arg, const struct object *pod)
{
    struct pod_names *out = arg;
    enum pod_phase phase = pod_status_of(pod)->phase;

    if (object_deleting(pod) == out->deleting && out->count < countof(out->names) &&
        (out->deleting || (phase != POD_SUCCEEDED && phase != POD_FAILED)))
        snprintf(out->names[out->count++], sizeof out->names[0], "%s", object_name(pod));
}

void stage_pods(struct stage *stage, enum pod_phase phase)
{
    struct pod_names *all = mem_alloc(sizeof *all);

    cluster_each(stage->backend, &kind_pod, "default", collect_pod, all);
    for (size_t i = 0; i < all->count; i++)
        report(stage, pod_named(stage, all->names[i]), phase, phase == POD_FAILED ? 1 : 0, 0, true);
    mem_free(all);
    stage_settle(stage);
}

void stage_let_go(struct stage *stage)
{
    struct pod_names *all = mem_alloc(sizeof *all);

    all->deleting = true;
    cluster_each(stage->backend, &kind_pod, "default", collect_pod, all);
    for (size_t i = 0; i < all->count; i++)
        let_go(stage, pod_named(stage, all->names[i]));
    mem_free(all);
    stage_settle(stage);
}

void stage_let_one_go(struct stage *stage, const char *name)
{
    let_go(stage, pod_named(stage, name));
    stage_settle(stage);
}

struct group_pass {
    struct object *groups[64];
    size_t count;
};

static void collect_group(void *arg, const struct object *group)
{
    struct group_pass *pass = arg;

    if (pass->count < countof(pass->groups))
        pass->groups[pass->count++] = object_ref(group);
}

void stage_group_phase(struct stage *stage, enum podgroup_phase phase)
{
    struct group_pass pass = {0};

    cluster_each(stage->backend, &kind_pod_group, NULL, collect_group, &pass);
    for (size_t i = 0; i < pass.count; i++) {
        set_group_phase(stage, pass.groups[i], phase);
        object_unref(pass.groups[i]);
    }
    stage_settle(stage);
}
