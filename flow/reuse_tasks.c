/*
 * Scans wait in batches for the thread pool. Look-ups of one key wait for each other.
 */
#include "flow/reuse_tasks.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"
#include "flow/reuse/index.h"
#include "flow/reuse_service.h"

static struct reuse_service *service_of(const struct flow *flow)
{
    return flow->controller->reuse;
}

void reuse_task_free(struct reuse_task *task)
{
    reuse_scan_free(task->scan);
    reuse_draft_release(&task->draft);
    object_unref(task->job);
    job_results_free(task->results);
    mem_free(task->newest);
    mem_free(task);
}

/* Scans that one thread of the pool takes at once. Where many steps are looked up, a hand-over for
 * each would cost more than the scans. */
struct scan_batch {
    struct pool_work work;
    struct reuse_task *first, **end;
    size_t count;
};

static void run_batch(struct pool_work *pool)
{
    const struct scan_batch *batch = container_of(pool, struct scan_batch, work);

    for (struct reuse_task *task = batch->first; task; task = task->next)
        reuse_scan_run(task->scan);
}

static void collect(struct reuse_task *task, size_t most);

/* Lets the next look-up of the same key begin, ahead of those that waited behind it. */
static void begin_next(struct reuse_task *task)
{
    struct reuse_task *next = task->waiting;

    if (!task->draft.key)
        return;
    HASH_DEL(service_of(task->flow)->lookups, task);
    if (!next)
        return;
    next->waiting = next->next;
    next->waiting_end = next->waiting ? task->waiting_end : &next->waiting;
    next->next = NULL;
    collect(next, 1);
}

static void task_done(struct reuse_task *task)
{
    struct flow *flow = task->flow;
    bool stands = flow->opening == FLOW_OPEN && task->build == flow->build && flow->model.reuse &&
                  flow->model.reuse[task->step].task == task->number;

    begin_next(task);
    if (stands)
        flow->model.reuse[task->step].task = 0;
    if (stands)
        task->done(task);
    flow_call_ended(flow);
    reuse_task_free(task);
}

static void batch_done(struct pool_work *pool)
{
    struct scan_batch *batch = container_of(pool, struct scan_batch, work);
    struct reuse_task *next;

    for (struct reuse_task *task = batch->first; task; task = next) {
        next = task->next;
        task_done(task);
    }
    mem_free(batch);
}

struct reuse_task *reuse_task_new(struct flow *flow, uint32_t step,
                                  void (*done)(struct reuse_task *task))
{
    struct reuse_task *task = mem_alloc(sizeof *task);

    task->done = done;
    task->flow = flow;
    task->step = step;
    task->build = flow->build;
    task->number = ++service_of(flow)->numbers;
    return task;
}

void reuse_task_hand_over(struct reuse_service *service)
{
    struct scan_batch *batch = take(service->batch);

    if (batch)
        loop_work(service->controller->loop, &batch->work);
}

/* Returns the name of the newest recorded entry of the task's key, borrowed; NULL: there is none. */
static const char *newest_entry(const struct reuse_task *task)
{
    struct reuse_row rows[REUSE_CANDIDATES];
    size_t count = reuse_index_recorded(
        service_of(task->flow)->index, object_namespace(task->flow->object), task->draft.key, rows);

    return count ? rows[0].name : NULL;
}

bool reuse_task_is_outdated(const struct reuse_task *task)
{
    const char *newest = newest_entry(task);

    return newest && (!task->newest || strcmp(newest, task->newest) != 0);
}

/* Adds a scan to the batch, which goes to the pool when it has `most` scans. */
static void collect(struct reuse_task *task, size_t most)
{
    struct reuse_service *service = service_of(task->flow);
    struct scan_batch *batch = service->batch;

    if (task->draft.key) {
        const char *newest = newest_entry(task);

        HASH_ADD_KEYPTR(hh, service->lookups, task->draft.key, strlen(task->draft.key), task);
        task->newest = newest ? mem_strdup(newest) : NULL;
    }
    if (!batch) {
        batch = service->batch = mem_alloc(sizeof *batch);
        batch->work.run = run_batch;
        batch->work.done = batch_done;
        batch->end = &batch->first;
    }
    *batch->end = task;
    batch->end = &task->next;
    if (++batch->count >= most)
        reuse_task_hand_over(service);
}

void reuse_task_submit(struct reuse_task *task, size_t most)
{
    struct reuse_task *earlier = NULL;

    task->waiting_end = &task->waiting;
    task->flow->model.reuse[task->step].task = task->number;
    flow_call_begun(task->flow);
    if (task->draft.key)
        HASH_FIND_STR(service_of(task->flow)->lookups, task->draft.key, earlier);
    if (earlier) {
        *earlier->waiting_end = task;
        earlier->waiting_end = &task->next;
    } else {
        collect(task, most);
    }
}
