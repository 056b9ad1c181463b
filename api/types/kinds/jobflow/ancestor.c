/*
 * Checks that one step of a flow comes before another. Conditions, references and gangs need it,
 * because they speak of steps that have ended earlier: ancestors.
 *
 * Nearly all ancestors are close by, and a short search backwards finds them. Questions that it
 * does not answer are put off and answered together. Each of sixty-four wanted steps gets a bit,
 * and one pass over the edges in topological order hands the bits on, from the first wanted step to
 * the last step that asks. A chain in which every step asks for the first one thus costs one pass.
 * Both searches have a budget of edges, so that no flow makes admission slow.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/collections/dag.h"
#include "base/mem.h"

enum {
    NEAR_VISITS = 1000,             /* edges followed for one question before it is put off */
    DEFERRED_VISITS_MAX = 20000000, /* steps and edges visited for all deferred questions */
    WANTED_AT_ONCE = 64,
};

static bool visit(struct ancestor_search *s, uint32_t step)
{
    struct control_check *c = s->c;

    if (step == s->wanted)
        return true;
    if (c->marks[step] != c->mark) {
        c->marks[step] = c->mark;
        c->stack[s->depth++] = step;
        if (s->reached)
            s->reached(s, step);
    }
    return false;
}

static bool visit_targets(struct ancestor_search *s, uint32_t at)
{
    struct control_check *c = s->c;
    const struct flow_depends *depends = c->spec->steps.items[at].depends;

    if (c->switch_of[at] && visit(s, c->switch_of[at] - 1))
        return true;
    if (!depends || (depends->probe && !s->through_probes))
        return false;
    for (size_t t = 0; t < depends->targets.count; t++) {
        uint32_t target = name_index_get(c->names, depends->targets.items[t]);

        if (target != NAME_NONE && visit(s, target))
            return true;
    }
    c->visits -= c->visits < depends->targets.count ? c->visits : depends->targets.count;
    return false;
}

enum ancestor ancestors_search(struct ancestor_search *s, uint32_t from)
{
    struct control_check *c = s->c;

    s->depth = 0;
    c->stack[s->depth++] = from;
    while (s->depth) {
        if (visit_targets(s, c->stack[--s->depth]))
            return ANCESTOR_FOUND;
        if (!c->visits)
            return ANCESTOR_TOO_FAR;
        c->visits--;
    }
    return ANCESTOR_NOT_FOUND;
}

/* Searches with at most NEAR_VISITS of the budget. */
static enum ancestor search_near(struct control_check *c, uint32_t from, uint32_t wanted)
{
    struct ancestor_search s = {.c = c, .wanted = wanted, .through_probes = true};
    uint64_t left = c->visits, most = left < NEAR_VISITS ? left : NEAR_VISITS;
    enum ancestor found;

    c->mark++;
    c->visits = most;
    found = ancestors_search(&s, from);
    c->visits = left - (most - c->visits);
    return found;
}

static void defer(struct control_check *c, uint32_t step, uint32_t wanted, const char *path)
{
    mem_grow(c->deferred, c->n_deferred, c->deferred_cap);
    c->deferred[c->n_deferred++] = (struct deferred_ancestor){step, wanted, mem_strdup(path)};
}

static void report_not_before(struct control_check *c, uint32_t step, uint32_t wanted,
                              const char *path)
{
    const struct flow_step *steps = c->spec->steps.items;

    if (step == wanted) {
        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": step %.64s does not wait for it, for it is the step "
                "itself: name one that runs before it",
                steps[step].name, steps[step].name);
        return;
    }
    FINDING(c->errors, ("%s", path),
            "Invalid value: \"%.64s\": step %.64s does not wait for it, neither directly nor "
            "through others: name it in dependsOn.targets",
            steps[wanted].name, steps[step].name);
}

void jobflow_check_ancestor(struct control_check *c, const char *target, size_t step,
                            enum condition_use use, const char *path)
{
    uint32_t at = name_index_get(c->names, target);
    const struct flow_step *steps = c->spec->steps.items;

    if (at == NAME_NONE) {
        scoped_str near = jobflow_near_step(c->spec, target, c->errors);

        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": no step of this flow has that name%s", target, near);
        return;
    }
    if (use == CONDITION_OF_SELF && at == step)
        return;
    if (flow_step_is_final(&steps[step]) && !flow_step_is_final(&steps[at]))
        return; /* final steps run after all others */
    if (flow_step_serves(&steps[at])) {
        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": ends when the steps that depend on it have ended: only "
                "steps with when: always know how",
                target);
        return;
    }
    switch (search_near(c, (uint32_t)step, at)) {
    case ANCESTOR_FOUND:
        return;
    case ANCESTOR_NOT_FOUND:
        report_not_before(c, (uint32_t)step, at, path);
        return;
    case ANCESTOR_TOO_FAR:
        defer(c, (uint32_t)step, at, path);
        return;
    }
}

/* The pass that answers deferred questions. A rank is a position in topological order. */
struct ancestor_pass {
    struct control_check *c;
    struct dag dag;
    uint32_t *order, *rank; /* the step of each rank, and the rank of each step, [steps] */
    uint64_t *before;       /* for each rank the wanted steps that come before, as bits, [steps] */
    uint64_t visits;        /* steps and edges that may still be visited */
};

static void edges_of(const struct control_check *c, struct dag *out)
{
    struct dag_edge *edges = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t i = 0; i < c->spec->steps.count; i++) {
        const struct flow_depends *depends = c->spec->steps.items[i].depends;

        if (c->switch_of[i]) {
            mem_grow(edges, n, cap);
            edges[n++] = (struct dag_edge){c->switch_of[i] - 1, i};
        }
        for (size_t t = 0; depends && t < depends->targets.count; t++) {
            uint32_t target = name_index_get(c->names, depends->targets.items[t]);

            if (target == NAME_NONE)
                continue;
            mem_grow(edges, n, cap);
            edges[n++] = (struct dag_edge){target, i};
        }
    }
    dag_init(out, (uint32_t)c->spec->steps.count, edges, n);
    mem_free(edges);
}

static int compare_wanted(const void *a, const void *b, void *rank)
{
    const uint32_t *of = rank;
    uint32_t x = of[((const struct deferred_ancestor *)a)->wanted];
    uint32_t y = of[((const struct deferred_ancestor *)b)->wanted];

    return (x > y) - (x < y);
}

/* Gives the questions, which are sorted by their wanted step, one bit for each wanted step.
 * Returns how many of the [n] questions get one. */
static size_t assign_bits(const struct deferred_ancestor *asked, size_t n, uint8_t *bits)
{
    uint8_t bit = 0;

    bits[0] = 0;
    for (size_t i = 1; i < n; i++) {
        bit += asked[i].wanted != asked[i - 1].wanted;
        if (bit == WANTED_AT_ONCE)
            return i;
        bits[i] = bit;
    }
    return n;
}

/* Hands the bits of ranks `from` to `to` on along the edges. Returns false when the budget is
 * spent. */
static bool propagate_bits(struct ancestor_pass *pass, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        uint32_t v = pass->order[k];
        uint32_t n = pass->dag.first[v + 1] - pass->dag.first[v];

        if (pass->visits < n + 1)
            return false;
        pass->visits -= n + 1;
        for (uint32_t e = 0; pass->before[k] && e < n; e++) {
            uint32_t next = pass->rank[pass->dag.next[pass->dag.first[v] + e]];

            if (next <= to)
                pass->before[next] |= pass->before[k];
        }
    }
    return true;
}

static void answer(struct ancestor_pass *pass, const struct deferred_ancestor *asked, size_t n,
                   const uint8_t *bits)
{
    uint32_t from = pass->rank[asked[0].wanted], to = from;
    bool ok;

    for (size_t i = 0; i < n; i++) {
        to = pass->rank[asked[i].step] > to ? pass->rank[asked[i].step] : to;
        to = pass->rank[asked[i].wanted] > to ? pass->rank[asked[i].wanted] : to;
    }
    memset(pass->before + from, 0, (to - from + 1) * sizeof *pass->before);
    for (size_t i = 0; i < n; i++)
        pass->before[pass->rank[asked[i].wanted]] |= UINT64_C(1) << bits[i];
    ok = propagate_bits(pass, from, to);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = pass->rank[asked[i].step];

        if (!ok)
            FINDING(pass->c->errors, ("%s", asked[i].path),
                    "Invalid value: \"%.64s\": cannot be looked for: this flow speaks of too many "
                    "steps that lie far back: name it in dependsOn.targets",
                    pass->c->spec->steps.items[asked[i].wanted].name);
        else if (!(pass->before[at] >> bits[i] & 1) || at <= pass->rank[asked[i].wanted])
            report_not_before(pass->c, asked[i].step, asked[i].wanted, asked[i].path);
    }
}

void jobflow_check_deferred_ancestors(struct control_check *c)
{
    size_t steps = c->spec->steps.count, done;
    struct ancestor_pass pass = {.c = c, .visits = DEFERRED_VISITS_MAX};
    uint8_t *bits;

    if (!c->n_deferred)
        return;
    edges_of(c, &pass.dag);
    pass.order = mem_array(steps, sizeof *pass.order);
    pass.rank = mem_array(steps, sizeof *pass.rank);
    pass.before = mem_array(steps, sizeof *pass.before);
    bits = mem_array(c->n_deferred, sizeof *bits);
    if (dag_sort(&pass.dag, pass.order) == steps) { /* a cycle has been reported */
        for (uint32_t k = 0; k < steps; k++)
            pass.rank[pass.order[k]] = k;
        qsort_r(c->deferred, c->n_deferred, sizeof *c->deferred, compare_wanted, pass.rank);
        for (size_t i = 0; i < c->n_deferred; i += done) {
            done = assign_bits(c->deferred + i, c->n_deferred - i, bits);
            answer(&pass, c->deferred + i, done, bits);
        }
    }
    for (size_t i = 0; i < c->n_deferred; i++)
        mem_free(c->deferred[i].path);
    mem_free(take(c->deferred));
    c->n_deferred = c->deferred_cap = 0;
    mem_free(bits);
    mem_free(pass.order);
    mem_free(pass.rank);
    mem_free(pass.before);
    dag_release(&pass.dag);
}
