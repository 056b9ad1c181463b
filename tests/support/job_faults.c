#include "tests/support/job_faults.h"

#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "tests/fake/faulty.h"
#include "tests/support/job_fixture.h"

/* How long a delayed write takes. It is shorter than the time that tests wait for the loop to
 * settle. */
enum { LATE_MS = 8 };

static const struct {
    const char *name;
    struct faulty_rule rule;
} faults[] = {
    {"conflict", {FAULTY_ANY, .times = 1, .way = FAULTY_REFUSE, .code = ERR_CONFLICT}},
    {"error", {FAULTY_ANY, .times = 1, .way = FAULTY_REFUSE, .code = ERR_INTERNAL}},
    {"answer lost", {FAULTY_ANY, .times = 1, .way = FAULTY_LOSE, .code = ERR_TIMEOUT}},
    {"late", {FAULTY_ANY, .times = 1, .way = FAULTY_DELAY, .delay_ms = LATE_MS}},
};

/* The largest number of writes that are tried, evenly spread: jobs of many pods make many similar
 * writes. */
enum { WRITES_MAX = 24 };

/* A test and the fault that is injected at one of its writes. */
struct faulty_test {
    CMUnitTestFunction test;
    size_t fault;
    int writes;
    int at; /* index of the write that fails in this run */
};

static void under_fault(void **state)
{
    struct faulty_test *run = *state;

    for (run->at = 0; run->at < run->writes; run->at += 1 + run->writes / WRITES_MAX) {
        struct faulty_rule rule = faults[run->fault].rule;
        void *none = NULL;

        rule.skip = run->at;
        rule.but = &kind_event; /* events may be lost, so their writes get no faults */
        job_fixture_fault(&rule);
        run->test(&none);
    }
}

static int tell_where(void **state)
{
    struct faulty_test *run = *state;

    job_fixture_fault(NULL);
    if (run->at < run->writes)
        print_message("  %s at write %d of %d\n", faults[run->fault].name, run->at, run->writes);
    return 0;
}

/* Runs a test without faults and counts the writes that it makes. */
static int counted(void **state)
{
    job_fixture_count_writes();
    return 0;
}

static int note_count(void **state)
{
    *(int *)*state = job_fixture_count_writes();
    return 0;
}

static bool is_spared(CMUnitTestFunction test, void (*const spared[])(void **state))
{
    for (size_t i = 0; spared && spared[i]; i++)
        if (spared[i] == test)
            return true;
    return false;
}

int job_tests_with_faults(const struct CMUnitTest *tests, size_t n_tests,
                          void (*const spared[])(void **state))
{
    struct CMUnitTest *plain = mem_array(n_tests, sizeof *plain);
    struct CMUnitTest *faulty = mem_array(n_tests * countof(faults), sizeof *faulty);
    struct faulty_test *runs = mem_array(n_tests * countof(faults), sizeof *runs);
    int *writes = mem_array(n_tests, sizeof *writes);
    size_t n_faulty = 0;
    int failed;

    for (size_t i = 0; i < n_tests; i++) {
        plain[i] = tests[i];
        plain[i].setup_func = counted;
        plain[i].teardown_func = note_count;
        plain[i].initial_state = &writes[i];
    }
    failed = _cmocka_run_group_tests("as they are", plain, n_tests, NULL, NULL);
    log_to(STDERR_FILENO, LOG_ERROR, LOG_TEXT); /* refused writes cause warnings, which are
                                                 * expected here */
    for (size_t i = 0; i < n_tests; i++)
        for (size_t f = 0; f < countof(faults) && !is_spared(tests[i].test_func, spared); f++) {
            runs[n_faulty] = (struct faulty_test){tests[i].test_func, f, writes[i], 0};
            faulty[n_faulty] = (struct CMUnitTest){
                .name = mem_printf("%s (%s)", tests[i].name, faults[f].name),
                .test_func = under_fault,
                .teardown_func = tell_where,
                .initial_state = &runs[n_faulty],
            };
            n_faulty++;
        }
    failed += _cmocka_run_group_tests("under faults", faulty, n_faulty, NULL, NULL);
    for (size_t i = 0; i < n_faulty; i++)
        mem_free((char *)(uintptr_t)faulty[i].name);
    mem_free(plain);
    mem_free(faulty);
    mem_free(runs);
    mem_free(writes);
    return failed;
}
