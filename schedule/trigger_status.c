/*
 * Reads the status of a FlowTrigger once, at the first look, and writes it when it has changed.
 */
#include <string.h>

#include "schedule/trigger_internal.h"

static void note_success(struct trigger_record *record, const struct owned_list *flows)
{
    for (size_t i = 0; i < flows->count; i++)
        if (jobflow_phase_of(flows->items[i]) == FLOW_SUCCEED &&
            meta_created_ms(flows->items[i]->meta) > record->facts.successful_ms)
            record->facts.successful_ms = flows->items[i]->meta->created_at_ms;
}

void trigger_status_write(struct trigger_record *record)
{
    const struct object *trigger = schedule_record_object(&record->base);
    scoped(owned_list) struct owned_list flows = {0};
    struct blob *status;

    if (!trigger)
        return;
    owned_gather(record->base.all->cluster, &kind_job_flow, trigger, &flows);
    note_success(record, &flows);
    record->facts.seen = record->seen;
    record->facts.backfills = record->backfills;
    record->facts.message = record->message;
    record->facts.observed_schedule = record->observed_schedule;
    status = trigger_flows_status(trigger, &flows, &record->facts);
    if (schedule_has_status(trigger, status))
        blob_unref(status);
    else
        schedule_record_put_status(&record->base, trigger, status);
}

void trigger_status_load(struct trigger_record *record, const struct object *trigger)
{
    const struct trigger_status *status = trigger_status_of(trigger);

    record->facts.last_s = status->last_schedule_ms / 1000;
    record->facts.fired_ms = status->last_fired_ms;
    record->facts.successful_ms = status->last_successful_ms;
    record->facts.since_s = status->since_ms / 1000;
    record->facts.fired = status->fired;
    record->facts.skipped = status->skipped;
    record->facts.missed = status->missed;
    record->facts.duplicates = status->duplicates;
    trigger_set_text(&record->observed_schedule, status->observed_schedule);
    record->was_suspended = status->reason && strcmp(status->reason, "Suspended") == 0;
    for (size_t i = 0; i < status->seen.count; i++)
        trigger_seen_add(record, status->seen.items[i].name, status->seen.items[i].uid,
                         status->seen.items[i].attempt);
    for (size_t i = 0; i < status->backfills.count; i++)
        backfill_load(trigger_backfill_add(record), &status->backfills.items[i]);
    record->loaded = true;
}
