/*
 * An entry holds the error of the server, which is told again.
 */
#include "api/cluster_remote/closing.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

enum { NS_PER_MS = 1000000 };

struct closing_entry {
    UT_hash_handle hh;
    int64_t until_ns;
    struct error err;
    char ns[];
};

static struct closing_entry *find(const struct closing *closing, const char *ns)
{
    struct closing_entry *entry;

    HASH_FIND_STR(closing->entries, ns, entry);
    return entry;
}

void closing_note(struct closing *closing, const char *ns, int64_t now_ns, const struct error *err)
{
    struct closing_entry *entry;
    size_t len = strlen(ns);

    if (err->code != ERR_FORBIDDEN || !*ns ||
        !strstr(err->message, "because it is being terminated"))
        return;
    entry = find(closing, ns);
    if (!entry) {
        entry = mem_alloc(sizeof *entry + len + 1);
        memcpy(entry->ns, ns, len + 1);
        HASH_ADD_KEYPTR(hh, closing->entries, entry->ns, len, entry);
    }
    entry->until_ns = now_ns + (int64_t)CLOSING_KNOWN_MS * NS_PER_MS;
    entry->err = *err;
}

bool closing_refuses(struct closing *closing, const char *ns, int64_t now_ns, struct error *out)
{
    struct closing_entry *entry = find(closing, ns);

    if (!entry)
        return false;
    if (now_ns < entry->until_ns) {
        *out = entry->err;
        return true;
    }
    HASH_DEL(closing->entries, entry);
    mem_free(entry);
    return false;
}

void closing_release(struct closing *closing)
{
    struct closing_entry *entry, *next;

    HASH_ITER(hh, closing->entries, entry, next)
    {
        HASH_DEL(closing->entries, entry);
        mem_free(entry);
    }
}
