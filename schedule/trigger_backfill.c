/*
 * Goes on with the backfills of a FlowTrigger: makes, retries or replaces the flow of one scheduled
 * time after the other, while no more of them are active than the backfill may have.
 *
 * The flow of a time and the status that says so are one commit (trigger_fire.c). Where they are
 * not, because the cluster is another process, the flow itself says that this backfill has made or
 * retried it. So each time is acted on once, whenever the process is killed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "schedule/trigger_internal.h"

enum { ID_ROOM = 32, YEAR_S = 366 * 86400 };

static const struct object *flow_named(const struct trigger_record *record, const char *name)
{
    return cluster_get(record->base.all->cluster, &kind_job_flow, record->base.namespace, name);
}

static struct backfill *backfill_named(struct trigger_record *record, const char *id)
{
    for (size_t i = 0; i < record->facts.n_backfills; i++)
        if (strcmp(record->backfills[i].id, id) == 0)
            return &record->backfills[i];
    return NULL;
}

/* What has ended. */

static void drop_ended(struct trigger_record *record, const struct trigger_look *look,
                       struct backfill *backfill)
{
    for (size_t i = backfill->n_running; i > 0; i--) {
        const struct object *flow = flow_named(record, backfill->running[i - 1]);
        bool ours = flow && owned_by(look->trigger, flow);

        if (ours && (object_deleting(flow) || jobflow_wants_retry(flow) ||
                     !flow_phase_finished(jobflow_phase_of(flow))))
            continue;
        backfill->failed += !ours || jobflow_phase_of(flow) == FLOW_FAILED;
        backfill_drop_running(backfill, i - 1);
    }
}

static void end(struct trigger_record *record, const struct trigger_look *look,
                struct backfill *backfill)
{
    backfill->state = BACKFILL_DONE;
    cluster_event(record->base.all->cluster, look->trigger,
                  backfill->failed ? EVENT_WARNING : EVENT_NORMAL, "BackfillDone",
                  TRIGGER_COMPONENT,
                  "backfill %s of %" PRId64 " times has ended: %" PRId64 " made, %" PRId64
                  " kept, %" PRId64 " failed",
                  backfill->id, backfill->times, backfill->made, backfill->kept, backfill->failed);
}

void trigger_backfills_settle(struct trigger_record *record, const struct trigger_look *look)
{
    for (size_t i = 0; i < record->facts.n_backfills; i++) {
        struct backfill *backfill = &record->backfills[i];

        drop_ended(record, look, backfill);
        if (backfill->state != BACKFILL_RUNNING)
            continue;
        if (!look->spec->schedule || record->schedule_changed) {
            backfill->state = BACKFILL_CANCELLED;
            cluster_event(record->base.all->cluster, look->trigger, EVENT_WARNING,
                          "BackfillCancelled", TRIGGER_COMPONENT,
                          "backfill %s is cancelled: the schedule has changed", backfill->id);
        } else if (!backfill->next_s && !backfill->n_running) {
            end(record, look, backfill);
        }
    }
    record->schedule_changed = false;
}

void trigger_backfill_settled(struct trigger_record *record, const char *id, const char *flow,
                              enum trigger_settled how, int64_t after_s)
{
    struct backfill *backfill = backfill_named(record, id);

    if (!backfill)
        return;
    backfill->next_s = after_s;
    backfill->made += how == SETTLED_MADE;
    backfill->kept += how == SETTLED_KNOWN;
    backfill->failed += how == SETTLED_SKIPPED;
    if (how == SETTLED_MADE)
        backfill_add_running(backfill, flow);
}

/* One time. */

/* One time of a backfill, and the flow that has its name. */
struct step {
    struct backfill *backfill;
    int64_t at_s, after_s;
    char *name; /* owned */
    const struct object *flow;
};

static char *retry_value(const struct backfill *backfill)
{
    return mem_printf("backfill-%s", backfill->id);
}

/* Returns whether the backfill has made or retried the flow itself. */
static bool is_done(const struct step *step)
{
    scoped_str value = retry_value(step->backfill);
    const char *maker = meta_annotation(step->flow->meta, ANNOTATION_TRIGGER_BACKFILL);
    const char *retry = meta_annotation(step->flow->meta, ANNOTATION_FLOW_RETRY);

    return (maker && strcmp(maker, step->backfill->id) == 0) ||
           (retry && strcmp(retry, value) == 0);
}

static enum backfill_found found(const struct trigger_look *look, const struct step *step)
{
    if (!step->flow)
        return FOUND_NONE;
    if (!owned_by(look->trigger, step->flow))
        return FOUND_FOREIGN;
    if (!flow_phase_finished(jobflow_phase_of(step->flow)) || jobflow_wants_retry(step->flow))
        return FOUND_ACTIVE;
    return jobflow_phase_of(step->flow) == FLOW_FAILED ? FOUND_FAILED : FOUND_SUCCEEDED;
}

/* A retry or removal of a flow that is in flight. */
struct change {
    struct cluster_call call;
    struct trigger_record *record;
};

static void on_changed(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct change *change = container_of(call, struct change, call);
    struct trigger_record *record = change->record;

    mem_free(change);
    if (!schedule_record_call_ended(&record->base))
        return;
    record->creating = false;
    if (err)
        trigger_try_later(record);
    schedule_record_sync_soon(&record->base);
}

static struct cluster_call *change_begun(struct trigger_record *record)
{
    struct change *change = mem_alloc(sizeof *change);

    change->call.done = on_changed;
    change->record = record;
    record->creating = true;
    schedule_record_call_begun(&record->base);
    return &change->call;
}

/* Returns the flow with a request to retry what has failed. */
static struct object *with_retry(const struct object *flow, const char *value)
{
    static const char *const requests[] = {ANNOTATION_FLOW_RETRY, ANNOTATION_FLOW_RETRY_FROM,
                                           ANNOTATION_FLOW_RETRY_ONLY, ANNOTATION_FLOW_RETRY_EDITED,
                                           ANNOTATION_FLOW_ABORT};
    struct kv *annotations = mem_array(flow->meta->n_annotations + 1, sizeof *annotations);
    struct meta draft = *flow->meta;
    struct object *result;

    draft.n_annotations = 0;
    for (uint32_t i = 0; i < flow->meta->n_annotations; i++) {
        size_t j = 0;

        while (j < countof(requests) && strcmp(requests[j], flow->meta->annotations[i].key) != 0)
            j++;
        if (j == countof(requests))
            annotations[draft.n_annotations++] = flow->meta->annotations[i];
    }
    annotations[draft.n_annotations++] = (struct kv){ANNOTATION_FLOW_RETRY, value};
    draft.annotations = annotations;
    result = object_with_meta(flow, meta_new(&draft));
    mem_free(annotations);
    return result;
}

/* Asks a flow to retry what has failed. The flow then says that it has been asked, and the next
 * look counts it. */
static void retry(struct trigger_record *record, const struct step *step)
{
    scoped_str value = retry_value(step->backfill);

    cluster_update(record->base.all->cluster, change_begun(record), with_retry(step->flow, value));
}

/* Deletes a flow with its jobs. The look that follows its end makes the next flow of that name. */
static void replace(struct trigger_record *record, const struct step *step)
{
    const struct cluster_removal how = {
        .uid = object_uid(step->flow), .grace_s = 0, .propagation = PROPAGATE_FOREGROUND};

    cluster_remove(record->base.all->cluster, change_begun(record), &kind_job_flow,
                   record->base.namespace, step->name, &how);
}

static void make(struct trigger_record *record, const struct trigger_look *look,
                 const struct step *step)
{
    int64_t previous_s = 0;
    char id[ID_ROOM];

    snprintf(id, sizeof id, "%" PRId64, step->at_s);
    cron_newest(&look->cron, look->zone, step->at_s - CRON_HORIZON_YEARS * (int64_t)YEAR_S,
                step->at_s - 1, &previous_s);
    trigger_fire(
        record, look,
        &(const struct firing){.cause = CAUSE_BACKFILL,
                               .id = id,
                               .at_s = step->at_s,
                               .previous_s = previous_s,
                               .zone = look->zone,
                               .backfill = step->backfill->id},
        mem_strdup(step->name),
        &(const struct trigger_outcome){.backfill = step->backfill->id, .after_s = step->after_s},
        NULL);
}

/* With Forbid and Replace the flow of a backfill waits until none is active. It replaces none. */
static bool has_room(const struct trigger_look *look, const struct backfill *backfill)
{
    if (look->spec->policy != CONCURRENCY_ALLOW && trigger_flows_active(&look->flows))
        return false;
    return backfill->n_running < (size_t)backfill->parallelism;
}

enum stepped { STEP_ON, STEP_WAIT, STEP_ACTED };

/* Acts on one time. Returns STEP_ON when it needs no flow, STEP_WAIT when it must wait. */
static enum stepped act(struct trigger_record *record, const struct trigger_look *look,
                        const struct step *step)
{
    struct backfill *backfill = step->backfill;
    enum backfill_then then = backfill_decide(found(look, step), backfill->rerun);
    bool ours = step->flow && owned_by(look->trigger, step->flow);
    bool done = ours && is_done(step);

    if (ours && object_deleting(step->flow))
        return STEP_WAIT; /* its end leads to the next look */
    if (done || then == THEN_KEEP || then == THEN_FOREIGN) {
        if (then == THEN_FOREIGN)
            cluster_event(record->base.all->cluster, look->trigger, EVENT_WARNING, "ForeignFlow",
                          TRIGGER_COMPONENT,
                          "jobflow %s exists and is not of this trigger: none is made", step->name);
        trigger_backfill_settled(record, backfill->id, step->name,
                                 done                   ? SETTLED_MADE
                                 : then == THEN_FOREIGN ? SETTLED_SKIPPED
                                                        : SETTLED_KNOWN,
                                 step->after_s);
        return STEP_ON;
    }
    if (!has_room(look, backfill))
        return STEP_WAIT;
    if (then == THEN_RETRY)
        retry(record, step);
    else if (then == THEN_REPLACE)
        replace(record, step);
    else
        make(record, look, step);
    return then == THEN_REPLACE ? STEP_WAIT : STEP_ACTED;
}

static bool go_on(struct trigger_record *record, const struct trigger_look *look,
                  struct backfill *backfill)
{
    while (backfill->next_s) {
        scoped_str name = trigger_name_for_time(record->base.name, &look->cron, backfill->next_s);
        const struct step step = {.backfill = backfill,
                                  .at_s = backfill->next_s,
                                  .after_s = backfill_after(&look->cron, look->zone,
                                                            backfill->from_s, backfill->to_s,
                                                            backfill->reverse, backfill->next_s),
                                  .name = name,
                                  .flow = flow_named(record, name)};
        enum stepped stepped = act(record, look, &step);

        if (stepped != STEP_ON)
            return stepped == STEP_ACTED;
    }
    return false;
}

bool trigger_fire_backfills(struct trigger_record *record, struct trigger_look *look)
{
    for (size_t i = 0; look->scheduled && !record->creating && i < record->facts.n_backfills; i++)
        if (record->backfills[i].state == BACKFILL_RUNNING &&
            go_on(record, look, &record->backfills[i]))
            return true;
    /* What was kept may have been all that was left. */
    trigger_backfills_settle(record, look);
    return false;
}
