/*
 * The garbage collector: deletes dependents with their owners, and namespaces with their content.
 *
 * It keeps a queue of uids to check. A check depends only on stored state, so a uid may be queued
 * for any reason and more than once:
 *
 *   no object has the uid          dependents without another owner are deleted; the others lose the
 *                                  reference
 *   deleted in foreground          its dependents are deleted; when no blocking one is left, it
 *                                  loses its finalizer
 *   deleted with orphaning         its dependents lose the reference, then it loses its finalizer
 *   a namespace being deleted      its content is deleted, then the namespace
 *   any other object               is deleted if all its owners are gone
 *
 * Owners are matched by uid, in the same namespace or cluster-scoped. Ref: spec/kube-api.md 14.3,
 * 14.4; Kubernetes pkg/controller/garbagecollector.
 *
 * A check of many objects takes a list of them once and processes it in slices, so that ten
 * thousand pods do not block the loop.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "base/log.h"
#include "base/mem.h"

enum { SLICE = 256 };

enum scope {
    LOOK_ONCE, /* check the object itself, and whether its deletion is complete */
    LOOK_ALL,  /* check each dependent too, or each object in the namespace */
};

struct look {
    UT_hash_handle hh;
    enum scope scope;
    bool listed;          /* the list was taken */
    struct object **list; /* dependents, [count] owned references; those before `at` are
                           * processed */
    size_t count, cap, at;
    char uid[]; /* uid of the owner, the key of the table */
};

struct gc {
    struct registry *r;
    struct look *looks; /* owners to look at, in order of arrival, which uthash keeps */
    struct task task;
};

static void look_at(struct gc *gc, const char *uid, enum scope scope)
{
    struct look *look = NULL;
    size_t len = strlen(uid);

    HASH_FIND(hh, gc->looks, uid, len, look);
    if (!look) {
        look = mem_alloc(sizeof *look + len + 1);
        memcpy(look->uid, uid, len + 1);
        HASH_ADD_KEYPTR(hh, gc->looks, look->uid, len, look);
    }
    if (scope > look->scope)
        look->scope = scope;
    loop_post(gc->r->loop, &gc->task);
}

static void look_over(struct gc *gc, struct look *look)
{
    HASH_DEL(gc->looks, look);
    for (size_t i = look->at; i < look->count; i++)
        object_unref(look->list[i]);
    mem_free(look->list);
    mem_free(look);
}

static void list_add(void *arg, const struct object *object)
{
    struct look *look = arg;

    mem_grow(look->list, look->count, look->cap);
    look->list[look->count++] = object_ref(object);
}

/* Returns the existing owner behind a reference, or NULL. */
static const struct object *owner_of(const struct registry *r, const struct object *object,
                                     const struct owner_ref *reference)
{
    const struct object *owner = store_get_uid(r->store, reference->uid);

    if (owner && owner->kind->namespaced &&
        strcmp(object_namespace(owner), object_namespace(object)) != 0)
        return NULL;
    return owner;
}

static bool in_foreground(const struct object *object)
{
    return object_deleting(object) && meta_has_finalizer(object->meta, FINALIZER_FOREGROUND);
}

static bool is_orphaning(const struct object *object)
{
    return object_deleting(object) && meta_has_finalizer(object->meta, FINALIZER_ORPHAN);
}

/* Queues the owners that are being deleted and wait for their dependents. */
static void look_at_owners(struct gc *gc, const struct object *object)
{
    for (uint32_t i = 0; i < object->meta->n_owners; i++) {
        const struct object *owner = owner_of(gc->r, object, &object->meta->owners[i]);

        if (owner && in_foreground(owner))
            look_at(gc, object_uid(owner), LOOK_ONCE);
    }
}

struct owners {
    uint32_t solid;   /* number of owners that are not being deleted */
    uint32_t waiting; /* being deleted in foreground: this object must go first */
    uint32_t gone;
};

static struct owners count_owners(const struct registry *r, const struct object *object)
{
    struct owners owners = {0};

    for (uint32_t i = 0; i < object->meta->n_owners; i++) {
        const struct object *owner = owner_of(r, object, &object->meta->owners[i]);

        if (!owner)
            owners.gone++;
        else if (in_foreground(owner))
            owners.waiting++;
        else
            owners.solid++;
    }
    return owners;
}

static bool keeps(const struct registry *r, const struct object *object,
                  const struct owner_ref *reference, const char *without)
{
    const struct object *owner = owner_of(r, object, reference);

    if (without)
        return strcmp(reference->uid, without) != 0;
    return owner && !in_foreground(owner);
}

/* Removes the references to the owner `without`, or, with NULL, to owners that are gone or being
 * deleted. */
static void drop_owners(struct gc *gc, const struct object *object, const char *without)
{
    struct registry *r = gc->r;
    struct meta meta = *object->meta;
    struct owner_ref *kept = mem_array(meta.n_owners, sizeof *kept);
    uint32_t n = 0;

    for (uint32_t i = 0; i < meta.n_owners; i++)
        if (keeps(r, object, &meta.owners[i], without))
            kept[n++] = meta.owners[i];
    meta.owners = kept;
    meta.n_owners = n;
    store_put(r->store, object_with_meta(object, meta_new(&meta)));
    mem_free(kept);
    look_at_owners(gc, object);
}

static void delete_internal(struct registry *r, const struct object *object,
                            enum registry_propagation propagation)
{
    const struct registry_delete how = {
        .uid = object_uid(object),
        .grace_s = -1,
        .propagation = propagation,
        .internal = true,
    };
    struct error_list errors = {0};
    struct error err;

    registry_delete(r, registry_target_of(object), &how, NULL, &errors);
    if (!error_list_ok(&errors, &err))
        log_warn("object not collected", kv_str("kind", object->kind->name),
                 kv_str("namespace", object_namespace(object)), kv_str("name", object_name(object)),
                 kv_str("error", err.message));
    error_list_release(&errors);
}

struct blocked {
    const char *uid;
};

static bool blocks(void *arg, const struct object *object)
{
    const struct blocked *owner = arg;

    for (uint32_t i = 0; i < object->meta->n_owners; i++)
        if (object->meta->owners[i].block_owner_deletion &&
            strcmp(object->meta->owners[i].uid, owner->uid) == 0)
            return true;
    return false;
}

static bool has_blocking(const struct registry *r, const struct object *object)
{
    struct blocked owner = {object_uid(object)};

    return store_find_owned(r->store, owner.uid, blocks, &owner);
}

/* Deletes an object with owners when none of them remains. */
static void collect(struct gc *gc, const struct object *object)
{
    struct registry *r = gc->r;
    struct owners owners = count_owners(r, object);

    if (owners.gone + owners.waiting == 0)
        return;
    if (owners.solid) {
        drop_owners(gc, object, NULL);
        return;
    }
    if (object_deleting(object))
        return;
    delete_internal(r, object,
                    owners.waiting && has_blocking(r, object) ? REGISTRY_FOREGROUND
                                                              : REGISTRY_BACKGROUND);
}

static void drop_finalizer(struct registry *r, const struct object *object, const char *finalizer)
{
    struct meta meta = *object->meta;
    const char **kept = mem_array(meta.n_finalizers, sizeof *kept);
    uint32_t n = 0;

    for (uint32_t i = 0; i < meta.n_finalizers; i++)
        if (strcmp(meta.finalizers[i], finalizer) != 0)
            kept[n++] = meta.finalizers[i];
    meta.finalizers = kept;
    meta.n_finalizers = n;
    if (n == 0 && meta.deletion_grace_s <= 0 && object->kind != &kind_namespace)
        registry_remove(r, object);
    else
        store_put(r->store, object_with_meta(object, meta_new(&meta)));
    mem_free(kept);
}

/* Takes the list of objects that a check must process: dependents, or the content of a namespace.
 */
static void take_list(const struct registry *r, struct look *look, const struct object *object)
{
    look->listed = true;
    if (look->scope != LOOK_ALL)
        return;
    if (!object || in_foreground(object) || is_orphaning(object))
        store_each_owned(r->store, NULL, look->uid, list_add, look);
    if (!object || object->kind != &kind_namespace || !object_deleting(object))
        return;
    for (int id = 0; id < KIND_N; id++)
        if (kind_by_id((enum kind_id)id)->namespaced)
            store_each(r->store, kind_by_id((enum kind_id)id), object_name(object), list_add, look);
}

static void handle_listed(struct gc *gc, const struct object *object, const struct object *listed)
{
    struct registry *r = gc->r;
    const struct object *current = store_get_uid(r->store, object_uid(listed));

    if (!current)
        return;
    if (!object || in_foreground(object))
        collect(gc, current);
    else if (is_orphaning(object))
        drop_owners(gc, current, object_uid(object));
    else if (object->kind == &kind_namespace && !object_deleting(current))
        delete_internal(r, current, REGISTRY_BACKGROUND);
}

static void finish_namespace(struct registry *r, const struct object *object)
{
    if (store_count(r->store, NULL, object_name(object)) == 0 && object->meta->n_finalizers == 0)
        registry_remove(r, object);
}

/* Ends a check whose list is processed: finishes the deletion of the object itself. */
static void conclude(struct gc *gc, const struct look *look, const struct object *object)
{
    struct registry *r = gc->r;

    if (!object)
        return;
    if (in_foreground(object)) {
        if (has_blocking(r, object))
            return;
        if (is_orphaning(object)) /* of the two finalizers, orphan is handled first */
            look_at(gc, look->uid, LOOK_ALL);
        drop_finalizer(r, object, FINALIZER_FOREGROUND);
    } else if (is_orphaning(object)) {
        if (look->scope == LOOK_ALL)
            drop_finalizer(r, object, FINALIZER_ORPHAN);
    } else if (object->kind == &kind_namespace && object_deleting(object)) {
        finish_namespace(r, object);
    } else if (object->meta->n_owners) {
        collect(gc, object);
    }
}

/* Processes up to `most` objects. Returns their number. */
static size_t work_on(struct gc *gc, struct look *look, size_t most)
{
    struct registry *r = gc->r;
    const struct object *object = store_get_uid(r->store, look->uid);
    size_t done = 0;

    if (!look->listed)
        take_list(r, look, object);
    while (look->at < look->count && done < most) {
        struct object *listed = look->list[look->at++];

        handle_listed(gc, store_get_uid(r->store, look->uid), listed);
        object_unref(listed);
        done++;
    }
    return done;
}

static void work(struct task *task)
{
    struct gc *gc = container_of(task, struct gc, task);
    size_t left = SLICE;

    while (gc->looks && left > 0) {
        struct look *look = gc->looks;
        size_t done = work_on(gc, look, left);

        left -= done < left ? done : left;
        if (look->at < look->count)
            break;
        left -= left > 0;

        /* The record is removed before, because conclude() may queue the same uid again. */
        HASH_DEL(gc->looks, look);
        conclude(gc, look, store_get_uid(gc->r->store, look->uid));
        mem_free(look->list);
        mem_free(look);
    }
    if (gc->looks)
        loop_post(gc->r->loop, &gc->task);
}

void gc_owners_changed(struct gc *gc, const struct object *old, const struct object *object)
{
    struct owners owners;

    if (old)
        look_at_owners(gc, old);
    if (object->meta->n_owners == 0)
        return;
    owners = count_owners(gc->r, object);
    if (owners.gone + owners.waiting > 0)
        look_at(gc, object_uid(object), LOOK_ONCE);
}

void gc_deleting(struct gc *gc, const struct object *object)
{
    if (in_foreground(object) || is_orphaning(object) || object->kind == &kind_namespace)
        look_at(gc, object_uid(object), LOOK_ALL);
}

static void look_at_namespace(struct gc *gc, const char *name)
{
    const struct object *ns_object = store_get(gc->r->store, &kind_namespace, "", name);

    if (ns_object && object_deleting(ns_object) && store_count(gc->r->store, NULL, name) == 0)
        look_at(gc, object_uid(ns_object), LOOK_ONCE);
}

void gc_removed(struct gc *gc, const struct object *object)
{
    if (store_find_owned(gc->r->store, object_uid(object), NULL, NULL))
        look_at(gc, object_uid(object), LOOK_ALL);
    look_at_owners(gc, object);
    if (object->kind->namespaced)
        look_at_namespace(gc, object_namespace(object));
}

static void recover(void *arg, const struct object *object)
{
    struct gc *gc = arg;

    gc_owners_changed(gc, NULL, object);
    if (object_deleting(object))
        gc_deleting(gc, object);
}

struct gc *gc_new(struct registry *r)
{
    struct gc *gc = mem_alloc(sizeof *gc);

    gc->r = r;
    gc->task.run = work;
    if (store_is_read_only(r->store)) /* nothing is deleted from a read-only store */
        return gc;
    for (int id = 0; id < KIND_N; id++)
        store_each(r->store, kind_by_id((enum kind_id)id), NULL, recover, gc);
    return gc;
}

void gc_free(struct gc *gc)
{
    if (!gc)
        return;
    loop_cancel(gc->r->loop, &gc->task);
    while (gc->looks)
        look_over(gc, gc->looks);
    mem_free(gc);
}
