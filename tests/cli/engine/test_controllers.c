/*
 * Tests that the list of --controllers determines which controllers run.
 */
#include "tests/unit.h"

#include "cli/engine/controllers.h"

enum {
    JOB = CONTROLLER_BIT(CONTROLLER_JOB),
    FLOW = CONTROLLER_BIT(CONTROLLER_JOB_FLOW),
    TEMPLATE = CONTROLLER_BIT(CONTROLLER_JOB_TEMPLATE),
    CRON = CONTROLLER_BIT(CONTROLLER_CRON_JOB) | CONTROLLER_BIT(CONTROLLER_FLOW_TRIGGER),
};

/* covers: jobflow.md 141 142 143 */
static void a_list_selects_controllers(void **state)
{
    static const struct {
        const char *list;
        unsigned off;
        const char *refused; /* part of the message of a refusal; NULL: accepted */
    } cases[] = {
        {"*", 0, NULL},
        {"+gc-controller,+jobtemplate-controller,+jobflow-controller", JOB | CRON, NULL},
        {"jobflow,job", TEMPLATE | CRON, NULL},
        {"*,-cronjob-controller,-flowtrigger", CRON, NULL},
        {"*,-jobflow", FLOW, NULL},
        {"-job-controller,*", JOB, NULL},
        {"-jobflow", JOB | FLOW | TEMPLATE | CRON, NULL},
        {"", JOB | FLOW | TEMPLATE | CRON, NULL},
        {"*,,", 0, NULL},
        {"-jobflow-controller,+jobflow-controller", 0, "cannot be switched on and off at once"},
        {"+job,*,-job-controller", 0, "job cannot be switched on and off at once"},
        {"*,-gc-controller", 0, "cannot be switched off"},
        {"*,+jobfloww", 0, "\"+jobfloww\" names no controller"},
        {"-controller", 0, "names no controller"},
        {"+", 0, "names no controller"},
        {"* ,job", 0, "names no controller"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        unsigned off = ~0U;
        struct error err = {0};
        bool ok = controllers_parse(cases[i].list, &off, &err);

        check(cases[i].list, ok == !cases[i].refused);
        if (ok)
            check_int(cases[i].list, off, cases[i].off);
        else
            check_has(cases[i].list, err.message, cases[i].refused);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_selects_controllers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
