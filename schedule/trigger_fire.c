/*
 * Carries out one firing: makes a flow, and says in the status what became of it.
 *
 * The flow and the status that records the firing are written in one turn, so they are one commit.
 * A remote cluster may take one write and lose the other. The name of the flow holds the time or
 * the id, so the second attempt then finds the flow of the first one.
 */
#include <string.h>

#include "base/mem.h"
#include "schedule/trigger_internal.h"

/* One firing whose flow is being created. */
struct creation {
    struct cluster_call call;
    struct trigger_record *record;
    char *flow;
    int64_t time_s;
    char *name, *uid, *retry; /* the flow that has ended; NULL for other causes */
    char *backfill;           /* id of the backfill; NULL for other causes */
    int64_t after_s;          /* the time that the backfill comes to next; 0 = none */
    struct object *command;   /* the Command that fires by hand; NULL for other causes */
    bool settled;             /* the status already records the firing */
};

void trigger_done_with(struct trigger_record *record, const struct trigger_outcome *outcome)
{
    if (outcome->time_s > record->facts.last_s)
        record->facts.last_s = outcome->time_s;
    if (outcome->uid)
        trigger_seen_add(record, outcome->name, outcome->uid, outcome->retry);
}

static void settle(struct creation *creation, enum trigger_settled how)
{
    struct trigger_record *record = creation->record;

    if (creation->settled)
        return;
    creation->settled = true;
    trigger_done_with(record, &(const struct trigger_outcome){creation->time_s, creation->name,
                                                              creation->uid, creation->retry});
    if (creation->backfill)
        trigger_backfill_settled(record, creation->backfill, creation->flow, how,
                                 creation->after_s);
    if (how == SETTLED_MADE)
        record->facts.fired_ms = schedule_record_now_ms(&record->base);
    record->facts.fired += how == SETTLED_MADE;
    record->facts.skipped += how == SETTLED_SKIPPED;
    record->facts.duplicates += how == SETTLED_KNOWN && creation->command;
    if (creation->command)
        trigger_command_remove(record, creation->command);
    trigger_status_write(record);
}

static const struct object *flow_of(const struct creation *creation)
{
    return cluster_get(creation->record->base.all->cluster, &kind_job_flow,
                       creation->record->base.namespace, creation->flow);
}

static void exists(struct creation *creation, const struct object *trigger)
{
    const struct object *flow = flow_of(creation);
    struct cluster *cluster = creation->record->base.all->cluster;

    if (flow && owned_by(trigger, flow)) {
        if (creation->command)
            cluster_event(cluster, trigger, EVENT_NORMAL, "Duplicate", TRIGGER_COMPONENT,
                          "jobflow %s exists: the id was used before", creation->flow);
        settle(creation, SETTLED_KNOWN);
        return;
    }
    cluster_event(cluster, trigger, EVENT_WARNING, "ForeignFlow", TRIGGER_COMPONENT,
                  "jobflow %s exists and is not of this trigger: none is made", creation->flow);
    settle(creation, SETTLED_SKIPPED);
}

/* Handles a flow that admission refuses. A scheduled time and the end of a flow are tried again
 * when the trigger or the pattern has changed. A Command is not tried again. */
static void refused(struct creation *creation, const struct object *trigger,
                    const struct error *err)
{
    struct trigger_record *record = creation->record;
    scoped_str message = mem_printf("jobflow %s: %s%s%s", creation->flow, err->field,
                                    *err->field ? ": " : "", err->message);

    cluster_event(record->base.all->cluster, trigger, EVENT_WARNING, "FailedCreate",
                  TRIGGER_COMPONENT, "%s", message);
    if (err->code == ERR_INVALID || err->code == ERR_FORBIDDEN)
        trigger_set_state(record, "AdmissionDenied", message);
    if (creation->command)
        settle(creation, SETTLED_SKIPPED);
    else
        trigger_try_later(record);
    trigger_status_write(record);
}

static void on_created(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct creation *creation = container_of(call, struct creation, call);
    struct trigger_record *record = creation->record;

    if (schedule_record_call_ended(&record->base)) {
        const struct object *trigger = schedule_record_object(&record->base);

        record->creating = false;
        if (trigger && (!err || creation->settled)) {
            cluster_event(record->base.all->cluster, trigger, EVENT_NORMAL, "Fired",
                          TRIGGER_COMPONENT, "made jobflow %s", creation->flow);
            settle(creation, SETTLED_MADE);
        } else if (trigger && err->code == ERR_EXISTS) {
            exists(creation, trigger);
        } else if (trigger) {
            refused(creation, trigger, err);
        }
        schedule_record_sync_soon(&record->base);
    }
    object_unref(creation->command);
    mem_free(creation->flow);
    mem_free(creation->name);
    mem_free(creation->uid);
    mem_free(creation->retry);
    mem_free(creation->backfill);
    mem_free(creation);
}

void trigger_fire(struct trigger_record *record, const struct trigger_look *look,
                  const struct firing *firing, char *name, const struct trigger_outcome *outcome,
                  struct object *command)
{
    struct creation *creation = mem_alloc(sizeof *creation);
    struct error err = {0};
    struct object *draft = trigger_flow_new(look->trigger, look->pattern, name, firing, &err);

    *creation = (struct creation){.call.done = on_created,
                                  .record = record,
                                  .flow = name,
                                  .time_s = outcome->time_s,
                                  .name = mem_strdup(outcome->name),
                                  .uid = mem_strdup(outcome->uid),
                                  .retry = mem_strdup(outcome->retry),
                                  .backfill = mem_strdup(outcome->backfill),
                                  .after_s = outcome->after_s,
                                  .command = command};
    record->creating = true;
    schedule_record_call_begun(&record->base);
    if (!draft || flow_of(creation)) {
        if (draft)
            error_set(&err, ERR_EXISTS, "", "exists");
        object_unref(draft);
        on_created(&creation->call, NULL, &err);
        return;
    }
    trigger_set_state(record, NULL, NULL);
    cluster_create(record->base.all->cluster, &creation->call, draft);
    /* A cluster in this process has the flow at once, so the status becomes part of the same
     * commit. */
    if (flow_of(creation))
        settle(creation, SETTLED_MADE);
}

static size_t active_of_backfills(const struct owned_list *flows)
{
    size_t count = 0;

    for (size_t i = 0; i < flows->count; i++)
        count += trigger_flow_active(flows->items[i]) && trigger_flow_of_backfill(flows->items[i]);
    return count;
}

bool trigger_has_room(struct trigger_record *record, const struct trigger_look *look,
                      bool catching_up)
{
    size_t active = trigger_flows_active(&look->flows);

    if (look->spec->policy == CONCURRENCY_ALLOW)
        active -= active_of_backfills(&look->flows);
    if (record->creating)
        return false;
    if (look->spec->policy == CONCURRENCY_FORBID)
        return !active;
    if (look->spec->policy == CONCURRENCY_REPLACE) {
        for (size_t i = 0; i < look->flows.count; i++)
            if (trigger_flow_active(look->flows.items[i]))
                trigger_flow_remove(record->base.all->cluster, look->flows.items[i]);
        return true;
    }
    if (look->spec->max_active.set)
        return active < (size_t)look->spec->max_active.value;
    return !catching_up || !active;
}
