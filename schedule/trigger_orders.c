/*
 * Takes Commands about backfills. They wait for no flow: a backfill becomes an entry of the status
 * at once, and only then is its Command removed. A Command that is seen again finds its entry.
 */
#include <inttypes.h>
#include <string.h>

#include "api/types/kinds/command.h"
#include "base/mem.h"
#include "schedule/trigger_internal.h"

void trigger_order_add(struct trigger_record *record, struct object *command)
{
    struct trigger_waiting *one, **last = &record->orders;

    if (record->n_orders >= TRIGGER_ORDERS_MAX) {
        const struct object *trigger = schedule_record_object(&record->base);

        if (trigger)
            trigger_command_reject(record, trigger, command, "1000 Commands are waiting");
        object_unref(command);
        return;
    }
    while (*last)
        last = &(*last)->next;
    one = mem_alloc(sizeof *one);
    one->command = command;
    *last = one;
    record->n_orders++;
    schedule_record_sync_soon(&record->base);
}

static void drop_first(struct trigger_record *record)
{
    struct trigger_waiting *one = record->orders;

    record->orders = one->next;
    record->n_orders--;
    object_unref(one->command);
    mem_free(one);
}

void trigger_orders_free(struct trigger_record *record)
{
    while (record->orders)
        drop_first(record);
}

static struct backfill *find(struct trigger_record *record, const char *id)
{
    for (size_t i = 0; i < record->facts.n_backfills; i++)
        if (strcmp(record->backfills[i].id, id) == 0)
            return &record->backfills[i];
    return NULL;
}

struct backfill *trigger_backfill_add(struct trigger_record *record)
{
    mem_grow(record->backfills, record->facts.n_backfills, record->backfill_cap);
    record->backfills[record->facts.n_backfills] = (struct backfill){0};
    return &record->backfills[record->facts.n_backfills++];
}

/* Forgets the oldest backfills that have ended, beyond the number that is kept. */
static void forget_ended(struct trigger_record *record)
{
    size_t at = 0;

    while (record->facts.n_backfills > BACKFILL_KEPT_MAX && at < record->facts.n_backfills) {
        if (record->backfills[at].state == BACKFILL_RUNNING) {
            at++;
            continue;
        }
        backfill_clear(&record->backfills[at]);
        record->facts.n_backfills--;
        memmove(record->backfills + at, record->backfills + at + 1,
                (record->facts.n_backfills - at) * sizeof *record->backfills);
    }
}

/* Returns why a backfill cannot begin now; NULL when it can. */
static const char *why_not(const struct trigger_record *record, const struct trigger_look *look,
                           const struct backfill_order *order)
{
    size_t running = 0;

    for (size_t i = 0; i < record->facts.n_backfills; i++)
        running += record->backfills[i].state == BACKFILL_RUNNING;
    if (!look->spec->schedule)
        return "the trigger has no schedule, so there are no times to make up for";
    if (!look->scheduled)
        return "the schedule cannot be read";
    if (running >= BACKFILL_RUNNING_MAX)
        return "3 backfills of the trigger are running: wait for one or cancel one";
    if (order->rerun == RERUN_FAILED && trigger_controller_of(record)->options.upstream_compat)
        return "with --jobflow-compat=upstream no flow is retried";
    return NULL;
}

static void begin(struct trigger_record *record, const struct trigger_look *look,
                  const struct object *command)
{
    struct backfill_order order;
    struct backfill_range range;
    struct backfill *backfill;
    struct error err = {0};
    const char *why = NULL;

    if (!backfill_order_read(command_of(command)->message, &order, &err) ||
        (why = why_not(record, look, &order)) ||
        !backfill_range(&order, &look->cron, look->zone, look->now_s, &range, &err)) {
        trigger_command_reject(record, look->trigger, command, why ? why : err.message);
        return;
    }
    backfill = trigger_backfill_add(record);
    backfill->id = mem_strdup(object_name(command));
    backfill->from_s = range.from_s;
    backfill->to_s = range.to_s;
    backfill->next_s = range.first_s;
    backfill->times = range.times;
    backfill->parallelism = order.parallelism;
    backfill->rerun = order.rerun;
    backfill->reverse = order.reverse;
    cluster_event(record->base.all->cluster, look->trigger, EVENT_NORMAL, "Backfill",
                  TRIGGER_COMPONENT, "backfill %s of %d times begins", backfill->id, range.times);
    forget_ended(record);
}

static void cancel(struct trigger_record *record, const struct trigger_look *look,
                   const struct object *command)
{
    struct error err = {0};
    scoped_str id = backfill_cancel_read(command_of(command)->message, &err);
    struct backfill *backfill = id ? find(record, id) : NULL;
    scoped_str why = NULL;

    if (backfill && backfill->state == BACKFILL_RUNNING) {
        backfill->state = BACKFILL_CANCELLED;
        cluster_event(record->base.all->cluster, look->trigger, EVENT_NORMAL, "BackfillCancelled",
                      TRIGGER_COMPONENT,
                      "backfill %s is cancelled; its flows that have begun go on", backfill->id);
        return;
    }
    if (backfill && backfill->state == BACKFILL_CANCELLED)
        return; /* this Command has done it before */
    why = id ? mem_printf("no backfill %.64s is running", id) : mem_strdup(err.message);
    trigger_command_reject(record, look->trigger, command, why);
}

void trigger_orders_take(struct trigger_record *record, const struct trigger_look *look)
{
    for (struct trigger_waiting *one = record->orders; one; one = one->next) {
        const char *action = command_of(one->command)->action;

        if (one->taken)
            continue;
        one->taken = true;
        if (strcmp(action, COMMAND_CANCEL_BACKFILL) == 0)
            cancel(record, look, one->command);
        else if (!find(record, object_name(one->command)))
            begin(record, look, one->command);
    }
}

/* Returns whether the stored status has what the record has about the Command. */
static bool is_stored(struct trigger_record *record, const struct object *command,
                      const struct object *trigger)
{
    const struct trigger_status *status = trigger_status_of(trigger);
    const struct backfill *own;
    scoped_str id = strcmp(command_of(command)->action, COMMAND_CANCEL_BACKFILL) == 0
                        ? backfill_cancel_read(command_of(command)->message, &(struct error){0})
                        : mem_strdup(object_name(command));

    own = id ? find(record, id) : NULL;
    if (!own)
        return true; /* it was refused */
    for (size_t i = 0; i < status->backfills.count; i++)
        if (strcmp(status->backfills.items[i].id, id) == 0)
            return status->backfills.items[i].state == own->state;
    return false;
}

void trigger_orders_finish(struct trigger_record *record)
{
    const struct object *trigger = schedule_record_object(&record->base);

    while (trigger && record->orders && record->orders->taken &&
           is_stored(record, record->orders->command, trigger)) {
        trigger_command_remove(record, record->orders->command);
        drop_first(record);
    }
}
