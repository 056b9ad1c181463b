/*
 * The phase of a PodGroup from the counts of its members, and the status document.
 */
#include "node/scheduler/phase.h"

#include <string.h>

enum podgroup_phase podgroup_phase_decide(const struct group_view *view)
{
    int32_t finished = view->succeeded + view->failed;
    int32_t placed = view->bound + view->running + view->terminating + finished;

    if (!view->admitted)
        return PODGROUP_PENDING;
    if (view->running && view->refused)
        return PODGROUP_UNKNOWN;
    if (placed >= view->min_member && finished == placed)
        return PODGROUP_COMPLETED;
    if (placed && placed >= view->gate)
        return PODGROUP_RUNNING;
    return PODGROUP_INQUEUE;
}

struct group_told podgroup_told(const struct group_view *view, const char *message)
{
    struct group_told told = {
        .phase = podgroup_phase_decide(view),
        .running = view->running,
        .succeeded = view->succeeded,
        .failed = view->failed,
    };

    if (message) {
        told.condition = "Unschedulable";
        told.reason = PODGROUP_REASON_RESOURCES;
        told.message = message;
    } else if (told.phase == PODGROUP_RUNNING || told.phase == PODGROUP_COMPLETED) {
        told.condition = "Scheduled";
        told.reason = PODGROUP_REASON_SCHEDULED;
    }
    return told;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* No phase counts as Pending: of ten thousand groups in a line nobody needs to write it. */
static enum podgroup_phase known(enum podgroup_phase phase)
{
    return phase == PODGROUP_NONE ? PODGROUP_PENDING : phase;
}

bool podgroup_told_equal(const struct group_told *a, const struct group_told *b)
{
    return known(a->phase) == known(b->phase) && a->running == b->running &&
           a->succeeded == b->succeeded && a->failed == b->failed &&
           same(a->condition, b->condition) && same(a->reason, b->reason) &&
           same(a->message, b->message);
}

struct blob *podgroup_told_blob(const struct group_told *told)
{
    struct podgroup_condition condition = {
        .type = told->condition,
        .status = "True",
        .reason = told->reason,
        .message = told->message,
        .at_ms = told->at_ms,
    };
    struct podgroup_status status = {
        .phase = told->phase,
        .running = told->running,
        .succeeded = told->succeeded,
        .failed = told->failed,
    };

    if (told->condition) {
        status.conditions.items = &condition;
        status.conditions.count = 1;
    }
    return podgroup_status_blob(&status);
}
