#pragma once
/*
 * The PodGroup phase driver. Pure. Ref: spec/job.md 15.4.
 *
 *               admitted            gate placed             all placed ones finished
 *   Pending ─────────────► Inqueue ◄───────────► Running ─────────────────────────► Completed
 *                             a member runs, the rest of the gang finds no room: Unknown
 *
 * One departure: a group that was admitted does not fall back to Pending when it loses members, but
 * to Inqueue (W13: a restart must not wait for a fresh admission).
 */
#include "api/types/kinds/scheduling/podgroup.h"

#define PODGROUP_REASON_SCHEDULED "tasks in gang are ready to be scheduled"
#define PODGROUP_REASON_RESOURCES "NotEnoughResources"

struct group_view {
    bool admitted;
    bool refused; /* the rest of the gang found no room */
    int32_t min_member, gate;
    int32_t bound, running, succeeded, failed, terminating; /* members that have a place */
};

enum podgroup_phase podgroup_phase_decide(const struct group_view *view);

/* What a status says, small enough to compare before writing. */
struct group_told {
    enum podgroup_phase phase;
    int32_t running, succeeded, failed;
    const char *condition; /* Scheduled, Unschedulable or NULL */
    const char *reason;
    const char *message; /* borrowed */
    int64_t at_ms;       /* of the condition */
};

/** What should be told of `view`; `message` (or NULL) explains a refusal. */
struct group_told podgroup_told(const struct group_view *view, const char *message);
bool podgroup_told_equal(const struct group_told *a, const struct group_told *b);
struct blob *podgroup_told_blob(const struct group_told *told);
