/*
 * One record for each removal, which is either in flight or in the list of those that wait.
 */
#include "job/removals.h"

#include <string.h>

#include "base/mem.h"
#include "job/run.h"

/* The wait before a failed deletion is tried again; it doubles each time. */
enum { RETRY_FIRST_MS = 100, RETRY_MAX_MS = 60000 };

struct job_removal {
    struct cluster_call call;
    struct timer timer;
    struct job_controller *ctl;
    const struct kind *kind;
    struct meta *meta; /* metadata of the object; a reference */
    int64_t wait_ms;
    LIST_ENTRY(job_removal) waits; /* links the removals that wait for their next attempt */
};

static void end(struct job_removal *removal)
{
    struct job_controller *ctl = removal->ctl;

    meta_unref(removal->meta);
    mem_free(removal);
    if (--ctl->records == 0 && ctl->stopping)
        job_controller_release(ctl);
}

static void try(struct job_removal *removal)
{
    const struct meta *meta = removal->meta;
    const struct cluster_removal how = {
        .uid = meta->uid, .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    cluster_remove(removal->ctl->cluster, &removal->call, removal->kind, meta->namespace,
                   meta->name, &how);
}

static void unlink_waiting(struct job_removal *removal)
{
    LIST_REMOVE(removal, waits);
    timer_stop(removal->ctl->loop, &removal->timer);
}

static void again(struct timer *timer)
{
    struct job_removal *removal = container_of(timer, struct job_removal, timer);

    unlink_waiting(removal);
    try(removal);
}

/* Returns false when the object is gone, or another one has its name. */
static bool still_stands(const struct job_removal *removal)
{
    const struct meta *meta = removal->meta;
    const struct object *object =
        cluster_get(removal->ctl->cluster, removal->kind, meta->namespace, meta->name);

    return object && strcmp(object_uid(object), meta->uid) == 0;
}

static void answered(struct cluster_call *call, const struct object *none, const struct error *err)
{
    struct job_removal *removal = container_of(call, struct job_removal, call);
    struct job_controller *ctl = removal->ctl;

    if (!err || err->code == ERR_NOT_FOUND || ctl->stopping ||
        (err->code == ERR_CONFLICT && !still_stands(removal))) {
        end(removal);
        return;
    }
    LIST_INSERT_HEAD(&ctl->removals, removal, waits);
    timer_start(ctl->loop, &removal->timer, removal->wait_ms);
    removal->wait_ms =
        removal->wait_ms * 2 < RETRY_MAX_MS ? removal->wait_ms * 2 : (int64_t)RETRY_MAX_MS;
}

void job_remove(struct job_controller *ctl, const struct kind *kind, const struct meta *meta)
{
    struct job_removal *removal = mem_alloc(sizeof *removal);

    *removal = (struct job_removal){.call.done = answered,
                                    .timer.fire = again,
                                    .ctl = ctl,
                                    .kind = kind,
                                    .meta = meta_ref(meta),
                                    .wait_ms = RETRY_FIRST_MS};
    ctl->records++;
    try(removal);
}

void job_removals_release(struct job_controller *ctl)
{
    while (!LIST_EMPTY(&ctl->removals)) {
        struct job_removal *removal = LIST_FIRST(&ctl->removals);

        unlink_waiting(removal);
        end(removal);
    }
}
