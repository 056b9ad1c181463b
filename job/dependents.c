/*
 * The table of objects that live with jobs. An object that is older than the end of its job was left
 * by a process that ended before it had deleted it. Such an object is deleted when both have been
 * seen, in either order. A newer one waits for the next job of the name, also when the ended job is
 * deleted.
 */
#include "job/dependents.h"

#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/lives_with.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "job/removals.h"
#include "job/run.h"

struct dependent {
    struct dependent *next;
    const struct kind *kind;
    struct meta *meta; /* metadata of the object; a reference */
};

struct job_dependents_of {
    struct dependent *first;
    UT_hash_handle hh;
    char key[];
};

static struct job_dependents_of *find(struct job_controller *ctl, const char *ns, const char *job)
{
    scoped_str key = NULL;
    struct job_dependents_of *found = NULL;

    if (!ctl->dependents)
        return NULL;
    key = mem_printf("%s/%s", ns, job);
    HASH_FIND_STR(ctl->dependents, key, found);
    return found;
}

static struct job_dependents_of *find_or_add(struct job_controller *ctl, const char *ns,
                                             const char *job)
{
    struct job_dependents_of *of = find(ctl, ns, job);
    size_t size = strlen(ns) + 1 + strlen(job) + 1;

    if (of)
        return of;
    of = mem_alloc(sizeof *of + size);
    snprintf(of->key, size, "%s/%s", ns, job);
    HASH_ADD_STR(ctl->dependents, key, of);
    return of;
}

static void free_if_empty(struct job_controller *ctl, struct job_dependents_of *of)
{
    if (of->first)
        return;
    HASH_DEL(ctl->dependents, of);
    mem_free(of);
}

static void add(struct job_controller *ctl, const struct object *object)
{
    struct job_dependents_of *of =
        find_or_add(ctl, object_namespace(object), lives_with(object->meta));
    struct dependent *added = mem_alloc(sizeof *added);

    *added = (struct dependent){of->first, object->kind, meta_ref(object->meta)};
    of->first = added;
}

static void drop(struct job_controller *ctl, const struct object *object)
{
    struct job_dependents_of *of = find(ctl, object_namespace(object), lives_with(object->meta));

    if (!of)
        return;
    for (struct dependent **at = &of->first; *at; at = &(*at)->next) {
        struct dependent *found = *at;

        if (strcmp(found->meta->uid, object_uid(object)) != 0)
            continue;
        *at = found->next;
        meta_unref(found->meta);
        mem_free(found);
        break;
    }
    free_if_empty(ctl, of);
}

/* Returns whether the job ended after the object was made. */
static bool has_outlived(const struct meta *object, const struct object *job)
{
    const struct job_status *status = job ? job_status_of(job) : NULL;

    return status && job_phase_finished(status->phase) &&
           meta_created_ms(object) <= status->transition_ms;
}

static const struct object *job_of(struct cluster *cluster, const struct object *object)
{
    return cluster_get(cluster, &kind_job, object_namespace(object), lives_with(object->meta));
}

void job_dependents_changed(struct job_controller *ctl, enum cluster_change change,
                            const struct object *old, const struct object *object)
{
    const struct object *known = change == CHANGE_DELETED ? object : old;

    if (change == CHANGE_MODIFIED && old->meta == object->meta)
        return;
    if (change != CHANGE_ADDED && known && lives_with(known->meta))
        drop(ctl, known);
    if (change == CHANGE_DELETED || !lives_with(object->meta) || object_deleting(object))
        return;
    add(ctl, object);
    if (change == CHANGE_ADDED && has_outlived(object->meta, job_of(ctl->cluster, object)))
        job_remove(ctl, object->kind, object->meta);
}

void job_dependents_seen(struct job_controller *ctl, const struct object *job)
{
    struct job_dependents_of *of = find(ctl, object_namespace(job), object_name(job));
    struct dependent *next;

    /* A removal may drop its own entry and no other one. */
    for (struct dependent *at = of ? of->first : NULL; at; at = next) {
        next = at->next;
        if (has_outlived(at->meta, job))
            job_remove(ctl, at->kind, at->meta);
    }
}

void job_dependents_end(struct job_controller *ctl, const struct object *job)
{
    struct job_dependents_of *of = find(ctl, object_namespace(job), object_name(job));
    struct dependent *first, *next;

    if (!of)
        return;
    first = of->first;
    of->first = NULL; /* deletions call job_dependents_changed */
    free_if_empty(ctl, of);
    for (; first; first = next) {
        next = first->next;
        job_remove(ctl, first->kind, first->meta);
        meta_unref(first->meta);
        mem_free(first);
    }
}

void job_dependents_release(struct job_controller *ctl)
{
    struct job_dependents_of *of, *next_of;

    HASH_ITER(hh, ctl->dependents, of, next_of)
    {
        while (of->first) {
            struct dependent *first = of->first;

            of->first = first->next;
            meta_unref(first->meta);
            mem_free(first);
        }
        HASH_DEL(ctl->dependents, of);
        mem_free(of);
    }
}
