/*
 * Blocked steps: each is registered under the object that it waits for and, if its reason asks for
 * that, has a retry timer. A change of the object and the timer both make the step ready again.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "flow/internal.h"

enum { RETRY_FIRST_MS = 5 };

struct wait_key {
    TAILQ_HEAD(, step_block) blocks; /* longest waiting first */
    UT_hash_handle hh;
    char text[];
};

#define BLOCK_ROW(name, text, timed, waits) {text, timed, waits},
static const struct {
    const char *text;
    bool timed, waits;
} reasons[BLOCK_REASON_N] = {BLOCK_REASONS(BLOCK_ROW)};
#undef BLOCK_ROW

const char *block_reason_text(enum block_reason reason)
{
    return reasons[reason].text;
}

static void key_text(enum wait_kind kind, const char *ns, const char *name, struct buf *out)
{
    buf_printf(out, "%c/%s/%s", kind, ns, name);
}

static struct wait_key *find_key(struct flow_controller *controller, const struct buf *text)
{
    struct wait_key *key;

    HASH_FIND(hh, controller->waits, text->data, text->len, key);
    return key;
}

static void stop_waiting(struct step_block *block)
{
    struct flow_controller *controller = block->flow->controller;
    struct wait_key *key = block->key;

    if (!key)
        return;
    TAILQ_REMOVE(&key->blocks, block, waits);
    block->key = NULL;
    if (TAILQ_EMPTY(&key->blocks)) {
        HASH_DEL(controller->waits, key);
        mem_free(key);
    }
}

static void wait_for(struct step_block *block, enum wait_kind kind, const char *ns,
                     const char *name)
{
    struct flow_controller *controller = block->flow->controller;
    scoped(buf) struct buf text = {0};
    struct wait_key *key;

    stop_waiting(block);
    key_text(kind, ns, name, &text);
    key = find_key(controller, &text);
    if (!key) {
        key = mem_alloc(sizeof *key + text.len + 1);
        memcpy(key->text, text.data, text.len + 1);
        TAILQ_INIT(&key->blocks);
        HASH_ADD_KEYPTR(hh, controller->waits, key->text, text.len, key);
    }
    block->key = key;
    TAILQ_INSERT_TAIL(&key->blocks, block, waits);
}

static void make_ready(struct step_block *block)
{
    struct flow *flow = block->flow;

    const enum step_state state = (enum step_state)flow->model.steps[block->step].state;

    if (!(state == STEP_BLOCKED || state == STEP_CHECKING) || !flow_creates_now(flow))
        return;
    flow_model_set_state(&flow->model, block->step, STEP_READY);
    flow_make_runnable(flow);
}

static void on_retry(struct timer *timer)
{
    make_ready(container_of(timer, struct step_block, retry));
}

void flow_wake_waiters(struct flow_controller *controller, enum wait_kind kind, const char *ns,
                       const char *name)
{
    scoped(buf) struct buf text = {0};
    struct step_block *block;
    struct wait_key *key;

    if (!controller->waits)
        return;
    key_text(kind, ns, name, &text);
    key = find_key(controller, &text);
    for (block = key ? TAILQ_FIRST(&key->blocks) : NULL; block; block = TAILQ_NEXT(block, waits))
        make_ready(block);
}

/* Registers the step under the job name or the template that it waits for. */
static void register_waiter(struct step_block *block)
{
    struct flow *flow = block->flow;
    const struct flow_step *step = flow_graph_step(flow->model.graph, block->step);
    const char *ns = object_namespace(flow->object);
    scoped(buf) struct buf job = {0};

    flow_model_job_name(&flow->model, block->step, &job);
    if (block->reason == BLOCK_JOB_NAME_CONFLICT)
        wait_for(block, WAIT_FOR_JOB, ns, job.data);
    else
        wait_for(block, WAIT_FOR_TEMPLATE, ns,
                 step->template_name ? step->template_name : step->name);
}

static void start_timer(struct step_block *block)
{
    if (reasons[block->reason].timed)
        timer_start(block->flow->controller->loop, &block->retry,
                    flow_retry_delay_ms(block->failures++, RETRY_FIRST_MS));
}

/* Writes one Warning for a cause, however many steps have it and however often it is retried. */
static void warn_once(struct step_block *block)
{
    struct flow *flow = block->flow;
    char *cause = mem_printf("%s: %s", reasons[block->reason].text, block->message);

    if (flow->warned && strcmp(flow->warned, cause) == 0) {
        mem_free(cause);
        return;
    }
    mem_free(flow->warned);
    flow->warned = cause;
    cluster_event(flow->controller->cluster, flow->object, EVENT_WARNING,
                  reasons[block->reason].text, FLOW_COMPONENT, "%s", block->message);
}

void flow_block_step(struct flow *flow, uint32_t step, enum block_reason reason, const char *format,
                     ...)
{
    struct step *s = &flow->model.steps[step];
    struct step_block *block = s->block;
    char text[ERROR_MESSAGE_MAX + ERROR_FIELD_MAX];
    bool changed;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!block) {
        block = mem_alloc(sizeof *block);
        block->flow = flow;
        block->step = step;
        block->retry.fire = on_retry;
        s->block = block;
    }
    s->look_up = s->reusable;
    changed = !block->message || block->reason != reason || strcmp(block->message, text) != 0;
    if (changed) {
        mem_free(block->message);
        block->message = mem_strdup(text);
        block->reason = reason;
        block->failures = 0;
    }
    if (reasons[reason].waits) {
        stop_waiting(block);
        flow_model_set_state(&flow->model, step, STEP_CHECKING);
        return;
    }
    register_waiter(block);
    start_timer(block);
    flow_model_set_state(&flow->model, step, STEP_BLOCKED);
    if (changed)
        warn_once(block);
}

void flow_wait_for_same_work(struct flow *flow, uint32_t step, const char *name)
{
    flow_block_step(flow, step, BLOCK_SAME_WORK,
                    "job %s does the same: it is reused when that succeeds", name);
    wait_for(flow->model.steps[step].block, WAIT_FOR_JOB, object_namespace(flow->object), name);
}

void flow_unblock_step(struct flow *flow, uint32_t step)
{
    struct step_block *block = flow->model.steps[step].block;

    if (!block)
        return;
    flow->model.steps[step].block = NULL;
    stop_waiting(block);
    timer_stop(flow->controller->loop, &block->retry);
    mem_free(block->message);
    mem_free(block);
}
