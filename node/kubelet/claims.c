/*
 * Binds claims and removes the directories of deleted ones. A directory is removed once the
 * deletion is durable, on a worker thread, because the tree can be large. A crash in between leaves
 * the directory; a sweep at the next start removes directories without a claim.
 */
#include "node/kubelet/claims.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet/volumes.h"

struct claims {
    struct cluster *cluster;
    const char *data_dir;
    struct cluster_watcher watcher;
    /* Directories to remove once the deletion of their claim is durable. */
    LIST_HEAD(removals, removal) waiting;
    struct sweep *sweep; /* the sweep that is in progress, or NULL */
};

/* One directory to be removed. Once a worker thread has it, it may outlive struct claims. */
struct removal {
    LIST_ENTRY(removal) all;
    struct task durable;
    struct pool_work work;
    struct loop *loop;
    char *path;
    bool failed;
    struct error err;
};

static void free_removal(struct removal *removal)
{
    mem_free(removal->path);
    mem_free(removal);
}

static void removed(struct pool_work *work)
{
    struct removal *removal = container_of(work, struct removal, work);

    if (removal->failed)
        log_warn("claim directory could not be removed", kv_str("path", removal->path),
                 kv_str("error", removal->err.message));
    free_removal(removal);
}

static void remove_tree(struct pool_work *work)
{
    struct removal *removal = container_of(work, struct removal, work);
    char *slash = strrchr(removal->path, '/');
    int fd;

    *slash = '\0';
    fd = open(removal->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (fd < 0)
        return; /* no pod ever mounted a claim of this namespace */
    removal->failed = !file_remove_tree(fd, slash + 1, &removal->err);
    close(fd);
}

static void deletion_durable(struct task *task)
{
    struct removal *removal = container_of(task, struct removal, durable);

    LIST_REMOVE(removal, all);
    removal->work.run = remove_tree;
    removal->work.done = removed;
    loop_work(removal->loop, &removal->work);
}

static void remove_directory(struct claims *claims, const char *ns, const char *uid)
{
    struct removal *removal = mem_alloc(sizeof *removal);

    removal->loop = claims->cluster->loop;
    removal->path = kubelet_claim_path(claims->data_dir, ns, uid);
    removal->durable.run = deletion_durable;
    LIST_INSERT_HEAD(&claims->waiting, removal, all);
    cluster_when_durable(claims->cluster, &removal->durable);
}

/* A sweep: a worker thread lists <data_dir>/pvc/<namespace>/<uid>; then the loop compares the list
 * with the claims that exist. */
struct sweep {
    struct pool_work work;
    struct claims *claims; /* NULL: the controller was stopped meanwhile */
    char *path;
    struct buf found; /* names of directories: "namespace\0uid\0" … */
};

static void list_namespace(struct sweep *sweep, int parent_fd, const char *ns)
{
    int fd = openat(parent_fd, ns, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] == '.')
            continue;
        buf_add(&sweep->found, ns, strlen(ns) + 1);
        buf_add(&sweep->found, entry->d_name, strlen(entry->d_name) + 1);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

static void list_claims(struct pool_work *work)
{
    struct sweep *sweep = container_of(work, struct sweep, work);
    DIR *dir = opendir(sweep->path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.')
            list_namespace(sweep, dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
}

struct lookup {
    const char *uid;
    bool found;
};

static void compare_uid(void *arg, const struct object *claim)
{
    struct lookup *lookup = arg;

    lookup->found = lookup->found || strcmp(lookup->uid, object_uid(claim)) == 0;
}

static void remove_unclaimed(struct claims *claims, const struct buf *found)
{
    const char *at = found->data, *end = at + found->len;

    while (at < end) {
        const char *ns = at, *uid = ns + strlen(ns) + 1;
        struct lookup lookup = {.uid = uid};

        cluster_each(claims->cluster, &kind_pvc, ns, compare_uid, &lookup);
        if (!lookup.found)
            remove_directory(claims, ns, uid);
        at = uid + strlen(uid) + 1;
    }
}

static void swept(struct pool_work *work)
{
    struct sweep *sweep = container_of(work, struct sweep, work);

    if (sweep->claims) {
        sweep->claims->sweep = NULL;
        if (sweep->found.len)
            remove_unclaimed(sweep->claims, &sweep->found);
    }
    buf_release(&sweep->found);
    mem_free(sweep->path);
    mem_free(sweep);
}

static void start_sweep(struct claims *claims)
{
    struct sweep *sweep = mem_alloc(sizeof *sweep);

    sweep->claims = claims;
    sweep->path = mem_printf("%s/pvc", claims->data_dir);
    sweep->work.run = list_claims;
    sweep->work.done = swept;
    claims->sweep = sweep;
    loop_work(claims->cluster->loop, &sweep->work);
}

/* Binds a claim. Its capacity is what it requests; no size is enforced. */
static void bind_claim(struct claims *claims, const struct object *claim)
{
    scoped(json) json_t *body = object_body_json(claim);
    const json_t *spec = json_object_get(body, "spec");
    json_t *modes = json_object_get(spec, "accessModes");
    json_t *requests = json_object_get(json_object_get(spec, "resources"), "requests");
    scoped(json) json_t *status = json_pack("{s:s}", "phase", "Bound");
    char *text;

    if (modes)
        json_object_set(status, "accessModes", modes);
    if (requests)
        json_object_set(status, "capacity", requests);
    text = json_dumps(status, JSON_COMPACT);
    cluster_update_status(claims->cluster, NULL, claim, blob_new(text, strlen(text)));
    mem_free(text);
}

static void claim_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct claims *claims = container_of(watcher, struct claims, watcher);
    const struct object *now =
        cluster_get(claims->cluster, &kind_pvc, object_namespace(object), object_name(object));

    if (change == CHANGE_DELETED) {
        if (claims->data_dir)
            remove_directory(claims, object_namespace(object), object_uid(object));
    } else if (now && strcmp(object_uid(now), object_uid(object)) == 0 && !now->status) {
        bind_claim(claims, now);
    }
}

struct claims *claims_start(struct cluster *cluster, const char *data_dir)
{
    struct claims *claims = mem_alloc(sizeof *claims);

    claims->cluster = cluster;
    claims->data_dir = data_dir;
    LIST_INIT(&claims->waiting);
    claims->watcher.kind = &kind_pvc;
    claims->watcher.changed = claim_changed;
    cluster_watch(cluster, &claims->watcher);
    if (data_dir)
        start_sweep(claims);
    return claims;
}

void claims_stop(struct claims *claims)
{
    struct removal *removal;

    if (!claims)
        return;
    cluster_unwatch(claims->cluster, &claims->watcher);
    while ((removal = LIST_FIRST(&claims->waiting))) {
        LIST_REMOVE(removal, all);
        cluster_forget(claims->cluster, &removal->durable);
        free_removal(removal);
    }
    if (claims->sweep)
        claims->sweep->claims = NULL;
    mem_free(claims);
}
