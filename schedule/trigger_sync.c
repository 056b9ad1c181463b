/*
 * Takes one look at a FlowTrigger: finds out what is due, and what is to be written and deleted.
 */
#include "base/mem.h"
#include "schedule/trigger_internal.h"

static bool find_pattern(struct trigger_record *record, struct trigger_look *look)
{
    if (!look->spec->flow_name)
        return true;
    look->pattern = cluster_get(record->base.all->cluster, &kind_job_flow, record->base.namespace,
                                look->spec->flow_name);
    if (!look->pattern) {
        scoped_str message = mem_printf("jobflow %s is not there", look->spec->flow_name);

        trigger_set_state(record, "FlowNotFound", message);
    }
    return look->pattern != NULL;
}

/* Makes at most one flow. The answer to its creation leads to the next look. */
static bool fire_one(struct trigger_record *record, struct trigger_look *look)
{
    if (record->creating)
        return false;
    if (record->first && trigger_fire_by_hand(record, look))
        return true;
    if (record->failed)
        return false;
    if (!look->spec->suspend && ((look->scheduled && trigger_fire_time(record, look)) ||
                                 trigger_fire_ends(record, look, false)))
        return true;
    return trigger_fire_backfills(record, look);
}

void trigger_sync(struct schedule_record *base)
{
    struct trigger_record *record = container_of(base, struct trigger_record, base);
    struct trigger_look look = {.trigger = schedule_record_object(&record->base),
                                .now_s = schedule_record_now_ms(&record->base) / 1000};
    scoped(owned_list) struct owned_list flows = {0};
    bool first = !record->loaded, fired = false, good;

    if (!look.trigger || object_deleting(look.trigger)) {
        schedule_record_never_wake(&record->base);
        return;
    }
    if (first)
        trigger_status_load(record, look.trigger);
    first = first && !trigger_status_of(look.trigger)->since_ms &&
            !trigger_status_of(look.trigger)->seen.count && !look.trigger->status;
    look.spec = trigger_spec_of(look.trigger);
    owned_gather(record->base.all->cluster, &kind_job_flow, look.trigger, &flows);
    look.flows = flows;
    if (!record->failed)
        trigger_set_state(record, NULL, NULL);
    if (first)
        trigger_fire_ends(record, &look, true);
    good = trigger_schedule_read(record, &look);
    trigger_orders_take(record, &look);
    trigger_backfills_settle(record, &look);
    if (good && find_pattern(record, &look)) {
        fired = fire_one(record, &look);
        if (fired)
            schedule_record_sync_soon(&record->base);
    } else {
        schedule_record_wake(&record->base,
                             schedule_record_now_ms(&record->base) + TRIGGER_RETRY_MS);
    }
    if (look.spec->suspend)
        trigger_set_state(record, "Suspended", NULL);
    record->was_suspended = look.spec->suspend;
    if (look.scheduled)
        trigger_sleep_until_next(record, &look);
    trigger_status_write(record);
    trigger_orders_finish(record);
    /* The history is pruned only when every firing is recorded, because until then the flow itself
     * is the record that its firing has happened. */
    if (!fired && !record->creating && !record->failed && !record->first)
        trigger_flows_prune(record->base.all->cluster, look.trigger, &flows, record->facts.last_s);
}

void trigger_due(struct schedule_record *base)
{
    container_of(base, struct trigger_record, base)->failed = false;
    trigger_sync(base);
}
