/*
 * Tests what a job asks of a machine at once, and what is said when it can never have it.
 */
#include "tests/unit.h"

#include "base/collections/arena.h"
#include "cli/preflight/fit.h"

/* One task as JSON with single quotes for double ones. Its pods request `cpu`. */
#define TASK(name, more, cpu)                                                                      \
    "{'name':'" name "'," more ",'template':{'spec':{'containers':[{'name':'c','resources':{"      \
    "'requests':{'cpu':'" cpu "'}}}]}}}"
#define GPU_TASK                                                                                   \
    "{'name':'g','replicas':3,'template':{'spec':{'containers':[{'name':'c','resources':{'limits'" \
    ":{'example.com/gpu':'1'}}}]}}}"

static const struct {
    const char *name, *job;
    int64_t pods, cpu_milli, gpus;
    const char *problem; /* part of the expected message; NULL: the job can run */
} cases[] = {
    {"all replicas", "'tasks':[" TASK("a", "'replicas':3", "1") "]", 3, 3000, 0, NULL},
    {"minimums of tasks", "'tasks':[" TASK("a", "'replicas':8,'minAvailable':2", "1") "]", 2, 2000,
     0, NULL},
    {"part of the first tasks",
     "'minAvailable':3,'tasks':[" TASK("a", "'replicas':2", "500m") "," TASK("b", "'replicas':4",
                                                                             "1") "]",
     3, 2000, 0, NULL},
    {"more than the minimums",
     "'minAvailable':4,'tasks':[" TASK("a", "'replicas':4,'minAvailable':1", "1") "," TASK(
         "b", "'replicas':4,'minAvailable':1", "500m") "]",
     4, 3500, 0, NULL},
    {"tasks that wait for others",
     "'tasks':[" TASK("a", "'replicas':9", "1") "," TASK("b",
                                                         "'replicas':1,'dependsOn':{'name':["
                                                         "'a']}",
                                                         "3") "]",
     1, 3000, 0, NULL},
    {"too many at once", "'tasks':[" TASK("a", "'replicas':9", "0") "]", 9, 0, 0,
     "needs 9 pods at once, the node runs at most 8"},
    {"too much at once", "'tasks':[" TASK("a", "'replicas':5", "1") "]", 5, 5000, 0,
     "can never fit this machine: needs 5 cpu, the node has 4"},
    {"too large beyond the gang",
     "'minAvailable':1,'tasks':[" TASK("a", "'replicas':1", "1") "," TASK("b", "'replicas':1",
                                                                          "5") "]",
     1, 1000, 0, "has a task b that can never fit this machine: needs 5 cpu"},
    {"a task without pods",
     "'tasks':[" TASK("a", "'replicas':1", "1") "," TASK("b", "'replicas':0", "50") "]", 1, 1000, 0,
     NULL},
    {"named resources", "'tasks':[" GPU_TASK "]", 3, 0, 3,
     "can never fit this machine: needs 3 example.com/gpu, the node has 2"},
};

static void the_gang_is_compared_with_the_machine(void **state)
{
    scoped(fit) struct fit *fit =
        fit_new(&(struct fit_options){.max_pods = 8, .node_resources = "cpu=4,example.com/gpu=2"});

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(arena) struct arena *arena = arena_new(0);
        scoped_str text = mem_printf("{%s}", cases[i].job);
        struct job_spec job;
        json_t *doc;
        struct amount need;
        scoped_str problem = NULL;

        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        doc = json_loads(text, 0, NULL);
        check(cases[i].name, schema_decode(&job_spec_schema, doc, arena, &job, NULL));
        need = fit_need(fit, &job);
        check_int(cases[i].name, need.pods, cases[i].pods);
        check_int(cases[i].name, need.cpu_milli, cases[i].cpu_milli);
        check_int(cases[i].name, need.extra[0], cases[i].gpus);
        problem = fit_problem(fit, NULL, &job);
        if (cases[i].problem)
            check_has(cases[i].name, problem ? problem : "", cases[i].problem);
        else
            check_str(cases[i].name, problem, NULL);
        json_decref(doc);
    }
}

static void an_amount_is_written_with_its_units(void **state)
{
    scoped(fit) struct fit *fit =
        fit_new(&(struct fit_options){.node_resources = "example.com/gpu=2"});
    scoped(buf) struct buf text = {0};

    fit_write(fit, (struct amount){1500, 512 << 20, 1, {2}}, &text);
    check_str("text", text.data, "1 pod, 1500m cpu, 512Mi, 2 example.com/gpu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gang_is_compared_with_the_machine),
        cmocka_unit_test(an_amount_is_written_with_its_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
