/*
 * Looks names up in batches of NAMES_TOGETHER, so that the index can overlap the memory accesses of
 * one batch.
 */
#include "api/types/kinds/jobflow/step_names.h"

#include "api/types/text/suggest.h"
#include "base/mem.h"

static const struct str_list *targets_of(const struct jobflow_spec *spec, size_t step)
{
    static const struct str_list none;
    const struct flow_depends *depends = spec->steps.items[step].depends;

    return depends ? &depends->targets : &none;
}

/* A batch of consecutive steps. */
struct run {
    const char *names[NAMES_TOGETHER];
    uint32_t before[NAMES_TOGETHER]; /* earlier steps of the same names, or NAME_NONE */
    size_t first, len;
};

static void put_run(const struct jobflow_spec *spec, struct name_index *names, struct run *run)
{
    size_t left = spec->steps.count - run->first;

    run->len = left < NAMES_TOGETHER ? left : NAMES_TOGETHER;
    for (size_t i = 0; i < run->len; i++)
        run->names[i] = spec->steps.items[run->first + i].name;
    name_index_put_all(names, run->names, run->len, (uint32_t)run->first, run->before);
}

void jobflow_index_names(const struct jobflow_spec *spec, struct name_index *names,
                         void (*repeated)(void *ctx, size_t step), void *ctx)
{
    struct run run;

    name_index_init(names, spec->steps.count);
    for (run.first = 0; run.first < spec->steps.count; run.first += run.len) {
        put_run(spec, names, &run);
        for (size_t i = 0; repeated && i < run.len; i++)
            if (run.before[i] != NAME_NONE)
                repeated(ctx, run.first + i);
    }
}

size_t jobflow_count_targets(const struct jobflow_spec *spec)
{
    size_t count = 0;

    for (size_t i = 0; i < spec->steps.count; i++)
        count += targets_of(spec, i)->count;
    return count;
}

uint32_t *jobflow_resolve_targets(const struct jobflow_spec *spec, const struct name_index *names)
{
    uint32_t *positions = mem_array(jobflow_count_targets(spec) + 1, sizeof *positions);
    uint32_t *out = positions;
    const char *run[NAMES_TOGETHER];
    size_t len = 0;

    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct str_list *targets = targets_of(spec, i);

        for (size_t t = 0; t < targets->count; t++) {
            run[len++] = targets->items[t];
            if (len < NAMES_TOGETHER)
                continue;
            name_index_get_all(names, run, len, out);
            out += len;
            len = 0;
        }
    }
    name_index_get_all(names, run, len, out);
    return positions;
}

/* A batch of targets to look up, with the steps that name them. */
struct asked {
    const char *names[NAMES_TOGETHER];
    size_t steps[NAMES_TOGETHER];
    size_t count;
};

static bool are_earlier(const struct name_index *names, struct asked *asked)
{
    uint32_t positions[NAMES_TOGETHER];
    bool earlier = true;

    name_index_get_all(names, asked->names, asked->count, positions);
    for (size_t i = 0; i < asked->count; i++)
        earlier &= positions[i] < asked->steps[i]; /* NAME_NONE is larger than any position */
    asked->count = 0;
    return earlier;
}

/* Looks up the targets of a batch of steps after the names of the batch have been indexed. */
static bool run_in_order(const struct jobflow_spec *spec, const struct name_index *names,
                         const struct run *run, size_t *total)
{
    struct asked asked = {.count = 0};

    for (size_t i = run->first; i < run->first + run->len; i++) {
        const struct str_list *targets = targets_of(spec, i);

        if (run->before[i - run->first] != NAME_NONE || spec->steps.items[i].choice)
            return false;
        *total += targets->count;
        for (size_t t = 0; t < targets->count; t++) {
            asked.names[asked.count] = targets->items[t];
            asked.steps[asked.count++] = i;
            if (asked.count == NAMES_TOGETHER && !are_earlier(names, &asked))
                return false;
        }
    }
    return are_earlier(names, &asked);
}

bool jobflow_is_in_order(const struct jobflow_spec *spec, size_t max_targets)
{
    scoped(name_index) struct name_index names = {0};
    size_t targets = 0;
    struct run run;

    name_index_init(&names, spec->steps.count);
    for (run.first = 0; run.first < spec->steps.count; run.first += run.len) {
        put_run(spec, &names, &run);
        if (!run_in_order(spec, &names, &run, &targets) || targets > max_targets)
            return false;
    }
    return true;
}

enum { SUGGEST_MAX = 2000 }; /* names that are compared with a mistyped one */

/* Returns whether a suggestion is worth its cost: a full list drops further findings. */
static bool worth_it(size_t names, const struct error_list *errors)
{
    return names <= SUGGEST_MAX && errors->count < ERROR_LIST_MAX;
}

static char *suggestion(const struct suggest *best)
{
    return best->word ? mem_printf("; did you mean \"%s\"?", best->word) : mem_strdup("");
}

char *jobflow_near_step(const struct jobflow_spec *spec, const char *name,
                        const struct error_list *errors)
{
    struct suggest best = {0};

    for (size_t i = 0; worth_it(spec->steps.count, errors) && i < spec->steps.count; i++)
        suggest_offer(&best, name, spec->steps.items[i].name);
    return suggestion(&best);
}

char *jobflow_near_parameter(const struct jobflow_spec *spec, const char *name,
                             const struct error_list *errors)
{
    struct suggest best = {0};

    for (size_t i = 0; worth_it(spec->parameters.count, errors) && i < spec->parameters.count; i++)
        suggest_offer(&best, name, spec->parameters.items[i].name);
    return suggestion(&best);
}
