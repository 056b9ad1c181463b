/*
 * Tests each transition of PodGroup phases and queue states.
 * Ref: job.md 15.4, 19.1.
 */
#include "tests/unit.h"

#include "node/scheduler/phase.h"
#include "node/scheduler/queue_state.h"

/* covers: see O-57 O-60 */
static const struct {
    const char *name;
    struct group_view view;
    enum podgroup_phase want;
} phases[] = {
    {"not admitted is Pending", {.min_member = 2, .gate = 2}, PODGROUP_PENDING},
    {"not admitted stays Pending beside old pods",
     {.min_member = 2, .gate = 2, .terminating = 2},
     PODGROUP_PENDING},
    {"admitted without pods is Inqueue", {true, .min_member = 2, .gate = 2}, PODGROUP_INQUEUE},
    {"part of the gang placed is Inqueue",
     {true, .min_member = 2, .gate = 2, .bound = 1},
     PODGROUP_INQUEUE},
    {"the gang placed is Running",
     {true, .min_member = 2, .gate = 2, .bound = 2},
     PODGROUP_RUNNING},
    {"one ended, one runs: Running",
     {true, .min_member = 2, .gate = 2, .running = 1, .succeeded = 1},
     PODGROUP_RUNNING},
    {"all placed ones ended: Completed",
     {true, .min_member = 2, .gate = 2, .succeeded = 1, .failed = 1},
     PODGROUP_COMPLETED},
    {"fewer than the minimum ended is not Completed",
     {true, .min_member = 3, .gate = 3, .succeeded = 2},
     PODGROUP_INQUEUE},
    {"the first stage of a staged gang is Running",
     {true, .min_member = 3, .gate = 1, .running = 1},
     PODGROUP_RUNNING},
    {"the first stage ended is not Completed",
     {true, .min_member = 3, .gate = 1, .succeeded = 1},
     PODGROUP_RUNNING},
    {"a member runs, the rest does not fit: Unknown",
     {true, true, .min_member = 3, .gate = 3, .running = 2},
     PODGROUP_UNKNOWN},
    {"nothing runs, does not fit: Inqueue",
     {true, true, .min_member = 3, .gate = 3},
     PODGROUP_INQUEUE},
    {"terminating members still count as placed",
     {true, .min_member = 2, .gate = 2, .running = 1, .terminating = 1},
     PODGROUP_RUNNING},
    {"members lost, others run: Unknown",
     {true, .min_member = 2, .gate = 2, .running = 1},
     PODGROUP_UNKNOWN},
    {"members lost, others ended or run: Unknown",
     {true, .min_member = 3, .gate = 3, .running = 1, .succeeded = 1},
     PODGROUP_UNKNOWN},
    {"members lost, the others are only bound: back to Inqueue, not to Pending",
     {true, .min_member = 2, .gate = 2, .bound = 1},
     PODGROUP_INQUEUE},
    {"all members lost: back to Inqueue, not to Pending",
     {true, .min_member = 2, .gate = 2},
     PODGROUP_INQUEUE},
    {"a minimum of 0 is Completed at once", {true, .min_member = 0, .gate = 0}, PODGROUP_COMPLETED},
};

static void phase_follows_from_the_counts(void **state)
{
    for (size_t i = 0; i < countof(phases); i++)
        check_int(phases[i].name, podgroup_phase_decide(&phases[i].view), phases[i].want);
}

static void equal_statuses_compare_equal(void **state)
{
    struct group_view view = {true, .min_member = 1, .gate = 1, .running = 1};
    struct group_report a = podgroup_report(&view, NULL), b = podgroup_report(&view, NULL);
    struct group_report none = {0}, pending = {.phase = PODGROUP_PENDING};

    check("the same", podgroup_report_equal(&a, &b));
    check("no phase is Pending", podgroup_report_equal(&none, &pending));
    check_str("running means scheduled", a.condition, "Scheduled");
    b = podgroup_report(&view, "does not fit");
    check_str("a refusal", b.condition, "Unschedulable");
    check("another condition", !podgroup_report_equal(&a, &b));
    b.at_ms = a.at_ms = 5;
    a = podgroup_report(&view, "does not fit");
    check("the time alone is no difference", podgroup_report_equal(&a, &b));
}

static void status_contains_phase_counts_and_condition(void **state)
{
    struct group_view view = {true, true, .min_member = 3, .gate = 3, .running = 2, .failed = 1};
    struct group_report reported = podgroup_report(&view, "needs more");
    struct blob *blob;

    reported.at_ms = 1000;
    blob = podgroup_report_blob(&reported);
    check_has("phase", blob->text, "\"phase\":\"Unknown\"");
    check_has("running", blob->text, "\"running\":2");
    check_has("failed", blob->text, "\"failed\":1");
    check_has("type", blob->text, "\"type\":\"Unschedulable\"");
    check_has("reason", blob->text, "\"reason\":\"NotEnoughResources\"");
    check_has("message", blob->text, "\"message\":\"needs more\"");
    blob_unref(blob);
}

static const struct {
    const char *name;
    enum queue_state state;
    enum queue_action action;
    bool groups;
    enum queue_state want;
} queue_cells[] = {
    {"new queue opens", QUEUE_NONE, QUEUE_SYNC, false, QUEUE_OPEN},
    {"new queue opened", QUEUE_NONE, QUEUE_DO_OPEN, true, QUEUE_OPEN},
    {"new queue closed", QUEUE_NONE, QUEUE_DO_CLOSE, false, QUEUE_CLOSED},
    {"open stays open", QUEUE_OPEN, QUEUE_SYNC, true, QUEUE_OPEN},
    {"open opened", QUEUE_OPEN, QUEUE_DO_OPEN, true, QUEUE_OPEN},
    {"open and empty closes", QUEUE_OPEN, QUEUE_DO_CLOSE, false, QUEUE_CLOSED},
    {"open with groups is closing", QUEUE_OPEN, QUEUE_DO_CLOSE, true, QUEUE_CLOSING},
    {"closing with groups continues", QUEUE_CLOSING, QUEUE_SYNC, true, QUEUE_CLOSING},
    {"closing and empty is closed", QUEUE_CLOSING, QUEUE_SYNC, false, QUEUE_CLOSED},
    {"closing opened", QUEUE_CLOSING, QUEUE_DO_OPEN, true, QUEUE_OPEN},
    {"closing closed again", QUEUE_CLOSING, QUEUE_DO_CLOSE, true, QUEUE_CLOSING},
    {"closed stays closed", QUEUE_CLOSED, QUEUE_SYNC, true, QUEUE_CLOSED},
    {"closed opened", QUEUE_CLOSED, QUEUE_DO_OPEN, false, QUEUE_OPEN},
    {"closed closed again", QUEUE_CLOSED, QUEUE_DO_CLOSE, true, QUEUE_CLOSED},
    {"unknown stays", QUEUE_UNKNOWN, QUEUE_SYNC, true, QUEUE_UNKNOWN},
    {"unknown opened", QUEUE_UNKNOWN, QUEUE_DO_OPEN, true, QUEUE_OPEN},
    {"unknown with groups closes", QUEUE_UNKNOWN, QUEUE_DO_CLOSE, true, QUEUE_CLOSING},
};

static void queue_state_follows_the_table(void **state)
{
    for (size_t i = 0; i < countof(queue_cells); i++)
        check_int(
            queue_cells[i].name,
            queue_state_decide(queue_cells[i].state, queue_cells[i].action, queue_cells[i].groups),
            queue_cells[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phase_follows_from_the_counts),
        cmocka_unit_test(equal_statuses_compare_equal),
        cmocka_unit_test(status_contains_phase_counts_and_condition),
        cmocka_unit_test(queue_state_follows_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
