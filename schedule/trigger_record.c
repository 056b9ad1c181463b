/*
 * Makes and frees the records of FlowTriggers.
 */
#include "base/mem.h"
#include "schedule/trigger_internal.h"

static struct trigger_record *of(struct schedule_record *base)
{
    return container_of(base, struct trigger_record, base);
}

static void free_record(struct schedule_record *base)
{
    struct trigger_record *record = of(base);

    trigger_names_clear(&trigger_controller_of(record)->index, &record->names);
    for (size_t i = 0; i < record->facts.n_seen; i++)
        trigger_seen_free(&record->seen[i]);
    while (record->first) {
        struct trigger_waiting *one = record->first;

        record->first = one->next;
        object_unref(one->command);
        mem_free(one);
    }
    trigger_orders_free(record);
    backfills_free(record->backfills, record->facts.n_backfills);
    mem_free(record->seen);
    mem_free(record->observed_schedule);
    mem_free(record->message);
    mem_free(record);
}

static void status_failed(struct schedule_record *base)
{
    trigger_try_later(of(base));
}

static void free_controller(struct schedule_records *records)
{
    mem_free(container_of(records, struct flowtrigger_controller, records));
}

const struct schedule_ops trigger_ops = {.kind = &kind_flow_trigger,
                                         .sync = trigger_sync,
                                         .due = trigger_due,
                                         .failed = status_failed,
                                         .free = free_record,
                                         .closed = free_controller};

struct flowtrigger_controller *trigger_controller_of(const struct trigger_record *record)
{
    return container_of(record->base.all, struct flowtrigger_controller, records);
}

struct trigger_record *trigger_record_of(struct flowtrigger_controller *controller,
                                         const struct object *trigger)
{
    struct schedule_record *base = schedule_record_find(&controller->records, object_uid(trigger));
    struct trigger_record *record;

    if (base)
        return of(base);
    record = mem_alloc(sizeof *record);
    record->last = &record->first;
    schedule_record_add(&controller->records, &record->base, trigger);
    return record;
}

void trigger_set_text(char **text, const char *value)
{
    char *copy = mem_strdup(value);

    mem_free(*text);
    *text = copy;
}

void trigger_set_state(struct trigger_record *record, const char *reason, const char *message)
{
    record->facts.reason = reason;
    trigger_set_text(&record->message, message);
}

void trigger_try_later(struct trigger_record *record)
{
    record->failed = true;
    schedule_record_wake(&record->base, schedule_record_now_ms(&record->base) + TRIGGER_RETRY_MS);
}
