/*
 * Job names follow from the names of flow and step, and of iterations from their numbers.
 */
#include "cli/client/log_jobs.h"

#include <ctype.h>
#include <string.h>

#include "api/types/kinds/jobflow/record.h"
#include "base/mem.h"
#include "view/flow_view.h"

void log_jobs_release(struct log_jobs *jobs)
{
    json_decref(jobs->ranks);
    json_decref(jobs->loops);
    mem_free(jobs->flow);
    mem_free(jobs->prefix);
}

/* Returns the length of `name` without the "-NUMBER" at its end; 0 when it has none. */
static size_t loop_length(const char *name)
{
    size_t len = strlen(name), end = len;

    while (len && isdigit((unsigned char)name[len - 1]))
        len--;
    return len == end || len < 2 || name[len - 1] != '-' ? 0 : len - 1;
}

bool log_jobs_find(const struct log_jobs *jobs, const char *job, int64_t *out_rank)
{
    const json_t *rank = json_object_get(jobs->ranks, job);
    size_t len = loop_length(job);
    scoped_str loop = len ? mem_printf("%.*s", (int)len, job) : NULL;

    if (!rank && loop)
        rank = json_object_get(jobs->loops, loop);
    *out_rank = json_integer_value(rank);
    return rank != NULL;
}

/* Steps in the order in which they can run, those of one layer in the order written. */
static int64_t rank_of(const struct flow_view_step *step)
{
    return (int64_t)step->layer << 32 | flow_view_position(step);
}

static void add_step(struct log_jobs *jobs, const struct flow_view_step *step)
{
    scoped_str job = mem_printf("%s-%s", jobs->prefix, step->name);

    json_object_set_new(step->loops ? jobs->loops : jobs->ranks, job, json_integer(rank_of(step)));
}

/* Adds the job of one iteration of a loop. */
static bool add_iteration(struct log_jobs *jobs, const struct flow_view *view, const char *name)
{
    size_t len = loop_length(name);
    scoped_str loop = len ? mem_printf("%.*s", (int)len, name) : NULL;
    uint32_t at = loop ? flow_view_find(view, loop) : UINT32_MAX;
    scoped_str job = mem_printf("%s-%s", jobs->prefix, name);

    if (at == UINT32_MAX || !view->steps[at].loops)
        return false;
    json_object_set_new(jobs->ranks, job, json_integer(rank_of(&view->steps[at])));
    return true;
}

static bool add_named(struct log_jobs *jobs, const struct flow_view *view, const char *name)
{
    uint32_t at = flow_view_find(view, name);

    if (at == UINT32_MAX)
        return add_iteration(jobs, view, name);
    add_step(jobs, &view->steps[at]);
    return true;
}

/* The jobs of an earlier run had the name of the flow, not that of its record. */
static void name_flow(struct log_jobs *jobs, const json_t *flow, const char *name)
{
    const json_t *metadata = json_object_get(flow, "metadata");
    const char *series =
        json_string_value(json_object_get(json_object_get(metadata, "labels"), LABEL_FLOW_SERIES));

    jobs->is_record =
        series && json_object_get(json_object_get(metadata, "annotations"), ANNOTATION_RECORD_OF);
    jobs->flow = mem_strdup(name);
    jobs->prefix = mem_strdup(jobs->is_record ? series : name);
}

bool log_jobs_read(json_t *flow, const char *step, struct log_jobs *out, struct error *err)
{
    scoped(flow_view) struct flow_view *view = flow_view_from_document(flow, err);

    if (!view)
        return false;
    *out = (struct log_jobs){json_object(), json_object()};
    name_flow(out, flow, view->name);
    flow_view_link(view, NULL);
    if (step && !add_named(out, view, step))
        return flow_view_no_step(view, step, err);
    for (uint32_t i = 0; !step && i < view->n_steps; i++)
        add_step(out, &view->steps[i]);
    return true;
}
