/* Tests the reuse of steps by the flow controller. The jobs here have no files; the whole program tests
 * these (tests/system/reuse.py). */
/* covers: everyday.md EVD-105, EVD-106, EVD-112, EVD-117, EVD-121, EVD-122, EVD-125, EVD-126, EVD-127 */
/* covers: everyday.md EVD-128, EVD-129, EVD-130, EVD-131, EVD-145 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "tests/support/flow_fixture.h"

static const void *secret(void *ctx, size_t *out_len)
{
    *out_len = 4;
    return "key";
}

static const struct flow_reuse_options reuse = {.directory = "/", .secret = secret};
static const struct flow_options options = {.reuse = &reuse};

static struct flow_fixture *fixture_new(void)
{
    return flow_fixture_new(&options);
}

static const char *reason(struct flow_fixture *fixture, const char *flow, int node)
{
    static char path[32];

    snprintf(path, sizeof path, "nodes/%d/reason", node);
    return flow_fixture_at(fixture, flow, path);
}

static void count_recorded(void *arg, const struct object *entry)
{
    *(int *)arg += cache_entry_is_recorded(cache_entry_of(entry));
}

static void count_all(void *arg, const struct object *entry)
{
    ++*(int *)arg;
}

static int entries(struct flow_fixture *fixture, bool recorded)
{
    int count = 0;

    cluster_each(fixture->cluster, &kind_cache_entry, NULL, recorded ? count_recorded : count_all,
                 &count);
    return count;
}

static void earlier_work_of_another_flow_stands_for_a_step(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "a", "flows: [{name: a, cache: {}}]");
    check_int("pending", entries(fixture, false), 1);
    check_int("recorded", entries(fixture, true), 0);
    flow_fixture_end(fixture, "f-a", 0, "k=v");
    check_int("recorded", entries(fixture, true), 1);
    check_str("first", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    flow_fixture_spec(
        fixture, "g", "a b c",
        "flows: [{name: a, cache: {}}, {name: b, dependsOn: {targets: [a]}, if: {terms: "
        "[{target: a, output: {key: k, values: [v]}}]}}, {name: c, dependsOn: {targets: "
        "[a]}, if: {terms: [{target: a, exitCode: {values: [1]}}]}}]");
    flow_fixture_advance(fixture, 1000);
    check_str("jobs", flow_fixture_created(fixture), "f-a g-b");
    check_str("phase", flow_fixture_at(fixture, "g", "nodes/0/phase"), "Completed");
    check_str("reason", reason(fixture, "g", 0), "Cached");
    check_str("from", flow_fixture_at(fixture, "g", "nodes/0/cachedFrom/job"), "f-a");
    check_str("outputs", flow_fixture_at(fixture, "g", "nodes/0/outputs/k"), "v");
    check_str("completed", flow_fixture_at(fixture, "g", "completedJobs"), "[\"g-a\"]");
    check_int("event", flow_fixture_events(fixture, "Cached"), 1);
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 1000);
    check_str("after a restart", reason(fixture, "g", 0), "Cached");
    check_str("no job more", flow_fixture_created(fixture), "f-a g-b");
    flow_fixture_complete(fixture, "g-b");
    flow_fixture_advance(fixture, 1000);
    check_str("end", flow_fixture_at(fixture, "g", "state/phase"), "Succeed");
    check_str("count", flow_fixture_at(fixture, "g", "stepCounts/cached"), "1");
}

static void of_equal_steps_one_runs_and_the_others_wait_for_it(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(
        fixture, "f", "t",
        "flows: [{name: a, jobTemplateName: t, cache: {}}, {name: b, jobTemplateName: t, "
        "cache: {}}, {name: c, jobTemplateName: t, cache: {}}]");
    flow_fixture_advance(fixture, 1000);
    check_str("one job", flow_fixture_created(fixture), "f-a");
    check_str("phase", flow_fixture_at(fixture, "f", "nodes/1/phase"), "Waiting");
    check_str("reason", reason(fixture, "f", 1), "SameWorkRunning");
    check_str("message", flow_fixture_at(fixture, "f", "nodes/1/message"),
              "job f-a does the same: it is reused when that succeeds");
    flow_fixture_restart(fixture);
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_advance(fixture, 1000);
    check_str("still one", flow_fixture_created(fixture), "f-a");
    check_str("end", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("count", flow_fixture_at(fixture, "f", "stepCounts/cached"), "2");
}

static void when_the_first_fails_or_is_deleted_the_second_runs(void **state)
{
    static const char spec[] = "flows: [{name: a, cache: {}}]";
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "a", spec);
    flow_fixture_spec(fixture, "g", "a", spec);
    flow_fixture_spec(fixture, "h", "a", spec);
    flow_fixture_phase(fixture, "f-a", JOB_ABORTED);
    flow_fixture_advance(fixture, 1000);
    check_str("while it is suspended the others wait", flow_fixture_created(fixture), "f-a");
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    check_str("it failed", flow_fixture_created(fixture), "f-a g-a");
    check_int("nothing is recorded", entries(fixture, true), 0);
    flow_fixture_delete(fixture, &kind_job_flow, "g", REGISTRY_BACKGROUND);
    flow_fixture_advance(fixture, 1000);
    check_str("it was deleted", flow_fixture_created(fixture), "f-a g-a h-a");
    flow_fixture_complete(fixture, "h-a");
    check_int("one entry is left, beside that of the failed job", entries(fixture, false), 2);
    flow_fixture_delete(fixture, &kind_job, "f-a", REGISTRY_BACKGROUND);
    check_int("a pending entry goes with its job", entries(fixture, false), 1);
}

static void only_completed_work_is_recorded(void **state)
{
    static const struct {
        enum job_phase end;
        int recorded;
    } cases[] = {{JOB_FAILED, 0}, {JOB_TERMINATED, 0}, {JOB_COMPLETED, 1}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

        flow_fixture_spec(fixture, "f", "a", "flows: [{name: a, cache: {}}]");
        flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
        flow_fixture_phase(fixture, "f-a", cases[i].end);
        check_int(job_phase_text(cases[i].end), entries(fixture, true), cases[i].recorded);
    }
}

static void a_step_that_is_reused_needs_no_place_of_max_running_jobs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "a", "flows: [{name: a, cache: {}}]");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_spec(fixture, "g", "x a",
                      "flows: [{name: x}, {name: a, cache: {}}], scheduling: {maxRunningJobs: 1}");
    flow_fixture_advance(fixture, 1000);
    check_str("jobs", flow_fixture_created(fixture), "f-a g-x");
    check_str("reused", reason(fixture, "g", 1), "Cached");
}

static void of_a_loop_the_changed_items_run(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "s", "flows: [{name: s, for: {items: [x, w, z]}, cache: {}}]");
    flow_fixture_complete(fixture, "f-s-0");
    flow_fixture_complete(fixture, "f-s-1");
    flow_fixture_complete(fixture, "f-s-2");
    flow_fixture_spec(fixture, "g", "s",
                      "flows: [{name: s, for: {items: [x, other, z, more]}, cache: {}}]");
    flow_fixture_advance(fixture, 1000);
    check_str("jobs", flow_fixture_created(fixture), "f-s-0 f-s-1 f-s-2 g-s-1 g-s-3");
    flow_fixture_complete(fixture, "g-s-1");
    flow_fixture_complete(fixture, "g-s-3");
    flow_fixture_advance(fixture, 1000);
    check_str("end", flow_fixture_at(fixture, "g", "state/phase"), "Succeed");
}

static void iterations_of_until_are_reused(void **state)
{
    static const char spec[] =
        "flows: [{name: u, for: {until: {terms: [{target: u, output: {key: k, values: [done]}}]}, "
        "maxIterations: 5}, cache: {}}]";
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "u", spec);
    flow_fixture_end(fixture, "f-u-0", 0, "k=more");
    flow_fixture_end(fixture, "f-u-1", 0, "k=done");
    check_str("first", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    flow_fixture_spec(fixture, "g", "u", spec);
    flow_fixture_advance(fixture, 1000);
    check_str("jobs", flow_fixture_created(fixture), "f-u-0 f-u-1");
    check_str("second", flow_fixture_at(fixture, "g", "state/phase"), "Succeed");
}

static void a_later_attempt_is_recorded_as_the_first(void **state)
{
    static const char spec[] =
        "flows: [{name: a, cache: {}, retry: {maxRetry: 2, backoffSeconds: 1}, patch: {spec: "
        "{tasks: "
        "[{name: main, template: {spec: {containers: [{name: c, args: [$(attempt)]}]}}}]}}}]";
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "a", spec);
    flow_fixture_phase(fixture, "f-a", JOB_FAILED);
    flow_fixture_advance(fixture, 5000);
    check_str("attempts", flow_fixture_created(fixture), "f-a f-a");
    flow_fixture_complete(fixture, "f-a");
    check_int("recorded", entries(fixture, true), 1);
    flow_fixture_spec(fixture, "g", "a", spec);
    flow_fixture_advance(fixture, 1000);
    check_str("reused", reason(fixture, "g", 0), "Cached");
}

static void results_grow_old(void **state)
{
    static const struct {
        const char *max_age;
        int64_t after_ms;
        bool reused;
    } cases[] = {{"1h", 59 * 60000, true}, {"1h", 61 * 60000, false}, {"0s", 0, false}};

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();
        scoped_str spec = mem_printf("flows: [{name: a, cache: {maxAge: %s}}]", cases[i].max_age);

        flow_fixture_spec(fixture, "f", "a", spec);
        flow_fixture_complete(fixture, "f-a");
        flow_fixture_advance(fixture, cases[i].after_ms);
        flow_fixture_spec(fixture, "g", "a", spec);
        check_str(cases[i].max_age, flow_fixture_created(fixture),
                  cases[i].reused ? "f-a" : "f-a g-a");
    }
}

/* The flow f ran with `before`, which applies to it; then g, with `after`. */
static bool is_reused(const char *setup, const char *f, const char *change, const char *g)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();
    bool reused;

    if (*setup)
        flow_fixture_apply(fixture, setup);
    flow_fixture_spec(fixture, "f", "a", f);
    flow_fixture_complete(fixture, "f-a");
    if (*change)
        flow_fixture_apply(fixture, change);
    flow_fixture_spec(fixture, "g", "a", g);
    flow_fixture_advance(fixture, 1000);
    reused = strcmp(flow_fixture_created(fixture), "f-a") == 0;
    return reused;
}

#define PATCHED(container)                                                                         \
    "patch: {spec: {tasks: [{name: main, template: {spec: {containers: [{name: c, " container      \
    "}]}}}]}}"
#define CONFIG_MAP(data) "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: " data "\n"

static void what_belongs_to_the_work_counts(void **state)
{
    static const char with_param[] =
        "parameters: [{name: p, value: \"%s\"}], flows: [{name: a, cache: {}, " PATCHED(
            "env: [{name: P, value: $(params.p)}]") "}]";
    static const char with_key[] = "flows: [{name: a, cache: {key: %s}}]";
    static const char with_map[] = "flows: [{name: a, cache: {}, " PATCHED(
        "env: [{name: P, valueFrom: {configMapKeyRef: {name: m, key: used}}}]") "}]";
    static const char with_cpu[] =
        "flows: [{name: a, cache: {}, " PATCHED("resources: {requests: {cpu: %s}}") "}]";
    scoped_str one = mem_printf(with_param, "1");
    scoped_str two = mem_printf(with_param, "2");
    scoped_str key = mem_printf(with_key, "x");
    scoped_str other_key = mem_printf(with_key, "z");
    scoped_str cpu = mem_printf(with_cpu, "100m");
    scoped_str more_cpu = mem_printf(with_cpu, "200m");

    check("the same parameter", is_reused("", one, "", one));
    check("another parameter", !is_reused("", one, "", two));
    check("the same key", is_reused("", key, "", key));
    check("another key", !is_reused("", key, "", other_key));
    check("resources", is_reused("", cpu, "", more_cpu));
    check("the key of a ConfigMap",
          !is_reused(CONFIG_MAP("{used: a}"), with_map, CONFIG_MAP("{used: b}"), with_map));
    check("another key of it", is_reused(CONFIG_MAP("{used: a}"), with_map,
                                         CONFIG_MAP("{used: a, other: b}"), with_map));
}

static void a_step_behind_one_that_ran_runs(void **state)
{
    static const char spec[] =
        "flows: [{name: a}, {name: b, cache: {}, dependsOn: {targets: [a]}}]";
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "a b", spec);
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_complete(fixture, "f-b");
    flow_fixture_spec(fixture, "g", "a b", spec);
    flow_fixture_complete(fixture, "g-a");
    flow_fixture_advance(fixture, 1000);
    check_str("jobs", flow_fixture_created(fixture), "f-a f-b g-a g-b");
    check_str("why", flow_fixture_at(fixture, "g", "nodes/1/reuse"), "ran because a ran");
}

static void the_end_of_a_step_waits_for_its_record_over_a_restart(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();

    flow_fixture_spec(fixture, "f", "a b",
                      "flows: [{name: a, cache: {}}, {name: b, dependsOn: {targets: [a]}}]");
    flow_fixture_phase(fixture, "f-a", JOB_RUNNING);
    flow_fixture_stop(fixture);
    flow_fixture_phase(fixture, "f-a", JOB_COMPLETED);
    check_int("not recorded without a controller", entries(fixture, true), 0);
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 1000);
    check_int("recorded", entries(fixture, true), 1);
    check_str("then b", flow_fixture_created(fixture), "f-a f-b");
}

static void very_many_equal_steps_cost_one_job(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();
    scoped(buf) struct buf spec = {0};

    buf_str(&spec, "flows: [");
    for (int i = 0; i < 1100; i++)
        buf_printf(&spec, "%s{name: s%d, jobTemplateName: t, cache: {}}", i ? ", " : "", i);
    buf_str(&spec, "]");
    flow_fixture_spec(fixture, "f", "t", spec.data);
    flow_fixture_complete(fixture, "f-s0");
    flow_fixture_advance(fixture, 5000);
    check_str("jobs", flow_fixture_created(fixture), "f-s0");
    check_str("end", flow_fixture_at(fixture, "f", "state/phase"), "Succeed");
    check_str("count", flow_fixture_at(fixture, "f", "stepCounts/cached"), "1099");
    flow_fixture_annotate(fixture, "f", "note", "opened again");
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 5000);
    check_str("after a restart", flow_fixture_at(fixture, "f", "stepCounts/cached"), "1099");
}

static void what_cannot_be_left_out_is_refused(void **state)
{
    static const char *const specs[] = {
        "flows: [{name: a}, {name: s, cache: {}, dependsOn: {targets: [a]}, switch: {default: "
        "[b]}}, "
        "{name: b, dependsOn: {targets: [s]}}]",
        "{flows: [{name: a, cache: {}}, {name: b}], gangs: [{name: g, flows: [a, b]}]}",
        "flows: [{name: a, cache: {}}, {name: b, dependsOn: {targets: [a], probe: {tcpSocketList: "
        "[{port: 80, taskName: main}]}}}]",
    };

    for (size_t i = 0; i < countof(specs); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = fixture_new();
        scoped_str yaml =
            mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: "
                       "{name: f}\nspec: {%s}\n",
                       *specs[i] == '{' ? "" : specs[i]);

        if (*specs[i] == '{') {
            mem_free(yaml);
            yaml =
                mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: "
                           "f}\nspec: %s\n",
                           specs[i]);
        }
        check(specs[i], !flow_fixture_try(fixture, yaml));
    }
}

static void where_files_cannot_be_seen_every_step_runs(void **state)
{
    static const struct flow_options unseen = {.files_unseen = true};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&unseen);

    flow_fixture_spec(fixture, "f", "a", "flows: [{name: a, cache: {}}]");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_spec(fixture, "g", "a", "flows: [{name: a, cache: {}}]");
    flow_fixture_advance(fixture, 1000);
    check_str("jobs", flow_fixture_created(fixture), "f-a g-a");
    check_int("once a flow", flow_fixture_events(fixture, "CacheIgnored"), 2);
    check_int("no entries", entries(fixture, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_work_of_another_flow_stands_for_a_step),
        cmocka_unit_test(of_equal_steps_one_runs_and_the_others_wait_for_it),
        cmocka_unit_test(when_the_first_fails_or_is_deleted_the_second_runs),
        cmocka_unit_test(only_completed_work_is_recorded),
        cmocka_unit_test(a_step_that_is_reused_needs_no_place_of_max_running_jobs),
        cmocka_unit_test(of_a_loop_the_changed_items_run),
        cmocka_unit_test(iterations_of_until_are_reused),
        cmocka_unit_test(a_later_attempt_is_recorded_as_the_first),
        cmocka_unit_test(results_grow_old),
        cmocka_unit_test(what_belongs_to_the_work_counts),
        cmocka_unit_test(a_step_behind_one_that_ran_runs),
        cmocka_unit_test(the_end_of_a_step_waits_for_its_record_over_a_restart),
        cmocka_unit_test(very_many_equal_steps_cost_one_job),
        cmocka_unit_test(what_cannot_be_left_out_is_refused),
        cmocka_unit_test(where_files_cannot_be_seen_every_step_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
