/*
 * Blocked steps: each is registered under the object that it waits for and, if its reason asks for
 * that, has a retry timer. A change of the object and the timer both make the step ready again.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "flow/internal.h"

enum { RETRY_FIRST_MS = 5 };

/* A blocked step, what it waits for, and when it is tried again. */
struct blocked_step {
    struct step_block block; /* what the model shows */
    struct flow *flow;
    uint32_t step;
    unsigned failures; /* consecutive failures; they set the delay of the timer */
    struct timer retry;
    struct wait_key *key;
    TAILQ_ENTRY(blocked_step) waits; /* links the steps that wait for the same key */
};

struct wait_key {
    TAILQ_HEAD(, blocked_step) blocks; /* longest waiting first */
    UT_hash_handle hh;
    char text[];
};

/* NULL stays NULL. */
static struct blocked_step *blocked_of(struct step_block *block)
{
    return block ? container_of(block, struct blocked_step, block) : NULL;
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

static void stop_waiting(struct blocked_step *blocked)
{
    struct flow_controller *controller = blocked->flow->controller;
    struct wait_key *key = blocked->key;

    if (!key)
        return;
    TAILQ_REMOVE(&key->blocks, blocked, waits);
    blocked->key = NULL;
    if (TAILQ_EMPTY(&key->blocks)) {
        HASH_DEL(controller->waits, key);
        mem_free(key);
    }
}

static void wait_for(struct blocked_step *blocked, enum wait_kind kind, const char *ns,
                     const char *name)
{
    struct flow_controller *controller = blocked->flow->controller;
    scoped(buf) struct buf text = {0};
    struct wait_key *key;

    stop_waiting(blocked);
    key_text(kind, ns, name, &text);
    key = find_key(controller, &text);
    if (!key) {
        key = mem_alloc(sizeof *key + text.len + 1);
        memcpy(key->text, text.data, text.len + 1);
        TAILQ_INIT(&key->blocks);
        HASH_ADD_KEYPTR(hh, controller->waits, key->text, text.len, key);
    }
    blocked->key = key;
    TAILQ_INSERT_TAIL(&key->blocks, blocked, waits);
}

static void make_ready(struct blocked_step *blocked)
{
    struct flow *flow = blocked->flow;

    const enum step_state state = (enum step_state)flow->model.steps[blocked->step].state;

    if (!(state == STEP_BLOCKED || state == STEP_CHECKING) || !flow_creates_now(flow))
        return;
    flow_model_set_state(&flow->model, blocked->step, STEP_READY);
    flow_make_runnable(flow);
}

static void on_retry(struct timer *timer)
{
    make_ready(container_of(timer, struct blocked_step, retry));
}

void flow_wake_waiters(struct flow_controller *controller, enum wait_kind kind, const char *ns,
                       const char *name)
{
    scoped(buf) struct buf text = {0};
    struct blocked_step *blocked;
    struct wait_key *key;

    if (!controller->waits)
        return;
    key_text(kind, ns, name, &text);
    key = find_key(controller, &text);
    for (blocked = key ? TAILQ_FIRST(&key->blocks) : NULL; blocked;
         blocked = TAILQ_NEXT(blocked, waits))
        make_ready(blocked);
}

/* Registers the step under the job name or the template that it waits for. */
static void register_waiter(struct blocked_step *blocked)
{
    struct flow *flow = blocked->flow;
    const struct flow_step *step = flow_graph_step(flow->model.graph, blocked->step);
    const char *ns = object_namespace(flow->object);
    scoped(buf) struct buf job = {0};

    flow_model_job_name(&flow->model, blocked->step, &job);
    if (blocked->block.reason == BLOCK_JOB_NAME_CONFLICT)
        wait_for(blocked, WAIT_FOR_JOB, ns, job.data);
    else
        wait_for(blocked, WAIT_FOR_TEMPLATE, ns,
                 step->template_name ? step->template_name : step->name);
}

static void start_timer(struct blocked_step *blocked)
{
    if (block_reasons[blocked->block.reason].timed)
        timer_start(blocked->flow->controller->loop, &blocked->retry,
                    flow_retry_delay_ms(blocked->failures++, RETRY_FIRST_MS));
}

/* Writes one Warning for a cause, however many steps have it and however often it is retried. */
static void warn_once(struct blocked_step *blocked)
{
    struct flow *flow = blocked->flow;
    char *cause =
        mem_printf("%s: %s", block_reasons[blocked->block.reason].text, blocked->block.message);

    if (flow->warned && strcmp(flow->warned, cause) == 0) {
        mem_free(cause);
        return;
    }
    mem_free(flow->warned);
    flow->warned = cause;
    cluster_event(flow->controller->cluster, flow->object, EVENT_WARNING,
                  block_reasons[blocked->block.reason].text, FLOW_COMPONENT, "%s",
                  blocked->block.message);
}

void flow_block_step(struct flow *flow, uint32_t step, enum block_reason reason, const char *format,
                     ...)
{
    struct step *s = &flow->model.steps[step];
    struct blocked_step *blocked = blocked_of(s->block);
    char text[ERROR_MESSAGE_MAX + ERROR_FIELD_MAX];
    bool changed;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!blocked) {
        blocked = mem_alloc(sizeof *blocked);
        blocked->flow = flow;
        blocked->step = step;
        blocked->retry.fire = on_retry;
        s->block = &blocked->block;
    }
    s->look_up = s->reusable;
    changed = !blocked->block.message || blocked->block.reason != reason ||
              strcmp(blocked->block.message, text) != 0;
    if (changed) {
        mem_free(blocked->block.message);
        blocked->block.message = mem_strdup(text);
        blocked->block.reason = reason;
        blocked->failures = 0;
    }
    if (block_reasons[reason].waits) {
        stop_waiting(blocked);
        flow_model_set_state(&flow->model, step, STEP_CHECKING);
        return;
    }
    register_waiter(blocked);
    start_timer(blocked);
    flow_model_set_state(&flow->model, step, STEP_BLOCKED);
    if (changed)
        warn_once(blocked);
}

void flow_wait_for_same_work(struct flow *flow, uint32_t step, const char *name)
{
    flow_block_step(flow, step, BLOCK_SAME_WORK,
                    "job %s does the same: it is reused when that succeeds", name);
    wait_for(blocked_of(flow->model.steps[step].block), WAIT_FOR_JOB,
             object_namespace(flow->object), name);
}

void flow_unblock_step(struct flow *flow, uint32_t step)
{
    struct blocked_step *blocked = blocked_of(flow->model.steps[step].block);

    if (!blocked)
        return;
    flow->model.steps[step].block = NULL;
    stop_waiting(blocked);
    timer_stop(flow->controller->loop, &blocked->retry);
    mem_free(blocked->block.message);
    mem_free(blocked);
}
