/*
 * An entry holds the error of the server, which is told again.
 */
#include "api/cluster_remote/terminating_namespaces.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

enum { NS_PER_MS = 1000000 };

struct terminating_namespace {
    UT_hash_handle hh;
    int64_t until_ns;
    struct error err;
    char ns[];
};

static struct terminating_namespace *find(const struct terminating_namespaces *terminating,
                                          const char *ns)
{
    struct terminating_namespace *entry;

    HASH_FIND_STR(terminating->entries, ns, entry);
    return entry;
}

void terminating_namespaces_note(struct terminating_namespaces *terminating, const char *ns,
                                 int64_t now_ns, const struct error *err)
{
    struct terminating_namespace *entry;
    size_t len = strlen(ns);

    if (err->code != ERR_FORBIDDEN || !*ns ||
        !strstr(err->message, "because it is being terminated"))
        return;
    entry = find(terminating, ns);
    if (!entry) {
        entry = mem_alloc(sizeof *entry + len + 1);
        memcpy(entry->ns, ns, len + 1);
        HASH_ADD_KEYPTR(hh, terminating->entries, entry->ns, len, entry);
    }
    entry->until_ns = now_ns + (int64_t)TERMINATING_KNOWN_MS * NS_PER_MS;
    entry->err = *err;
}

bool terminating_namespaces_refuses(struct terminating_namespaces *terminating, const char *ns,
                                    int64_t now_ns, struct error *out)
{
    struct terminating_namespace *entry = find(terminating, ns);

    if (!entry)
        return false;
    if (now_ns < entry->until_ns) {
        *out = entry->err;
        return true;
    }
    HASH_DEL(terminating->entries, entry);
    mem_free(entry);
    return false;
}

void terminating_namespaces_release(struct terminating_namespaces *terminating)
{
    struct terminating_namespace *entry, *next;

    HASH_ITER(hh, terminating->entries, entry, next)
    {
        HASH_DEL(terminating->entries, entry);
        mem_free(entry);
    }
}
