/*
 * A condition speaks of steps that have ended by the time it is looked at: ancestors.
 *
 * Nearly all are close by: a short search backwards finds them. What it does not find is put off
 * and answered for all at once: sixty-four wanted steps at a time send a bit each along the edges
 * in topological order, from the first of them to the last who asks. A chain in which every step
 * asks for the first one so costs one pass. Both have an allowance, so that no flow costs more than
 * admission may take.
 */
#include "api/types/kinds/jobflow/ancestor.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/names.h"
#include "base/dag.h"
#include "base/mem.h"

enum {
    NEAR_VISITS = 1000,        /* edges walked for one question before it is put off */
    FAR_VISITS_MAX = 20000000, /* steps and edges passed for all that are */
    WANTED_AT_ONCE = 64,
};

/* ---- near ---- */

static bool visit(struct ancestor_search *s, uint32_t step)
{
    struct control_check *c = s->c;

    if (step == s->wanted)
        return true;
    if (c->marks[step] != c->mark) {
        c->marks[step] = c->mark;
        c->stack[s->depth++] = step;
        if (s->met)
            s->met(s, step);
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

enum ancestor ancestors_go_back(struct ancestor_search *s, uint32_t from)
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

/* Without leaving the neighbourhood. */
static enum ancestor search(struct control_check *c, uint32_t from, uint32_t wanted)
{
    struct ancestor_search s = {.c = c, .wanted = wanted, .through_probes = true};
    uint64_t left = c->visits, most = left < NEAR_VISITS ? left : NEAR_VISITS;
    enum ancestor found;

    c->mark++;
    c->visits = most;
    found = ancestors_go_back(&s, from);
    c->visits = left - (most - c->visits);
    return found;
}

static void put_off(struct control_check *c, uint32_t step, uint32_t wanted, const char *path)
{
    mem_grow(c->far, c->n_far, c->far_cap);
    c->far[c->n_far++] = (struct far_ancestor){step, wanted, mem_strdup(path)};
}

static void not_before(struct control_check *c, uint32_t step, uint32_t wanted, const char *path)
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

void jobflow_check_ancestor(struct control_check *c, const char *target, size_t step, bool self,
                            const char *path)
{
    uint32_t at = name_index_get(c->names, target);
    const struct flow_step *steps = c->spec->steps.items;

    if (at == NAME_NONE) {
        scoped_str near = jobflow_near_step(c->spec, target, c->errors);

        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": no step of this flow has that name%s", target, near);
        return;
    }
    if (self && at == step)
        return;
    if (flow_step_is_final(&steps[step]) && !flow_step_is_final(&steps[at]))
        return; /* the end comes after every other step */
    switch (search(c, (uint32_t)step, at)) {
    case ANCESTOR_FOUND:
        return;
    case ANCESTOR_NOT_FOUND:
        not_before(c, (uint32_t)step, at, path);
        return;
    case ANCESTOR_TOO_FAR:
        put_off(c, (uint32_t)step, at, path);
        return;
    }
}

/* ---- far ---- */

struct far {
    struct control_check *c;
    struct dag dag;
    uint32_t *order, *place; /* [steps] vertices by place, places by vertex */
    uint64_t *before;        /* [steps, by place] bits of the wanted steps that lie before */
    uint64_t visits;         /* left */
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

static int compare_wanted(const void *a, const void *b, void *place)
{
    const uint32_t *of = place;
    uint32_t x = of[((const struct far_ancestor *)a)->wanted];
    uint32_t y = of[((const struct far_ancestor *)b)->wanted];

    return (x > y) - (x < y);
}

/* Bits of [n] questions, in order of what they want; returns how many there are bits for. */
static size_t give_bits(const struct far_ancestor *asked, size_t n, uint8_t *bits)
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

/* Bits that stand at places `from` to `to` go on to all behind. False beyond the allowance. */
static bool pass_on(struct far *far, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        uint32_t v = far->order[k];
        uint32_t n = far->dag.first[v + 1] - far->dag.first[v];

        if (far->visits < n + 1)
            return false;
        far->visits -= n + 1;
        for (uint32_t e = 0; far->before[k] && e < n; e++) {
            uint32_t next = far->place[far->dag.next[far->dag.first[v] + e]];

            if (next <= to)
                far->before[next] |= far->before[k];
        }
    }
    return true;
}

static void answer(struct far *far, const struct far_ancestor *asked, size_t n, const uint8_t *bits)
{
    uint32_t from = far->place[asked[0].wanted], to = from;
    bool ok;

    for (size_t i = 0; i < n; i++) {
        to = far->place[asked[i].step] > to ? far->place[asked[i].step] : to;
        to = far->place[asked[i].wanted] > to ? far->place[asked[i].wanted] : to;
    }
    memset(far->before + from, 0, (to - from + 1) * sizeof *far->before);
    for (size_t i = 0; i < n; i++)
        far->before[far->place[asked[i].wanted]] |= UINT64_C(1) << bits[i];
    ok = pass_on(far, from, to);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = far->place[asked[i].step];

        if (!ok)
            FINDING(far->c->errors, ("%s", asked[i].path),
                    "Invalid value: \"%.64s\": cannot be looked for: this flow speaks of too many "
                    "steps that lie far back: name it in dependsOn.targets",
                    far->c->spec->steps.items[asked[i].wanted].name);
        else if (!(far->before[at] >> bits[i] & 1) || at <= far->place[asked[i].wanted])
            not_before(far->c, asked[i].step, asked[i].wanted, asked[i].path);
    }
}

void jobflow_check_far_ancestors(struct control_check *c)
{
    size_t steps = c->spec->steps.count, done;
    struct far far = {.c = c, .visits = FAR_VISITS_MAX};
    uint8_t *bits;

    if (!c->n_far)
        return;
    edges_of(c, &far.dag);
    far.order = mem_array(steps, sizeof *far.order);
    far.place = mem_array(steps, sizeof *far.place);
    far.before = mem_array(steps, sizeof *far.before);
    bits = mem_array(c->n_far, sizeof *bits);
    if (dag_sort(&far.dag, far.order) == steps) { /* a cycle has been reported */
        for (uint32_t k = 0; k < steps; k++)
            far.place[far.order[k]] = k;
        qsort_r(c->far, c->n_far, sizeof *c->far, compare_wanted, far.place);
        for (size_t i = 0; i < c->n_far; i += done) {
            done = give_bits(c->far + i, c->n_far - i, bits);
            answer(&far, c->far + i, done, bits);
        }
    }
    for (size_t i = 0; i < c->n_far; i++)
        mem_free(c->far[i].path);
    mem_free(take(c->far));
    c->n_far = c->far_cap = 0;
    mem_free(bits);
    mem_free(far.order);
    mem_free(far.place);
    mem_free(far.before);
    dag_release(&far.dag);
}
