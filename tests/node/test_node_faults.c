/*
 * Lets every write of scheduler and kubelet fail in every way; the final state must be the same.
 * The scripted runtime checks that no pod is started twice.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "base/log.h"
#include "tests/fake/faulty.h"
#include "tests/support/node_fixture.h"

static const struct kubelet_options options = {
    .node_name = "here",
    .capacity = {.cpu_milli = 4000, .memory_bytes = 1 << 30, .pods = 3},
    .intents_ahead = 14,
    .volumes = {.sim = true, .data_dir = "/data"},
};

static const struct {
    const char *name;
    unsigned op;
    const struct kind *kind;
} writes[] = {
    {"binding", FAULTY_UPDATE, &kind_pod},
    {"pod status", FAULTY_STATUS, &kind_pod},
    {"pod removal", FAULTY_REMOVE, &kind_pod},
    {"group status", FAULTY_STATUS, &kind_pod_group},
    {"anything", FAULTY_ANY, NULL},
};

static const struct {
    const char *name;
    enum faulty_way way;
    enum error_code code;
} ways[] = {
    {"conflict", FAULTY_REFUSE, ERR_CONFLICT},    {"refused", FAULTY_REFUSE, ERR_INTERNAL},
    {"disk full", FAULTY_REFUSE, ERR_STORAGE},    {"answer lost", FAULTY_LOSE, ERR_TIMEOUT},
    {"conflict lost", FAULTY_LOSE, ERR_CONFLICT}, {"delayed", FAULTY_DELAY, ERR_NONE},
};

enum { GROUPS = 4 };
static const int sizes[GROUPS] = {1, 2, 1, 3};

static bool all_over(struct node_fixture *fixture)
{
    for (int g = 0; g < GROUPS; g++) {
        char name[16];

        snprintf(name, sizeof name, "g%d", g);
        if (strcmp(node_fixture_group_phase(fixture, name), "Completed") != 0)
            return false;
    }
    return !node_fixture_get(fixture, &kind_pod, "deleted");
}

static void run(const char *what, const struct faulty_rule *rule)
{
    struct node_fixture *fixture = node_fixture_new();
    struct cluster *inner = fixture->cluster;

    fixture->cluster = faulty_new(inner);
    faulty_plan(fixture->cluster, rule);
    node_fixture_start_kubelet(fixture, &options);
    node_fixture_start_scheduler(fixture, options.capacity);
    for (int g = 0; g < GROUPS; g++) {
        char name[16];

        snprintf(name, sizeof name, "g%d", g);
        node_fixture_group(fixture, name, sizes[g], NULL);
        node_fixture_pods(fixture, name, 0, sizes[g], NULL);
    }
    node_fixture_create(
        fixture, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'deleted','namespace':"
                 "'default'},'spec':{'nodeName':'here','containers':[{'name':'c','image':'i',"
                 "'command':['true']}]}}");
    node_fixture_settle(fixture);
    node_fixture_delete(fixture, &kind_pod, "deleted", -1);
    for (int second = 0; second < 60 && !all_over(fixture); second++) {
        node_fixture_run_all(fixture);
        node_fixture_advance(fixture, 1000);
    }
    if (!all_over(fixture))
        check_fail("%s: not over after a minute", what);
    check(what, fixture->peak <= 3);
    for (size_t i = 0; i < fixture->n_pods; i++)
        check(what, fixture->pods[i].released);
    node_fixture_stop(fixture);
    faulty_free(fixture->cluster);
    fixture->cluster = inner;
    node_fixture_free(fixture);
}

/* covers: reliability.md P-12 INV-N1 FT-25 */
static void any_single_write_may_fail(void **state)
{
    for (size_t w = 0; w < countof(writes); w++)
        for (size_t y = 0; y < countof(ways); y++)
            for (int skip = 0; skip < 8; skip++) {
                scoped_str what =
                    mem_printf("%s, %s, write %d", writes[w].name, ways[y].name, skip);

                run(what, &(struct faulty_rule){.ops = writes[w].op,
                                                .kind = writes[w].kind,
                                                .skip = skip,
                                                .times = 1,
                                                .way = ways[y].way,
                                                .code = ways[y].code,
                                                .delay_ms = 3000});
            }
}

static void all_first_writes_may_fail(void **state)
{
    for (size_t y = 0; y < countof(ways); y++)
        run(ways[y].name, &(struct faulty_rule){.ops = FAULTY_ANY,
                                                .times = 25,
                                                .way = ways[y].way,
                                                .code = ways[y].code,
                                                .delay_ms = 500});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_single_write_may_fail),
        cmocka_unit_test(all_first_writes_may_fail),
    };

    log_to(2, LOG_ERROR, LOG_TEXT); /* every injected fault logs a warning */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
