/*
 * What must hold in a simulation: of every durable change, in the order in which they became
 * durable, and when everything has ended. Ref: reliability.md section 6.
 */
#include <stdio.h>

#include "base/timefmt.h"
#include "tests/support/sim_impl.h"

enum { SECOND_MS = 1000, NS_PER_MS = 1000000, ABORT_MS = 5000 };

/* Returns the moment of the simulation at which an object ended, by its status. The status may have
 * been written much later, when the disk had room again. */
static int64_t end_of(const struct sim *sim, int64_t wall_ms)
{
    int64_t ns = (wall_ms - SIM_START_MS) * NS_PER_MS + sim->began_ns;

    return wall_ms && !sim->jumped && ns < sim->change_ns ? ns : sim->change_ns;
}

static int64_t completion_of(const struct object *flow)
{
    scoped(json) json_t *status = object_status_json(flow);
    int64_t at_ms = 0;

    time_parse(json_string_value(json_object_get(status, "completionTime")), &at_ms, NULL);
    return at_ms;
}

/* Whether a client asked for the deletion of the object or of something that owns it. */
static bool was_asked(struct sim *sim, const struct sim_object *known)
{
    const struct object *object = known->object;

    if (known->was_asked)
        return true;
    for (uint32_t i = 0; object && i < object->meta->n_owners; i++) {
        const struct sim_object *owner = sim_find(sim, object->meta->owners[i].uid);

        if (!owner || !owner->object || was_asked(sim, owner))
            return true;
    }
    return false;
}

/* 13.11, INV-J9: what has a time to live goes after it, and after its end. */
static void check_ttl(struct sim *sim, const struct sim_object *known, const char *what, bool has,
                      int64_t ttl_s)
{
    int64_t lived_ms = (sim->change_ns - known->finished_ns) / NS_PER_MS;

    if (was_asked(sim, known))
        return;
    if (!known->finished_ns)
        sim_violated(sim, "%s %s is deleted before it has ended", what, object_name(known->object));
    else if (!has)
        sim_violated(sim, "%s %s is deleted, and no client asked for it", what,
                     object_name(known->object));
    else if (!sim->jumped && lived_ms + SECOND_MS < ttl_s * SECOND_MS)
        sim_violated(sim, "INV-J9: %s %s is deleted %lld ms after its end, its ttl is %lld s", what,
                     object_name(known->object), (long long)lived_ms, (long long)ttl_s);
}

/* Pods. */

static bool has_ended(enum pod_phase phase)
{
    return pod_phase_ended(phase);
}

static int32_t exit_code_of(const struct pod_status *status)
{
    return status->containers.count ? status->containers.items[0].exit_code : 0;
}

/* INV-N2: the exit code is the one that the machine knows; a pod of which nothing is left has
 * failed. */
static void check_end(struct sim *sim, const struct object *pod, const struct pod_status *status)
{
    const char *name = object_name(pod);
    bool failed = status->phase == POD_FAILED && status->reason && *status->reason;
    bool lost = sim_machine_lost(sim, object_uid(pod));
    int code;

    if (sim_machine_ended(sim, object_uid(pod), &code)) {
        if (exit_code_of(status) != code && !(lost && failed))
            sim_violated(sim, "INV-N2: pod %s ended with %d, and its status says %d", name, code,
                         exit_code_of(status));
    } else if (!failed) {
        sim_violated(sim, "INV-N2: pod %s is %s without having ended, and without a reason", name,
                     pod_phase_text(status->phase));
    }
}

/* INV-J1: a slot of a job has one living pod. */
static void check_slot(struct sim *sim, const struct object *pod)
{
    const struct owner_ref *owner = meta_controller(pod->meta);

    for (struct sim_object *at = sim->objects; owner && at; at = at->hh.next) {
        const struct owner_ref *other =
            at->object && at->kind == &kind_pod ? meta_controller(at->object->meta) : NULL;

        if (other && strcmp(other->uid, owner->uid) == 0 && at->object != pod &&
            strcmp(at->uid, object_uid(pod)) != 0 &&
            strcmp(object_name(at->object), object_name(pod)) == 0)
            sim_violated(sim, "INV-J1: pod %s exists twice", object_name(pod));
    }
}

static void check_pod(struct sim *sim, struct sim_object *known, const struct object *pod)
{
    const struct pod_status *status = pod_status_of(pod);
    const struct pod_status *before = known->object ? pod_status_of(known->object) : NULL;

    if (!before)
        check_slot(sim, pod);
    if (before && status->phase < before->phase)
        sim_violated(sim, "INV-N5: pod %s goes from %s to %s", object_name(pod),
                     pod_phase_text(before->phase), pod_phase_text(status->phase));
    if (before && has_ended(before->phase) && before->phase != status->phase)
        sim_violated(sim, "INV-N5: pod %s goes from %s to %s", object_name(pod),
                     pod_phase_text(before->phase), pod_phase_text(status->phase));
    known->intent |= status->start_ms != 0;
    if (has_ended(status->phase) && (!before || !has_ended(before->phase)))
        check_end(sim, pod, status);
}

/* Jobs. */

static void check_phases(struct sim *sim, const struct sim_object *known,
                         const struct object *object, const struct job_status *status)
{
    const struct job_status *before = job_status_of(known->object);
    const char *name = object_name(object);

    if (job_phase_finished(before->phase) && before->phase != status->phase)
        sim_violated(sim, "INV-J3: job %s goes from %s to %s", name, job_phase_text(before->phase),
                     job_phase_text(status->phase));
    if (status->version < before->version)
        sim_violated(sim, "INV-J4: the version of job %s falls", name);
    if (status->retry_count < before->retry_count)
        sim_violated(sim, "INV-J2: the retries of job %s fall from %d to %d", name,
                     before->retry_count, status->retry_count);
}

/* INV-F1: an attempt of a step has one job. */
static void check_attempt(struct sim *sim, const struct object *job)
{
    const struct owner_ref *flow = meta_controller(job->meta);

    for (struct sim_object *at = sim->objects; flow && at; at = at->hh.next) {
        const struct owner_ref *other =
            at->object && at->kind == &kind_job ? meta_controller(at->object->meta) : NULL;

        if (other && strcmp(other->uid, flow->uid) == 0 && strcmp(at->uid, object_uid(job)) != 0 &&
            strcmp(object_name(at->object), object_name(job)) == 0)
            sim_violated(sim, "INV-F1: job %s exists twice", object_name(job));
    }
}

/* INV-F4: nothing is created for a flow that has ended. */
static void check_owner(struct sim *sim, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    const struct sim_object *flow = owner ? sim_find(sim, owner->uid) : NULL;

    if (!owner)
        return;
    if (!flow || !flow->object)
        sim_violated(sim, "INV-F4: job %s is created for a flow that is gone", object_name(job));
    else if (flow->finished_ns && !jobflow_wants_retry(flow->object))
        sim_violated(sim, "INV-F4: job %s is created for a flow that has ended", object_name(job));
}

/* O-77: each slot has a budget of its own. */
static bool by_slot(const struct object *job)
{
    const char *budget = meta_annotation(job->meta, "volcano.sh/restart-budget");

    return budget && strcmp(budget, "slot") == 0;
}

static void check_job(struct sim *sim, struct sim_object *known, const struct object *job)
{
    const struct job_status *status = job_status_of(job);

    if (known->object) {
        check_phases(sim, known, job, status);
    } else {
        check_attempt(sim, job);
        check_owner(sim, job);
    }
    if (status->retry_count > job_spec_of(job)->max_retry && !known->resumed && !by_slot(job))
        sim_violated(sim, "INV-J2: job %s was restarted %d times, %d are allowed", object_name(job),
                     status->retry_count, job_spec_of(job)->max_retry);
    if (job_phase_finished(status->phase) && !known->finished_ns) {
        known->finished_ns = end_of(sim, status->transition_ms);
        sim->counts.jobs_ended++;
        sim_tell(sim, "    job %s is %s", object_name(job), job_phase_text(status->phase));
    }
}

static void check_job_gone(struct sim *sim, const struct sim_object *known)
{
    const struct job_spec *spec = job_spec_of(known->object);

    if (!meta_controller(known->object->meta))
        check_ttl(sim, known, "job", spec->ttl_s.set, spec->ttl_s.value);
}

/* Flows. */

static void check_flow(struct sim *sim, struct sim_object *known, const struct object *flow)
{
    enum flow_phase phase = jobflow_phase_of(flow);
    enum flow_phase before = known->object ? jobflow_phase_of(known->object) : FLOW_NONE;
    const char *name = object_name(flow);

    if (meta_annotation(flow->meta, ANNOTATION_FLOW_ABORT) && !known->aborted_ns)
        known->aborted_ns = sim->change_ns;
    if (phase == before)
        return;
    if (phase == FLOW_SUCCEED && known->aborted_ns &&
        sim->change_ns - known->aborted_ns > ABORT_MS * (int64_t)NS_PER_MS)
        sim_violated(sim, "13.4: flow %s was aborted and succeeds", name);
    sim_tell(sim, "    flow %s is %s", name, flow_phase_text(phase));
    if (flow_phase_finished(before) && phase != FLOW_TERMINATING &&
        !(before == FLOW_FAILED && jobflow_wants_retry(known->object)))
        sim_violated(sim, "INV-F4: flow %s goes from %s to %s", name, flow_phase_text(before),
                     flow_phase_text(phase));
    if (before == FLOW_TERMINATING)
        sim_violated(sim, "INV-F4: flow %s was being deleted and is %s", name,
                     flow_phase_text(phase));
    if (flow_phase_finished(phase)) {
        known->finished_ns = end_of(sim, completion_of(flow));
        sim->counts.flows_ended++;
    } else if (phase != FLOW_TERMINATING) {
        known->finished_ns = 0;
    }
}

static void check_flow_gone(struct sim *sim, const struct sim_object *known)
{
    const struct jobflow_spec *spec = jobflow_spec_of(known->object);

    check_ttl(sim, known, "flow", spec->ttl_s.set, spec->ttl_s.value);
}

/* Every kind. */

static void check_any(struct sim *sim, const struct sim_object *known, const struct object *object)
{
    const struct object *old = known->object;

    if (!old && known->finished_ns)
        sim_violated(sim, "INV-S8: the uid of %s was used before", object_name(object));
    if (old && (old->kind != object->kind || strcmp(object_name(old), object_name(object)) != 0))
        sim_violated(sim, "INV-S8: %s and %s have one uid", object_name(old), object_name(object));
    if (old && object_deleting(old) && !object_deleting(object))
        sim_violated(sim, "INV-S9: the deletion of %s was taken back", object_name(object));
}

static void check_gone(struct sim *sim, const struct sim_object *known)
{
    if (!known->object)
        return;
    if (known->object->meta->n_finalizers > 1)
        sim_violated(sim, "INV-S9: %s had finalizers", object_name(known->object));
    if (known->kind == &kind_job_flow)
        check_flow_gone(sim, known);
    else if (known->kind == &kind_job)
        check_job_gone(sim, known);
}

void sim_check_change(struct sim *sim, struct sim_object *known, const struct object *object)
{
    if (!object) {
        check_gone(sim, known);
        return;
    }
    check_any(sim, known, object);
    if (object->kind == &kind_pod)
        check_pod(sim, known, object);
    else if (object->kind == &kind_job)
        check_job(sim, known, object);
    else if (object->kind == &kind_job_flow)
        check_flow(sim, known, object);
}

/* When everything has ended. */

/* INV-J10: the numbers of a job's status add up to the pods that exist or finished. */
static void check_counts(struct sim *sim, const struct object *job)
{
    const struct job_status *status = job_status_of(job);

    if (status->pending || status->running || status->terminating || status->unknown)
        sim_violated(sim, "INV-J10: job %s is %s with %d pending, %d running, %d terminating pods",
                     object_name(job), job_phase_text(status->phase), status->pending,
                     status->running, status->terminating);
}

static void check_model(struct sim *sim, const struct object *flow)
{
    const char *name = object_name(flow);
    const struct sim_flow *ours = &sim->flows[(name[1] - '0') % SIM_FLOWS];
    enum sim_result wanted =
        ours->disturbed || sim->pods_lost ? SIM_UNKNOWN : sim_model(&ours->gen, ours->seed, name);
    enum flow_phase phase = jobflow_phase_of(flow);

    if (wanted == SIM_UNKNOWN)
        return;
    sim->counts.flows_modelled++;
    if (phase != (wanted == SIM_SUCCEEDS ? FLOW_SUCCEED : FLOW_FAILED))
        sim_violated(sim, "P-12: flow %s is %s, and undisturbed it %s", name,
                     flow_phase_text(phase), wanted == SIM_SUCCEEDS ? "succeeds" : "fails");
}

/* INV-S7: what has an owner does not outlive it. */
static void check_owners(struct sim *sim, const struct object *object)
{
    for (uint32_t i = 0; i < object->meta->n_owners; i++) {
        const struct sim_object *owner = sim_find(sim, object->meta->owners[i].uid);

        if (!owner || !owner->object)
            sim_violated(sim, "INV-J8: %s %s outlives its owner %s", object->kind->name,
                         object_name(object), object->meta->owners[i].name);
    }
}

/* A task waits for ever when the task that it depends on has failed, as in Volcano (spec/job.md
 * 13). */
static bool waits_for_failed(const struct object *job)
{
    const struct job_spec *spec = job_spec_of(job);
    bool depends = false;

    for (size_t i = 0; i < spec->tasks.count; i++)
        depends |= spec->tasks.items[i].depends_on.count > 0;
    return depends && job_status_of(job)->failed > 0;
}

static void tell_object(struct sim *sim, const struct object *object)
{
    sim_tell(sim, "%s %s%s: %s", object->kind->name, object_name(object),
             object_deleting(object) ? ", which is being deleted" : "",
             object->kind == &kind_pod_group ? object->body->text
             : object->status                ? object->status->text
                                             : "no status");
}

/* Prints the object of the violation and what it owns. */
static void tell_rest(struct sim *sim, const struct object *object)
{
    tell_object(sim, object);
    for (struct sim_object *at = sim->objects; at; at = at->hh.next)
        for (uint32_t i = 0; at->object && i < at->object->meta->n_owners; i++)
            if (strcmp(at->object->meta->owners[i].uid, object_uid(object)) == 0)
                tell_object(sim, at->object);
}

static void check_rest(struct sim *sim, const struct object *object)
{
    const char *name = object_name(object);

    check_owners(sim, object);
    if (object_deleting(object))
        sim_violated(sim, "P-10: %s %s is still being deleted", object->kind->name, name);
    if (object->kind == &kind_job_flow) {
        if (!flow_phase_finished(jobflow_phase_of(object)))
            sim_violated(sim, "LIV-1: flow %s is still %s", name,
                         flow_phase_text(jobflow_phase_of(object)));
        else
            check_model(sim, object);
    } else if (object->kind == &kind_job) {
        enum job_phase phase = job_status_of(object)->phase;

        if (!job_phase_finished(phase) && phase != JOB_ABORTED && !waits_for_failed(object))
            sim_violated(sim, "LIV-1: job %s is still %s", name, job_phase_text(phase));
        else
            check_counts(sim, object);
    } else if (object->kind == &kind_pod && !has_ended(pod_status_of(object)->phase)) {
        sim_violated(sim, "LIV-1: pod %s is still %s", name,
                     pod_phase_text(pod_status_of(object)->phase));
    } else if (object->kind == &kind_command) {
        sim_violated(sim, "LIV-1: command %s was never carried out", name);
    }
}

void sim_check_calm(struct sim *sim)
{
    if (sim->n_pending)
        sim_violated(sim, "LIV-2: %zu changes are never written", sim->n_pending);
    for (struct sim_object *at = sim->objects; at; at = at->hh.next)
        if (at->object && !sim_is_over(sim)) {
            check_rest(sim, at->object);
            if (sim_is_over(sim))
                tell_rest(sim, at->object);
        }
    if (sim->running)
        sim_violated(sim, "P-10: %d pods still run", sim->running);
}
