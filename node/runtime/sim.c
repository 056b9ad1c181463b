/*
 * The simulated runtime: every container "runs" for the time and ends with the exit code its pod's
 * annotations give, on the loop's clock. Nothing is executed, nothing is written.
 *
 *   sim.jobflow.dev/duration    "5s", or per container "c1=5s,c2=1s" (others end at once)
 *   sim.jobflow.dev/exit-code   "1", or "1,1,0": the first run, the second, the third and all later
 *                               ones of the container under this pod name
 *   sim.jobflow.dev/message     the termination message of every container
 *
 * Restart policies, init containers, sidecars, deadlines and stopping act as they do on a real
 * node. What is due at once is handled in one task for all pods, so that a pod that takes no time
 * costs no timer, and a state that is over when its task ends is never reported.
 */
#include "node/runtime/sim.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    BACKOFF_FIRST_MS = 10000, /* as the kubelet: doubled, at most five minutes */
    BACKOFF_LAST_MS = 300000,
    EXIT_TERM = 143, /* 128 + SIGTERM */
};

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

/* Reports. */

static const char *policy_of(const struct sim_pod *pod)
{
    return pod->spec->restart_policy ? pod->spec->restart_policy : "Always";
}

static bool is_sidecar(const struct sim_container *c)
{
    return c->spec->restart_policy && strcmp(c->spec->restart_policy, "Always") == 0 &&
           c < c->pod->containers + c->pod->n_init;
}

static bool all_done(const struct sim_pod *pod)
{
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (!pod->containers[i].done)
            return false;
    return true;
}

static enum pod_phase phase_of(const struct sim_pod *pod)
{
    if (pod->failed)
        return POD_FAILED;
    if (!pod->final)
        return pod->init_at < pod->n_init ? POD_PENDING : POD_RUNNING;
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].exit_code)
            return POD_FAILED;
    return POD_SUCCEEDED;
}

static void report(struct sim_pod *pod)
{
    struct runtime_report told = {.uid = pod->uid, .final = pod->final};
    struct pod_status *status = &told.status;

    status->phase = phase_of(pod);
    status->reason = pod->reason;
    if (!pod->object)
        status->message = "the simulated runtime does not know this pod";
    status->initialized = pod->init_at == pod->n_init;
    status->ready = status->phase == POD_RUNNING;
    status->init_containers.items = pod->statuses;
    status->init_containers.count = pod->n_init;
    status->containers.items = pod->statuses + pod->n_init;
    status->containers.count = pod->n_containers;
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        status->ready = status->ready && pod->statuses[i].ready;
    pod->sim->rt.report(pod->sim->rt.ctx, &told);
}

/* Runs of a container. */

static void advance(struct sim_pod *pod);

static void end_run(struct sim_container *c, int code, const char *reason, const char *words)
{
    struct container_status *status = c->status;

    timer_stop(c->pod->sim->rt.loop, &c->timer);
    status->state = CONTAINER_TERMINATED;
    status->ready = false;
    status->exit_code = code;
    status->signal = code == EXIT_TERM ? code - 128 : 0;
    status->reason = reason ? reason : code ? "Error" : "Completed";
    status->finished_ms = loop_wall_ms(c->pod->sim->rt.loop);
    status->message = words;
}

static bool runs_again(const struct sim_container *c)
{
    const char *policy = policy_of(c->pod);
    bool is_init = c < c->pod->containers + c->pod->n_init;

    if (is_sidecar(c))
        return true;
    if (c->status->exit_code)
        return strcmp(policy, "Never") != 0;
    return !is_init && strcmp(policy, "Always") == 0;
}

static void wait_for_restart(struct sim_container *c)
{
    struct container_status *status = c->status;

    status->has_last = true;
    status->last_exit_code = status->exit_code;
    status->last_signal = status->signal;
    status->last_reason = status->reason;
    status->state = CONTAINER_WAITING;
    status->reason = "CrashLoopBackOff";
    c->backoff_ms = c->backoff_ms ? c->backoff_ms * 2 : BACKOFF_FIRST_MS;
    if (c->backoff_ms > BACKOFF_LAST_MS)
        c->backoff_ms = BACKOFF_LAST_MS;
    timer_start(c->pod->sim->rt.loop, &c->timer, c->backoff_ms);
}

static void run_over(struct sim_container *c)
{
    const char *words = sim_last_words(c);

    end_run(c, sim_exit_code(c), NULL, words);
    if (runs_again(c))
        wait_for_restart(c);
    else
        c->done = true;
}

static void run(struct sim_container *c)
{
    struct loop *loop = c->pod->sim->rt.loop;
    int64_t ns = sim_run_ns(c);

    c->status->state = CONTAINER_RUNNING;
    c->status->reason = NULL;
    c->status->ready = true;
    c->status->exit_code = c->status->signal = 0;
    c->status->message = NULL;
    c->status->started_ms = loop_wall_ms(loop);
    c->status->finished_ms = 0;
    if (ns > 0)
        timer_start_ns(loop, &c->timer, ns);
    else
        run_over(c);
}

static void timer_fired(struct timer *timer)
{
    struct sim_container *c = container_of(timer, struct sim_container, timer);

    if (c->status->state == CONTAINER_RUNNING) {
        run_over(c);
    } else {
        c->status->restart_count++;
        run(c);
    }
    advance(c->pod);
}

/* The life of a pod. */

static void finish(struct sim_pod *pod, int code)
{
    for (size_t i = 0; i < pod->n_init + pod->n_containers; i++) {
        struct sim_container *c = &pod->containers[i];

        if (c->status->state == CONTAINER_RUNNING)
            end_run(c, is_sidecar(c) ? 0 : code, pod->reason, NULL);
        timer_stop(pod->sim->rt.loop, &c->timer);
        c->done = true;
    }
    timer_stop(pod->sim->rt.loop, &pod->deadline);
    pod->final = true;
}

static bool start_next(struct sim_pod *pod)
{
    struct sim_container *c = &pod->containers[pod->init_at];

    if (pod->init_at < pod->n_init) {
        if (c->status->state == CONTAINER_WAITING && !timer_armed(&c->timer))
            run(c);
        if (c->done && c->status->exit_code) {
            pod->failed = true;
            finish(pod, 0);
            return false;
        }
        if (!c->done && !is_sidecar(c))
            return false;
        pod->init_at++;
        return true;
    }
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].state == CONTAINER_WAITING && !timer_armed(&pod->containers[i].timer))
            run(&pod->containers[i]);
    return false;
}

/* Brings the pod as far as it comes at this moment and tells the result. */
static void advance(struct sim_pod *pod)
{
    while (start_next(pod))
        ;
    if (!pod->final && pod->init_at == pod->n_init && all_done(pod))
        finish(pod, 0);
    report(pod);
}

static void deadline_passed(struct timer *timer)
{
    struct sim_pod *pod = container_of(timer, struct sim_pod, deadline);

    pod->failed = true;
    pod->reason = "DeadlineExceeded";
    finish(pod, EXIT_TERM);
    report(pod);
}

/* From its beginning; 0 = none. */
static void arm_deadline(struct sim_pod *pod, int64_t deadline_ms)
{
    struct loop *loop = pod->sim->rt.loop;

    pod->deadline_ms = deadline_ms;
    pod->deadline.fire = deadline_passed;
    timer_stop(loop, &pod->deadline);
    if (deadline_ms && pod->begun && !pod->final)
        timer_start(loop, &pod->deadline,
                    deadline_ms - (loop_mono_ns(loop) - pod->begun_ns) / 1000000);
}

static void begin(struct sim_pod *pod)
{
    pod->begun = true;
    pod->begun_ns = loop_mono_ns(pod->sim->rt.loop);
    arm_deadline(pod, pod->deadline_ms);
    advance(pod);
}

/* What runs dies of SIGTERM; what waits will not come. */
static void stop_now(struct sim_pod *pod)
{
    for (size_t i = 0; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].state == CONTAINER_WAITING)
            pod->failed = true;
    finish(pod, EXIT_TERM);
    report(pod);
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
        if (pod->released)
            free_pod(sim, pod);
        else if (pod->stop_asked && !pod->final)
            stop_now(pod); /* the report may release and free the pod */
        else if (!pod->begun && !pod->final)
            begin(pod);
        pod = next;
    }
}

/* The table. */

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
    size_t n = spec->init_containers.count + spec->containers.count;

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
        c->spec = i < pod->n_init ? &spec->init_containers.items[i]
                                  : &spec->containers.items[i - pod->n_init];
        c->status = &pod->statuses[i];
        c->status->name = c->spec->name;
        c->status->image = c->spec->image;
        c->status->reason =
            i < pod->n_init || !pod->n_init ? "ContainerCreating" : "PodInitializing";
        c->timer.fire = timer_fired;
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

    if (!pod || !pod->final)
        return;
    pod->released = true;
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
        arm_deadline(pod, deadline_ms);
}

static void sim_startup_passed(struct runtime *rt, const char *uid, uint32_t index)
{
}

/* No simulated container is probed. */
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
    return "sim: nothing is executed, time is virtual";
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
    return &sim->rt;
}

void runtime_sim_script(struct runtime *rt, sim_script_fn script, void *ctx)
{
    struct sim *sim = sim_of(rt);

    sim->script = script;
    sim->script_ctx = ctx;
}
