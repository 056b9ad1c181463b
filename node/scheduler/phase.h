#pragma once
/*
 * Decides the phase of a PodGroup from counts of its members. Pure functions.
 * Ref: spec/job.md 15.4.
 *
 *               admitted            gate placed             all placed ones finished
 *   Pending ─────────────► Inqueue ◄───────────► Running ─────────────────────────► Completed
 *                             some members run, others are missing or do not fit: Unknown
 *
 * This differs from Volcano in one point: an admitted group of which no member runs any more returns
 * to Inqueue, not to Pending, so that a restart need not wait for a new admission (W13).
 */
#include "api/types/kinds/scheduling/podgroup.h"

#define PODGROUP_REASON_SCHEDULED "tasks in gang are ready to be scheduled"
#define PODGROUP_REASON_RESOURCES "NotEnoughResources"
#define PODGROUP_MESSAGE_LOST     "some members of the gang run, others are missing"

/* The counts of a group that determine its phase. */
struct group_view {
    bool admitted;
    bool refused; /* the group was refused: the rest of the gang does not fit */
    int32_t min_member, gate;
    /* Numbers of placed members, by state. */
    int32_t bound, running, succeeded, failed, terminating;
};

/** Returns the phase that follows from the counts. */
enum podgroup_phase podgroup_phase_decide(const struct group_view *view);

/* Content of a PodGroup status, cheap to compare before a write. */
struct group_report {
    enum podgroup_phase phase;
    int32_t running, succeeded, failed;
    const char *condition; /* condition of the group: Scheduled, Unschedulable or NULL */
    const char *reason;
    const char *message; /* message of the condition; borrowed */
    int64_t at_ms;       /* wall time of the last transition of the condition */
};

/** Returns the status to write for `view`. `message` (borrowed, or NULL) is the reason of a
 * refusal. */
struct group_report podgroup_report(const struct group_view *view, const char *message);
/** Compares two statuses, except for `at_ms`. No phase equals Pending. */
bool podgroup_report_equal(const struct group_report *a, const struct group_report *b);
/** Returns the status document as JSON. Owned. */
struct blob *podgroup_report_blob(const struct group_report *reported);
