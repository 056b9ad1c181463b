/*
 * The machine of a simulation: pods that run and end on its clock whether or not a process of ours
 * watches them, and a runtime through which the kubelet meets them. It keeps the contract of
 * node/runtime/runtime.h, and checks that the kubelet keeps its part (INV-N1, D-09).
 */
#include <stdio.h>

#include "node/node_object.h"
#include "node/runtime/runtime.h"
#include "tests/support/sim_impl.h"

enum { KILLED = 137, TERMINATED = 143, NS_PER_MS = 1000000, PLAIN_PODS_FAIL = 20 };

/* STARTING: its program does not run yet. GONE: nothing is left of it, not even its end. */
enum pod_state { STARTING, RUNNING, ENDED, GONE };

struct sim_pod {
    UT_hash_handle hh; /* entry of sim.pods, keyed by uid */
    struct sim *sim;
    char uid[SIM_UID], name[SIM_NAME], container[SIM_NAME];
    enum pod_state state;
    int64_t runs_ns, ends_ns; /* times at which the pod's program starts and ends */
    int64_t started_ms, finished_ms;
    int code;
    char message[64];
    bool stopped, released;
    bool over;    /* the program of the pod ended by itself, with `code` */
    bool lost;    /* the pod vanished without a report before it was released */
    bool cut;     /* the power failed: the machine has no record of the pod */
    bool ignores; /* the program ignores SIGTERM and ends by SIGKILL only */
    struct timer timer;
    bool told; /* the end of the pod was reported in this life */
};

struct sim_runtime {
    struct runtime base;
    struct sim *sim;
};

static struct sim *sim_of(struct runtime *rt)
{
    return container_of(rt, struct sim_runtime, base)->sim;
}

static struct sim_pod *find(struct sim *sim, const char *uid)
{
    struct sim_pod *pod;

    HASH_FIND_STR(sim->pods, uid, pod);
    return pod;
}

static int64_t now_ns(const struct sim *sim)
{
    return clock_mono_ns(sim->clock);
}

/* Brings the pod to the state that it has now. */
static void advance(struct sim_pod *pod)
{
    struct sim *sim = pod->sim;

    if (pod->state == STARTING && now_ns(sim) >= pod->runs_ns) {
        pod->state = RUNNING;
        pod->started_ms = clock_wall_ms(sim->clock);
    }
    if (pod->state <= RUNNING && now_ns(sim) >= pod->ends_ns) {
        pod->state = ENDED;
        pod->over = true;
        sim->running--;
        pod->finished_ms = clock_wall_ms(sim->clock);
        sim_tell(sim, "    pod %s ends with %d", pod->name, pod->code);
    }
}

static void report(struct sim_pod *pod)
{
    struct sim *sim = pod->sim;
    struct container_status container = {
        .name = pod->container,
        .state = pod->state == STARTING  ? CONTAINER_WAITING
                 : pod->state == RUNNING ? CONTAINER_RUNNING
                                         : CONTAINER_TERMINATED,
        .exit_code = pod->state == ENDED ? pod->code : 0,
        .reason = pod->state != ENDED ? NULL
                  : pod->code         ? "Error"
                                      : "Completed",
        .message = pod->state == ENDED ? pod->message : NULL,
        .ready = pod->state == RUNNING,
        .started_ms = pod->started_ms,
        .finished_ms = pod->finished_ms,
    };
    struct runtime_report report = {.uid = pod->uid, .stopped = pod->stopped};

    report.final = pod->state >= ENDED;
    report.status.initialized = true;
    report.status.phase = pod->state == STARTING            ? POD_PENDING
                          : pod->state == RUNNING           ? POD_RUNNING
                          : pod->code || pod->state == GONE ? POD_FAILED
                                                            : POD_SUCCEEDED;
    report.status.ready = pod->state == RUNNING;
    if (pod->state == GONE) {
        report.status.reason = "SupervisorLost";
    } else {
        report.status.containers.items = &container;
        report.status.containers.count = 1;
    }
    if (report.final && pod->told)
        return;
    pod->told = report.final;
    sim->runtime->report(sim->runtime->ctx, &report);
}

static void arm(struct sim_pod *pod)
{
    struct sim *sim = pod->sim;
    int64_t due_ns =
        pod->state == STARTING && pod->runs_ns < pod->ends_ns ? pod->runs_ns : pod->ends_ns;

    timer_start_ns(sim->loop, &pod->timer, pod->state >= ENDED ? 0 : due_ns - now_ns(sim));
}

static void on_timer(struct timer *timer)
{
    struct sim_pod *pod = container_of(timer, struct sim_pod, timer);

    if (pod->sim->dead)
        return;
    advance(pod);
    if (pod->state < ENDED)
        arm(pod);
    report(pod);
}

/* How the pod behaves: as its flow's step says, or at random. */
static void decide(struct sim_pod *pod, const struct object *object)
{
    struct sim *sim = pod->sim;
    struct dice dice = {sim->seed ^ hash_stable(pod->uid, strlen(pod->uid))};
    const struct owner_ref *owner = meta_controller(object->meta);
    const struct sim_object *job = owner ? sim_find(sim, owner->uid) : NULL;
    int64_t length_ms = dice_chance(&dice, 30) ? 0 : dice_roll(&dice, 20000);
    struct gen_end end;

    pod->runs_ns = now_ns(sim) + dice_roll(&dice, 50) * (int64_t)NS_PER_MS;
    pod->ends_ns = pod->runs_ns + length_ms * NS_PER_MS;
    pod->ignores = dice_chance(&dice, 20);
    if (job && job->object && sim_client_end_of(sim, job->object, &end)) {
        scoped(buf) struct buf message = {0};

        pod->code = end.code;
        gen_end_message(&end, &message);
        snprintf(pod->message, sizeof pod->message, "%s", message.data ? message.data : "");
    } else if (dice_chance(&dice, PLAIN_PODS_FAIL)) {
        pod->code = 1 + dice_roll(&dice, 3);
    }
}

static void check_start(struct sim *sim, const struct runtime_pod *started)
{
    const struct sim_object *known = sim_find(sim, started->uid);

    if (find(sim, started->uid))
        sim_violated(sim, "INV-N1: pod %s is started twice", started->name);
    else if (!known || !known->intent)
        sim_violated(sim, "D-09: pod %s is started before its intent is durable", started->name);
}

static void machine_start(struct runtime *rt, const struct runtime_pod *started)
{
    struct sim *sim = sim_of(rt);
    struct sim_pod *pod;

    if (sim->dead)
        return;
    check_start(sim, started);
    if (sim_is_over(sim))
        return;
    pod = mem_alloc(sizeof *pod);
    pod->sim = sim;
    snprintf(pod->uid, sizeof pod->uid, "%s", started->uid);
    snprintf(pod->name, sizeof pod->name, "%s", started->name);
    snprintf(pod->container, sizeof pod->container, "%s", started->containers[0].spec->name);
    HASH_ADD_STR(sim->pods, uid, pod);
    pod->timer.fire = on_timer;
    decide(pod, started->object);
    sim->counts.pods++;
    if (++sim->running > sim->pods_max)
        sim_violated(sim, "%d pods run on a machine for %d", sim->running, sim->pods_max);
    sim_tell(sim, "    pod %s starts", pod->name);
    arm(pod);
}

/* A pod that was stopped ends a while later; the end of its program may come first. */
static void machine_stop(struct runtime *rt, const char *uid, int64_t grace_ms)
{
    struct sim *sim = sim_of(rt);
    struct sim_pod *pod = sim->dead ? NULL : find(sim, uid);
    struct dice dice = {sim->seed ^ hash_stable(uid, strlen(uid)) ^ 1};
    int64_t wait_ms;

    if (!pod || pod->state >= ENDED)
        return;
    wait_ms = pod->ignores || !grace_ms ? grace_ms : dice_roll(&dice, (int)grace_ms);
    pod->stopped = true;
    if (now_ns(sim) + wait_ms * NS_PER_MS >= pod->ends_ns)
        return;
    sim_tell(sim, "    pod %s is stopped", pod->name);
    pod->ends_ns = now_ns(sim) + wait_ms * NS_PER_MS;
    pod->code = pod->ignores || !grace_ms ? KILLED : TERMINATED;
    arm(pod);
}

static void machine_release(struct runtime *rt, const char *uid)
{
    struct sim *sim = sim_of(rt);
    struct sim_pod *pod = sim->dead ? NULL : find(sim, uid);

    if (!pod)
        return;
    if (pod->state < ENDED)
        sim_violated(sim, "D-10: pod %s is released before its end", pod->name);
    pod->released = true;
}

static void machine_adopt(struct runtime *rt, runtime_found_fn found, struct task *done)
{
    struct sim *sim = sim_of(rt);

    rt->machine_restarted = sim->boot_seen && sim->boot_seen != sim->boots;
    sim->boot_seen = sim->boots;
    for (struct sim_pod *pod = sim->pods; pod; pod = pod->hh.next) {
        if (pod->released || pod->cut)
            continue;
        advance(pod);
        pod->told = false;
        found(rt->ctx, pod->uid);
        arm(pod);
    }
    loop_post(rt->loop, done);
}

static void machine_free(struct runtime *rt)
{
    struct sim *sim = sim_of(rt);

    for (struct sim_pod *pod = sim->pods; pod; pod = pod->hh.next)
        timer_stop(rt->loop, &pod->timer);
    sim->runtime = NULL;
    mem_free(container_of(rt, struct sim_runtime, base));
}

/* What simulated pods do not have. */

static void machine_purge(struct runtime *rt, const char *uid)
{
}

static void machine_set_hosts(struct runtime *rt, const char *uid, const char *hosts)
{
}

static void machine_set_files(struct runtime *rt, const char *uid, size_t index,
                              const struct runtime_volume *volume)
{
}

static void machine_set_program(struct runtime *rt, const struct runtime_pod *pod, uint32_t index,
                                const struct runtime_container *container)
{
}

static void machine_set_deadline(struct runtime *rt, const char *uid, int64_t deadline_ms)
{
}

static void machine_startup_passed(struct runtime *rt, const char *uid, uint32_t index)
{
}

static void machine_exec(struct runtime *rt, const struct runtime_exec *exec)
{
}

static void machine_kill_container(struct runtime *rt, const char *uid, uint32_t container,
                                   int64_t grace_ms, const char *why)
{
}

static bool machine_read_log(struct runtime *rt, const char *uid, const struct log_query *options,
                             int64_t *offset, struct buf *out, struct error *err)
{
    return true;
}

static int machine_socket_to(struct runtime *rt, const struct sockaddr *to, int type)
{
    return -1;
}

static const char *machine_describe(struct runtime *rt)
{
    return "simulated";
}

static const struct runtime_capabilities *machine_capabilities(struct runtime *rt)
{
    return NULL;
}

static const struct runtime_ops machine_ops = {
    .adopt = machine_adopt,
    .start = machine_start,
    .stop = machine_stop,
    .release = machine_release,
    .purge = machine_purge,
    .set_hosts = machine_set_hosts,
    .set_files = machine_set_files,
    .set_program = machine_set_program,
    .set_deadline = machine_set_deadline,
    .startup_passed = machine_startup_passed,
    .exec = machine_exec,
    .kill_container = machine_kill_container,
    .read_log = machine_read_log,
    .socket_to = machine_socket_to,
    .describe = machine_describe,
    .capabilities = machine_capabilities,
    .free = machine_free,
};

struct runtime *__wrap_runtime_sim_new(struct loop *loop, runtime_report_fn report_fn, void *ctx);
struct runtime *__wrap_runtime_sim_new(struct loop *loop, runtime_report_fn report_fn, void *ctx)
{
    struct sim_runtime *machine = mem_alloc(sizeof *machine);

    machine->base =
        (struct runtime){.ops = &machine_ops, .loop = loop, .report = report_fn, .ctx = ctx};
    machine->sim = sim_now;
    sim_now->loop = loop;
    sim_now->runtime = &machine->base;
    return &machine->base;
}

void __real_machine_read(struct machine *machine, const struct machine_options *options);
void __wrap_machine_read(struct machine *machine, const struct machine_options *options);
void __wrap_machine_read(struct machine *machine, const struct machine_options *options)
{
    __real_machine_read(machine, options);
    snprintf(machine->boot_id, sizeof machine->boot_id, "boot-%d", sim_now->boots);
}

void sim_machine_cut(struct sim *sim)
{
    for (struct sim_pod *pod = sim->pods; pod; pod = pod->hh.next) {
        sim->running -= pod->state <= RUNNING;
        pod->lost |= !pod->released;
        pod->cut = true;
        pod->state = GONE;
    }
    sim->boots++;
    sim->pods_lost = true;
}

void sim_machine_lose(struct sim *sim)
{
    struct sim_pod *pod, *some = NULL;
    int n = 0;

    for (pod = sim->pods; pod; pod = pod->hh.next)
        if (pod->state <= RUNNING && dice_roll(&sim->dice, ++n) == 0)
            some = pod;
    if (!some)
        return;
    sim_tell(sim, "pod %s is lost", some->name);
    some->state = GONE;
    some->lost = true;
    sim->running--;
    sim->pods_lost = true;
    if (sim->runtime)
        timer_start(sim->loop, &some->timer, 0);
}

bool sim_machine_ended(struct sim *sim, const char *uid, int *out)
{
    const struct sim_pod *pod = find(sim, uid);

    if (!pod || !pod->over)
        return false;
    *out = pod->code;
    return true;
}

bool sim_machine_lost(struct sim *sim, const char *uid)
{
    const struct sim_pod *pod = find(sim, uid);

    return pod && pod->lost;
}

void sim_machine_end(struct sim *sim)
{
    struct sim_pod *pod, *next;

    HASH_ITER(hh, sim->pods, pod, next)
    {
        HASH_DEL(sim->pods, pod);
        mem_free(pod);
    }
}
