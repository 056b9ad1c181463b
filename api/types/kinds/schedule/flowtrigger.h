#pragma once
/*
 * FlowTrigger (flow.volcano.sh/v1alpha1): makes a JobFlow from a pattern at each time of a
 * schedule, after other flows, and by hand. Ref: spec/everyday.md 2.4, 2.5, 2.8, 2.9.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/schedule/backfill.h"
#include "api/types/kinds/schedule/cronjob.h"
#include "base/time/cron.h"

#define LABEL_TRIGGER            "flow.volcano.sh/trigger"
#define ANNOTATION_TRIGGER_TIME  "flow.volcano.sh/trigger-time"
#define ANNOTATION_TRIGGER_CAUSE "flow.volcano.sh/trigger-cause"
#define ANNOTATION_TRIGGER_ID    "flow.volcano.sh/trigger-id"
#define ANNOTATION_TRIGGER_DEPTH "flow.volcano.sh/trigger-depth"

enum {
    TRIGGER_DEPTH_MAX = 32,
    TRIGGER_ID_DIGITS = 10,
    TRIGGER_VALUE_MAX = 4096,
    TRIGGER_ID_MAX = 256
};

/* What makes a trigger fire. */
/* clang-format off */
#define TRIGGER_CAUSES(X)     \
    X(SCHEDULE, "schedule")   \
    X(CATCH_UP, "catchUp")    \
    X(BACKFILL, "backfill")   \
    X(FLOWS,    "flows")      \
    X(HAND,     "hand")
/* clang-format on */
#define TRIGGER_ENUM(name, text) CAUSE_##name,
enum trigger_cause { TRIGGER_CAUSES(TRIGGER_ENUM) TRIGGER_CAUSE_N };
#undef TRIGGER_ENUM
const char *trigger_cause_text(enum trigger_cause cause);

enum trigger_catch_up { CATCH_UP_LATEST, CATCH_UP_ALL };

struct trigger_schedule {
    const char *cron, *time_zone; /* time_zone NULL: the zone of the machine */
    struct opt_i64 deadline_s;
    enum trigger_catch_up catch_up;
};
struct trigger_parameter {
    const char *name, *value;
};
/* Fires when a flow ends. Exactly one of name and trigger is set. */
struct trigger_source {
    const char *name, *trigger;
    struct str_list phases; /* empty: Succeed */
};

struct trigger_spec {
    /* Exactly one of the two is set. A template has metadata and spec. */
    const char *flow_name;
    json_t *flow_template;
    struct {
        struct trigger_parameter *items;
        size_t count;
    } parameters;
    struct trigger_schedule *schedule; /* NULL: none */
    struct {
        struct trigger_source *items;
        size_t count;
    } flows;
    enum concurrency_policy policy;
    struct opt_i32 max_active;
    bool suspend;
    int32_t successful_limit, failed_limit;
    json_t *webhook, *files; /* refused: this version has neither */
};

/* The end of a flow that fires no more: the trigger has fired for it or has left it out. */
struct trigger_seen {
    const char *name, *uid, *attempt;
};
/* A backfill as the status has it. */
struct trigger_backfill {
    const char *id;
    int64_t from_ms, to_ms;
    int64_t next_ms; /* the time that comes next; 0: each time has been looked at */
    int32_t parallelism;
    enum backfill_rerun rerun;
    bool reverse;
    enum backfill_state state;
    int64_t times, made, kept, failed;
    struct str_list running; /* names of flows that it has made and that have not ended */
};
struct trigger_status {
    int64_t last_schedule_ms, last_fired_ms, last_successful_ms;
    int64_t since_ms;              /* times until then do not count */
    const char *observed_schedule; /* cron and zone for which `since_ms` holds */
    const char *reason;            /* state.reason; NULL = none */
    int64_t fired, skipped, missed, duplicates;
    struct {
        struct trigger_seen *items;
        size_t count;
    } seen;
    struct {
        struct trigger_backfill *items;
        size_t count;
    } backfills; /* oldest first */
};

/** The decoded spec and status, borrowed from the object's blobs. Never NULL. */
const struct trigger_spec *trigger_spec_of(const struct object *trigger);
const struct trigger_status *trigger_status_of(const struct object *trigger);

/** Returns the name of the flow that the trigger makes for a scheduled time (owned). */
char *trigger_name_for_time(const char *trigger, const struct cron *cron, int64_t at_s);
/** Returns the name of the flow that the trigger makes for a cause and an id (owned). */
char *trigger_name_for_id(const char *trigger, enum trigger_cause cause, const char *id);

/* The references $(trigger.…) in the values of parameters. */

/** Returns whether every reference in a value is one that triggers know. `err` names the first
 * unknown reference. */
bool trigger_value_check(const char *value, struct error *err);
/**
 * Appends a value in which each reference $(trigger.NAME) is replaced. `get` appends the text for
 * one NAME and returns true, or returns false when NAME has no text; then this function returns
 * false as well. Text outside of references is copied as it is. Text that `get` has appended is not
 * searched for references.
 */
bool trigger_value_expand(const char *value,
                          bool (*get)(void *ctx, const char *name, struct buf *out), void *ctx,
                          struct buf *out);
