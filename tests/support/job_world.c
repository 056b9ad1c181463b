/*
 * The player of scheduler and kubelet.
 */
#include "tests/unit.h"

#include "tests/support/job_world.h"

#include <stdio.h>

#include "api/types/pod.h"
#include "api/types/yaml.h"
#include "base/log.h"

static void note(char trace[WORLD_TRACE_MAX], const char *word)
{
    size_t len = strlen(trace);

    if (len + strlen(word) + 2 < WORLD_TRACE_MAX)
        snprintf(trace + len, WORLD_TRACE_MAX - len, "%s%s", len ? " " : "", word);
}

/* ---- kubelet ---- */

static void write_status(struct world *world, const struct object *pod,
                         const struct pod_status *status)
{
    cluster_update_status(world->backend, NULL, world_get(world, &kind_pod, object_name(pod)),
                          pod_status_blob(status));
}

static void report(struct world *world, const struct object *pod, enum pod_phase phase,
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
        .started_ms = loop_wall_ms(world->loop),
        .finished_ms = ended ? loop_wall_ms(world->loop) : 0,
    };

    write_status(world, pod, &(struct pod_status){.phase = phase, .containers = {&container, 1}});
}

static void let_go(struct world *world, const struct object *pod)
{
    const struct cluster_removal how = {.grace_s = 0};

    cluster_remove(world->backend, NULL, &kind_pod, object_namespace(pod), object_name(pod), &how);
}

/* Give the pod a node, so that deleting it takes a grace period. */
static void bind_pod(struct world *world, const struct object *pod)
{
    scoped(json) json_t *body = object_body_json(pod);

    json_object_set_new(json_object_get(body, "spec"), "nodeName", json_string("node"));
    cluster_update(world->backend, NULL, object_with_body(pod, object_body_from_json(body)));
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct world *world = container_of(watcher, struct world, pods);
    const struct object *now = world_get(world, &kind_pod, object_name(pod));
    const char *node;

    if (change == CHANGE_ADDED)
        note(world->created, object_name(pod));
    if (change == CHANGE_DELETED ? !old || !object_deleting(old)
                                 : object_deleting(pod) && !object_deleting(old))
        note(world->deleted, object_name(pod));
    if (change == CHANGE_DELETED || !now || strcmp(object_uid(now), object_uid(pod)) != 0)
        return;
    if (object_deleting(now)) {
        if (!world->options.slow_deletion)
            let_go(world, now);
        return;
    }
    node = pod_spec_of(now)->node_name;
    if (!node || !*node)
        bind_pod(world, now);
    else if (pod_status_of(now)->phase == POD_PENDING &&
             pod_status_of(now)->containers.count == 0 && world->options.run_pods)
        report(world, now, POD_RUNNING, 0, 0, true);
    else if (world->options.finish_pods && pod_status_of(now)->phase == POD_RUNNING)
        report(world, now, POD_SUCCEEDED, 0, 0, false);
}

/* ---- scheduler ---- */

static void set_group_phase(struct world *world, const struct object *group,
                            enum podgroup_phase phase)
{
    struct podgroup_condition condition = {
        .type = phase == PODGROUP_UNKNOWN ? "Unschedulable" : "Scheduled",
        .status = "True",
        .reason = "Test",
        .message = "as the test says",
        .at_ms = loop_wall_ms(world->loop),
    };

    cluster_update(world->backend, NULL,
                   object_with_status(group, podgroup_status_blob(&(struct podgroup_status){
                                                 .phase = phase, .conditions = {&condition, 1}})));
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct world *world = container_of(watcher, struct world, groups);
    const struct object *now = world_get(world, &kind_pod_group, object_name(group));

    world->group_creations += change == CHANGE_ADDED;
    world->group_deletions += change == CHANGE_DELETED;
    if (change == CHANGE_ADDED && now && !world->options.hold_groups &&
        podgroup_status_of(now)->phase == PODGROUP_NONE)
        set_group_phase(world, now, PODGROUP_INQUEUE);
}

static void job_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *job)
{
    struct world *world = container_of(watcher, struct world, jobs);
    enum job_phase before = old ? job_status_of(old)->phase : JOB_NONE;
    enum job_phase after = job_status_of(job)->phase;

    world->job_writes++;
    if (change != CHANGE_DELETED && after != before)
        note(world->phases, job_phase_text(after));
}

/* ---- life ---- */

void world_start_controller(struct world *world)
{
    const struct job_options options = {"volcano", world->options.no_limit ? -1 : 15,
                                        world->options.whole_gang};

    world->controller = job_controller_start(world->cluster, &options);
    loop_settle(world->loop);
}

void world_stop_controller(struct world *world)
{
    job_controller_stop(world->controller);
    world->controller = NULL;
    loop_settle(world->loop);
}

void world_restart(struct world *world)
{
    world_stop_controller(world);
    world_start_controller(world);
}

struct world *world_new(const struct world_options *options)
{
    struct world *world = mem_alloc(sizeof *world);
    struct error err = {0};
    const struct store_options memory = {0};
    const struct registry_options rules = {.virtual_runtime = true};

    world->options = *options;
    world->clock = clock_virtual_new(1800000000000, 1);
    world->loop = loop_new(world->clock);
    world->store = store_open(world->loop, &memory, &err);
    check_ok("store", world->store != NULL, err);
    world->registry = registry_new(world->loop, world->store, &rules);
    world->backend = world->cluster = cluster_embedded_new(world->loop, world->registry);
    world->pods = (struct cluster_watcher){pod_changed, &kind_pod};
    world->groups = (struct cluster_watcher){group_changed, &kind_pod_group};
    world->jobs = (struct cluster_watcher){job_changed, &kind_job};
    cluster_watch(world->backend, &world->pods);
    cluster_watch(world->backend, &world->groups);
    cluster_watch(world->backend, &world->jobs);
    world_start_controller(world);
    return world;
}

void world_free(struct world *world)
{
    world_stop_controller(world);
    cluster_unwatch(world->backend, &world->jobs);
    cluster_unwatch(world->backend, &world->groups);
    cluster_unwatch(world->backend, &world->pods);
    loop_settle(world->loop);
    cluster_embedded_free(world->backend);
    registry_free(world->registry);
    store_close(world->store);
    loop_free(world->loop);
    clock_free(world->clock);
    mem_free(world);
}

void world_settle(struct world *world)
{
    loop_advance(world->loop, 30);
}

void world_advance(struct world *world, int64_t ms)
{
    loop_advance(world->loop, ms);
}

/* ---- user ---- */

static void check_errors(const struct error_list *errors)
{
    struct error err = {0};

    check_ok("write", error_list_ok(errors, &err), err);
}

void world_apply(struct world *world, const char *yaml)
{
    struct error err = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};

    check_ok("manifest", stream != NULL, err);
    for (size_t i = 0; i < yaml_count(stream); i++) {
        struct error_list errors = {0};
        const struct object *out;

        registry_create(world->registry, yaml_document(stream, i), &how, &out, &errors);
        check_errors(&errors);
    }
    world_settle(world);
}

void world_patch(struct world *world, const struct kind *kind, const char *name, const char *json)
{
    scoped(json) json_t *patch = json_loads(json, 0, NULL);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    struct error_list errors = {0};
    const struct object *out;

    if (!patch)
        check_fail("patch is no JSON: %s", json);
    registry_patch(world->registry, kind, kind->namespaced ? "default" : "", name,
                   REGISTRY_PATCH_MERGE, patch, REGISTRY_MAIN, &how, &out, &errors);
    check_errors(&errors);
    world_settle(world);
}

void world_delete(struct world *world, const struct kind *kind, const char *name)
{
    const struct registry_delete how = {.grace_s = -1};
    struct error_list errors = {0};
    const struct object *out;

    registry_delete(world->registry, kind, kind->namespaced ? "default" : "", name, &how, &out,
                    &errors);
    check_errors(&errors);
    world_settle(world);
}

void world_job_simple(struct world *world, const char *name, const char *tasks, const char *extra)
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
        int replicas, used;

        assert_int_equal(sscanf(at, " %60[^*]*%d%n", task, &replicas, &used), 2);
        buf_printf(
            &yaml,
            "  - {name: %s, replicas: %d, template: {spec: {restartPolicy: Never, containers: "
            "[{name: main, image: x, command: [run]}]}}}\n",
            task, replicas);
        at += used;
        while (*at == ' ')
            at++;
    }
    world_apply(world, yaml.data);
    buf_release(&yaml);
}

/* ---- looking ---- */

const struct object *world_get(struct world *world, const struct kind *kind, const char *name)
{
    return cluster_get(world->backend, kind, kind->namespaced ? "default" : "", name);
}

const struct job_status *world_job(struct world *world, const char *name)
{
    const struct object *job = world_get(world, &kind_job, name);

    if (!job)
        check_fail("job %s is gone", name);
    return job_status_of(job);
}

const char *world_phase(struct world *world, const char *name)
{
    const struct object *job = world_get(world, &kind_job, name);

    return job ? job_phase_text(job_status_of(job)->phase) : "";
}

static void count_one(void *arg, const struct object *object)
{
    ++*(size_t *)arg;
}

size_t world_count(struct world *world, const struct kind *kind)
{
    size_t count = 0;

    cluster_each(world->backend, kind, NULL, count_one, &count);
    return count;
}

struct event_search {
    const char *reason;
    bool found;
};

static void look_at_event(void *arg, const struct object *event)
{
    struct event_search *search = arg;
    scoped(json) json_t *body = object_body_json(event);
    const char *reason = json_string_value(json_object_get(body, "reason"));

    search->found |= reason && strcmp(reason, search->reason) == 0;
}

bool world_has_event(struct world *world, const char *reason)
{
    struct event_search search = {reason, false};

    cluster_each(world->backend, &kind_event, NULL, look_at_event, &search);
    return search.found;
}

/* ---- reports ---- */

static const struct object *pod_named(struct world *world, const char *name)
{
    const struct object *pod = world_get(world, &kind_pod, name);

    if (!pod)
        check_fail("pod %s is gone", name);
    return pod;
}

void world_pod(struct world *world, const char *name, enum pod_phase phase)
{
    report(world, pod_named(world, name), phase, phase == POD_FAILED ? 1 : 0, 0, true);
    world_settle(world);
}

void world_pod_failed(struct world *world, const char *name, int exit_code)
{
    report(world, pod_named(world, name), POD_FAILED, exit_code, 0, false);
    world_settle(world);
}

void world_pod_restarts(struct world *world, const char *name, int restarts)
{
    report(world, pod_named(world, name), POD_RUNNING, 0, restarts, true);
    world_settle(world);
}

void world_not_ready(struct world *world, const char *name)
{
    report(world, pod_named(world, name), POD_RUNNING, 0, 0, false);
    world_settle(world);
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

void world_pods(struct world *world, enum pod_phase phase)
{
    struct pod_names *all = mem_alloc(sizeof *all);

    cluster_each(world->backend, &kind_pod, "default", collect_pod, all);
    for (size_t i = 0; i < all->count; i++)
        report(world, pod_named(world, all->names[i]), phase, phase == POD_FAILED ? 1 : 0, 0, true);
    mem_free(all);
    world_settle(world);
}

void world_let_go(struct world *world)
{
    struct pod_names *all = mem_alloc(sizeof *all);

    all->deleting = true;
    cluster_each(world->backend, &kind_pod, "default", collect_pod, all);
    for (size_t i = 0; i < all->count; i++)
        let_go(world, pod_named(world, all->names[i]));
    mem_free(all);
    world_settle(world);
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

void world_group_phase(struct world *world, enum podgroup_phase phase)
{
    struct group_pass pass = {0};

    cluster_each(world->backend, &kind_pod_group, NULL, collect_group, &pass);
    for (size_t i = 0; i < pass.count; i++) {
        set_group_phase(world, pass.groups[i], phase);
        object_unref(pass.groups[i]);
    }
    world_settle(world);
}
