/*
 * Looks wait in batches for the thread pool. Look-ups of one key wait for each other.
 */
#include "flow/reuse_work.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"
#include "flow/reuse/index.h"

static struct reuse_service *service_of(const struct flow *flow)
{
    return flow->controller->reuse;
}

void reuse_work_free(struct reuse_work *work)
{
    reuse_look_free(work->look);
    reuse_draft_release(&work->draft);
    object_unref(work->job);
    job_results_free(work->results);
    mem_free(work->newest);
    mem_free(work);
}

/* Looks that one thread of the pool takes at once. Where many steps are looked up, a hand-over for
 * each would cost more than the looks. */
struct look_batch {
    struct pool_work work;
    struct reuse_work *first, **end;
    size_t count;
};

static void run_looks(struct pool_work *pool)
{
    const struct look_batch *batch = container_of(pool, struct look_batch, work);

    for (struct reuse_work *work = batch->first; work; work = work->next)
        reuse_look_run(work->look);
}

static void collect(struct reuse_work *work, size_t most);

/* Lets the next look-up of the same key begin, ahead of those that waited behind it. */
static void begin_next(struct reuse_work *work)
{
    struct reuse_work *next = work->waiting;

    if (!work->draft.key)
        return;
    HASH_DEL(service_of(work->flow)->looking, work);
    if (!next)
        return;
    next->waiting = next->next;
    next->waiting_end = next->waiting ? work->waiting_end : &next->waiting;
    next->next = NULL;
    collect(next, 1);
}

static void look_done(struct reuse_work *work)
{
    struct flow *flow = work->flow;
    bool stands = flow->opening == FLOW_OPEN && work->build == flow->build && flow->model.reuse &&
                  flow->model.reuse[work->step].look == work->number;

    begin_next(work);
    if (stands)
        flow->model.reuse[work->step].look = 0;
    if (stands)
        work->done(work);
    flow_call_ended(flow);
    reuse_work_free(work);
}

static void looks_done(struct pool_work *pool)
{
    struct look_batch *batch = container_of(pool, struct look_batch, work);
    struct reuse_work *next;

    for (struct reuse_work *work = batch->first; work; work = next) {
        next = work->next;
        look_done(work);
    }
    mem_free(batch);
}

struct reuse_work *reuse_work_new(struct flow *flow, uint32_t step,
                                  void (*done)(struct reuse_work *work))
{
    struct reuse_work *work = mem_alloc(sizeof *work);

    work->done = done;
    work->flow = flow;
    work->step = step;
    work->build = flow->build;
    work->number = ++service_of(flow)->numbers;
    return work;
}

void reuse_work_hand_over(struct reuse_service *service)
{
    struct look_batch *batch = take(service->batch);

    if (batch)
        loop_work(service->controller->loop, &batch->work);
}

/* Returns the name of the newest recorded entry of the work's key, borrowed; NULL: there is none. */
static const char *newest_entry(const struct reuse_work *work)
{
    struct reuse_row rows[REUSE_CANDIDATES];
    size_t count = reuse_index_recorded(
        service_of(work->flow)->index, object_namespace(work->flow->object), work->draft.key, rows);

    return count ? rows[0].name : NULL;
}

bool reuse_work_is_outdated(const struct reuse_work *work)
{
    const char *newest = newest_entry(work);

    return newest && (!work->newest || strcmp(newest, work->newest) != 0);
}

/* Adds a look to the batch, which goes to the pool when it has `most` looks. */
static void collect(struct reuse_work *work, size_t most)
{
    struct reuse_service *service = service_of(work->flow);
    struct look_batch *batch = service->batch;

    if (work->draft.key) {
        const char *newest = newest_entry(work);

        HASH_ADD_KEYPTR(hh, service->looking, work->draft.key, strlen(work->draft.key), work);
        work->newest = newest ? mem_strdup(newest) : NULL;
    }
    if (!batch) {
        batch = service->batch = mem_alloc(sizeof *batch);
        batch->work.run = run_looks;
        batch->work.done = looks_done;
        batch->end = &batch->first;
    }
    *batch->end = work;
    batch->end = &work->next;
    if (++batch->count >= most)
        reuse_work_hand_over(service);
}

void reuse_work_submit(struct reuse_work *work, size_t most)
{
    struct reuse_work *earlier = NULL;

    work->waiting_end = &work->waiting;
    work->flow->model.reuse[work->step].look = work->number;
    flow_call_begun(work->flow);
    if (work->draft.key)
        HASH_FIND_STR(service_of(work->flow)->looking, work->draft.key, earlier);
    if (earlier) {
        *earlier->waiting_end = work;
        earlier->waiting_end = &work->next;
    } else {
        collect(work, most);
    }
}
