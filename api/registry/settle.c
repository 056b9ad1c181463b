/*
 * Jobs and flows that a client has just created and may write again.
 *
 * Controllers write the status of a job or a flow as soon as they see it. A client that creates one
 * and replaces it with the answer would always come too late with its revision. Controllers are
 * therefore told of such an object only when it has settled: SETTLE_MS after the create was
 * durable, which is when the answer leaves. A deletion ends the wait.
 *
 *   created ──► by_uid ── durable ──► due, in order ── SETTLE_MS ──► settle_listener
 *
 * Only objects whose create asks for it settle: those of controllers, manifests and `run` do not.
 */
#include <string.h>

#include "api/registry/internal.h"

/* A process that was not scheduled for a while finds the timer due and the client's request
 * waiting. The second, short wait lets the loop take the request first. */
enum { SETTLE_MS = 25, REQUESTS_FIRST_MS = 1 };

struct settling {
    struct settle *settle;
    struct task durable;
    int64_t due_ns;
    struct settling *next; /* the next object in the order of due_ns */
    bool ended;            /* kept only until it is due */
    UT_hash_handle hh;
    char uid[];
};

struct settle {
    struct registry *registry;
    struct settle_listener *listener;
    struct settling *by_uid;
    struct settling *first, **last; /* durable ones that still wait, in order */
    struct timer timer;
    int64_t requests_taken_ns; /* the loop has taken requests since this time */
};

static struct settling *find(struct settle *settle, const struct object *object)
{
    struct settling *found = NULL;

    if (settle->by_uid)
        HASH_FIND_STR(settle->by_uid, object_uid(object), found);
    return found && !found->ended ? found : NULL;
}

static void wait_for_first(struct settle *settle)
{
    struct loop *loop = settle->registry->loop;

    if (settle->first && !timer_armed(&settle->timer))
        timer_start_ns(loop, &settle->timer, settle->first->due_ns - loop_mono_ns(loop));
}

static void tell(struct settle *settle, const struct settling *settling)
{
    const struct object *object = store_get_uid(settle->registry->store, settling->uid);

    if (object && settle->listener && !settling->ended)
        settle->listener->settled(settle->listener, object);
}

static void on_due(struct timer *timer)
{
    struct settle *settle = container_of(timer, struct settle, timer);
    struct loop *loop = settle->registry->loop;

    if (settle->first->due_ns > settle->requests_taken_ns) {
        settle->requests_taken_ns = loop_mono_ns(loop);
        timer_start(loop, timer, REQUESTS_FIRST_MS);
        return;
    }
    while (settle->first && settle->first->due_ns <= settle->requests_taken_ns) {
        struct settling *settling = settle->first;

        settle->first = settling->next;
        if (!settle->first)
            settle->last = &settle->first;
        HASH_DEL(settle->by_uid, settling);
        tell(settle, settling);
        mem_free(settling);
    }
    wait_for_first(settle);
}

static void on_durable(struct task *task)
{
    struct settling *settling = container_of(task, struct settling, durable);
    struct settle *settle = settling->settle;

    settling->due_ns = loop_mono_ns(settle->registry->loop) + SETTLE_MS * (int64_t)1000000;
    *settle->last = settling;
    settle->last = &settling->next;
    wait_for_first(settle);
}

void settle_created(struct settle *settle, const struct object *created)
{
    size_t len = strlen(object_uid(created));
    struct settling *settling;

    if (!settle->listener || (created->kind != &kind_job && created->kind != &kind_job_flow))
        return;
    settling = mem_alloc(sizeof *settling + len + 1);
    settling->settle = settle;
    settling->durable.run = on_durable;
    memcpy(settling->uid, object_uid(created), len + 1);
    HASH_ADD_KEYPTR(hh, settle->by_uid, settling->uid, len, settling);
    store_when_durable(settle->registry->store, &settling->durable);
}

bool registry_settling(const struct registry *r, const struct object *object)
{
    return find(r->settle, object) != NULL;
}

void registry_settle_now(struct registry *r, const struct object *object)
{
    struct settling *settling = find(r->settle, object);

    if (settling)
        settling->ended = true;
}

void registry_on_settled(struct registry *r, struct settle_listener *listener)
{
    r->settle->listener = listener;
}

struct settle *settle_new(struct registry *r)
{
    struct settle *settle = mem_alloc(sizeof *settle);

    settle->registry = r;
    settle->last = &settle->first;
    settle->timer.fire = on_due;
    return settle;
}

void settle_free(struct settle *settle)
{
    struct registry *r = settle->registry;
    struct settling *settling, *next;

    timer_stop(r->loop, &settle->timer);
    HASH_ITER(hh, settle->by_uid, settling, next)
    {
        HASH_DEL(settle->by_uid, settling);
        store_forget(r->store, &settling->durable);
        loop_cancel(r->loop, &settling->durable);
        mem_free(settling);
    }
    mem_free(settle);
}
