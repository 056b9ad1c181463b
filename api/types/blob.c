/*
 * Reference-counted JSON text, interned by content.
 *
 * Interned blobs are in one hash table that holds no reference of its own: the last unref removes
 * the blob. The last unref may happen on the store thread while the loop thread looks the same text
 * up. A mutex therefore guards the table, and a look-up takes a blob only if it can raise its count
 * from at least one: a blob at zero is about to be freed.
 */
#include "api/types/blob.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

/* An interned blob is part of its table entry. */
struct interned {
    UT_hash_handle hh; /* links the blob in the table; the key is the text */
    bool listed;       /* false once another blob of this text has replaced it */
    struct blob blob;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct interned *table;

static void blob_fill(struct blob *blob, const char *text, size_t len)
{
    if (len)
        memcpy(blob->text, text, len);
    blob->text[len] = '\0';
    blob->len = (uint32_t)len;
    atomic_init(&blob->refs, 1);
}

struct blob *blob_new(const char *text, size_t len)
{
    if (len > UINT32_MAX - 1)
        mem_fatal("a blob of more than 4 GiB");

    struct blob *blob = mem_alloc(sizeof *blob + len + 1);

    blob_fill(blob, text, len);
    return blob;
}

struct blob *blob_from_buf(struct buf *buf)
{
    struct blob *blob = blob_new(buf->data, buf->len);

    buf_release(buf);
    return blob;
}

static bool ref_if_alive(struct blob *blob)
{
    unsigned refs = atomic_load(&blob->refs);

    while (refs)
        if (atomic_compare_exchange_weak(&blob->refs, &refs, refs + 1))
            return true;
    return false;
}

struct blob *blob_intern(const char *text, size_t len)
{
    uint64_t hash = hash_bytes(text, len);
    struct interned *entry = NULL;

    if (len > UINT32_MAX - 1)
        mem_fatal("a blob of more than 4 GiB");
    pthread_mutex_lock(&table_lock);
    HASH_FIND_BYHASHVALUE(hh, table, text, len, (unsigned)hash, entry);
    if (entry && !ref_if_alive(&entry->blob)) {
        HASH_DEL(table, entry);
        entry->listed = false;
        entry = NULL;
    }
    if (!entry) {
        entry = mem_alloc(sizeof *entry + len + 1);
        blob_fill(&entry->blob, text, len);
        entry->blob.hash = hash;
        entry->blob.interned = true;
        entry->listed = true;
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, table, entry->blob.text, len, (unsigned)hash, entry);
    }
    pthread_mutex_unlock(&table_lock);
    return &entry->blob;
}

struct blob *blob_ref(const struct blob *blob)
{
    struct blob *shared = (struct blob *)blob; /* the reference count is not part of the content */

    if (shared)
        atomic_fetch_add(&shared->refs, 1);
    return shared;
}

void blob_unref(struct blob *blob)
{
    if (!blob || atomic_fetch_sub(&blob->refs, 1) != 1)
        return;
    if (blob->facet)
        blob->facet->free(blob->decoded);
    mem_free(blob->fields);
    if (!blob->interned) {
        mem_free(blob);
        return;
    }

    struct interned *entry = container_of(blob, struct interned, blob);
    struct blob *input = blob->admitted_input;

    pthread_mutex_lock(&table_lock);
    if (entry->listed)
        HASH_DEL(table, entry);
    if (input)
        input->admitted_output = NULL;
    pthread_mutex_unlock(&table_lock);
    mem_free(entry);
    blob_unref(input);
}

void blob_set_facet(const struct blob *blob, const struct facet_type *type, void *decoded)
{
    struct blob *owner = (struct blob *)blob; /* derived values are not part of the content */

    assert(!owner->facet);
    owner->facet = type;
    owner->decoded = decoded;
}

void blob_replace_facet(const struct blob *blob, void *decoded)
{
    struct blob *owner = (struct blob *)blob;

    owner->decoded = decoded;
    if (!decoded)
        owner->facet = NULL;
}

void *blob_facet(const struct blob *blob, const struct facet_type *type)
{
    return blob->facet == type ? blob->decoded : NULL;
}

bool blob_leading_string(const struct blob *blob, const char *prefix, char *out, size_t size)
{
    size_t skip = strlen(prefix), len;
    const char *at = blob->text + skip;

    if (blob->len <= skip || memcmp(blob->text, prefix, skip) != 0)
        return false;
    len = strcspn(at, "\"\\");
    if (at[len] != '"' || len >= size)
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

void blob_link_output(const struct blob *input, const struct blob *output)
{
    struct blob *from = (struct blob *)input;
    struct blob *to = (struct blob *)output;

    assert(input->interned && output->interned);
    pthread_mutex_lock(&table_lock);
    if (from != to && !from->admitted_output && !to->admitted_input) {
        to->admitted_input = blob_ref(from);
        from->admitted_output = to;
    }
    pthread_mutex_unlock(&table_lock);
}

struct blob *blob_output(const struct blob *input, const struct kind *kind)
{
    struct blob *output = NULL;

    if (input->admitted_as == kind)
        return blob_ref(input);
    pthread_mutex_lock(&table_lock);
    if (input->admitted_output && input->admitted_output->admitted_as == kind &&
        ref_if_alive(input->admitted_output))
        output = input->admitted_output;
    pthread_mutex_unlock(&table_lock);
    return output;
}
