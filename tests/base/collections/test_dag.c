/*
 * Tests of base/collections/dag: order, cycles and cost. covers: jobflow.md 14 15 16 17 18 19 20 26 27
 */
#include "tests/unit.h"

#include "base/buf.h"
#include "base/collections/dag.h"
#include "tests/support/cpu.h"
#include "tests/support/dice.h"

enum { EDGES_MAX = 16, RANDOM_GRAPHS = 20000, RANDOM_VERTICES = 12, RANDOM_EDGES = 24 };

struct graph_case {
    const char *name;
    uint32_t vertices;
    struct dag_edge edges[EDGES_MAX]; /* ends with {0, 0}, unless `count` says that {0, 0} is an
                                       * edge */
    size_t count;
    const char *want; /* the expected order, or the expected cycle as "cycle: …" */
};

/* Vertices are numbered from 0 in these cases, and from 1 in the examples of the specification. */
/* clang-format off */
static const struct graph_case cases[] = {
    {"nothing",                             0, {{0}}, 0, ""},
    {"roots keep their positions",          3, {{0}}, 0, "0 1 2"},
    {"one step waits for itself",           1, {{0, 0}}, 1, "cycle: 0"},
    {"a repeated edge is one edge",         2, {{0, 1}, {0, 1}}, 2, "0 1"},
    {"1->2->3->1",                          3, {{0, 1}, {1, 2}, {2, 0}}, 3, "cycle: 0 1 2"},
    {"1->2, 2->1,3",                        3, {{0, 1}, {1, 0}, {1, 2}}, 3, "cycle: 0 1"},
    {"1->2,3; 2->3; 3->4",                  4, {{0, 1}, {0, 2}, {1, 2}, {2, 3}}, 4, "0 1 2 3"},
    {"1->2,3; 2->4,5",                      5, {{0, 1}, {0, 2}, {1, 3}, {1, 4}}, 4, "0 1 2 3 4"},
    {"1->2,3,4; 2->3; 3->4; 4->5",          5, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}}, 6, "0 1 2 3 4"},
    {"1->2,3,4; 2->3,5; 3->5; 4->3,5",      5, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 4}, {3, 2}, {3, 4}}, 8,
     "0 1 3 2 4"},
    {"the same but 5->5,3",                 5, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 4}, {3, 2}, {3, 4}, {4, 4}, {4, 2}},
     10, "cycle: 2 4"},
    {"a cycle behind a tail names no tail", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 1}}, 4, "cycle: 1 2 3"},
    {"what hangs off a cycle is not in it", 4, {{2, 1}, {1, 2}, {2, 0}, {0, 3}}, 4, "cycle: 1 2"},
    {"the lowest comes first",              4, {{3, 1}, {1, 2}, {2, 3}}, 3, "cycle: 1 2 3"},
};
/* clang-format on */

static char *list_text(const uint32_t *items, size_t count, const char *before)
{
    scoped(buf) struct buf text = {0};

    buf_str(&text, before);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%u", i ? " " : "", items[i]);
    return buf_take(&text);
}

static void orders_and_cycles(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct graph_case *c = &cases[i];
        scoped(dag) struct dag dag = {0};
        uint32_t out[EDGES_MAX];
        size_t sorted, length;

        dag_init(&dag, c->vertices, c->edges, c->count);
        check_int(c->name, dag_edges(&dag), c->count);
        sorted = dag_sort(&dag, out);

        scoped_str order = list_text(out, sorted, "");

        length = dag_cycle(&dag, out);

        scoped_str cycle = list_text(out, length, "cycle: ");

        check_int(c->name, length > 0, sorted < c->vertices);
        check_str(c->name, length ? cycle : order, c->want);
    }
}

/* Returns whether v is reachable from u, by an exhaustive search: the graphs are small. */
static bool reaches(const struct dag *dag, uint32_t u, uint32_t v, uint32_t *seen)
{
    for (uint32_t e = dag->first[u]; e < dag->first[u + 1]; e++) {
        uint32_t next = dag->next[e];

        if (next == v)
            return true;
        if (*seen >> next & 1)
            continue;
        *seen |= UINT32_C(1) << next;
        if (reaches(dag, next, v, seen))
            return true;
    }
    return false;
}

static bool has_edge(const struct dag *dag, uint32_t from, uint32_t to)
{
    for (uint32_t e = dag->first[from]; e < dag->first[from + 1]; e++)
        if (dag->next[e] == to)
            return true;
    return false;
}

static bool is_cycle(const struct dag *dag, const uint32_t *cycle, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!has_edge(dag, cycle[i], cycle[(i + 1) % length]))
            return false;
    return length > 0;
}

static bool is_order(const struct dag *dag, const uint32_t *order)
{
    uint32_t place[RANDOM_VERTICES];

    for (uint32_t i = 0; i < dag->vertices; i++)
        place[order[i]] = i;
    for (uint32_t v = 0; v < dag->vertices; v++)
        for (uint32_t e = dag->first[v]; e < dag->first[v + 1]; e++)
            if (place[v] >= place[dag->next[e]])
                return false;
    return true;
}

/* covers: reliability.md FZ-04 */
static void random_graphs_are_judged_as_by_a_naive_search(void **state)
{
    struct dice dice = {20260101};
    unsigned cyclic = 0;

    for (int i = 0; i < RANDOM_GRAPHS; i++) {
        uint32_t vertices = 1 + (uint32_t)dice_roll(&dice, RANDOM_VERTICES), out[RANDOM_VERTICES];
        struct dag_edge edges[RANDOM_EDGES];
        size_t count = (size_t)dice_roll(&dice, (int)vertices * 2), length;
        scoped(dag) struct dag dag = {0};
        bool naive = false;

        for (size_t e = 0; e < count; e++)
            edges[e] = (struct dag_edge){(uint32_t)dice_roll(&dice, (int)vertices),
                                         (uint32_t)dice_roll(&dice, (int)vertices)};
        dag_init(&dag, vertices, edges, count);
        for (uint32_t v = 0; v < vertices; v++)
            naive = naive || reaches(&dag, v, v, &(uint32_t){0});
        length = dag_cycle(&dag, out);
        check_int("a cycle", length > 0, naive);
        check("is one", !naive || is_cycle(&dag, out, length));
        check_int("all in order", dag_sort(&dag, out) == vertices, !naive);
        check("which is one", naive || is_order(&dag, out));
        cyclic += naive;
    }
    check("of both kinds", cyclic > RANDOM_GRAPHS / 10 && cyclic < RANDOM_GRAPHS * 9 / 10);
}

static int64_t ms_of(struct dag *dag, uint32_t *out, size_t *length)
{
    int64_t start = cpu_us();

    *length = dag_cycle(dag, out);
    return (cpu_us() - start) / 1000;
}

/* The time that a case may take. It is generous because sanitizers are slow. */
enum { PATIENCE_MS = 500 };

static void a_cycle_of_ten_thousand_is_found_at_once(void **state)
{
    enum { N = 10000 };
    struct dag_edge *edges = mem_array(N, sizeof *edges);
    uint32_t *out = mem_array(N, sizeof *out);
    scoped(dag) struct dag dag = {0};
    size_t length;

    for (uint32_t v = 0; v < N; v++)
        edges[v] = (struct dag_edge){v, (v + 1) % N};
    dag_init(&dag, N, edges, N);
    check("time", ms_of(&dag, out, &length) < PATIENCE_MS);
    check_int("length", length, N);
    for (uint32_t v = 0; v < N; v++)
        assert_int_equal(out[v], v);
    mem_free(edges);
    mem_free(out);
}

/* The graph has 2^40 paths, so an algorithm that walks every path, as Volcano's does, would not
 * end. */
static void forty_layers_of_two_are_linear(void **state)
{
    enum { LAYERS = 40 };
    struct dag_edge edges[LAYERS * 4];
    uint32_t out[LAYERS * 2];
    scoped(dag) struct dag dag = {0};
    size_t count = 0, length;

    for (uint32_t layer = 1; layer < LAYERS; layer++)
        for (uint32_t from = 0; from < 2; from++)
            for (uint32_t to = 0; to < 2; to++)
                edges[count++] = (struct dag_edge){(layer - 1) * 2 + from, layer * 2 + to};
    dag_init(&dag, LAYERS * 2, edges, count);
    check("time", ms_of(&dag, out, &length) < PATIENCE_MS);
    check_int("no cycle", length, 0);
    check_int("sorted", dag_sort(&dag, out), LAYERS * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_cycles),
        cmocka_unit_test(random_graphs_are_judged_as_by_a_naive_search),
        cmocka_unit_test(a_cycle_of_ten_thousand_is_found_at_once),
        cmocka_unit_test(forty_layers_of_two_are_linear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
