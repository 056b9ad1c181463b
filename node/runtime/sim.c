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
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/pod/sim_annotations.h"
#include "base/hash.h"
#include "base/mem.h"
#include "node/runtime/runtime.h"

enum {
    BACKOFF_FIRST_MS = 10000, /* back-off before a restart as in the kubelet: doubled, at most five
                               * minutes */
    BACKOFF_LAST_MS = 300000,
    EXIT_TERM = 143, /* exit code after SIGTERM: 128 + its number */
};

struct sim_container {
    struct sim_pod *pod;
    const struct pod_container *spec;
    struct container_status *status;
    struct timer timer; /* the end of the run, or the next start */
    int64_t backoff_ms;
    bool done; /* the container will not run again */
};

/* The states of a simulated pod. NEW: not begun. FINAL: its last report is made. RELEASED: freed
 * once it is no longer due. */
enum sim_state { SIM_NEW, SIM_RUNNING, SIM_FINAL, SIM_RELEASED };

/* A simulated pod. It is in sim.due while `due` is set. */
struct sim_pod {
    UT_hash_handle hh;
    struct sim *sim;
    struct sim_pod *next_due;
    const char *uid;
    const struct object *object; /* the Pod; NULL: the pod was asked to stop but never started
                                  * here */
    const struct pod_spec *spec;
    size_t n_init, n_containers;
    size_t init_at; /* number of init containers that are done or, for sidecars, started */
    struct timer deadline;
    int64_t begun_ns, deadline_ms; /* times of the loop's clock; deadline_ms 0 = none */
    enum sim_state state;
    bool due, stop_asked;
    bool failed;        /* the pod has failed, regardless of the exit codes */
    const char *reason; /* reason of the pod's failure, or NULL */
    struct container_status *statuses;
    struct sim_container containers[]; /* the pod's containers, init containers first */
};

/* The number of ended runs of a container, by "namespace/pod/container". It outlives the pod,
 * because the exit code of the next pod of this name may depend on it. */
struct sim_attempts {
    UT_hash_handle hh;
    size_t count;
    char key[];
};

struct sim {
    struct runtime rt;
    struct sim_pod *pods;
    struct sim_attempts *attempts;
    sim_script_fn script;
    void *script_ctx;
    int64_t speed; /* 1: pods take the time that they say; 2: half of it */
    struct task task;
    struct sim_pod *due, **due_tail;
};

static struct sim *sim_of(struct runtime *rt)
{
    return container_of(rt, struct sim, rt);
}

/* Returns how much time of the loop's clock `ns` of a pod take. A time that is not 0 never becomes
 * 0. */
static int64_t clock_ns(const struct sim *sim, int64_t ns)
{
    return ns > 0 && ns < sim->speed ? 1 : ns / sim->speed;
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

static bool is_final(const struct sim_pod *pod)
{
    return pod->state >= SIM_FINAL;
}

static enum pod_phase phase_of(const struct sim_pod *pod)
{
    if (pod->failed)
        return POD_FAILED;
    if (!is_final(pod))
        return pod->init_at < pod->n_init ? POD_PENDING : POD_RUNNING;
    for (size_t i = pod->n_init; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].exit_code)
            return POD_FAILED;
    return POD_SUCCEEDED;
}

static void send_report(struct sim_pod *pod)
{
    struct runtime_report report = {.uid = pod->uid, .final = is_final(pod)};
    struct pod_status *status = &report.status;

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
    pod->sim->rt.report(pod->sim->rt.ctx, &report);
}

/* Returns where the number of ended runs of a container under the name of its pod is counted. */
static size_t *runs_of(struct sim_container *c)
{
    struct sim *sim = c->pod->sim;
    scoped_str key = mem_printf("%s/%s/%s", object_namespace(c->pod->object),
                                object_name(c->pod->object), c->spec->name);
    struct sim_attempts *found;
    size_t len = strlen(key);

    HASH_FIND(hh, sim->attempts, key, len, found);
    if (!found) {
        found = mem_alloc(sizeof *found + len + 1);
        memcpy(found->key, key, len + 1);
        HASH_ADD(hh, sim->attempts, key, len, found);
    }
    return &found->count;
}

static bool ask_script(struct sim_container *c, struct sim_outcome *out)
{
    struct sim *sim = c->pod->sim;

    return sim->script && c->pod->object &&
           sim->script(sim->script_ctx, c->pod->object, c->spec->name, *runs_of(c), out);
}

static int64_t run_ns(struct sim_container *c)
{
    struct sim_outcome outcome;

    if (ask_script(c, &outcome))
        return outcome.duration_ns;
    return pod_sim_duration_ns(meta_annotation(c->pod->object->meta, ANNOTATION_SIM_DURATION),
                               c->spec->name);
}

static const char *termination_message(struct sim_container *c)
{
    struct sim_outcome outcome;

    if (ask_script(c, &outcome))
        return outcome.message;
    return c->pod->object ? meta_annotation(c->pod->object->meta, ANNOTATION_SIM_MESSAGE) : NULL;
}

/* Returns the exit code of the run that ends now, and counts the run. */
static int take_exit_code(struct sim_container *c)
{
    const char *codes = meta_annotation(c->pod->object->meta, ANNOTATION_SIM_EXIT_CODE);
    struct sim_outcome outcome;

    if (ask_script(c, &outcome)) {
        ++*runs_of(c);
        return outcome.exit_code;
    }
    return pod_sim_exit_code(codes, pod_sim_exit_code_varies(codes) ? (*runs_of(c))++ : 0);
}

static void advance(struct sim_pod *pod);

static void end_run(struct sim_container *c, int code, const char *reason, const char *message)
{
    struct container_status *status = c->status;

    timer_stop(c->pod->sim->rt.loop, &c->timer);
    status->state = CONTAINER_TERMINATED;
    status->ready = false;
    status->exit_code = code;
    status->signal = code == EXIT_TERM ? code - 128 : 0;
    status->reason = reason ? reason : code ? "Error" : "Completed";
    status->finished_ms = loop_wall_ms(c->pod->sim->rt.loop);
    status->message = message;
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

static void back_off(struct sim_container *c)
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
    timer_start_ns(c->pod->sim->rt.loop, &c->timer, clock_ns(c->pod->sim, c->backoff_ms * 1000000));
}

static void run_ended(struct sim_container *c)
{
    const char *message = termination_message(c);

    end_run(c, take_exit_code(c), NULL, message);
    if (runs_again(c))
        back_off(c);
    else
        c->done = true;
}

static void run(struct sim_container *c)
{
    struct loop *loop = c->pod->sim->rt.loop;
    int64_t ns = clock_ns(c->pod->sim, run_ns(c));

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
        run_ended(c);
}

static void timer_fired(struct timer *timer)
{
    struct sim_container *c = container_of(timer, struct sim_container, timer);

    if (c->status->state == CONTAINER_RUNNING) {
        run_ended(c);
    } else {
        c->status->restart_count++;
        run(c);
    }
    advance(c->pod);
}

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
    pod->state = SIM_FINAL;
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

/* Starts and ends everything of the pod that is due now, and reports the result. */
static void advance(struct sim_pod *pod)
{
    while (start_next(pod))
        ;
    if (!is_final(pod) && pod->init_at == pod->n_init && all_done(pod))
        finish(pod, 0);
    send_report(pod);
}

static void deadline_passed(struct timer *timer)
{
    struct sim_pod *pod = container_of(timer, struct sim_pod, deadline);

    pod->failed = true;
    pod->reason = "DeadlineExceeded";
    finish(pod, EXIT_TERM);
    send_report(pod);
}

/* Sets the timer for the pod's deadline. `deadline_ms` counts from the start of the pod; 0 =
 * none. */
static void arm_deadline(struct sim_pod *pod, int64_t deadline_ms)
{
    struct loop *loop = pod->sim->rt.loop;

    pod->deadline_ms = deadline_ms;
    pod->deadline.fire = deadline_passed;
    timer_stop(loop, &pod->deadline);
    if (deadline_ms && pod->state == SIM_RUNNING)
        timer_start_ns(loop, &pod->deadline,
                       clock_ns(pod->sim, deadline_ms * 1000000) -
                           (loop_mono_ns(loop) - pod->begun_ns));
}

static void begin(struct sim_pod *pod)
{
    pod->state = SIM_RUNNING;
    pod->begun_ns = loop_mono_ns(pod->sim->rt.loop);
    arm_deadline(pod, pod->deadline_ms);
    advance(pod);
}

/* Stops a pod: running containers die of SIGTERM, and a pod with containers that were still waiting
 * has failed. */
static void stop_now(struct sim_pod *pod)
{
    for (size_t i = 0; i < pod->n_init + pod->n_containers; i++)
        if (pod->statuses[i].state == CONTAINER_WAITING)
            pod->failed = true;
    finish(pod, EXIT_TERM);
    send_report(pod);
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
        else if (pod->stop_asked && !is_final(pod))
            stop_now(pod); /* the report may release and free the pod */
        else if (pod->state == SIM_NEW)
            begin(pod);
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
        arm_deadline(pod, deadline_ms);
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
