/*
 * Shelves by key; an empty one goes. See selector_index.h.
 */
#include "node/proxy/selector_index.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/labels.h"
#include "base/hash.h"

struct shelf {
    UT_hash_handle hh; /* by "namespace/job"; "namespace/" */
    char *key;
    struct shelved *first;
};

static struct shelf *shelf_of(const struct shelves *shelves, const char *ns, const char *job)
{
    scoped_str key = mem_printf("%s/%s", ns, job ? job : "");
    struct shelf *shelf;

    HASH_FIND(hh, shelves->first, key, strlen(key), shelf);
    return shelf;
}

static struct shelf *shelf_made(struct shelves *shelves, const char *ns, const char *job)
{
    struct shelf *shelf = shelf_of(shelves, ns, job);

    if (shelf)
        return shelf;
    shelf = mem_alloc(sizeof *shelf);
    shelf->key = mem_printf("%s/%s", ns, job ? job : "");
    HASH_ADD_KEYPTR(hh, shelves->first, shelf->key, strlen(shelf->key), shelf);
    return shelf;
}

void shelve(struct shelves *shelves, struct shelved *shelved, const char *ns, const char *job)
{
    shelved->shelf = shelf_made(shelves, ns, job);
    shelved->next = shelved->shelf->first;
    shelved->shelf->first = shelved;
}

void unshelve(struct shelves *shelves, struct shelved *shelved)
{
    struct shelf *shelf = shelved->shelf;
    struct shelved **at;

    if (!shelf)
        return;
    for (at = &shelf->first; *at != shelved;)
        at = &(*at)->next;
    *at = shelved->next;
    *shelved = (struct shelved){0};
    if (shelf->first)
        return;
    HASH_DELETE(hh, shelves->first, shelf);
    mem_free(shelf->key);
    mem_free(shelf);
}

static bool each_on(const struct shelf *shelf, bool (*visit)(void *arg, struct shelved *shelved),
                    void *arg)
{
    for (struct shelved *at = shelf ? shelf->first : NULL; at; at = at->next)
        if (!visit(arg, at))
            return false;
    return true;
}

bool shelves_each(const struct shelves *shelves, const struct meta *pod,
                  bool (*visit)(void *arg, struct shelved *shelved), void *arg)
{
    const char *job = shelves->first ? meta_label(pod, LABEL_JOB_NAME) : NULL;

    if (!shelves->first)
        return true;
    return each_on(shelf_of(shelves, pod->namespace_, NULL), visit, arg) &&
           (!job || each_on(shelf_of(shelves, pod->namespace_, job), visit, arg));
}
