/*
 * Decides the phase of a PodGroup from the counts of its members, and builds its status.
 */
#include "node/scheduler/phase.h"

#include <string.h>

enum podgroup_phase podgroup_phase_decide(const struct group_view *view)
{
    int32_t finished = view->succeeded + view->failed;
    int32_t placed = view->bound + view->running + view->terminating + finished;

    if (!view->admitted)
        return PODGROUP_PENDING;
    if (view->running && (view->refused || placed < view->gate))
        return PODGROUP_UNKNOWN;
    if (placed >= view->min_member && finished == placed)
        return PODGROUP_COMPLETED;
    if (placed && placed >= view->gate)
        return PODGROUP_RUNNING;
    return PODGROUP_INQUEUE;
}

struct group_report podgroup_report(const struct group_view *view, const char *message)
{
    struct group_report reported = {
        .phase = podgroup_phase_decide(view),
        .running = view->running,
        .succeeded = view->succeeded,
        .failed = view->failed,
    };

    if (message || reported.phase == PODGROUP_UNKNOWN) {
        reported.condition = "Unschedulable";
        reported.reason = PODGROUP_REASON_RESOURCES;
        reported.message = message ? message : PODGROUP_MESSAGE_LOST;
    } else if (reported.phase == PODGROUP_RUNNING || reported.phase == PODGROUP_COMPLETED) {
        reported.condition = "Scheduled";
        reported.reason = PODGROUP_REASON_SCHEDULED;
    }
    return reported;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns the phase, with a missing one replaced by Pending: a waiting group needs no status
 * write. */
static enum podgroup_phase known(enum podgroup_phase phase)
{
    return phase == PODGROUP_NONE ? PODGROUP_PENDING : phase;
}

bool podgroup_report_equal(const struct group_report *a, const struct group_report *b)
{
    return known(a->phase) == known(b->phase) && a->running == b->running &&
           a->succeeded == b->succeeded && a->failed == b->failed &&
           same(a->condition, b->condition) && same(a->reason, b->reason) &&
           same(a->message, b->message);
}

struct blob *podgroup_report_blob(const struct group_report *reported)
{
    struct podgroup_condition condition = {
        .type = reported->condition,
        .status = "True",
        .reason = reported->reason,
        .message = reported->message,
        .at_ms = reported->at_ms,
    };
    struct podgroup_status status = {
        .phase = reported->phase,
        .running = reported->running,
        .succeeded = reported->succeeded,
        .failed = reported->failed,
    };

    if (reported->condition) {
        status.conditions.items = &condition;
        status.conditions.count = 1;
    }
    return podgroup_status_blob(&status);
}
