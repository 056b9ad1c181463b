#pragma once
/*
 * The parts of the FlowTrigger controller, which keeps one record for each trigger.
 *
 *   a trigger, a flow or a Command changes ──► one look (trigger_sync.c) ◄── timetable.c
 *                                                │
 *                   firings by hand ◄────────────┤  trigger_commands.c
 *                   the schedule ◄───────────────┤  trigger_times.c
 *                   ends of flows ◄──────────────┤  trigger_ends.c, trigger_seen.c
 *                   backfills ◄──────────────────┤  trigger_orders.c, trigger_backfill.c
 *                   the status ◄─────────────────┘  trigger_status.c
 *
 * A look makes at most one flow (trigger_fire.c). The answer to its creation leads to the next
 * look.
 */
#include "api/cluster.h"
#include "schedule/flows.h"
#include "schedule/flowtrigger.h"
#include "schedule/internal.h"
#include "schedule/record.h"
#include "schedule/trigger_index.h"

enum { TRIGGER_RETRY_MS = 10000 };

/* A Command that waits to fire the trigger, or one about a backfill. */
struct trigger_waiting {
    struct object *command;
    bool
        taken; /* about a backfill: the record has it; the Command goes when the status has it, too */
    struct trigger_waiting *next;
};

struct trigger_record {
    struct schedule_record base;
    struct trigger_names names;

    /* The status that is to be written. Its texts are set from the members below when it is
     * written. */
    struct trigger_facts facts;
    char *observed_schedule, *message;
    struct trigger_seen *seen; /* owned texts, [facts.n_seen] */
    size_t seen_cap;
    bool loaded, was_suspended;
    bool schedule_changed; /* since the last look */

    struct backfill *backfills; /* owned texts, [facts.n_backfills] */
    size_t backfill_cap;

    struct trigger_waiting *first, **last; /* oldest first */
    struct trigger_waiting *orders;        /* Commands about backfills, oldest first */
    size_t n_orders;
    bool creating; /* the creation of a flow is in flight */
    bool failed;   /* a write has failed; the next attempt waits for the timer */
};

struct flowtrigger_controller {
    struct schedule_records records;
    struct flowtrigger_options options;
    struct cluster_watcher triggers, flows, commands;
    struct trigger_index index; /* the records by the names in their specs */
};

/* The life of a record (trigger_record.c). */

extern const struct schedule_ops trigger_ops;
struct flowtrigger_controller *trigger_controller_of(const struct trigger_record *record);
/** Returns the record of a trigger. The first call makes it. */
struct trigger_record *trigger_record_of(struct flowtrigger_controller *controller,
                                         const struct object *trigger);
/** Replaces an owned text by a copy of `value`, which may be NULL. */
void trigger_set_text(char **text, const char *value);
/** Sets the reason why nothing is made now, and a message about it. `reason` NULL: something can be
 * made. */
void trigger_set_state(struct trigger_record *record, const char *reason, const char *message);
/** Makes the trigger wait for TRIGGER_RETRY_MS before its next attempt. */
void trigger_try_later(struct trigger_record *record);

/* Ends of flows that the trigger has acted on (trigger_seen.c). */

void trigger_seen_free(struct trigger_seen *seen);
/** Adds the end of a flow, whose `attempt` may be NULL, and removes the ends of flows that no
 * longer exist. */
void trigger_seen_add(struct trigger_record *record, const char *name, const char *uid,
                      const char *attempt);
bool trigger_seen_has(const struct trigger_record *record, const struct object *flow);
/** Returns the text that distinguishes the attempts of a flow; it is "" for the first. */
const char *trigger_flow_retry(const struct object *flow);

/* The status (trigger_status.c). */

void trigger_status_load(struct trigger_record *record, const struct object *trigger);
/** Writes the status when it differs from the stored one. */
void trigger_status_write(struct trigger_record *record);

/* What a look has read so far. */
struct trigger_look {
    const struct object *trigger, *pattern;
    const struct trigger_spec *spec;
    struct owned_list flows;
    struct cron cron;
    const struct zone *zone;
    bool scheduled; /* cron and zone are known */
    int64_t now_s;
};

/* What a firing uses up, so that it does not fire again. */
struct trigger_outcome {
    int64_t time_s;                 /* the scheduled time; 0 = none */
    const char *name, *uid, *retry; /* the flow that has ended; NULL = none */
    const char *backfill;           /* id of the backfill that the firing is of; NULL = none */
    int64_t after_s;                /* the time that the backfill comes to next; 0 = none */
};
/* What became of a firing. */
enum trigger_settled { SETTLED_MADE, SETTLED_SKIPPED, SETTLED_KNOWN };

/* Firing (trigger_fire.c). */

/** Makes the flow of a firing. `name` and `command` are consumed. */
void trigger_fire(struct trigger_record *record, const struct trigger_look *look,
                  const struct firing *firing, char *name, const struct trigger_outcome *outcome,
                  struct object *command);
/** Returns whether one more flow may be active now. With `replace` the active ones are deleted. */
bool trigger_has_room(struct trigger_record *record, const struct trigger_look *look,
                      bool catching_up);
void trigger_done_with(struct trigger_record *record, const struct trigger_outcome *outcome);

/* The three causes. Each function returns whether it has acted; the next look then follows at once.
 * (trigger_times.c, trigger_ends.c, trigger_commands.c) */

/** Reads the cron expression and the zone into `look`. Returns false, and sets the state of the
 * trigger, when one of them cannot be used. */
bool trigger_schedule_read(struct trigger_record *record, struct trigger_look *look);
bool trigger_fire_time(struct trigger_record *record, struct trigger_look *look);
/** Sets when the trigger wakes next. */
void trigger_sleep_until_next(struct trigger_record *record, const struct trigger_look *look);

/** Fires for the oldest end of a flow that has not been seen. With `baseline` all ends are noted as
 * seen, and nothing is made. */
bool trigger_fire_ends(struct trigger_record *record, struct trigger_look *look, bool baseline);

/* Backfills (trigger_backfill.c). */

/** Adds a zeroed backfill. The other ones may move in memory. */
struct backfill *trigger_backfill_add(struct trigger_record *record);
/** Notes which flows of backfills have ended, and which backfills have. */
void trigger_backfills_settle(struct trigger_record *record, const struct trigger_look *look);
/** Goes on with the backfills that run, and makes at most one flow. */
bool trigger_fire_backfills(struct trigger_record *record, struct trigger_look *look);
/** Notes what became of the firing of a backfill for one time, and the time that it comes to next. */
void trigger_backfill_settled(struct trigger_record *record, const char *id, const char *flow,
                              enum trigger_settled how, int64_t after_s);

/* Commands about backfills (trigger_orders.c). */

enum { TRIGGER_ORDERS_MAX = 1000 };
/** Adds a Command that asks for a backfill or cancels one. Consumes it. */
void trigger_order_add(struct trigger_record *record, struct object *command);
/** Begins and cancels backfills as the waiting Commands ask. */
void trigger_orders_take(struct trigger_record *record, const struct trigger_look *look);
/** Removes the Commands whose backfills the stored status has. */
void trigger_orders_finish(struct trigger_record *record);
void trigger_orders_free(struct trigger_record *record);
/** Refuses a Command: an event says why. */
void trigger_command_reject(struct trigger_record *record, const struct object *trigger,
                            const struct object *command, const char *why);

/** Carries out the oldest waiting Command. At least one must wait. */
bool trigger_fire_by_hand(struct trigger_record *record, struct trigger_look *look);
void trigger_command_remove(struct trigger_record *record, const struct object *command);
void trigger_command_changed(struct cluster_watcher *watcher, enum cluster_change change,
                             const struct object *old, const struct object *command);

/* Begins a look at the trigger (trigger_sync.c): it was asked for, or its time has come. */
void trigger_sync(struct schedule_record *base);
void trigger_due(struct schedule_record *base);
