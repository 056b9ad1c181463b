/*
 * The index is a hash table of buckets by key. A bucket is removed with its last entry.
 */
#include "node/proxy/selector_index.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"

struct bucket {
    UT_hash_handle hh; /* key of the bucket: "namespace/job", or "namespace/" without a job */
    char *key;
    struct selector_entry *first;
};

static struct bucket *bucket_of(const struct selector_index *selector_index, const char *ns,
                                const char *job)
{
    scoped_str key = mem_printf("%s/%s", ns, job ? job : "");
    struct bucket *bucket;

    HASH_FIND(hh, selector_index->first, key, strlen(key), bucket);
    return bucket;
}

static struct bucket *bucket_make(struct selector_index *selector_index, const char *ns,
                                  const char *job)
{
    struct bucket *bucket = bucket_of(selector_index, ns, job);

    if (bucket)
        return bucket;
    bucket = mem_alloc(sizeof *bucket);
    bucket->key = mem_printf("%s/%s", ns, job ? job : "");
    HASH_ADD_KEYPTR(hh, selector_index->first, bucket->key, strlen(bucket->key), bucket);
    return bucket;
}

void selector_index_add(struct selector_index *selector_index, struct selector_entry *entry,
                        const char *ns, const char *job)
{
    entry->bucket = bucket_make(selector_index, ns, job);
    entry->next = entry->bucket->first;
    entry->bucket->first = entry;
}

void selector_index_remove(struct selector_index *selector_index, struct selector_entry *entry)
{
    struct bucket *bucket = entry->bucket;
    struct selector_entry **at;

    if (!bucket)
        return;
    for (at = &bucket->first; *at != entry;)
        at = &(*at)->next;
    *at = entry->next;
    *entry = (struct selector_entry){0};
    if (bucket->first)
        return;
    HASH_DELETE(hh, selector_index->first, bucket);
    mem_free(bucket->key);
    mem_free(bucket);
}

static bool each_in(const struct bucket *bucket,
                    bool (*visit)(void *arg, struct selector_entry *entry), void *arg)
{
    for (struct selector_entry *at = bucket ? bucket->first : NULL; at; at = at->next)
        if (!visit(arg, at))
            return false;
    return true;
}

bool selector_index_each(const struct selector_index *selector_index, const struct meta *pod,
                         bool (*visit)(void *arg, struct selector_entry *entry), void *arg)
{
    const char *job = selector_index->first ? meta_label(pod, LABEL_JOB_NAME) : NULL;

    if (!selector_index->first)
        return true;
    return each_in(bucket_of(selector_index, pod->namespace, NULL), visit, arg) &&
           (!job || each_in(bucket_of(selector_index, pod->namespace, job), visit, arg));
}
