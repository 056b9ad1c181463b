/*
 * Reference-counted metadata. One allocation holds the struct, its arrays and its stored form, and
 * the strings of the struct point into the stored form (see meta_stored.c).
 */
#include <stdint.h>
#include <string.h>

#include "api/types/meta_layout.h"
#include "api/types/object.h"
#include "base/mem.h"

struct meta *meta_ref(const struct meta *meta)
{
    struct meta *shared = (struct meta *)meta; /* the reference count is not part of the content */

    if (shared)
        atomic_fetch_add(&shared->refs, 1);
    return shared;
}

void meta_unref(struct meta *meta)
{
    if (meta && atomic_fetch_sub(&meta->refs, 1) == 1)
        mem_free(container_of(meta, struct meta_block, meta));
}

size_t meta_bytes(const struct meta *meta)
{
    return container_of((struct meta *)meta, struct meta_block, meta)->bytes;
}

struct meta *meta_new(const struct meta *draft)
{
    scoped(buf) struct buf stored = {0};

    meta_encode(draft, &stored);
    return meta_decode(stored.data, stored.len, NULL);
}

/* Returns the value of `key` among `count` pairs, NULL if absent. */

static const char *kv_find(const struct kv *pairs, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].value;
    return NULL;
}

const char *meta_label(const struct meta *meta, const char *key)
{
    return kv_find(meta->labels, meta->n_labels, key);
}

const char *meta_annotation(const struct meta *meta, const char *key)
{
    return kv_find(meta->annotations, meta->n_annotations, key);
}

const struct owner_ref *meta_controller(const struct meta *meta)
{
    for (uint32_t i = 0; i < meta->n_owners; i++)
        if (meta->owners[i].controller)
            return &meta->owners[i];
    return NULL;
}

bool meta_has_finalizer(const struct meta *meta, const char *finalizer)
{
    for (uint32_t i = 0; i < meta->n_finalizers; i++)
        if (strcmp(meta->finalizers[i], finalizer) == 0)
            return true;
    return false;
}
