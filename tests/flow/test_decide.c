/*
 * Tests the tables that decide what becomes of a flow.
 */
#include "tests/unit.h"

#include "flow/decide.h"

/* covers: jobflow.md 92 93 94 95 104 105 111 122 171 173; reliability.md INV-F4 INV-F7 */
static const struct {
    const char *name;
    enum flow_phase now;
    unsigned facts;
    enum flow_phase want;
} phases[] = {
    /* clang-format off */
    {"nothing happened",                     FLOW_NONE,    0,                                  FLOW_PENDING},
    {"a job runs",                           FLOW_PENDING, FACT_STARTED,                       FLOW_RUNNING},
    {"running never goes back",              FLOW_RUNNING, FACT_STARTED,                       FLOW_RUNNING},
    {"all done",                             FLOW_RUNNING, FACT_STARTED | FACT_ALL_DONE,       FLOW_SUCCEED},
    {"pending may succeed at once",          FLOW_PENDING, FACT_ALL_DONE,                      FLOW_SUCCEED},
    {"a failure ends it",                    FLOW_RUNNING, FACT_STARTED | FACT_STEP_FAILED,    FLOW_FAILED},
    {"a failure before all is done",         FLOW_RUNNING, FACT_STEP_FAILED | FACT_ALL_DONE,   FLOW_FAILED},
    {"handled failures fail it at the end",  FLOW_RUNNING, FACT_ALL_DONE | FACT_HANDLED_FAILURE, FLOW_FAILED},
    {"handled failures stop nothing",        FLOW_RUNNING, FACT_STARTED | FACT_HANDLED_FAILURE,  FLOW_RUNNING},
    {"failed is final",                      FLOW_FAILED,  FACT_FINISHED | FACT_ALL_DONE,      FLOW_FAILED},
    {"succeed is final",                     FLOW_SUCCEED, FACT_FINISHED | FACT_STEP_FAILED,   FLOW_SUCCEED},
    {"a deletion mark wins over the end",    FLOW_SUCCEED, FACT_FINISHED | FACT_DELETING,      FLOW_TERMINATING},
    {"a deletion mark wins over running",    FLOW_RUNNING, FACT_STARTED | FACT_DELETING,       FLOW_TERMINATING},
    {"an unusable graph stays pending",      FLOW_NONE,    FACT_UNUSABLE,                      FLOW_PENDING},
    {"an unusable graph does not succeed",   FLOW_PENDING, FACT_UNUSABLE | FACT_ALL_DONE,      FLOW_PENDING},
    {"a failure with others under way",      FLOW_RUNNING, FACT_STEP_FAILED | FACT_STARTED | FACT_CONTINUES, FLOW_RUNNING},
    {"going on is no success",               FLOW_RUNNING, FACT_STARTED | FACT_CONTINUES,        FLOW_RUNNING},
    {"all done although it could go on",     FLOW_RUNNING, FACT_ALL_DONE | FACT_CONTINUES,       FLOW_SUCCEED},
    {"a retry is the way out of failed",     FLOW_FAILED,  FACT_FINISHED | FACT_STEP_FAILED | FACT_RETRY, FLOW_RUNNING},
    {"an abort ends it",                     FLOW_RUNNING, FACT_ABORTED | FACT_STARTED | FACT_CONTINUES, FLOW_FAILED},
    {"an abort before anything began",       FLOW_PENDING, FACT_ABORTED | FACT_UNUSABLE,       FLOW_FAILED},
    {"an abort comes too late",              FLOW_SUCCEED, FACT_ABORTED | FACT_FINISHED,       FLOW_SUCCEED},
    {"no retry of what is being deleted",    FLOW_FAILED,  FACT_FINISHED | FACT_DELETING | FACT_RETRY, FLOW_TERMINATING},
    /* clang-format on */
};

static void phase_follows_from_facts(void **state)
{
    for (size_t i = 0; i < countof(phases); i++)
        check_int(phases[i].name, flow_decide_phase(phases[i].now, phases[i].facts),
                  phases[i].want);
}

static const struct {
    const char *name;
    enum flow_phase end;
    unsigned facts;
    enum flow_phase want;
} ends[] = {
    /* clang-format off */
    {"nothing is left to do",                  FLOW_SUCCEED, FACT_STARTED,                              FLOW_SUCCEED},
    {"final steps run",                        FLOW_FAILED,  FACT_STARTED | FACT_FINALS_OPEN,           FLOW_RUNNING},
    {"final steps of a flow that never ran",   FLOW_FAILED,  FACT_FINALS_OPEN,                          FLOW_PENDING},
    {"running is stored first",                FLOW_SUCCEED, FACT_STARTED | FACT_RUNNING_UNWRITTEN,     FLOW_RUNNING},
    {"running is stored before a failed end",  FLOW_SUCCEED, FACT_STARTED | FACT_RUNNING_UNWRITTEN | FACT_FINALS_FAILED, FLOW_RUNNING},
    {"a final step failed",                    FLOW_SUCCEED, FACT_STARTED | FACT_FINALS_FAILED,         FLOW_FAILED},
    {"final steps do not undo a failure",      FLOW_FAILED,  FACT_STARTED,                              FLOW_FAILED},
    /* clang-format on */
};

static void end_waits_for_final_steps_and_running(void **state)
{
    for (size_t i = 0; i < countof(ends); i++)
        check_int(ends[i].name, flow_decide_end(ends[i].end, ends[i].facts), ends[i].want);
}

/* covers: jobflow.md 54 60 62 63; reliability.md INV-F3 */
static const struct {
    const char *name;
    unsigned facts;
    enum step_action want;
} steps[] = {
    /* clang-format off */
    {"template known",                  FACT_TEMPLATE_KNOWN,                                       STEP_DO_CREATE},
    {"no template",                     0,                                                         STEP_DO_WAIT_FOR_TEMPLATE},
    {"job is there",                    FACT_JOB_OURS | FACT_TEMPLATE_KNOWN,                       STEP_DO_ADOPT},
    {"job is there, template is not",   FACT_JOB_OURS,                                             STEP_DO_ADOPT},
    {"name is taken",                   FACT_JOB_FOREIGN | FACT_TEMPLATE_KNOWN,                    STEP_DO_WAIT_FOR_NAME},
    {"name is taken, no template",      FACT_JOB_FOREIGN,                                          STEP_DO_WAIT_FOR_NAME},
    {"closed flow creates nothing",     FACT_FLOW_CLOSED | FACT_TEMPLATE_KNOWN,                    STEP_DO_NOTHING},
    {"closed flow adopts nothing",      FACT_FLOW_CLOSED | FACT_JOB_OURS | FACT_TEMPLATE_KNOWN,    STEP_DO_NOTHING},
    /* clang-format on */
};

static void step_action_follows_from_facts(void **state)
{
    for (size_t i = 0; i < countof(steps); i++)
        check_int(steps[i].name, flow_decide_step(steps[i].facts), steps[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phase_follows_from_facts),
        cmocka_unit_test(end_waits_for_final_steps_and_running),
        cmocka_unit_test(step_action_follows_from_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
