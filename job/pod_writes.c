/*
 * Writes of pods: create, mark, remove. Each write is a small record that is freed with its answer.
 * The slot has the write in flight, so that none is begun twice. The answer to a write and the
 * change it causes may come in either order. O-41…O-44, O-48, O-51, O-72.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "base/mem.h"
#include "job/model/names.h"
#include "job/objects/pod.h"
#include "job/run.h"

/* Time between two attempts of what only an administrator can make possible. */
enum { ASK_AGAIN_MS = 60000 };

struct pod_op {
    struct cluster_call call;
    struct job_run *run;
    struct slot_id at;
    enum mark_purpose mark_purpose;
};

/* What a retry can do about a failure. Volcano retries all failures alike and gives up after 15. */
enum failure {
    FAILURE_STALE,     /* newer data is on its way: retry when it has arrived */
    FAILURE_TRANSIENT, /* retry after a back-off, without an event */
    FAILURE_WAITING,   /* retry after a back-off, with an event: something else must change first */
    FAILURE_RIGHTS,    /* retry now and then, with an event: an administrator must give the right */
    FAILURE_CLOSING, /* retry now and then: the namespace, and the job with it, are being removed */
    FAILURE_PERMANENT, /* a limited number of retries: only a change of the job can help */
};

/* A server refuses for four reasons with the same code. */
static enum failure classify_denial(const char *message)
{
    return strstr(message, "quota")                   ? FAILURE_WAITING
           : strstr(message, "being terminated")      ? FAILURE_CLOSING
           : strstr(message, "is forbidden: User \"") ? FAILURE_RIGHTS
                                                      : FAILURE_PERMANENT;
}

static enum failure classify(const struct error *err)
{
    static const enum failure classes[ERROR_CODE_N] = {
        [ERR_CONFLICT] = FAILURE_STALE,        [ERR_NOT_FOUND] = FAILURE_STALE,
        [ERR_EXISTS] = FAILURE_WAITING,        [ERR_BAD_REQUEST] = FAILURE_PERMANENT,
        [ERR_FORBIDDEN] = FAILURE_PERMANENT,   [ERR_INVALID] = FAILURE_PERMANENT,
        [ERR_TOO_LARGE] = FAILURE_PERMANENT,   [ERR_NOT_IMPLEMENTED] = FAILURE_PERMANENT,
        [ERR_TOO_MANY] = FAILURE_TRANSIENT,    [ERR_INTERNAL] = FAILURE_TRANSIENT,
        [ERR_UNAVAILABLE] = FAILURE_TRANSIENT, [ERR_TIMEOUT] = FAILURE_TRANSIENT,
        [ERR_STORAGE] = FAILURE_WAITING,       [ERR_UNAUTHORIZED] = FAILURE_TRANSIENT,
    };

    return err->code == ERR_FORBIDDEN ? classify_denial(err->message) : classes[err->code];
}

/* Returns the reason of the state of a job that waits because of a failure; NULL: it has none. */
static const char *waiting_reason(const struct error *err)
{
    enum failure failure = classify(err);

    if (failure == FAILURE_WAITING)
        return err->code == ERR_FORBIDDEN ? "QuotaExceeded" : "FailedCreate";
    return failure == FAILURE_RIGHTS ? "Forbidden" : NULL;
}

/* The job can never get its pods: terminate it, after as many retries as Volcano makes. */
static void give_up(struct job_run *run, const char *what, const struct error *err)
{
    struct job_request *request = mem_alloc(sizeof *request);

    *request = (struct job_request){.event = EVENT_COMMAND_ISSUED,
                                    .has_action = true,
                                    .action = ACT_TERMINATE_JOB,
                                    .partition = -1,
                                    .version = run->model.state.version};
    run->permanent = 0;
    job_run_event(run, EVENT_NORMAL, "ExecuteAction",
                  "TerminateJob: gave up after %d retries: %s: %s", run->ctl->options.max_requeue,
                  what, err->message);
    job_request_post(run, request);
}

void job_write_failed(struct job_run *run, const char *event_reason, const char *what,
                      const struct error *err)
{
    enum failure failure = classify(err);
    int limit = run->ctl->options.max_requeue;

    run->sync_wanted = true;
    if (failure == FAILURE_STALE) { /* newer data is on its way */
        if (!job_run_holding(run))
            work_add_after(&run->work, 5);
        return;
    }
    if (failure != FAILURE_TRANSIENT && failure != FAILURE_CLOSING)
        job_run_event(run, EVENT_WARNING, event_reason, "%s: %s", what, err->message);
    if (job_run_holding(run))
        return; /* failures of one round count once */
    if (failure == FAILURE_RIGHTS || failure == FAILURE_CLOSING) {
        work_add_after(&run->work, ASK_AGAIN_MS);
        return;
    }
    if (failure == FAILURE_PERMANENT && limit >= 0 && run->permanent++ >= (unsigned)limit) {
        give_up(run, what, err);
        return;
    }
    work_add_backoff(&run->work);
}

static void succeeded(struct job_run *run)
{
    if (job_run_holding(run))
        return; /* other writes of this round failed */
    run->permanent = 0;
    work_forget(&run->work);
}

/* Frees the record of a write. Returns true when the job still exists. */
static bool finish(struct cluster_call *call, struct job_run **out_run, struct slot_id *out_at)
{
    struct pod_op *op = container_of(call, struct pod_op, call);
    struct job_run *run = op->run;

    *out_run = run;
    *out_at = op->at;
    mem_free(op);
    run->ops--;
    if (run->gone) {
        job_run_free_if_done(run);
        return false;
    }
    return true;
}

/* The write is answered: the slot has none in flight. */
static void end_op(struct job_run *run, struct slot_id at, enum slot_op op)
{
    const struct job_slot *slot = job_model_slot(&run->model, at);

    if (slot && slot->op == op)
        job_model_set_op(&run->model, at, SLOT_IDLE);
}

static struct cluster_call *begin(struct job_run *run, struct slot_id at, enum slot_op what,
                                  cluster_done_fn done)
{
    struct pod_op *op = mem_alloc(sizeof *op);

    *op = (struct pod_op){{.done = done}, run, at};
    run->ops++;
    job_model_set_op(&run->model, at, what);
    return &op->call;
}

/* Takes over the version of a pod in an answer. */
static void take_pod(struct job_run *run, struct slot_id at, const struct object *pod)
{
    struct pod_facts facts;

    if (job_pod_facts(pod, &facts))
        job_run_pod(run, at, pod, &facts);
}

/* A pod of the name exists (O-42): the job's own, one of an earlier job of the name, or a foreign
 * one. */
static void name_taken(struct job_run *run, struct slot_id at, const struct error *err)
{
    const char *ns = object_namespace(run->model.job);
    scoped_str name = job_pod_name(object_name(run->model.job),
                                   run->model.compiled->spec->tasks.items[at.task].name, at.index);
    const struct object *pod = cluster_get(run->ctl->cluster, &kind_pod, ns, name);
    const struct owner_ref *owner = pod ? meta_controller(pod->meta) : NULL;
    scoped_str message = NULL;

    if (pod && job_run_owns(run, pod)) {
        take_pod(run, at, pod);
        return;
    }
    run->sync_wanted = true;
    if (!job_run_holding(run))
        work_add_backoff(&run->work);
    if (!pod) /* the pod is not in the cache yet, or no longer */
        return;
    message =
        mem_printf("pod %s exists and belongs to %s %s; it is created as soon as the name is free",
                   name, owner ? owner->kind : "no controller", owner ? owner->name : "");
    job_status_waits(run, "PodNameConflict", message);
    job_wait_for(run, &kind_pod, ns, name);
    if (!owner || strcmp(owner->kind, "Job") != 0 ||
        strcmp(owner->name, object_name(run->model.job)) != 0)
        job_run_event(run, EVENT_WARNING, "FailedCreate", "%s", err->message);
}

static void created(struct cluster_call *call, const struct object *pod, const struct error *err)
{
    struct job_run *run;
    struct slot_id at;

    if (!finish(call, &run, &at))
        return;
    end_op(run, at, SLOT_CREATING);
    if (!err) {
        job_metrics_pod_created(&run->ctl->metrics, run->model.job, job_run_now_ms(run));
        take_pod(run, at, pod);
        succeeded(run);
    } else if (err->code == ERR_EXISTS) {
        name_taken(run, at, err);
    } else {
        if (waiting_reason(err))
            job_status_waits(run, waiting_reason(err), err->message);
        job_write_failed(run, "FailedCreate", "create pod", err);
    }
    job_run_sync(run);
}

void job_pod_create(struct job_run *run, struct slot_id at)
{
    struct object *pod = job_pod_build(&run->model, at);

    cluster_create(run->ctl->cluster, begin(run, at, SLOT_CREATING, created), pod);
}

static void marked(struct cluster_call *call, const struct object *pod, const struct error *err)
{
    struct job_run *run;
    struct slot_id at;
    const struct job_slot *slot;
    enum mark_purpose mark_purpose = container_of(call, struct pod_op, call)->mark_purpose;
    bool done;

    if (!finish(call, &run, &at))
        return;
    end_op(run, at, SLOT_MARKING);
    slot = job_model_slot(&run->model, at);
    done = !err || (slot && slot->facts.marked); /* marked although the answer is an error */
    if (!err)
        take_pod(run, at, pod);
    else if (!done && err->code != ERR_NOT_FOUND)
        /* The pod is not removed unmarked: its end would look like an eviction. */
        job_write_failed(run, "FailedDelete", "mark pod", err);
    if (mark_purpose != MARK_UNTRACKED) {
        run->target.marks--;
        run->target.marked += done && mark_purpose == MARK_TARGET;
        run->target.failed += !done && err->code != ERR_NOT_FOUND;
        if (run->target.marks == 0)
            job_execute_marked(run);
    }
    job_run_sync(run);
}

void job_pod_mark(struct job_run *run, struct slot_id at, enum mark_purpose mark_purpose)
{
    struct object *pod = job_pod_marked(job_model_slot(&run->model, at)->pod);
    struct cluster_call *call = begin(run, at, SLOT_MARKING, marked);

    container_of(call, struct pod_op, call)->mark_purpose = mark_purpose;
    cluster_update(run->ctl->cluster, call, pod);
}

static void removed(struct cluster_call *call, const struct object *none, const struct error *err)
{
    struct job_run *run;
    struct slot_id at;
    struct job_slot *slot;

    if (!finish(call, &run, &at))
        return;
    if (!err) {
        succeeded(run); /* the change of the pod follows */
        return;
    }
    end_op(run, at, SLOT_REMOVING);
    slot = job_model_slot(&run->model, at);
    if (err->code == ERR_NOT_FOUND && slot && slot->pod &&
        !cluster_get(run->ctl->cluster, &kind_pod, object_namespace(slot->pod),
                     object_name(slot->pod)))
        job_run_pod(run, at, NULL, NULL);
    else
        job_write_failed(run, "FailedDelete", "delete pod", err);
    job_run_sync(run);
}

void job_pod_remove(struct job_run *run, struct slot_id at)
{
    const struct object *pod = job_model_slot(&run->model, at)->pod;
    const struct cluster_removal how = {
        .uid = object_uid(pod), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    cluster_remove(run->ctl->cluster, begin(run, at, SLOT_REMOVING, removed), &kind_pod,
                   object_namespace(pod), object_name(pod), &how);
}
