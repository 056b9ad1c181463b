/*
 * Compares the pods that the supervisors have with those in the new store.
 */
#include "cli/cmd/admin/repair_pods.h"

#include <string.h>

#include "api/store/db/repair.h"
#include "api/types/kinds/pod/pod.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "node/runtime/running.h"

struct running {
    UT_hash_handle hh; /* links the pods in a hash table by uid */
    char *name;        /* NAMESPACE/NAME, owned; NULL = not known */
    char uid[];
};

static void add_running(void *ctx, const char *uid)
{
    struct running **all = ctx, *pod = mem_alloc(sizeof *pod + strlen(uid) + 1);

    memcpy(pod->uid, uid, strlen(uid) + 1);
    HASH_ADD_STR(*all, uid, pod);
}

static void drop(struct running **all, struct running *pod)
{
    HASH_DEL(*all, pod);
    mem_free(pod->name);
    mem_free(pod);
}

static void drop_kept(void *ctx, const char *uid, const char *ns, const char *name)
{
    struct running **all = ctx, *pod;

    HASH_FIND_STR(*all, uid, pod);
    if (pod)
        drop(all, pod);
}

static void name_ended(void *ctx, const char *uid, const char *ns, const char *name)
{
    struct running **all = ctx, *pod;

    HASH_FIND_STR(*all, uid, pod);
    if (pod && !pod->name)
        pod->name = mem_printf("%s/%s", ns, name);
}

int64_t repair_ends_pods(const char *data_dir, const char *old, const char *new, struct buf *out,
                         struct error *err)
{
    scoped_str node_dir = mem_printf("%s/node", data_dir);
    struct running *all = NULL, *pod, *next;
    int64_t n = -1;

    if (running_pods(node_dir, add_running, &all, err) &&
        (!all || store_each_in_file(new, &kind_pod, drop_kept, &all, err))) {
        n = HASH_COUNT(all);
        if (all) /* without names the uids must do */
            store_each_in_file(old, &kind_pod, name_ended, &all, NULL);
    }
    HASH_ITER(hh, all, pod, next)
    {
        if (n > 0)
            buf_printf(out, "%s%s(uid %s)\n", pod->name ? pod->name : "", pod->name ? " " : "",
                       pod->uid);
        drop(&all, pod);
    }
    return n;
}
