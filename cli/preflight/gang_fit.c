/*
 * Computes the least resources that minAvailable members of a gang need together, for each
 * resource.
 */
#include "cli/preflight/gang_fit.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/types/kinds/jobflow/step_names.h"
#include "base/mem.h"
#include "node/scheduler/shortfall.h"

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the sum of the `least` smallest of `n` values. */
static int64_t smallest(int64_t *values, size_t n, size_t least)
{
    int64_t sum = 0;

    qsort(values, n, sizeof *values, compare);
    for (size_t i = 0; i < n && i < least; i++)
        sum = amount_clamp(sum + values[i]);
    return sum;
}

static struct amount need_of(const struct gangfit *gangs, const struct name_index *names,
                             const struct flow_gang *gang)
{
    size_t n = gang->steps.count;
    size_t least = gang->min_available.set ? (size_t)gang->min_available.value : n;
    int64_t *values = mem_array(n + 1, sizeof *values);
    struct amount need = {0};

    for (size_t kind = 0; kind < AMOUNT_KINDS; kind++) {
        for (size_t m = 0; m < n; m++) {
            uint32_t at = name_index_get(names, gang->steps.items[m]);
            struct amount one = {0};

            if (at !=
                NAME_NONE) /* compatible with upstream, unknown names pass, and need nothing */
                one = gangs->needs[at];

            values[m] = *amount_at(&one, kind);
        }
        *amount_at(&need, kind) = smallest(values, n, least);
    }
    mem_free(values);
    return need;
}

static bool check_one(const struct gangfit *gangs, const struct amount need, const char *name,
                      struct error *err, const char *field)
{
    struct amount room = fit_room(gangs->fit);
    scoped_str problem = NULL;

    if (need.pods > room.pods)
        return error_set(err, ERR_INVALID, field,
                         "the jobs of gang %s start together with %lld pods, but at most %lld may "
                         "run at once (-j %lld): they would wait for ever; allow more with -j "
                         "%lld, or make the gang smaller",
                         name, (long long)need.pods, (long long)room.pods, (long long)room.pods,
                         (long long)need.pods);
    problem = shortfall_of_node(need, room, fit_resources(gangs->fit));
    return !problem || error_set(err, ERR_INVALID, field,
                                 "the jobs of gang %s start together: %s, or make the gang smaller",
                                 name, problem);
}

void gangfit_check(const struct gangfit *gangs,
                   void (*found)(void *ctx, const struct error *problem), void *ctx)
{
    scoped(name_index) struct name_index names = {0};

    if (!gangs->spec->gangs.count)
        return;
    jobflow_index_names(gangs->spec, &names, NULL, NULL);
    for (size_t g = 0; g < gangs->spec->gangs.count; g++) {
        const struct flow_gang *gang = &gangs->spec->gangs.items[g];
        struct error err = {0};
        char field[64];

        snprintf(field, sizeof field, "spec.gangs[%zu]", g);
        if (!check_one(gangs, need_of(gangs, &names, gang), gang->name, &err, field))
            found(ctx, &err);
    }
}
