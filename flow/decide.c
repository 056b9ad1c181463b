/*
 * The two tables. A row holds when all of `with` and none of `without` are facts; the first wins.
 */
#include "flow/decide.h"

#include "base/compiler.h"

#define KEEP_PHASE FLOW_PHASE_N

struct phase_rule {
    unsigned with, without;
    enum flow_phase next;
};

/* clang-format off */
static const struct phase_rule phase_rules[] = {
    {FACT_DELETING,    0,            FLOW_TERMINATING},
    {FACT_RETRY,       0,            FLOW_RUNNING},
    {FACT_FINISHED,    0,            KEEP_PHASE},
    {FACT_ABORTED,     0,            FLOW_FAILED},
    {FACT_UNUSABLE,    0,            FLOW_PENDING},
    {FACT_STEP_FAILED, FACT_CONTINUES, FLOW_FAILED},
    {FACT_ALL_DONE,    0,            FLOW_SUCCEED},
    {FACT_DEADLINE,    0,            FLOW_FAILED},
    {FACT_STARTED,     0,            FLOW_RUNNING},
    {0,                0,            FLOW_PENDING},
};

struct step_rule {
    unsigned with, without;
    enum step_action action;
};

static const struct step_rule step_rules[] = {
    {FACT_FLOW_CLOSED, 0,                   STEP_DO_NOTHING},
    {FACT_JOB_OURS,    0,                   STEP_DO_ADOPT},
    {FACT_JOB_FOREIGN, 0,                   STEP_DO_WAIT_FOR_NAME},
    {0,                FACT_TEMPLATE_KNOWN, STEP_DO_WAIT_FOR_TEMPLATE},
    {0,                0,                   STEP_DO_CREATE},
};
/* clang-format on */

enum flow_phase flow_decide_phase(enum flow_phase now, unsigned facts)
{
    const struct phase_rule *rule = phase_rules;

    while ((facts & rule->with) != rule->with || (facts & rule->without))
        rule++;
    return rule->next == KEEP_PHASE ? now : rule->next;
}

enum step_action flow_decide_step(unsigned facts)
{
    const struct step_rule *rule = step_rules;

    while ((facts & rule->with) != rule->with || (facts & rule->without))
        rule++;
    return rule->action;
}
