/*
 * Follows the changes of jobs. What it writes is in the commit of the change. Once an hour, and as
 * often as the retention is long when that is shorter, it looks at all Submissions: it notes an end
 * for those whose job is gone, and deletes those that are over.
 */
#include "api/submit/retention.h"

#include <string.h>

#include "api/submit/change.h"
#include "api/submit/item.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/submission.h"
#include "base/mem.h"

enum { SWEEP_MS = 3600 * 1000, FIRST_SWEEP_MS = 1000 };

struct submit_retention {
    struct loop *loop;
    struct registry *registry;
    struct store *store;
    struct store_listener listener;
    struct timer sweep;
    int64_t retention_ms;
};

static void note_end(struct submit_retention *r, const struct object *submission, const char *state)
{
    const struct submission_end end = {state, loop_wall_ms(r->loop)};
    struct error_list errors = {0};

    if (!submission_end_of(submission)->state)
        registry_update_status(r->registry, submission, submission_end_blob(&end), NULL, &errors);
    error_list_release(&errors);
}

static int64_t sweep_ms(const struct submit_retention *r)
{
    if (r->retention_ms > SWEEP_MS)
        return SWEEP_MS;
    return r->retention_ms > FIRST_SWEEP_MS ? r->retention_ms : FIRST_SWEEP_MS;
}

/* Arms the timer while there are Submissions. */
static void sweep_later(struct submit_retention *r)
{
    if (!timer_armed(&r->sweep) && store_count(r->store, &kind_submission, NULL) > 0)
        timer_start(r->loop, &r->sweep, sweep_ms(r));
}

/* Anybody who may create jobs can give one the annotation: the job has to be the Submission's. */
static bool is_job_of(const struct object *submission, const struct object *job)
{
    const struct submission *spec = submission_of(submission);
    scoped_str name = mem_printf(SUBMIT_JOB_NAME_PREFIX "%s", spec->job_id);

    return spec->ns && strcmp(name, object_name(job)) == 0 &&
           strcmp(spec->ns, object_namespace(job)) == 0;
}

static void on_change(struct store_listener *listener, enum store_change change,
                      const struct object *old, const struct object *object)
{
    struct submit_retention *r = container_of(listener, struct submit_retention, listener);
    const char *name = object->kind == &kind_job && object->meta->n_annotations > 0
                           ? meta_annotation(object->meta, ANNOTATION_SUBMISSION)
                           : NULL;
    const struct object *submission = name ? store_get(r->store, &kind_submission, "", name) : NULL;
    bool finished = name && job_phase_finished(job_status_of(object)->phase);

    if (object->kind == &kind_submission)
        sweep_later(r);
    if (!submission || (change != STORE_DELETED && !finished) || !is_job_of(submission, object))
        return;
    note_end(r, submission, finished ? submit_state_of(r->registry, object) : "CANCELLED");
}

/* Looks at one Submission. */
static void look_at(void *arg, const struct object *submission)
{
    struct submit_retention *r = arg;
    const struct submission *spec = submission_of(submission);
    const struct submission_end *end = submission_end_of(submission);
    struct error_list errors = {0};

    if (!end->state) {
        scoped_str name = mem_printf(SUBMIT_JOB_NAME_PREFIX "%s", spec->job_id);

        if (!store_get(r->store, &kind_job, spec->ns, name))
            note_end(r, submission, "CANCELLED");
    } else if (loop_wall_ms(r->loop) - end->end_ms >= r->retention_ms) {
        const struct registry_delete how = {
            .uid = object_uid(submission), .grace_s = -1, .internal = true};
        const struct registry_target at = {&kind_submission, "", object_name(submission)};

        registry_delete(r->registry, at, &how, NULL, &errors);
        error_list_release(&errors);
    }
}

struct list {
    struct object **items;
    size_t count, cap;
};

static void add(void *arg, const struct object *object)
{
    struct list *list = arg;

    mem_grow(list->items, list->count, list->cap);
    list->items[list->count++] = object_ref(object);
}

static void sweep(struct timer *timer)
{
    struct submit_retention *r = container_of(timer, struct submit_retention, sweep);
    struct list all = {0};

    store_each(r->store, &kind_submission, NULL, add, &all);
    for (size_t i = 0; i < all.count; i++) {
        look_at(r, all.items[i]);
        object_unref(all.items[i]);
    }
    mem_free(all.items);
    sweep_later(r);
}

struct submit_retention *submit_retention_start(struct loop *loop, struct registry *registry,
                                                int64_t retention_ms)
{
    struct submit_retention *r = mem_alloc(sizeof *r);

    *r = (struct submit_retention){.loop = loop,
                                   .registry = registry,
                                   .store = registry_store(registry),
                                   .listener = {.changed = on_change},
                                   .sweep = {.fire = sweep},
                                   .retention_ms = retention_ms};
    store_listen(r->store, &r->listener);
    if (store_count(r->store, &kind_submission, NULL) > 0)
        timer_start(loop, &r->sweep, FIRST_SWEEP_MS);
    return r;
}

void submit_retention_set(struct submit_retention *r, int64_t retention_ms)
{
    if (r->retention_ms == retention_ms)
        return;
    r->retention_ms = retention_ms;
    timer_stop(r->loop, &r->sweep);
    if (store_count(r->store, &kind_submission, NULL) > 0)
        timer_start(r->loop, &r->sweep, FIRST_SWEEP_MS);
}

void submit_retention_stop(struct submit_retention *r)
{
    if (!r)
        return;
    store_unlisten(r->store, &r->listener);
    timer_stop(r->loop, &r->sweep);
    mem_free(r);
}
