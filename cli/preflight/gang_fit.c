/*
 * Computes the least resources that minAvailable members of a gang need together, for each
 * resource.
 */
#include "cli/preflight/gang_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void step_need_set(struct step_need *need, const struct fit *fit, const struct job_spec *job,
                   const char *queue)
{
    need->amount = fit_need(fit, job);
    mem_free(take(need->queue));
    need->queue = mem_strdup(queue && *queue ? queue : "default");
}

void step_needs_free(struct step_need *needs, size_t count)
{
    for (size_t i = 0; needs && i < count; i++)
        mem_free(needs[i].queue);
    mem_free(needs);
}

/* The members of one gang, or those of them that are in one queue. */
struct members {
    const struct step_need **items;
    size_t count;
};

/* Lists the members whose needs are known. As in Volcano, unknown names of steps are accepted. */
static struct members members_of(const struct gangfit *gangs, const struct name_index *names,
                                 const struct flow_gang *gang)
{
    struct members members = {.items = mem_array(gang->steps.count + 1, sizeof(void *))};

    for (size_t m = 0; m < gang->steps.count; m++) {
        uint32_t at = name_index_get(names, gang->steps.items[m]);

        if (at != NAME_NONE)
            members.items[members.count++] = &gangs->needs[at];
    }
    return members;
}

/* Returns what the `least` smallest of the members in the queue need together; NULL: in any queue.
 */
static struct amount need_of(const struct members *members, const char *queue, size_t least)
{
    int64_t *values = mem_array(members->count + 1, sizeof *values);
    struct amount need = {0};

    for (size_t kind = 0; kind < AMOUNT_KINDS; kind++) {
        size_t n = 0;

        for (size_t m = 0; m < members->count; m++) {
            struct amount one = members->items[m]->amount;

            if (!queue ||
                (members->items[m]->queue && strcmp(members->items[m]->queue, queue) == 0))
                values[n++] = *amount_at(&one, kind);
        }
        *amount_at(&need, kind) = smallest(values, n, least);
    }
    mem_free(values);
    return need;
}

/* Returns how many of the members are in the queue, and in *first the first of them. */
static size_t count_in_queue(const struct members *members, const char *queue, size_t *first)
{
    size_t n = 0;

    for (size_t m = 0; m < members->count; m++)
        if (members->items[m]->queue && strcmp(members->items[m]->queue, queue) == 0 && n++ == 0)
            *first = m;
    return n;
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

/* Members in other queues may stand in for those in this one, as far as minAvailable allows. */
static bool check_queues(const struct gangfit *gangs, const struct members *members,
                         const struct flow_gang *gang, size_t least, struct error *err,
                         const char *field)
{
    for (size_t m = 0; m < members->count; m++) {
        const char *queue = members->items[m]->queue;
        size_t first = 0, here = queue ? count_in_queue(members, queue, &first) : 0;
        size_t elsewhere = gang->steps.count - here;
        scoped_str problem = NULL;

        if (!here || first != m || here == 1 || least <= elsewhere)
            continue; /* a single job is checked as the job of its step */
        problem = fit_queue_problem(gangs->fit, gangs->queues, queue,
                                    need_of(members, queue, least - elsewhere));
        if (problem)
            return error_set(
                err, ERR_INVALID, field,
                "the jobs of gang %s start together: they %s, or make the gang smaller", gang->name,
                problem);
    }
    return true;
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
        size_t least = gang->min_available.set ? (size_t)gang->min_available.value : SIZE_MAX;
        struct members members = members_of(gangs, &names, gang);
        struct error err = {0};
        char field[64];

        if (least > gang->steps.count)
            least = gang->steps.count;
        snprintf(field, sizeof field, "spec.gangs[%zu]", g);
        if (!check_one(gangs, need_of(&members, NULL, least), gang->name, &err, field) ||
            !check_queues(gangs, &members, gang, least, &err, field))
            found(ctx, &err);
        mem_free(members.items);
    }
}
