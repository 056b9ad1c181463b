/*
 * The decision tables. A row matches when all facts of `with` and none of `without` hold; the first
 * match wins. The last row of each table matches always.
 */
#include "flow/decide.h"

#define KEEP_PHASE FLOW_PHASE_N

struct phase_rule {
    unsigned with, without;
    enum flow_phase next;
};

/* clang-format off */
static const struct phase_rule phase_rules[] = {
    {FACT_DELETING,    0,              FLOW_TERMINATING},
    {FACT_RETRY,       0,              FLOW_RUNNING},
    {FACT_FINISHED,    0,              KEEP_PHASE},
    {FACT_ABORTED,     0,              FLOW_FAILED},
    {FACT_UNUSABLE,    0,              FLOW_PENDING},
    {FACT_STEP_FAILED, FACT_CONTINUES, FLOW_FAILED},
    {FACT_ALL_DONE | FACT_HANDLED_FAILURE, 0, FLOW_FAILED},
    {FACT_ALL_DONE,    0,              FLOW_SUCCEED},
    {FACT_DEADLINE,    0,              FLOW_FAILED},
    {FACT_STARTED,     0,              FLOW_RUNNING},
    {0,                0,              FLOW_PENDING},
};

/* Clients written for upstream see Running before a terminal phase whenever a job ran, so Running
 * is stored first. */
static const struct phase_rule end_rules[] = {
    {FACT_FINALS_OPEN | FACT_STARTED, 0, FLOW_RUNNING},
    {FACT_FINALS_OPEN,                0, FLOW_PENDING},
    {FACT_RUNNING_UNWRITTEN,          0, FLOW_RUNNING},
    {FACT_FINALS_FAILED,              0, FLOW_FAILED},
    {0,                               0, KEEP_PHASE},
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

static enum flow_phase apply(const struct phase_rule *rule, enum flow_phase now, unsigned facts)
{
    while ((facts & rule->with) != rule->with || (facts & rule->without))
        rule++;
    return rule->next == KEEP_PHASE ? now : rule->next;
}

enum flow_phase flow_decide_phase(enum flow_phase now, unsigned facts)
{
    return apply(phase_rules, now, facts);
}

enum flow_phase flow_decide_end(enum flow_phase end, unsigned facts)
{
    return apply(end_rules, end, facts);
}

enum step_action flow_decide_step(unsigned facts)
{
    const struct step_rule *rule = step_rules;

    while ((facts & rule->with) != rule->with || (facts & rule->without))
        rule++;
    return rule->action;
}
