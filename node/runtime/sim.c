/*
 * The simulated runtime: every container "runs" for the time, and ends with the exit code, that the
 * pod's annotations give, on the loop's clock. A script may decide instead (runtime_sim_script).
 * Nothing is executed and nothing is written. With a speed, pods take that much less time: their
 * runs, the waits before a restart and their deadlines.
 *
 *   sim.jobflow.dev/duration    "5s", or per container "c1=5s,c2=1s" (others end at once)
 *   sim.jobflow.dev/exit-code   "1", or "1,1,0": the first run, the second, the third and all later
 *                               ones of the container under this pod name
 *   sim.jobflow.dev/message     the termination message of every container
 *
 * Restart policies, init containers, sidecars, deadlines and stopping act as they do on a real
 * node. One task handles all pods that are due now, so a pod that takes no time needs no timer, and
 * only the state at the end of the task is reported.
 */
#include <string.h>

#include "base/mem.h"
#include "node/runtime/sim_internal.h"

static struct sim *sim_of(struct runtime *rt)
{
    return container_of(rt, struct sim, rt);
}

static void make_due(struct sim_pod *pod)
{
    struct sim *sim = pod->sim;

    if (pod->due)
        return;
    pod->due = true;
    pod->next_due = NULL;
    *sim->due_tail = pod;
    sim->due_tail = &pod->next_due;
    loop_post(sim->rt.loop, &sim->task);
}

static struct sim_pod *find_pod(struct sim *sim, const char *uid)
{
    struct sim_pod *pod;

    HASH_FIND(hh, sim->pods, uid, strlen(uid), pod);
    return pod;
}

static void free_pod(struct sim *sim, struct sim_pod *pod)
{
    HASH_DELETE(hh, sim->pods, pod);
    timer_stop(sim->rt.loop, &pod->deadline);
    for (size_t i = 0; i < pod->n_init + pod->n_containers; i++)
        timer_stop(sim->rt.loop, &pod->containers[i].timer);
    object_unref((struct object *)pod->object);
    mem_free(pod);
}

static void handle_due(struct task *task)
{
    struct sim *sim = container_of(task, struct sim, task);
    struct sim_pod *pod = sim->due;

    sim->due = NULL;
    sim->due_tail = &sim->due;
    while (pod) {
        struct sim_pod *next = pod->next_due;

        pod->due = false;
        if (pod->state == SIM_RELEASED)
            free_pod(sim, pod);
        else if (pod->stop_asked && !sim_pod_is_final(pod))
            sim_pod_stop(pod); /* the report may release and free the pod */
        else if (pod->state == SIM_NEW)
            sim_pod_begin(pod);
        pod = next;
    }
}

static void sim_adopt(struct runtime *rt, runtime_found_fn found, struct task *done)
{
    loop_post(rt->loop, done);
}

static struct sim_pod *new_pod(struct sim *sim, const char *uid, size_t n)
{
    size_t uid_bytes = strlen(uid) + 1;
    size_t statuses_at = sizeof(struct sim_pod) + n * sizeof(struct sim_container);
    struct sim_pod *pod = mem_alloc(statuses_at + n * sizeof(struct container_status) + uid_bytes);

    pod->sim = sim;
    pod->statuses = (struct container_status *)((char *)pod + statuses_at);
    pod->uid = memcpy(pod->statuses + n, uid, uid_bytes);
    HASH_ADD_KEYPTR(hh, sim->pods, pod->uid, uid_bytes - 1, pod);
    return pod;
}

static void sim_start(struct runtime *rt, const struct runtime_pod *started)
{
    struct sim *sim = sim_of(rt);
    const struct pod_spec *spec = started->spec;
    size_t n = runtime_container_count(spec);

    if (find_pod(sim, started->uid))
        return;

    struct sim_pod *pod = new_pod(sim, started->uid, n);

    pod->object = object_ref(started->object);
    pod->spec = spec;
    pod->deadline_ms = spec->active_deadline_s.set ? spec->active_deadline_s.value * 1000 : 0;
    pod->n_init = spec->init_containers.count;
    pod->n_containers = spec->containers.count;
    for (size_t i = 0; i < n; i++) {
        struct sim_container *c = &pod->containers[i];

        c->pod = pod;
        c->spec = runtime_container_at(spec, i);
        c->status = &pod->statuses[i];
        c->status->name = c->spec->name;
        c->status->image = c->spec->image;
        c->status->reason =
            i < pod->n_init || !pod->n_init ? "ContainerCreating" : "PodInitializing";
        sim_container_init(c);
    }
    make_due(pod);
}

static void sim_stop(struct runtime *rt, const char *uid, int64_t grace_ms)
{
    struct sim *sim = sim_of(rt);
    struct sim_pod *pod = find_pod(sim, uid);

    if (!pod) {
        pod = new_pod(sim, uid, 0);
        pod->failed = true;
        pod->reason = "SupervisorLost";
    }
    pod->stop_asked = true;
    make_due(pod);
}

static void sim_release(struct runtime *rt, const char *uid)
{
    struct sim *sim = sim_of(rt);
    struct sim_pod *pod = find_pod(sim, uid);

    if (!pod || pod->state != SIM_FINAL)
        return;
    pod->state = SIM_RELEASED;
    if (!pod->due)
        free_pod(sim, pod);
}

static void sim_purge(struct runtime *rt, const char *uid)
{
}

static void sim_set_hosts(struct runtime *rt, const char *uid, const char *hosts)
{
}

static void sim_set_files(struct runtime *rt, const char *uid, size_t index,
                          const struct runtime_volume *volume)
{
}

static void sim_set_program(struct runtime *rt, const struct runtime_pod *pod, uint32_t index,
                            const struct runtime_container *container)
{
}

static void sim_set_deadline(struct runtime *rt, const char *uid, int64_t deadline_ms)
{
    struct sim_pod *pod = find_pod(sim_of(rt), uid);

    if (pod)
        sim_pod_set_deadline(pod, deadline_ms);
}

static void sim_startup_passed(struct runtime *rt, const char *uid, uint32_t index)
{
}

/* Does nothing, because no simulated container is probed. */
static void sim_exec(struct runtime *rt, const struct runtime_exec *exec)
{
}

static void sim_kill_container(struct runtime *rt, const char *uid, uint32_t container,
                               int64_t grace_ms, const char *why)
{
}

static bool sim_read_log(struct runtime *rt, const char *uid, const struct log_query *options,
                         int64_t *offset, struct buf *out, struct error *err)
{
    return true; /* a program that does not run prints nothing */
}

static const char *sim_describe(struct runtime *rt)
{
    return loop_is_virtual(rt->loop) ? "sim: nothing is executed, time is virtual"
                                     : "sim: nothing is executed";
}

static const struct runtime_capabilities *sim_capabilities(struct runtime *rt)
{
    return NULL;
}

static void sim_free(struct runtime *rt)
{
    struct sim *sim = sim_of(rt);
    struct sim_pod *pod, *next_pod;
    struct sim_attempts *a, *next_a;

    loop_cancel(rt->loop, &sim->task);
    HASH_ITER(hh, sim->pods, pod, next_pod)
    free_pod(sim, pod);
    HASH_ITER(hh, sim->attempts, a, next_a)
    {
        HASH_DELETE(hh, sim->attempts, a);
        mem_free(a);
    }
    mem_free(sim);
}

static int sim_socket_to(struct runtime *rt, const struct sockaddr *to, int type)
{
    return -1;
}

static const struct runtime_ops sim_ops = {
    .adopt = sim_adopt,
    .start = sim_start,
    .stop = sim_stop,
    .release = sim_release,
    .purge = sim_purge,
    .set_hosts = sim_set_hosts,
    .set_files = sim_set_files,
    .set_program = sim_set_program,
    .set_deadline = sim_set_deadline,
    .startup_passed = sim_startup_passed,
    .exec = sim_exec,
    .kill_container = sim_kill_container,
    .read_log = sim_read_log,
    .socket_to = sim_socket_to,
    .describe = sim_describe,
    .capabilities = sim_capabilities,
    .free = sim_free,
};

struct runtime *runtime_sim_new(struct loop *loop, runtime_report_fn report_fn, void *ctx)
{
    struct sim *sim = mem_alloc(sizeof *sim);

    sim->rt = (struct runtime){.ops = &sim_ops, .loop = loop, .report = report_fn, .ctx = ctx};
    sim->task.run = handle_due;
    sim->due_tail = &sim->due;
    sim->speed = 1;
    return &sim->rt;
}

void runtime_sim_set_speed(struct runtime *rt, int64_t speed)
{
    sim_of(rt)->speed = speed;
}

void runtime_sim_script(struct runtime *rt, sim_script_fn script, void *ctx)
{
    struct sim *sim = sim_of(rt);

    sim->script = script;
    sim->script_ctx = ctx;
}
