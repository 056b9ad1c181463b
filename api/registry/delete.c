/*
 * Delete: removes an object at once, or marks it as deleted. Ref: spec/kube-api.md 14.
 *
 *   preconditions ─ protection ─┬─ running pod ──────────────► mark with grace period; the node
 *                               │                              deletes it again with grace 0
 *                               ├─ finalizers, a propagation
 *                               │  policy, a namespace ──────► mark; the garbage collector or the
 *                               │                              owners remove the finalizers
 *                               └─ otherwise ────────────────► removed
 */
#include <string.h>

#include "api/registry/internal.h"
#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"

static bool check_preconditions(const struct object *object, const struct registry_delete *how,
                                struct error_list *errors)
{
    char kind[RESOURCE_TEXT_MAX];

    if (how->uid && strcmp(how->uid, object_uid(object)) != 0) {
        error_list_add(errors, ERR_CONFLICT, "",
                       "Operation cannot be fulfilled on %s \"%s\": the UID in the precondition "
                       "(%s) does not match the UID in record (%s). The object might have been "
                       "deleted and then recreated",
                       registry_kind_text(object->kind, kind), object_name(object), how->uid,
                       object_uid(object));
        return false;
    }
    if (how->revision && how->revision != object->revision) {
        error_list_add(errors, ERR_CONFLICT, "",
                       "Operation cannot be fulfilled on %s \"%s\": the ResourceVersion in the "
                       "precondition (%lld) does not match the ResourceVersion in record (%lld). "
                       "The object might have been modified",
                       registry_kind_text(object->kind, kind), object_name(object),
                       (long long)how->revision, (long long)object->revision);
        return false;
    }
    return true;
}

static bool is_permanent(const struct object *object)
{
    static const char *const names[] = {"default", "kube-system", "kube-public"};

    if (object->kind != &kind_namespace)
        return false;
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(object_name(object), names[i]) == 0)
            return true;
    return false;
}

static bool check_allowed(const struct registry *r, const struct object *object,
                          const struct registry_delete *how, struct error_list *errors)
{
    struct error err;

    if (how->internal)
        return true;
    if (is_permanent(object)) {
        error_list_add(errors, ERR_FORBIDDEN, "",
                       "namespaces \"%s\" is forbidden: this namespace may not be deleted",
                       object_name(object));
        return false;
    }
    if ((object->kind->validate_delete &&
         !object->kind->validate_delete(&r->admission, object, &err)) ||
        (how->grace_s != 0 && !registry_may_delete(r, object, &err))) {
        error_list_append(errors, &err);
        return false;
    }
    return true;
}

/* Returns the grace period of a running pod in seconds; 0 = the object can be removed at once. */
static int64_t pod_grace(const struct object *pod, const struct registry_delete *how)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    int64_t grace = how->grace_s;

    if (!spec || !spec->node_name || !*spec->node_name || pod_phase_ended(pod_status_phase(pod)))
        return 0;
    if (grace < 0)
        grace = spec->grace_s.set ? spec->grace_s.value : 30;
    if (object_deleting(pod) && pod->meta->deletion_grace_s < grace)
        grace = pod->meta->deletion_grace_s; /* a later delete can only shorten it */
    return grace > 0 ? grace : 0;
}

/* Returns the finalizer that the propagation policy adds to `object`, or NULL. An object without
 * dependents needs none. */
static const char *policy_finalizer(const struct registry *r, const struct object *object,
                                    enum registry_propagation propagation)
{
    if (!store_find_owned(r->store, object_uid(object), NULL, NULL))
        return NULL;
    switch (propagation) {
    case REGISTRY_FOREGROUND:
        return FINALIZER_FOREGROUND;
    case REGISTRY_ORPHAN:
        return FINALIZER_ORPHAN;
    case REGISTRY_BACKGROUND:
        break;
    }
    return NULL;
}

struct mark {
    int64_t grace_s;
    const char *finalizer; /* finalizer to add, or NULL */
};

static struct blob *marked_status(const struct object *object)
{
    static const char terminating[] = "{\"phase\":\"Terminating\"}";

    return object->kind == &kind_namespace ? blob_intern(terminating, strlen(terminating))
                                           : blob_ref(object->status);
}

static struct object *marked(const struct registry *r, const struct object *object,
                             const struct mark *mark)
{
    struct meta meta = *object->meta;
    const char **finalizers = mem_array(meta.n_finalizers + 1, sizeof *finalizers);
    struct object *with_meta, *with_status;

    for (uint32_t i = 0; i < meta.n_finalizers; i++)
        finalizers[i] = meta.finalizers[i];
    if (mark->finalizer)
        finalizers[meta.n_finalizers++] = mark->finalizer;
    meta.finalizers = finalizers;
    if (!meta.deleted_at_ms && !object->kind->no_generation)
        meta.generation++;
    if (!meta.deleted_at_ms || mark->grace_s < meta.deletion_grace_s)
        meta.deleted_at_ms = loop_wall_ms(r->loop) / 1000 * 1000 + mark->grace_s * 1000;
    meta.deletion_grace_s = mark->grace_s;
    with_meta = object_with_meta(object, meta_new(&meta));
    mem_free(finalizers);
    with_status = object_with_status(with_meta, marked_status(object));
    object_unref(with_meta);
    return with_status;
}

/* Returns whether the mark changes the object. */
static bool is_news(const struct object *object, const struct mark *mark)
{
    return !object_deleting(object) || mark->finalizer ||
           mark->grace_s < object->meta->deletion_grace_s;
}

static bool remains(const struct object *object, const struct mark *mark)
{
    return mark->grace_s > 0 || mark->finalizer || object->meta->n_finalizers > 0 ||
           object->kind == &kind_namespace;
}

static struct mark mark_for(const struct registry *r, const struct object *object,
                            const struct registry_delete *how)
{
    struct mark mark = {
        .grace_s = object->kind == &kind_pod ? pod_grace(object, how) : 0,
        .finalizer = policy_finalizer(r, object, how->propagation),
    };

    if (meta_has_finalizer(object->meta, FINALIZER_FOREGROUND) ||
        meta_has_finalizer(object->meta, FINALIZER_ORPHAN))
        mark.finalizer = NULL; /* the policy of the first delete stays */
    return mark;
}

static bool store_takes_deletes(const struct registry *r, struct error_list *errors)
{
    struct error err;

    if (store_deletable(r->store, &err))
        return true;
    error_list_append(errors, &err);
    return false;
}

bool registry_delete(struct registry *r, struct registry_target at,
                     const struct registry_delete *how, const struct object **out,
                     struct error_list *errors)
{
    const struct object *object = store_get(r->store, at.kind, at.ns, at.name), *left = NULL;
    struct mark mark;

    if (!object)
        return registry_not_found(at.kind, at.name, errors);
    if (!store_takes_deletes(r, errors) || !check_preconditions(object, how, errors) ||
        !check_allowed(r, object, how, errors))
        return false;
    mark = mark_for(r, object, how);
    if (!remains(object, &mark)) {
        if (how->keep_record && how->dry_run == REGISTRY_APPLY)
            registry_keep_record(r, object);
        if (how->dry_run == REGISTRY_APPLY)
            registry_remove(r, object);
    } else if (!is_news(object, &mark)) {
        left = object;
    } else {
        left = registry_put(r, marked(r, object, &mark), how->dry_run);
        if (how->dry_run == REGISTRY_APPLY)
            gc_deleting(r->gc, left);
    }
    if (out)
        *out = left;
    return true;
}
