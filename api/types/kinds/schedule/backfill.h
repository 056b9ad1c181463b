#pragma once
/*
 * A backfill makes the flows of past scheduled times of a FlowTrigger. This file has what the
 * controller and the command `jobflow backfill` both know: how a request is written, which times it
 * has, and what happens to each time. It is pure. Ref: spec/everyday.md 2.9.
 */
#include "api/types/object.h"
#include "base/time/cron.h"

/* Actions of Commands to a FlowTrigger. The messages of the last two are {"from": …, "to": …} and
 * {"id": …}. The id of a backfill is the name of the Command that asked for it. */
#define COMMAND_FIRE_FLOW       "FireFlow"
#define COMMAND_BACKFILL_FLOW   "BackfillFlow"
#define COMMAND_CANCEL_BACKFILL "CancelBackfill"

/* The id of the backfill that has made a flow. */
#define ANNOTATION_TRIGGER_BACKFILL "flow.volcano.sh/trigger-backfill"

enum {
    BACKFILL_TIMES_MAX = CRON_COUNT_MAX,
    BACKFILL_RUNNING_MAX = 3, /* backfills of one trigger that run at once */
    BACKFILL_KEPT_MAX = 10,   /* entries of its status */
    BACKFILL_PARALLEL_MAX = 100
};

/* What is done with a time whose flow exists and has ended. */
enum backfill_rerun { RERUN_NONE, RERUN_FAILED, RERUN_ALL, RERUN_N };
extern const char *const backfill_rerun_texts[]; /* [RERUN_N], ended by NULL */

enum backfill_state { BACKFILL_RUNNING, BACKFILL_DONE, BACKFILL_CANCELLED };
extern const char *const backfill_state_texts[];

/* One end of the range: an instant, or a date in the zone of the trigger. */
struct backfill_end {
    bool is_date;
    int64_t value; /* seconds since 1970; of a date its days since 1970-01-01 */
};

struct backfill_order {
    struct backfill_end from, to;
    int32_t parallelism;
    enum backfill_rerun rerun;
    bool reverse; /* the newest time first */
};

/** Reads an end as users write it: "2026-10-24", or RFC 3339. A fraction of a second counts for
 * `from` upwards and for `to` downwards. Returns false with INVALID. */
bool backfill_end_read(const char *text, bool is_from, struct backfill_end *out, struct error *err);
/** Reads the message of a Command with the action BackfillFlow. Returns false with INVALID; the
 * field of `err` is the member. */
bool backfill_order_read(const char *message, struct backfill_order *out, struct error *err);
/** Reads the message of a Command with the action CancelBackfill. Returns the id (owned), or NULL
 * with INVALID. */
char *backfill_cancel_read(const char *message, struct error *err);

/* The times of a backfill. */
struct backfill_range {
    int64_t from_s, to_s; /* both are included */
    int64_t first_s;      /* the time that comes first in the order of the backfill */
    int times;
};
/**
 * Finds the times of a schedule that an order asks for. Times after `now_s` are left to the
 * schedule. A date as `to` means its end. Returns false with INVALID: `from` is after `to`, there is no time
 * between them, or there are more than BACKFILL_TIMES_MAX.
 */
bool backfill_range(const struct backfill_order *order, const struct cron *cron,
                    const struct zone *zone, int64_t now_s, struct backfill_range *out,
                    struct error *err);
/** Returns the time that follows `at_s` in the order of the backfill; 0 when `at_s` is the last. */
int64_t backfill_after(const struct cron *cron, const struct zone *zone, int64_t from_s,
                       int64_t to_s, bool reverse, int64_t at_s);

/* The flow that has the name of a time. */
enum backfill_found {
    FOUND_NONE,
    FOUND_ACTIVE,
    FOUND_SUCCEEDED,
    FOUND_FAILED,
    FOUND_FOREIGN, /* it is not of this trigger */
    FOUND_N
};
/* What a backfill does about a time. */
enum backfill_then { THEN_MAKE, THEN_KEEP, THEN_RETRY, THEN_REPLACE, THEN_FOREIGN };
enum backfill_then backfill_decide(enum backfill_found found, enum backfill_rerun rerun);
