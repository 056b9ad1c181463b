/*
 * Keeps an entry for each loop that has begun in this process or that the stored status contains.
 */
#include "flow/status/loop_times.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "base/mem.h"

struct loop_time {
    UT_hash_handle hh;
    int64_t began_ms; /* time at which the loop began; -1: not known */
    int64_t took_ms;  /* how long the loop took; -1: it is not over, or that is not known */
    char name[];
};

static struct loop_time *find(const struct loop_times *times, const char *name)
{
    struct loop_time *time;

    HASH_FIND_STR(times->by_name, name, time);
    return time;
}

static struct loop_time *add(struct loop_times *times, const char *name)
{
    size_t len = strlen(name);
    struct loop_time *time = mem_alloc(sizeof *time + len + 1);

    time->began_ms = time->took_ms = -1;
    memcpy(time->name, name, len + 1);
    HASH_ADD_STR(times->by_name, name, time);
    return time;
}

void loop_times_restore(struct loop_times *times, const json_t *status)
{
    size_t i;
    json_t *node;

    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        const char *name = doc_text(node, "name");
        int64_t took_ms = doc_duration_ms(node, "duration");

        if (name && took_ms >= 0 && !find(times, name))
            add(times, name)->took_ms = took_ms;
    }
}

static bool is_over(const struct flow_model *m, uint32_t loop)
{
    return m->steps[loop].state == STEP_STARTED &&
           job_phase_finished((enum job_phase)m->steps[loop].phase);
}

static void close_time(struct loop_time *time, int64_t now_ms)
{
    if (time->began_ms >= 0)
        time->took_ms = now_ms - time->began_ms;
    time->began_ms = -1;
}

/* Returns whether the job of an iteration is the first one of its loop: those before it were reused. */
static bool is_first(const struct flow_model *m, uint32_t loop, uint32_t iteration)
{
    for (uint32_t i = loop + 1; i < iteration; i++)
        if (!m->steps[i].cached)
            return false;
    return m->steps[iteration].attempt == 1;
}

void loop_times_job_changed(struct loop_times *times, const struct flow_model *m,
                            uint32_t iteration, bool is_new, int64_t now_ms)
{
    struct loop_time *time;
    uint32_t loop;

    if (!m->steps[iteration].is_iteration)
        return;
    loop = flow_graph_loop(m->graph, iteration);
    time = find(times, flow_graph_name(m->graph, loop));
    if (is_new && !is_over(m, loop) && (time ? time->took_ms >= 0 : is_first(m, loop, iteration))) {
        if (!time)
            time = add(times, flow_graph_name(m->graph, loop));
        time->began_ms = now_ms;
        time->took_ms = -1;
    }
    if (time && is_over(m, loop))
        close_time(time, now_ms);
}

void loop_times_close(struct loop_times *times, const struct flow_model *m, int64_t now_ms)
{
    struct loop_time *time, *next;

    HASH_ITER(hh, times->by_name, time, next)
    {
        uint32_t loop = time->began_ms < 0 ? STEP_NONE : flow_graph_find(m->graph, time->name);

        if (loop != STEP_NONE && is_over(m, loop))
            close_time(time, now_ms);
    }
}

int64_t loop_times_took(const struct loop_times *times, const char *loop)
{
    const struct loop_time *time = find(times, loop);

    return time ? time->took_ms : -1;
}

void loop_times_release(struct loop_times *times)
{
    struct loop_time *time, *next;

    HASH_ITER(hh, times->by_name, time, next)
    {
        HASH_DEL(times->by_name, time);
        mem_free(time);
    }
}
