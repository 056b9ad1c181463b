/*
 * Tests what the entries of a probe require of a job, and which addresses probes may connect to.
 */
#include "tests/unit.h"

#include <arpa/inet.h>

#include "probes/address.h"
#include "probes/requirements.h"

static struct job_task tasks[] = {
    {.name = "ps", .replicas = 2},
    {.name = "worker", .replicas = 4, .min_available = {true, 3}},
    {.name = "idle", .replicas = 1, .min_available = {true, 0}},
};
static const struct job_spec job = {.tasks = {tasks, 3}};

/* covers: see 6.2 "how many pods" */
static void threshold_is_min_available(void **state)
{
    struct probe_tcp tcp[] = {{.port = 1}};
    struct probe_task_status status[] = {{"worker", "Failed"}, {"ps", "Running"}};
    const struct flow_probe probe = {.tcp = {tcp, 1}, .task_status = {status, 2}};
    struct probe_requirements requirements = {0};
    static const struct {
        const char *task;
        int32_t threshold;
    } want[] = {{"ps", 2}, {"worker", 3}, {"idle", 1}, {"worker", 1}, {"ps", 2}};

    probe_requirements_of(&probe, &job, &requirements);
    check_int("an entry without a task is for each", requirements.count, countof(want));
    for (size_t i = 0; i < countof(want); i++) {
        check_str("task", requirements.items[i].task, want[i].task);
        check_int(want[i].task, requirements.items[i].threshold, want[i].threshold);
    }
    probe_requirements_release(&requirements);
}

/* covers: see 6.2 "which target" */
static void entry_applies_by_its_task(void **state)
{
    struct probe_http http[] = {{.task = "ps"}, {.task = ""}};
    struct probe_tcp tcp[] = {{.task = "master", .port = 1}};
    const struct flow_probe probe = {.http = {http, 2}, .tcp = {tcp, 1}};

    check_int("entries", flow_probe_count(&probe), 3);
    check("named", probe_entry_applies(&probe, 0, &job));
    check("unnamed", probe_entry_applies(&probe, 1, &job));
    check("no such task", !probe_entry_applies(&probe, 2, &job));
    check_str("which", probe_entry_task(&probe, 2), "master");
    check_str("empty is none", probe_entry_task(&probe, 1), NULL);
}

/* covers: jobflow.md 71 72 73 */
static const struct {
    const char *wanted;
    bool counts[POD_PHASE_N]; /* whether a pod in Pending, Running, Succeeded, Failed, Unknown
                               * counts */
} reached[] = {
    /* clang-format off */
    {"Pending",   {true,  true,  true,  true,  true}},
    {"Running",   {false, true,  true,  false, false}},
    {"running",   {false, true,  true,  false, false}},
    {"",          {false, true,  true,  false, false}},
    {"Succeeded", {false, false, true,  false, false}},
    {"completed", {false, false, true,  false, false}},
    {"Failed",    {false, false, false, true,  false}},
    {"UNKNOWN",   {false, false, false, false, true}},
    {"Nonsense",  {false, false, false, false, false}},
    /* clang-format on */
};

static bool passes_in(const char *wanted, enum pod_phase phase)
{
    struct probe_task_status status[] = {{"ps", wanted}};
    const struct flow_probe probe = {.task_status = {status, 1}};
    struct probe_entry entry = probe_entry_at(&probe, 0);

    return probe_entry_passes(&entry, &(struct pod_status){.phase = phase});
}

static void phases_are_reached_or_passed(void **state)
{
    for (size_t i = 0; i < countof(reached); i++)
        for (int phase = 0; phase < POD_PHASE_N; phase++)
            check_int(reached[i].wanted, passes_in(reached[i].wanted, (enum pod_phase)phase),
                      reached[i].counts[phase]);
    check("none is Running", passes_in(NULL, POD_RUNNING));
}

/* covers: see 6.2 "latching" and "targets that fail" */
static void completion_stands_in_where_it_can(void **state)
{
    static const struct {
        const char *phase;
        bool by_completion, wants_failure;
    } cases[] = {
        {"Running", true, false}, {"Pending", true, false},  {"Succeeded", true, false},
        {"Failed", false, true},  {"Unknown", false, false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct probe_task_status status[] = {{"ps", cases[i].phase}};
        const struct flow_probe probe = {.task_status = {status, 1}};
        struct probe_requirements requirements = {0};

        probe_requirements_of(&probe, &job, &requirements);
        check_int(cases[i].phase, probe_requirements_met_by_completion(&requirements),
                  cases[i].by_completion);
        check_int(cases[i].phase, probe_wants_failure(&probe, &job), cases[i].wants_failure);
        check_int(cases[i].phase, probe_wants_failure(&probe, NULL), cases[i].wants_failure);
        check("not met", !probe_requirements_met(&requirements));
        requirements.items[0].passing = requirements.items[0].threshold;
        check("met", probe_requirements_met(&requirements) &&
                         probe_requirements_met_by_completion(&requirements));
        probe_requirements_release(&requirements);
    }
}

/* covers: reliability.md SEC-13 */
static const struct {
    const char *ip;
    int32_t port;
    const char *want; /* expected address; NULL = refused */
} addresses[] = {
    /* clang-format off */
    {"10.0.0.7",              80,    "10.0.0.7:80"},
    {"127.0.0.1",             8080,  "127.0.0.1:8080"},
    {"fd00::0:7",             80,    "[fd00::7]:80"},
    {"::1",                   80,    "[::1]:80"},
    {"169.254.169.254",       80,    NULL},
    {"0.0.0.0",               80,    NULL},
    {"255.255.255.255",       80,    NULL},
    {"224.0.0.1",             80,    NULL},
    {"fe80::1",               80,    NULL},
    {"::",                    80,    NULL},
    {"ff02::1",               80,    NULL},
    {"::ffff:169.254.169.254", 80,   NULL},
    {"127.0.0.1",             6443,  NULL}, /* this is the address of the API server */
    {"::1",                   6443,  NULL},
    {"::ffff:127.0.0.1",      6443,  NULL}, /* this is the address of the API server, too */
    {"::ffff:127.0.0.1",      80,    "[::ffff:127.0.0.1]:80"},
    {"192.0.2.200",           80,    NULL}, /* these are in ranges that are refused */
    {"::ffff:192.0.2.129",    80,    NULL},
    {"192.0.2.127",           80,    "192.0.2.127:80"},
    {"198.51.100.9",          80,    NULL},
    {"::ffff:198.51.100.9",   80,    NULL},
    {"2001:db8::1",           80,    NULL},
    {"2001:db9::1",           80,    "[2001:db9::1]:80"},
    {"10.0.0.7",              0,     NULL},
    {"10.0.0.7",              65536, NULL},
    {"example.org",           80,    NULL},
    {"10.0.0.7/8",            80,    NULL},
    {"010.0.0.7",             80,    NULL},
    {"",                      80,    NULL},
    /* clang-format on */
};

static void only_plain_addresses_are_let_through(void **state)
{
    static const char *const refused[] = {"127.0.0.1:6443",          "[::1]:6443",
                                          "192.0.2.128/25",          "2001:db8::/32",
                                          "::ffff:198.51.100.0/120", NULL};

    for (size_t i = 0; i < countof(addresses); i++) {
        struct probe_address address;
        struct error err = {0};
        bool ok = probe_address_of(addresses[i].ip, addresses[i].port, refused, &address, &err);

        check_int(addresses[i].ip, ok, addresses[i].want != NULL);
        if (ok)
            check_str(addresses[i].ip, address.text, addresses[i].want);
    }
}

static void a_range_is_an_address_and_a_number_of_bits(void **state)
{
    static const struct {
        const char *text;
        bool is_range;
    } rows[] = {
        {"10.0.0.0/8", true}, {"10.0.0.0/0", true},   {"fd00::/8", true},
        {"::/128", true},     {"10.0.0.0/33", false}, {"::/129", false},
        {"10.0.0.0", false},  {"10.0.0.0/", false},   {"/8", false},
        {"x/8", false},       {"10.0.0.0/ 8", false}, {"10.0.0.0/-1", false},
    };

    for (size_t i = 0; i < countof(rows); i++)
        check_int(rows[i].text, probe_range_is(rows[i].text), rows[i].is_range);
}

static void another_address_is_told_apart(void **state)
{
    struct probe_address address, other;

    check("made", probe_address_of("10.0.0.7", 80, NULL, &address, NULL));
    check("itself", probe_address_is(&address, &address.sock.any, sizeof address.sock.v4));
    check("made", probe_address_of("10.0.0.7", 81, NULL, &other, NULL));
    check("port", !probe_address_is(&address, &other.sock.any, sizeof other.sock.v4));
    check("made", probe_address_of("::1", 80, NULL, &other, NULL));
    check("family", !probe_address_is(&address, &other.sock.any, sizeof other.sock.v6));
    check("cut short", !probe_address_is(&address, &address.sock.any, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_is_min_available),
        cmocka_unit_test(entry_applies_by_its_task),
        cmocka_unit_test(phases_are_reached_or_passed),
        cmocka_unit_test(completion_stands_in_where_it_can),
        cmocka_unit_test(only_plain_addresses_are_let_through),
        cmocka_unit_test(a_range_is_an_address_and_a_number_of_bits),
        cmocka_unit_test(another_address_is_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
