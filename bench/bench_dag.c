/*
 * Compares validation and ordering of a graph with igraph on the same edges (T13). Prints two JSON
 * lines: for the steps listed layer by layer, and for the same flow with its steps in random order.
 *
 *   bench_dag [STEPS [TARGETS]]
 *
 * The graph has layers of the square root of STEPS steps; each step depends on TARGETS random steps
 * of the layer before. Default: a million steps with three targets. `order` is the part that igraph
 * does as well: build the graph, detect cycles, sort it. `validate` is the check of admission:
 * names, duplicates, targets by name, cycles; each target is a string of its own, as in a parsed
 * flow. The results are the best of ROUNDS alternating runs, in milliseconds of CPU time.
 */
#include <igraph/igraph.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/types/admission.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/clock.h"
#include "base/collections/arena.h"
#include "base/collections/dag.h"
#include "base/mem.h"

enum { ROUNDS = 3 };

struct bench {
    uint32_t steps;
    struct dag_edge *edges; /* edges of the graph, [n_edges] */
    size_t n_edges;
    struct arena *arena;
    struct jobflow_spec spec;
};

/* CPU time of this thread: the machine may run other processes. */
static int64_t cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static double ms_since(int64_t began_ns)
{
    return (double)(cpu_ns() - began_ns) / 1e6;
}

static void make_edges(struct bench *bench, uint32_t targets)
{
    struct clock *clock = clock_virtual_new(0, 1); /* a fixed seed, so that the graph is the same
                                                    * in each run */
    uint32_t width = (uint32_t)sqrt(bench->steps);

    bench->edges = mem_array((size_t)bench->steps * targets, sizeof *bench->edges);
    for (uint32_t i = width; i < bench->steps; i++)
        for (uint32_t t = 0; t < targets; t++)
            bench->edges[bench->n_edges++] = (struct dag_edge){
                (i / width - 1) * width + (uint32_t)(clock_random(clock) % width), i};
    clock_free(clock);
}

static int by_end(const void *a, const void *b)
{
    const struct dag_edge *left = a, *right = b;

    return left->to < right->to ? -1 : left->to > right->to;
}

/* Moves every step to a random position of the list. */
static void shuffle(struct bench *bench)
{
    struct clock *clock = clock_virtual_new(0, 2);
    uint32_t *place = mem_array(bench->steps, sizeof *place);

    for (uint32_t i = 0; i < bench->steps; i++) {
        uint32_t other = (uint32_t)(clock_random(clock) % (i + 1));

        place[i] = place[other];
        place[other] = i;
    }
    for (size_t e = 0; e < bench->n_edges; e++)
        bench->edges[e] = (struct dag_edge){place[bench->edges[e].from], place[bench->edges[e].to]};
    qsort(bench->edges, bench->n_edges, sizeof *bench->edges, by_end);
    mem_free(place);
    clock_free(clock);
}

static void make_spec(struct bench *bench)
{
    struct jobflow_spec *spec = &bench->spec;
    size_t edge = 0;

    bench->arena = arena_new(1 << 20);
    spec->steps.count = bench->steps;
    spec->steps.items = arena_array(bench->arena, bench->steps, sizeof *spec->steps.items);
    for (uint32_t i = 0; i < bench->steps; i++)
        spec->steps.items[i].name = arena_printf(bench->arena, "step-%u", i);
    for (uint32_t i = 0; i < bench->steps; i++) {
        size_t first = edge;
        struct flow_depends *depends;

        while (edge < bench->n_edges && bench->edges[edge].to == i)
            edge++;
        if (edge == first)
            continue;
        depends = arena_alloc(bench->arena, sizeof *depends);
        depends->targets.count = edge - first;
        depends->targets.items = arena_array(bench->arena, edge - first, sizeof(char *));
        for (size_t t = first; t < edge; t++)
            depends->targets.items[t - first] =
                arena_strdup(bench->arena, spec->steps.items[bench->edges[t].from].name);
        spec->steps.items[i].depends = depends;
    }
}

static double order_ms(const struct bench *bench)
{
    int64_t began = cpu_ns();
    uint32_t *order = mem_array(bench->steps, sizeof *order);
    struct dag dag;
    double took;

    dag_init(&dag, bench->steps, bench->edges, bench->n_edges);
    if (dag_sort(&dag, order) != bench->steps)
        mem_fatal("bench_dag: a cycle");
    took = ms_since(began);
    dag_release(&dag);
    mem_free(order);
    return took;
}

static double validate_ms(const struct bench *bench)
{
    const struct admission adm = {.limits = &limits_hard};
    int64_t began = cpu_ns();
    struct error_list errors = {0};
    double took;

    jobflow_check_graph(&adm, &bench->spec, &errors);
    took = ms_since(began);
    if (errors.count)
        mem_fatal(errors.items[0].message);
    error_list_release(&errors);
    return took;
}

static double igraph_ms(const struct bench *bench)
{
    igraph_vector_int_t edges, order;
    igraph_bool_t is_dag;
    int64_t began;
    igraph_t graph;
    double took;

    igraph_vector_int_init(&edges, (igraph_integer_t)(bench->n_edges * 2));
    igraph_vector_int_init(&order, 0);
    for (size_t i = 0; i < bench->n_edges; i++) {
        VECTOR(edges)[2 * i] = bench->edges[i].from;
        VECTOR(edges)[2 * i + 1] = bench->edges[i].to;
    }
    began = cpu_ns();
    igraph_create(&graph, &edges, bench->steps, true);
    igraph_is_dag(&graph, &is_dag);
    igraph_topological_sorting(&graph, &order, IGRAPH_OUT);
    took = ms_since(began);
    igraph_destroy(&graph);
    igraph_vector_int_destroy(&order);
    igraph_vector_int_destroy(&edges);
    return took;
}

static void keep_best(double *best, double took)
{
    if (*best <= 0 || took < *best)
        *best = took;
}

static void run(const char *listed, uint32_t steps, uint32_t targets)
{
    struct bench bench = {.steps = steps};
    double order = 0, validate = 0, igraph = 0;

    make_edges(&bench, targets);
    if (strcmp(listed, "shuffled") == 0)
        shuffle(&bench);
    make_spec(&bench);
    for (int round = 0; round < ROUNDS; round++) {
        keep_best(&order, order_ms(&bench));
        keep_best(&validate, validate_ms(&bench));
        keep_best(&igraph, igraph_ms(&bench));
    }
    printf("{\"bench\":\"dag\",\"listed\":\"%s\",\"steps\":%u,\"edges\":%zu,\"order_ms\":%.1f,"
           "\"validate_ms\":%.1f,\"igraph_ms\":%.1f,\"order_of_igraph\":%.3f,"
           "\"validate_of_igraph\":%.3f}\n",
           listed, bench.steps, bench.n_edges, order, validate, igraph, order / igraph,
           validate / igraph);
    mem_free(bench.edges);
    arena_free(bench.arena);
}

int main(int argc, char **argv)
{
    uint32_t steps = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    uint32_t targets = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;

    run("in order", steps, targets);
    run("shuffled", steps, targets);
    return 0;
}
