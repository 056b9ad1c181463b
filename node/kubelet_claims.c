/*
 * Binding claims, and taking their directories away: after the deletion is durable, on a worker,
 * for a tree can be large.
 */
#include "node/kubelet_claims.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/kubelet_volumes.h"

struct claims {
    struct cluster *cluster;
    const char *data_dir;
    struct cluster_watcher watcher;
};

/* One directory to be removed; on its own, for it may outlive the claims. */
struct removal {
    struct task durable;
    struct pool_work work;
    struct loop *loop;
    char *path;
    bool failed;
    struct error err;
};

static void removed(struct pool_work *work)
{
    struct removal *removal = container_of(work, struct removal, work);

    if (removal->failed)
        log_warn("claim directory could not be removed", kv_str("path", removal->path),
                 kv_str("error", removal->err.message));
    mem_free(removal->path);
    mem_free(removal);
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
        return; /* no pod ever mounted one of this namespace */
    removal->failed = !file_remove_tree(fd, slash + 1, &removal->err);
    close(fd);
}

static void deletion_durable(struct task *task)
{
    struct removal *removal = container_of(task, struct removal, durable);

    removal->work.run = remove_tree;
    removal->work.done = removed;
    loop_work(removal->loop, &removal->work);
}

static void remove_directory(struct claims *claims, const struct object *claim)
{
    struct removal *removal = mem_alloc(sizeof *removal);

    removal->loop = claims->cluster->loop;
    removal->path =
        kubelet_claim_path(claims->data_dir, object_namespace(claim), object_uid(claim));
    removal->durable.run = deletion_durable;
    cluster_when_durable(claims->cluster, &removal->durable);
}

/* What is asked for is what one gets: nothing enforces a size here. */
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
            remove_directory(claims, object);
    } else if (now && !strcmp(object_uid(now), object_uid(object)) && !now->status) {
        bind_claim(claims, now);
    }
}

struct claims *claims_start(struct cluster *cluster, const char *data_dir)
{
    struct claims *claims = mem_alloc(sizeof *claims);

    claims->cluster = cluster;
    claims->data_dir = data_dir;
    claims->watcher.kind = &kind_pvc;
    claims->watcher.changed = claim_changed;
    cluster_watch(cluster, &claims->watcher);
    return claims;
}

void claims_stop(struct claims *claims)
{
    if (!claims)
        return;
    cluster_unwatch(claims->cluster, &claims->watcher);
    mem_free(claims);
}
