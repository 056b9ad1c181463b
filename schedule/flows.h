#pragma once
/*
 * The flows of one FlowTrigger, and the flow that a firing makes.
 */
#include "api/cluster.h"
#include "api/types/kinds/schedule/flowtrigger.h"
#include "base/time/zone.h"
#include "schedule/backfill.h"
#include "schedule/owned.h"

/* What makes a trigger fire once. */
struct firing {
    enum trigger_cause cause;
    const char *id;              /* unique among the firings of the trigger with this cause */
    int64_t at_s;                /* the scheduled time, or the present time for other causes */
    int64_t previous_s;          /* scheduled time before `at_s`, or the last firing; 0 = none */
    int32_t depth;               /* number of triggers in a row that have fired each other */
    const struct zone *zone;     /* zone of the trigger's schedule */
    const struct object *source; /* the flow that has ended; NULL for other causes */
    const char *backfill;        /* id of the backfill; NULL for other causes */
    const json_t *parameters;    /* {name: value} from a Command; NULL for other causes */
};

/** Returns the flow (a draft, owned) of this name that a firing makes from `pattern`, which is a
 * JobFlow, or NULL for the trigger's template. NULL with INVALID when a parameter does not exist or
 * is too long. */
struct object *trigger_flow_new(const struct object *trigger, const struct object *pattern,
                                const char *name, const struct firing *firing, struct error *err);

/** Returns whether a flow has not ended. */
bool trigger_flow_active(const struct object *flow);
size_t trigger_flows_active(const struct owned_list *flows);
/** Returns whether a backfill has made the flow. maxActive does not count such flows. */
bool trigger_flow_of_backfill(const struct object *flow);

/** Deletes a flow in the background. */
void trigger_flow_remove(struct cluster *cluster, const struct object *flow);
/** Deletes the ended flows beyond the limits of the trigger, the oldest first. Flows that were made
 * for a time after `until_s` stay. */
void trigger_flows_prune(struct cluster *cluster, const struct object *trigger,
                         const struct owned_list *flows, int64_t until_s);

/* What a status says that does not follow from the flows. */
struct trigger_facts {
    int64_t last_s, fired_ms, successful_ms, since_s, next_s; /* 0 = none */
    const char *observed_schedule;
    int64_t fired, skipped, missed, duplicates;
    const struct trigger_seen *seen; /* [n_seen] */
    size_t n_seen, pending;
    const struct backfill *backfills; /* [n_backfills], oldest first */
    size_t n_backfills;
    const char *reason, *message; /* NULL = none */
};
/** Returns the status (owned) that follows from the flows and the facts. */
struct blob *trigger_flows_status(const struct object *trigger, const struct owned_list *flows,
                                  const struct trigger_facts *facts);
