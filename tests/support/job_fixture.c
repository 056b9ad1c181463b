/*
 * Runs the job controller on a cluster in memory and simulates scheduler and kubelet.
 */
#include "tests/support/job_fixture.h"
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/yaml.h"
#include "tests/fake/faulty.h"

static void note(char trace[JOB_FIXTURE_TRACE_MAX], const char *word)
{
    size_t len = strlen(trace);

    if (len + strlen(word) + 2 < JOB_FIXTURE_TRACE_MAX)
        snprintf(trace + len, JOB_FIXTURE_TRACE_MAX - len, "%s%s", len ? " " : "", word);
}

/* Stores the status of a pod, as the kubelet does. */

static void write_status(struct job_fixture *fixture, const struct object *pod,
                         const struct pod_status *status)
{
    cluster_update_status(fixture->backend, NULL,
                          job_fixture_get(fixture, &kind_pod, object_name(pod)),
                          pod_status_blob(status));
}

static void report(struct job_fixture *fixture, const struct object *pod, enum pod_phase phase,
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
        .started_ms = loop_wall_ms(fixture->loop),
        .finished_ms = ended ? loop_wall_ms(fixture->loop) : 0,
    };

    write_status(fixture, pod, &(struct pod_status){.phase = phase, .containers = {&container, 1}});
}

static void let_go(struct job_fixture *fixture, const struct object *pod)
{
    const struct cluster_removal how = {.grace_s = 0};

    cluster_remove(fixture->backend, NULL, &kind_pod, object_namespace(pod), object_name(pod),
                   &how);
}

/* Gives the pod a node, so that its deletion takes a grace period. */
static void bind_pod(struct job_fixture *fixture, const struct object *pod)
{
    scoped(json) json_t *body = object_body_json(pod);

    json_object_set_new(json_object_get(body, "spec"), "nodeName", json_string("node"));
    cluster_update(fixture->backend, NULL, object_with_body(pod, object_body_from_json(body)));
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct job_fixture *fixture = container_of(watcher, struct job_fixture, pods);
    const struct object *now = job_fixture_get(fixture, &kind_pod, object_name(pod));
    const char *node;

    if (change == CHANGE_ADDED)
        note(fixture->created, object_name(pod));
    if (change == CHANGE_DELETED ? !old || !object_deleting(old)
                                 : object_deleting(pod) && !object_deleting(old))
        note(fixture->deleted, object_name(pod));
    if (change == CHANGE_DELETED || !now || strcmp(object_uid(now), object_uid(pod)) != 0)
        return;
    if (object_deleting(now)) {
        if (!fixture->options.slow_deletion)
            let_go(fixture, now);
        return;
    }
    node = pod_spec_of(now)->node_name;
    if (!node || !*node)
        bind_pod(fixture, now);
    else if (pod_status_of(now)->phase == POD_PENDING &&
             pod_status_of(now)->containers.count == 0 && fixture->options.run_pods)
        report(fixture, now, POD_RUNNING, 0, 0, true);
    else if (fixture->options.finish_pods && pod_status_of(now)->phase == POD_RUNNING)
        report(fixture, now, POD_SUCCEEDED, 0, 0, false);
}

/* Stores the phase of a PodGroup, as the scheduler does. */

static void set_group_phase(struct job_fixture *fixture, const struct object *group,
                            enum podgroup_phase phase)
{
    struct podgroup_condition condition = {
        .type = phase == PODGROUP_UNKNOWN ? "Unschedulable" : "Scheduled",
        .status = "True",
        .reason = "Test",
        .message = "as the test says",
        .at_ms = loop_wall_ms(fixture->loop),
    };

    cluster_update(fixture->backend, NULL,
                   object_with_status(group, podgroup_status_blob(&(struct podgroup_status){
                                                 .phase = phase, .conditions = {&condition, 1}})));
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct job_fixture *fixture = container_of(watcher, struct job_fixture, groups);
    const struct object *now = job_fixture_get(fixture, &kind_pod_group, object_name(group));

    fixture->group_creations += change == CHANGE_ADDED;
    fixture->group_deletions += change == CHANGE_DELETED;
    if (change == CHANGE_ADDED && now && !fixture->options.hold_groups &&
        podgroup_status_of(now)->phase == PODGROUP_NONE)
        set_group_phase(fixture, now, PODGROUP_INQUEUE);
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct job_fixture *fixture = container_of(watcher, struct job_fixture, jobs);
    enum job_phase before = old ? job_status_of(old)->phase : JOB_NONE;
    enum job_phase after = job_status_of(job)->phase;

    fixture->job_writes++;
    if (change != CHANGE_DELETED && after != before)
        note(fixture->phases, job_phase_text(after));
}

void job_fixture_start_controller(struct job_fixture *fixture)
{
    const struct job_options options = {
        .scheduler_name = "volcano",
        .max_requeue = fixture->options.no_limit ? -1 : 15,
        .whole_gang = fixture->options.whole_gang,
        .gc_aborted = fixture->options.gc_aborted,
        .local_pods = !fixture->options.elsewhere,
        .keep_succeeded = fixture->options.collects_pods,
        .label_objects = fixture->options.collects_pods,
        .gang = fixture->options.gang,
    };

    fixture->controller = job_controller_start(fixture->cluster, &options);
    loop_settle(fixture->loop);
}

void job_fixture_stop_controller(struct job_fixture *fixture)
{
    job_controller_stop(fixture->controller);
    fixture->controller = NULL;
    loop_settle(fixture->loop);
}

enum { SETTLE_MS = 30 }; /* longer than the controller collects status writes */

static struct faulty_rule fault;
static bool has_fault;
static int most_writes;

void job_fixture_fault(const struct faulty_rule *rule)
{
    has_fault = rule != NULL;
    if (rule)
        fault = *rule;
}

bool job_fixture_has_fault(void)
{
    return has_fault;
}

int job_fixture_count_writes(void)
{
    int writes = most_writes;

    most_writes = 0;
    return writes;
}

static void open_cluster(struct job_fixture *fixture)
{
    const struct store_options where = {.directory = fixture->options.directory};
    const struct registry_options rules = {.virtual_runtime = true};
    struct error err = {0};

    fixture->store = store_open(fixture->loop, &where, &err);
    check_ok("store", fixture->store != NULL, err);
    fixture->registry = registry_new(fixture->loop, fixture->store, &rules);
    fixture->backend = cluster_embedded_new(fixture->loop, fixture->registry);
    fixture->cluster = faulty_new(fixture->backend);
    if (has_fault)
        faulty_plan(fixture->cluster, &fault);
    fixture->pods = (struct cluster_watcher){pod_changed, &kind_pod};
    fixture->groups = (struct cluster_watcher){group_changed, &kind_pod_group};
    fixture->jobs = (struct cluster_watcher){job_changed, &kind_job};
    cluster_watch(fixture->backend, &fixture->pods);
    cluster_watch(fixture->backend, &fixture->groups);
    cluster_watch(fixture->backend, &fixture->jobs);
}

static void close_cluster(struct job_fixture *fixture)
{
    cluster_unwatch(fixture->backend, &fixture->jobs);
    cluster_unwatch(fixture->backend, &fixture->groups);
    cluster_unwatch(fixture->backend, &fixture->pods);
    loop_settle(fixture->loop);
    if (faulty_writes(fixture->cluster) > most_writes)
        most_writes = faulty_writes(fixture->cluster);
    faulty_free(fixture->cluster);
    cluster_embedded_free(fixture->backend);
    registry_free(fixture->registry);
    store_close(fixture->store);
}

struct job_fixture *job_fixture_new(const struct job_fixture_options *options)
{
    struct job_fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->options = *options;
    fixture->clock = clock_virtual_new(1800000000000, 1);
    fixture->loop = loop_new(fixture->clock);
    open_cluster(fixture);
    job_fixture_start_controller(fixture);
    return fixture;
}

void job_fixture_free(struct job_fixture *fixture)
{
    job_fixture_stop_controller(fixture);
    close_cluster(fixture);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    mem_free(fixture);
}

void job_fixture_restart(struct job_fixture *fixture)
{
    job_fixture_stop_controller(fixture);
    if (fixture->options.directory) {
        close_cluster(fixture);
        open_cluster(fixture);
    }
    job_fixture_start_controller(fixture);
}

/* Runs the loop until nothing is left to do; after a fault a little longer, because the controller
 * tries again. */
void job_fixture_settle(struct job_fixture *fixture)
{
    int before = faulty_hits(fixture->cluster);

    loop_advance(fixture->loop, SETTLE_MS);
    if (has_fault && faulty_hits(fixture->cluster) > before)
        loop_advance(fixture->loop, INT64_C(3) * SETTLE_MS);
}

void job_fixture_advance(struct job_fixture *fixture, int64_t ms)
{
    loop_advance(fixture->loop, ms);
}

static void check_errors(const struct error_list *errors)
{
    struct error err = {0};

    check_ok("write", error_list_ok(errors, &err), err);
}

void job_fixture_apply(struct job_fixture *fixture, const char *yaml)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};

    check_ok("manifest", stream != NULL, err);
    for (size_t i = 0; i < yaml_count(stream); i++) {
        struct error_list errors = {0};
        const struct object *out;

        registry_create(fixture->registry, yaml_document(stream, i), &how, &out, &errors);
        check_errors(&errors);
    }
    job_fixture_settle(fixture);
}

void job_fixture_patch(struct job_fixture *fixture, const struct kind *kind, const char *name,
                       const char *json)
{
    scoped(json) json_t *patch = json_loads(json, 0, NULL);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    struct error_list errors = {0};
    const struct object *out;

    if (!patch)
        check_fail("patch is no JSON: %s", json);
    registry_patch(fixture->registry,
                   (struct registry_target){kind, kind->namespaced ? "default" : "", name},
                   &(struct registry_patch){REGISTRY_PATCH_MERGE, patch}, &how, &out, &errors);
    check_errors(&errors);
    job_fixture_settle(fixture);
}

void job_fixture_scale(struct job_fixture *fixture, const char *job, size_t task, int replicas,
                       int min_available)
{
    scoped(json) json_t *body = object_body_json(job_fixture_get(fixture, &kind_job, job));
    json_t *tasks = json_object_get(json_object_get(body, "spec"), "tasks");
    scoped(json) json_t *patch = NULL;
    char *text;

    json_object_set_new(json_array_get(tasks, task), "replicas", json_integer(replicas));
    json_object_set_new(json_array_get(tasks, task), "minAvailable", json_integer(replicas));
    patch = json_pack("{s:{s:i, s:O}}", "spec", "minAvailable", min_available, "tasks", tasks);
    text = json_dumps(patch, 0);
    job_fixture_patch(fixture, &kind_job, job, text);
    free(text);
}

void job_fixture_delete(struct job_fixture *fixture, const struct kind *kind, const char *name)
{
    const struct registry_delete how = {.grace_s = -1};
    struct error_list errors = {0};
    const struct object *out;

    registry_delete(fixture->registry,
                    (struct registry_target){kind, kind->namespaced ? "default" : "", name}, &how,
                    &out, &errors);
    check_errors(&errors);
    job_fixture_settle(fixture);
}

void job_fixture_job_simple(struct job_fixture *fixture, const char *name, const char *tasks,
                            const char *extra)
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
    job_fixture_apply(fixture, yaml.data);
    buf_release(&yaml);
}

static const struct object *pod_named(struct job_fixture *fixture, const char *name)
{
    const struct object *pod = job_fixture_get(fixture, &kind_pod, name);

    if (!pod)
        check_fail("pod %s is gone", name);
    return pod;
}

void job_fixture_pod(struct job_fixture *fixture, const char *name, enum pod_phase phase)
{
    report(fixture, pod_named(fixture, name), phase, phase == POD_FAILED ? 1 : 0, 0, true);
    job_fixture_settle(fixture);
}

void job_fixture_pod_failed(struct job_fixture *fixture, const char *name, int exit_code)
{
    report(fixture, pod_named(fixture, name), POD_FAILED, exit_code, 0, false);
    job_fixture_settle(fixture);
}

void job_fixture_pod_restarts(struct job_fixture *fixture, const char *name, int restarts)
{
    report(fixture, pod_named(fixture, name), POD_RUNNING, 0, restarts, true);
    job_fixture_settle(fixture);
}

void job_fixture_not_ready(struct job_fixture *fixture, const char *name)
{
    report(fixture, pod_named(fixture, name), POD_RUNNING, 0, 0, false);
    job_fixture_settle(fixture);
}

void job_fixture_report(struct job_fixture *fixture, const char *name, enum pod_phase phase,
                        int exit_code, int restarts)
{
    report(fixture, pod_named(fixture, name), phase, exit_code, restarts, true);
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

void job_fixture_pods(struct job_fixture *fixture, enum pod_phase phase)
{
    struct pod_names *all = mem_alloc(sizeof *all);

    cluster_each(fixture->backend, &kind_pod, "default", collect_pod, all);
    for (size_t i = 0; i < all->count; i++)
        report(fixture, pod_named(fixture, all->names[i]), phase, phase == POD_FAILED ? 1 : 0, 0,
               true);
    mem_free(all);
    job_fixture_settle(fixture);
}

void job_fixture_let_go(struct job_fixture *fixture)
{
    struct pod_names *all = mem_alloc(sizeof *all);

    all->deleting = true;
    cluster_each(fixture->backend, &kind_pod, "default", collect_pod, all);
    for (size_t i = 0; i < all->count; i++)
        let_go(fixture, pod_named(fixture, all->names[i]));
    mem_free(all);
    job_fixture_settle(fixture);
}

void job_fixture_let_one_go(struct job_fixture *fixture, const char *name)
{
    let_go(fixture, pod_named(fixture, name));
    job_fixture_settle(fixture);
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

void job_fixture_group_phase(struct job_fixture *fixture, enum podgroup_phase phase)
{
    struct group_pass pass = {0};

    cluster_each(fixture->backend, &kind_pod_group, NULL, collect_group, &pass);
    for (size_t i = 0; i < pass.count; i++) {
        set_group_phase(fixture, pass.groups[i], phase);
        object_unref(pass.groups[i]);
    }
    job_fixture_settle(fixture);
}
