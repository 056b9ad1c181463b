/*
 * Targets, their pods, and the checks that poll them.
 *
 * Targets hang below the uid of their job, so that a pod's event finds them by its owner. The
 * watcher on pods exists only while a target does.
 */
#include "probes/probe.h"
#include "base/hash.h"
#include "base/log.h"
#include "probes/entries.h"
#include "probes/turns.h"
#include <string.h>

enum { PERIOD_FAST_S = 1, PERIOD_SLOW_S = 5, PERIOD_MAX_S = 30, FAST_TRIES = 60 };

struct probe_pod {
    struct probe_target *target;
    int64_t revision;
    bool *passes; /* [target->needs.count] */
    struct probe_check **checks;
    char *ip; /* as last seen */
    UT_hash_handle hh;
    char uid[];
};

/* The targets that look at one job. */
struct watched_job {
    struct probe_target *targets;
    UT_hash_handle hh;
    char uid[];
};

struct probe_target {
    struct probes *probes;
    struct probe_group *group;
    const struct flow_probe *spec;
    struct object *job;
    struct probe_needs needs; /* borrow from both */
    struct probe_pod *pods;   /* hash by uid */
    struct watched_job *watched;
    struct probe_target *prev, *next; /* of the same job */
    void (*passed)(void *ctx);
    void *ctx;
    bool verdict_passed;
    struct task tell;
};

struct probes {
    struct cluster *cluster;
    struct probe_turns turns;
    const char *const *refused;
    const char *host_address;
    const struct probe_sockets *sockets;
    struct probe_http_client *http;
    struct cluster_watcher pods;
    bool watching;
    struct watched_job *jobs; /* hash by uid */
    unsigned targets;
    struct probe_counts counts;
};

static void fly(struct probes *probes);

/* ---- verdict ---- */

static void free_pod(struct probe_pod *pod);

static void tell(struct task *task)
{
    struct probe_target *target = container_of(task, struct probe_target, tell);

    target->passed(target->ctx);
}

/* PASSED is final: nothing needs to be looked at any more. */
static void judge(struct probe_target *target)
{
    struct probe_pod *pod, *next;

    if (target->verdict_passed || !probe_needs_met(&target->needs))
        return;
    target->verdict_passed = true;
    HASH_ITER(hh, target->pods, pod, next) free_pod(pod);
    loop_post(target->probes->cluster->loop, &target->tell);
}

static void set_passing(struct probe_pod *pod, uint32_t need, bool passing)
{
    if (pod->passes[need] == passing)
        return;
    pod->passes[need] = passing;
    pod->target->needs.items[need].passing += passing ? 1 : -1;
}

static void count(struct probes *probes, enum probe_kind kind, bool passed)
{
    if (passed)
        probes->counts.passed[kind]++;
    else
        probes->counts.failed[kind]++;
}

/* ---- checks ---- */

static void cancel(struct probe_check *check)
{
    struct probes *probes = check->target->probes;

    timer_stop(probes->cluster->loop, &check->again);
    if (check->target->needs.items[check->need].kind == PROBE_HTTP)
        probe_http_cancel(&check->attempt);
    else
        probe_tcp_cancel(&check->attempt);
    probe_turns_leave(&probes->turns, check->target->group, check);
    mem_free(check);
}

static int64_t period_ms(const struct probe_check *check)
{
    const struct probe_need *need = &check->target->needs.items[check->need];
    int32_t asked = need->http ? need->http->period_s : need->tcp->period_s;
    int64_t seconds = check->tries < FAST_TRIES ? PERIOD_FAST_S : PERIOD_SLOW_S;
    struct clock *clock = loop_clock(check->target->probes->cluster->loop);
    int64_t ms;

    if (asked >= 1)
        seconds = asked > PERIOD_MAX_S ? PERIOD_MAX_S : asked;
    ms = seconds * 1000;
    return ms - ms / 10 + (int64_t)(clock_random(clock) % (uint64_t)(ms / 5 + 1));
}

static void again(struct timer *timer)
{
    struct probe_check *check = container_of(timer, struct probe_check, again);
    struct probes *probes = check->target->probes;

    probe_turns_wait(&probes->turns, check->target->group, check);
    fly(probes);
}

static void answered(struct probe_check *check, bool passed)
{
    struct probe_target *target = check->target;
    struct probes *probes = target->probes;
    enum probe_kind kind = target->needs.items[check->need].kind;

    probe_turns_leave(&probes->turns, target->group, check);
    count(probes, kind, passed);
    if (!passed) {
        check->tries++;
        timer_start(probes->cluster->loop, &check->again, period_ms(check));
        return;
    }
    set_passing(check->pod, check->need, true);
    check->pod->checks[check->need] = NULL;
    mem_free(check);
    judge(target);
}

static void on_done(struct probe_try *attempt, bool passed)
{
    struct probe_check *check = container_of(attempt, struct probe_check, attempt);
    struct probes *probes = check->target->probes;

    answered(check, passed);
    fly(probes);
}

static bool start(struct probe_check *check)
{
    struct probes *probes = check->target->probes;
    const struct probe_need *need = &check->target->needs.items[check->need];
    int32_t port = need->http ? (need->http->port ? need->http->port : 80) : need->tcp->port;
    struct probe_address address;
    struct error err = {0};

    if (!probe_address_of(check->pod->ip, port, probes->refused, &address, &err)) {
        log_warn("probe refused", kv_str("job", object_name(check->target->job)),
                 kv_str("field", err.field), kv_str("reason", err.message));
        return false;
    }
    address.sockets = probes->sockets;
    check->attempt.done = on_done;
    if (need->kind == PROBE_TCP)
        return probe_tcp_start(probes->cluster->loop, &check->attempt, need->tcp, &address);
    if (!probes->http)
        probes->http = probe_http_client_new(probes->cluster->loop);
    return probe_http_start(probes->http, &check->attempt, need->http, &address);
}

/* Start what may start. A try that cannot even begin has failed. */
static void fly(struct probes *probes)
{
    struct probe_group *group;
    struct probe_check *check;

    while ((check = probe_turns_next(&probes->turns, &group)))
        if (!start(check))
            answered(check, false);
}

/* ---- pods ---- */

static void free_pod(struct probe_pod *pod)
{
    struct probe_target *target = pod->target;

    for (uint32_t i = 0; i < target->needs.count; i++) {
        if (pod->checks[i])
            cancel(pod->checks[i]);
        set_passing(pod, i, false);
    }
    HASH_DELETE(hh, target->pods, pod);
    mem_free(pod->passes);
    mem_free(pod->checks);
    mem_free(pod->ip);
    mem_free(pod);
}

static struct probe_pod *find_pod(const struct probe_target *target, const char *uid)
{
    struct probe_pod *pod;

    HASH_FIND_STR(target->pods, uid, pod);
    return pod;
}

static struct probe_pod *add_pod(struct probe_target *target, const char *uid)
{
    size_t len = strlen(uid);
    struct probe_pod *pod = mem_alloc(sizeof *pod + len + 1);

    memcpy(pod->uid, uid, len + 1);
    pod->target = target;
    pod->passes = mem_array(target->needs.count, sizeof *pod->passes);
    pod->checks = mem_array(target->needs.count, sizeof(struct probe_check *));
    HASH_ADD_KEYPTR(hh, target->pods, pod->uid, len, pod);
    return pod;
}

static void poll_need(struct probe_pod *pod, uint32_t need, bool running)
{
    struct probe_target *target = pod->target;
    struct probe_check *check = pod->checks[need];

    if (!running || !pod->ip) {
        if (check)
            cancel(check);
        pod->checks[need] = NULL;
        set_passing(pod, need, false);
        return;
    }
    if (check || pod->passes[need])
        return;
    check = mem_alloc(sizeof *check);
    check->target = target;
    check->pod = pod;
    check->need = need;
    check->again.fire = again;
    pod->checks[need] = check;
    probe_turns_wait(&target->probes->turns, target->group, check);
}

/* A pod belongs to an older version of its job when both say so. */
static bool outdated(const struct probe_target *target, const struct object *pod)
{
    const char *version = meta_annotation(pod->meta, ANNOTATION_JOB_VERSION);

    return version && strtol(version, NULL, 10) < job_status_of(target->job)->version;
}

/* Where a pod listens, NULL when that is not known (yet). */
static const char *address_of(const struct probes *probes, const struct pod_status *status)
{
    if (status->pod_ip && *status->pod_ip)
        return status->pod_ip;
    return status->phase == POD_RUNNING ? probes->host_address : NULL;
}

static void take_address(struct probe_pod *pod, const char *ip)
{
    if (pod->ip && ip && !strcmp(pod->ip, ip))
        return;
    mem_free(pod->ip);
    pod->ip = ip ? mem_strdup(ip) : NULL;
}

static void see_phase(struct probe_pod *pod, uint32_t need, bool reached)
{
    if (pod->passes[need] != reached)
        count(pod->target->probes, PROBE_TASK_STATUS, reached);
    set_passing(pod, need, reached);
}

static void see_pod(struct probe_target *target, const struct object *object)
{
    const struct pod_status *status = pod_status_of(object);
    const char *task = meta_label(object->meta, LABEL_TASK_SPEC);
    struct probe_pod *pod = find_pod(target, object_uid(object));

    if (target->verdict_passed || (pod && object->revision < pod->revision))
        return;
    if (outdated(target, object)) {
        if (pod)
            free_pod(pod);
        return;
    }
    if (!pod)
        pod = add_pod(target, object_uid(object));
    pod->revision = object->revision;
    take_address(pod, address_of(target->probes, status));
    for (uint32_t i = 0; i < target->needs.count; i++) {
        const struct probe_need *need = &target->needs.items[i];

        if (!task || strcmp(need->task, task) != 0)
            continue;
        if (need->kind == PROBE_TASK_STATUS)
            see_phase(pod, i, probe_phase_reached(need->status->phase, status->phase));
        else
            poll_need(pod, i, status->phase == POD_RUNNING && !object_deleting(object));
    }
}

static void settle(struct probe_target *target)
{
    judge(target);
    fly(target->probes);
}

static void visit_pod(void *arg, const struct object *pod)
{
    see_pod(arg, pod);
}

static void on_pod(struct cluster_watcher *watcher, enum cluster_change change,
                   const struct object *old, const struct object *object)
{
    struct probes *probes = container_of(watcher, struct probes, pods);
    const struct owner_ref *owner = meta_controller(object->meta);
    struct watched_job *job = NULL;

    if (owner)
        HASH_FIND_STR(probes->jobs, owner->uid, job);
    for (struct probe_target *t = job ? job->targets : NULL; t; t = t->next) {
        struct probe_pod *pod = find_pod(t, object_uid(object));

        if (change != CHANGE_DELETED)
            see_pod(t, object);
        else if (pod)
            free_pod(pod);
        settle(t);
    }
}

/* ---- targets ---- */

static void attach(struct probe_target *target)
{
    struct probes *probes = target->probes;
    const char *uid = object_uid(target->job);
    struct watched_job *job;

    HASH_FIND_STR(probes->jobs, uid, job);
    if (!job) {
        size_t len = strlen(uid);

        job = mem_alloc(sizeof *job + len + 1);
        memcpy(job->uid, uid, len + 1);
        HASH_ADD_KEYPTR(hh, probes->jobs, job->uid, len, job);
    }
    target->watched = job;
    target->next = job->targets;
    if (job->targets)
        job->targets->prev = target;
    job->targets = target;
}

static void detach(struct probe_target *target)
{
    struct watched_job *job = target->watched;

    if (target->prev)
        target->prev->next = target->next;
    else
        job->targets = target->next;
    if (target->next)
        target->next->prev = target->prev;
    if (!job->targets) {
        HASH_DELETE(hh, target->probes->jobs, job);
        mem_free(job);
    }
}

struct probe_target *probe_target_new(struct probes *probes, struct probe_group *group,
                                      const struct flow_probe *spec, const struct object *job,
                                      void (*passed)(void *ctx), void *ctx)
{
    struct probe_target *target = mem_alloc(sizeof *target);

    target->probes = probes;
    target->group = group;
    target->spec = spec;
    target->job = object_ref(job);
    target->passed = passed;
    target->ctx = ctx;
    target->tell.run = tell;
    probe_needs_of(spec, job_spec_of(job), &target->needs);
    if (!target->needs.count)
        return target; /* nothing to look at */
    attach(target);
    probes->targets++;
    if (!probes->watching) {
        probes->watching = true;
        cluster_watch(probes->cluster, &probes->pods);
    }
    cluster_each_owned(probes->cluster, &kind_pod, object_uid(job), visit_pod, target);
    settle(target);
    return target;
}

void probe_target_free(struct probe_target *target)
{
    struct probe_pod *pod, *next;
    struct probes *probes;

    if (!target)
        return;
    probes = target->probes;
    HASH_ITER(hh, target->pods, pod, next) free_pod(pod);
    loop_cancel(probes->cluster->loop, &target->tell);
    if (target->watched) {
        detach(target);
        if (--probes->targets == 0) {
            probes->watching = false;
            cluster_unwatch(probes->cluster, &probes->pods);
        }
    }
    probe_needs_release(&target->needs);
    object_unref(target->job);
    mem_free(target);
}

void probe_target_job_changed(struct probe_target *target, const struct object *job)
{
    bool renewed = job_status_of(job)->version != job_status_of(target->job)->version;
    bool rewritten = job->body != target->job->body;
    struct object *before = target->job;
    struct probe_pod *pod, *next;

    target->job = object_ref(job);
    if (target->watched && !target->verdict_passed && (renewed || rewritten)) {
        HASH_ITER(hh, target->pods, pod, next) free_pod(pod);
        probe_needs_release(&target->needs);
        probe_needs_of(target->spec, job_spec_of(job), &target->needs);
        cluster_each_owned(target->probes->cluster, &kind_pod, object_uid(job), visit_pod, target);
        settle(target);
    }
    object_unref(before); /* the needs borrowed from it */
}

enum probe_verdict probe_target_verdict(const struct probe_target *target)
{
    if (!target->needs.count)
        return PROBE_NOT_APPLICABLE;
    return target->verdict_passed ? PROBE_PASSED : PROBE_OPEN;
}

bool probe_target_met_by_completion(const struct probe_target *target)
{
    return target->verdict_passed || probe_needs_met_by_completion(&target->needs);
}

/* ---- the whole ---- */

struct probes *probes_new(struct cluster *cluster, const struct probe_limits *limits)
{
    struct probes *probes = mem_alloc(sizeof *probes);

    probes->cluster = cluster;
    probes->turns.at_once = limits && limits->at_once ? limits->at_once : 256;
    probes->turns.per_group = limits && limits->per_group ? limits->per_group : 8;
    probes->refused = limits ? limits->refused : NULL;
    probes->host_address = limits ? limits->host_address : NULL;
    probes->sockets = limits ? limits->sockets : NULL;
    probes->pods = (struct cluster_watcher){.changed = on_pod, .kind = &kind_pod};
    return probes;
}

void probes_free(struct probes *probes)
{
    if (!probes)
        return;
    probe_http_client_free(probes->http);
    mem_free(probes);
}

const struct probe_counts *probes_counts(const struct probes *probes)
{
    return &probes->counts;
}
