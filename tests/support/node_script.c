/*
 * The scripted runtime of node_fixture.h: it records every request, and its pods run and end when
 * the test says so.
 */
#include "tests/support/node_script.h"
#include "tests/unit.h"

#include <stdio.h>

#include "node/shim/netns_holder.h"

struct script {
    struct runtime base;
    struct node_fixture *fixture;
};

static struct node_fixture *node_fixture_of(struct runtime *rt)
{
    return container_of(rt, struct script, base)->fixture;
}

static struct scripted_pod *pod_of_uid(struct node_fixture *fixture, const char *uid)
{
    for (size_t i = 0; i < fixture->n_pods; i++)
        if (strcmp(fixture->pods[i].uid, uid) == 0)
            return &fixture->pods[i];
    return NULL;
}

struct scripted_pod *node_fixture_started(struct node_fixture *fixture, const char *name)
{
    for (size_t i = fixture->n_pods; i > 0; i--)
        if (strcmp(fixture->pods[i - 1].name, name) == 0)
            return &fixture->pods[i - 1];
    return NULL;
}

static void script_adopt(struct runtime *rt, runtime_found_fn found, struct task *done)
{
    struct node_fixture *fixture = node_fixture_of(rt);

    for (size_t i = 0; i < fixture->n_found; i++)
        found(rt->ctx, fixture->found[i]);
    loop_post(rt->loop, done);
}

static void append(char *out, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static void append(char *out, size_t size, const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;

    va_start(args, format);
    vsnprintf(out + len, size - len, format, args);
    va_end(args);
}

static void note_volumes(struct scripted_pod *pod, const struct runtime_pod *start)
{
    for (size_t i = 0; i < start->n_volumes; i++) {
        const struct runtime_volume *volume = &start->volumes[i];

        append(pod->volumes, sizeof pod->volumes, "%s:%d%s:%s;", volume->name, (int)volume->kind,
               volume->memory ? "m" : "", volume->host_path ? volume->host_path : "");
        for (size_t f = 0; f < volume->n_files; f++)
            append(pod->files, sizeof pod->files, "%s:%s=%.*s,%o;", volume->name,
                   volume->files[f].path, (int)volume->files[f].len,
                   (const char *)volume->files[f].bytes, (unsigned)volume->files[f].mode);
    }
}

static void script_start(struct runtime *rt, const struct runtime_pod *start)
{
    struct node_fixture *fixture = node_fixture_of(rt);
    struct scripted_pod *pod = pod_of_uid(fixture, start->uid);
    const struct runtime_container *c = &start->containers[0];

    if (!pod) {
        check("room for the pod", fixture->n_pods < NODE_FIXTURE_PODS_MAX);
        pod = &fixture->pods[fixture->n_pods++];
        snprintf(pod->uid, sizeof pod->uid, "%s", start->uid);
        snprintf(pod->name, sizeof pod->name, "%s", start->name);
    }
    check_int(start->name, ++pod->starts, 1); /* a pod is started at most once (INV-N1) */
    pod->running = true;
    if (++fixture->running > fixture->peak)
        fixture->peak = fixture->running;
    snprintf(pod->ip, sizeof pod->ip, "%s", start->pod_ip);
    snprintf(pod->hostname, sizeof pod->hostname, "%s", start->hostname);
    snprintf(pod->hosts, sizeof pod->hosts, "%s", start->hosts ? start->hosts : "");
    for (size_t i = 0; i < c->n_env; i++)
        append(pod->env, sizeof pod->env, "%s=%s;", c->env[i].name, c->env[i].value);
    for (size_t i = 0; i < c->n_argv; i++)
        append(pod->argv, sizeof pod->argv, i ? " %s" : "%s", c->argv[i]);
    for (size_t i = 0; i < start->n_ports; i++)
        append(pod->ports, sizeof pod->ports, i ? " %d" : "%d", start->ports[i]);
    note_volumes(pod, start);
}

static void script_stop(struct runtime *rt, const char *uid, int64_t grace_ms)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    if (!pod)
        return;
    pod->stops++;
    pod->stopped = pod->stopped || pod->running;
    pod->grace_ms = grace_ms;
}

static void script_release(struct runtime *rt, const char *uid)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    if (pod)
        pod->released = true;
}

static void script_purge(struct runtime *rt, const char *uid)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    if (pod)
        pod->purged = true;
}

static void script_set_hosts(struct runtime *rt, const char *uid, const char *hosts)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    check("a running pod", pod != NULL);
    snprintf(pod->hosts, sizeof pod->hosts, "%s", hosts);
}

static void script_set_files(struct runtime *rt, const char *uid, size_t index,
                             const struct runtime_volume *volume)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    check("a running pod", pod != NULL);
    pod->files[0] = 0;
    note_volumes(pod, &(struct runtime_pod){.volumes = volume, .n_volumes = 1});
}

static void script_set_program(struct runtime *rt, const struct runtime_pod *pod, uint32_t index,
                               const struct runtime_container *container)
{
    struct scripted_pod *known = pod_of_uid(node_fixture_of(rt), pod->uid);

    check("a running pod", known != NULL);
    append(known->renewed, sizeof known->renewed, "%u", index);
    for (size_t i = 0; i < container->n_argv; i++)
        append(known->renewed, sizeof known->renewed, " %s", container->argv[i]);
    for (size_t i = 0; i < container->n_env; i++)
        append(known->renewed, sizeof known->renewed, " %s=%s", container->env[i].name,
               container->env[i].value);
    append(known->renewed, sizeof known->renewed, ";");
}

static void script_set_deadline(struct runtime *rt, const char *uid, int64_t deadline_ms)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    check("a running pod", pod != NULL);
    pod->deadline_ms = deadline_ms;
}

static void script_startup_passed(struct runtime *rt, const char *uid, uint32_t index)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    check("a running pod", pod != NULL);
    pod->passed++;
}

static void script_exec(struct runtime *rt, const struct runtime_exec *exec)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), exec->uid);

    check("a running pod", pod != NULL);
    pod->exec_id = exec->id;
    pod->execs++;
    pod->exec_argv[0] = 0;
    for (size_t i = 0; i < exec->n_argv; i++)
        append(pod->exec_argv, sizeof pod->exec_argv, i ? " %s" : "%s", exec->argv[i]);
}

static void script_kill_container(struct runtime *rt, const char *uid, uint32_t container,
                                  int64_t grace_ms, const char *why)
{
    struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    check("a running pod", pod != NULL);
    pod->kills++;
    pod->grace_ms = grace_ms;
    snprintf(pod->kill_why, sizeof pod->kill_why, "%s", why);
}

static bool script_read_log(struct runtime *rt, const char *uid, const struct log_query *options,
                            int64_t *offset, struct buf *out, struct error *err)
{
    return true;
}

static int64_t script_log_bytes(struct runtime *rt, const char *uid)
{
    const struct scripted_pod *pod = pod_of_uid(node_fixture_of(rt), uid);

    return pod ? pod->log_bytes : 0;
}

static void script_sweep_logs(struct runtime *rt, const char *uids, size_t len)
{
    struct node_fixture *fixture = node_fixture_of(rt);

    for (size_t i = 0; i < fixture->n_pods; i++)
        if (!memmem(uids, len, fixture->pods[i].uid, strlen(fixture->pods[i].uid)))
            fixture->pods[i].purged = true;
}

static const char *script_describe(struct runtime *rt)
{
    return "scripted";
}

static const struct runtime_capabilities *script_capabilities(struct runtime *rt)
{
    return &node_fixture_of(rt)->capabilities;
}

static void script_free(struct runtime *rt)
{
    mem_free(container_of(rt, struct script, base));
}

static int script_socket_to(struct runtime *rt, const struct sockaddr *to, int type)
{
    return -1;
}

static void script_connect_holder(struct runtime *rt, struct netns_holder *out)
{
    *out = NETNS_HOLDER_NONE;
}

static const struct runtime_ops script_ops = {
    .socket_to = script_socket_to,
    .connect_holder = script_connect_holder,
    .adopt = script_adopt,
    .start = script_start,
    .stop = script_stop,
    .release = script_release,
    .purge = script_purge,
    .set_hosts = script_set_hosts,
    .set_files = script_set_files,
    .set_program = script_set_program,
    .set_deadline = script_set_deadline,
    .startup_passed = script_startup_passed,
    .exec = script_exec,
    .kill_container = script_kill_container,
    .read_log = script_read_log,
    .log_bytes = script_log_bytes,
    .sweep_logs = script_sweep_logs,
    .describe = script_describe,
    .capabilities = script_capabilities,
    .free = script_free,
};

struct runtime *node_script_new(struct node_fixture *fixture)
{
    struct script *script = mem_alloc(sizeof *script);

    script->base.ops = &script_ops;
    script->base.loop = fixture->loop;
    script->fixture = fixture;
    return &script->base;
}

/* Reports the state of a pod to the kubelet. */

static void tell(struct node_fixture *fixture, struct scripted_pod *pod, enum container_state state,
                 int exit_code)
{
    struct container_status container = {
        .name = "c",
        .state = state,
        .exit_code = exit_code,
        .ready = state == CONTAINER_RUNNING,
        .restart_count = pod->restarts,
        .started_ms = loop_wall_ms(fixture->loop),
    };
    struct runtime_report report = {
        .uid = pod->uid, .final = state == CONTAINER_TERMINATED, .stopped = pod->stopped};

    report.status.phase = !report.final ? POD_RUNNING : exit_code ? POD_FAILED : POD_SUCCEEDED;
    report.status.initialized = true;
    report.status.ready = !report.final;
    report.status.containers.items = &container;
    report.status.containers.count = 1;
    if (report.final && pod->running) {
        pod->running = false;
        fixture->running--;
    }
    fixture->runtime->report(fixture->runtime->ctx, &report);
}

void node_fixture_report_running(struct node_fixture *fixture, const char *name)
{
    struct scripted_pod *pod = node_fixture_started(fixture, name);

    check(name, pod != NULL);
    tell(fixture, pod, CONTAINER_RUNNING, 0);
    node_fixture_settle(fixture);
}

void node_fixture_report_sidecar(struct node_fixture *fixture, const char *name)
{
    struct scripted_pod *pod = node_fixture_started(fixture, name);
    struct container_status beside = {.name = "s", .state = CONTAINER_RUNNING};
    struct container_status waits = {.name = "c", .state = CONTAINER_WAITING};
    const struct runtime_report report = {
        .uid = pod->uid,
        .status = {.phase = POD_PENDING,
                   .init_containers = {&beside, 1},
                   .containers = {&waits, 1}},
    };

    fixture->runtime->report(fixture->runtime->ctx, &report);
    node_fixture_settle(fixture);
}

void node_fixture_report_ended(struct node_fixture *fixture, const char *name, int exit_code)
{
    struct scripted_pod *pod = node_fixture_started(fixture, name);

    check(name, pod != NULL);
    tell(fixture, pod, CONTAINER_TERMINATED, exit_code);
    node_fixture_settle(fixture);
}

void node_fixture_answer_exec(struct node_fixture *fixture, const char *name, int code)
{
    struct scripted_pod *pod = node_fixture_started(fixture, name);
    uint64_t id;

    assert_non_null(pod);
    id = pod->exec_id;
    check(name, id != 0);
    pod->exec_id = 0;
    fixture->runtime->exec_done(fixture->runtime->ctx,
                                &(struct runtime_exec_result){pod->uid, id, code, "said so"});
    node_fixture_settle(fixture);
}

void node_fixture_run_all(struct node_fixture *fixture)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < fixture->n_pods; i++) {
            if (!fixture->pods[i].running)
                continue;
            tell(fixture, &fixture->pods[i], CONTAINER_TERMINATED, 0);
            any = true;
        }
        node_fixture_settle(fixture);
    }
}
