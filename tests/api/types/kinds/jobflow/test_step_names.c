/* Tests api/types/kinds/jobflow/step_names and base/collections/name_index: names of many steps at
 * once, and the graphs they make. covers: jobflow.md 14 15 16 17 */
#include "tests/unit.h"

#include "api/types/admission.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/collections/arena.h"
#include "tests/support/dice.h"

enum { STEPS_MAX = 120, TARGETS_MAX = 3, GRAPHS = 3000, NAMES = 1000 };

static void batched_lookups_equal_single_ones(void **state)
{
    scoped(name_index) struct name_index single = {0}, many = {0};
    struct arena *arena = arena_new(0);
    const char **names = arena_array(arena, NAMES, sizeof *names);
    uint32_t before[NAMES], got[NAMES];
    struct dice dice = {5};

    name_index_init(&single, NAMES);
    name_index_init(&many, NAMES);
    for (int i = 0; i < NAMES; i++) /* some names twice, within one run and far apart */
        names[i] = arena_printf(arena, "step-%d", dice_roll(&dice, NAMES / 2));
    name_index_put_all(&many, names, NAMES, 0, before);
    for (uint32_t i = 0; i < NAMES; i++)
        check_int(names[i], name_index_put(&single, names[i], i), before[i]);
    names[7] = "nobody";
    names[NAMES - 1] = "";
    name_index_get_all(&many, names, NAMES, got);
    for (int i = 0; i < NAMES; i++)
        check_int(names[i], name_index_get(&single, names[i]), got[i]);
    check_int("unknown", got[7], NAME_NONE);
    arena_free(arena);
}

struct graph {
    struct arena *arena;
    struct jobflow_spec spec;
    int names[STEPS_MAX]; /* names of the steps, as numbers */
    int n_targets[STEPS_MAX];
    int targets[STEPS_MAX][TARGETS_MAX];
};

static const char *name_of(struct graph *graph, int number)
{
    return arena_printf(graph->arena, "s%d", number);
}

/* Makes a random flow, mostly in order. A few targets come later or do not exist, and a few names
 * are repeated. */
static void make_graph(struct graph *graph, struct dice *dice)
{
    int steps = 1 + dice_roll(dice, STEPS_MAX), oddity = dice_roll(dice, 5);

    graph->arena = arena_new(0);
    graph->spec.steps.count = (size_t)steps;
    graph->spec.steps.items =
        arena_array(graph->arena, (size_t)steps, sizeof *graph->spec.steps.items);
    for (int i = 0; i < steps; i++) {
        struct flow_depends *depends = arena_alloc(graph->arena, sizeof *depends);
        bool odd = oddity && dice_roll(dice, steps) < 2;

        graph->names[i] = odd && oddity == 1 ? dice_roll(dice, steps) : i;
        graph->n_targets[i] = dice_roll(dice, TARGETS_MAX + 1);
        if (!i && !odd)
            graph->n_targets[i] = 0;
        depends->targets.count = (size_t)graph->n_targets[i];
        depends->targets.items = arena_array(graph->arena, TARGETS_MAX, sizeof(char *));
        for (int t = 0; t < graph->n_targets[i]; t++) {
            graph->targets[i][t] = odd && oddity == 2   ? steps + 1
                                   : odd && oddity == 3 ? i
                                   : odd || !i          ? dice_roll(dice, steps)
                                                        : dice_roll(dice, i);
            depends->targets.items[t] = name_of(graph, graph->targets[i][t]);
        }
        graph->spec.steps.items[i] =
            (struct flow_step){.name = name_of(graph, graph->names[i]), .depends = depends};
    }
}

static bool is_step(const struct graph *graph, int number, int until)
{
    for (int i = 0; i < until; i++)
        if (graph->names[i] == number)
            return true;
    return false;
}

/* Returns whether the graph has no cycle: removes steps whose targets have all been removed. The
 * remaining steps are on a cycle or depend on one. */
static bool is_good(const struct graph *graph)
{
    int steps = (int)graph->spec.steps.count;
    bool gone[STEPS_MAX + 2] = {false}, changed = true;

    for (int i = 0; i < steps; i++) {
        if (is_step(graph, graph->names[i], i))
            return false;
        for (int t = 0; t < graph->n_targets[i]; t++)
            if (!is_step(graph, graph->targets[i][t], steps))
                return false;
    }
    while (changed) {
        changed = false;
        for (int i = 0; i < steps; i++) {
            bool free_ = !gone[graph->names[i]];

            for (int t = 0; t < graph->n_targets[i]; t++)
                free_ = free_ && gone[graph->targets[i][t]];
            changed |= free_;
            gone[graph->names[i]] |= free_;
        }
    }
    for (int i = 0; i < steps; i++)
        if (!gone[graph->names[i]])
            return false;
    return true;
}

static void a_graph_is_refused_exactly_when_it_cannot_run(void **state)
{
    const struct admission adm = {.limits = &limits_hard};
    struct dice dice = {17};
    int good = 0, in_order = 0;

    for (int i = 0; i < GRAPHS; i++) {
        struct graph graph = {0};
        struct error_list errors = {0};
        bool ordered;

        make_graph(&graph, &dice);
        ordered = jobflow_is_in_order(&graph.spec, SIZE_MAX);
        jobflow_check_graph(&adm, &graph.spec, &errors);
        if (is_good(&graph) != !errors.count)
            check_fail("graph %d of %zu steps: %s", i, graph.spec.steps.count,
                       errors.count ? errors.items[0].message : "is accepted");
        check("in order", !ordered || !errors.count);
        good += !errors.count;
        in_order += ordered;
        error_list_release(&errors);
        arena_free(graph.arena);
    }
    check("all sorts were there", in_order > 100 && good > in_order + 20 && good < GRAPHS - 100);
}

static void a_flow_with_too_many_targets_is_not_checked_further(void **state)
{
    struct limits limits = limits_hard;
    const struct admission adm = {.limits = &limits};
    const char *targets[] = {"a", "a", "nobody"};
    struct flow_depends depends = {.targets = {targets, countof(targets)}};
    struct flow_step steps[] = {{.name = "a"}, {.name = "b", .depends = &depends}};
    struct jobflow_spec spec = {.steps = {steps, countof(steps)}};
    struct error_list errors = {0};

    limits.flow_edges = 2;
    jobflow_check_graph(&adm, &spec, &errors);
    check_int("one finding", errors.count, 1);
    check_has("it", errors.items[0].message, "Too many: 3 targets");
    error_list_release(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batched_lookups_equal_single_ones),
        cmocka_unit_test(a_graph_is_refused_exactly_when_it_cannot_run),
        cmocka_unit_test(a_flow_with_too_many_targets_is_not_checked_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
