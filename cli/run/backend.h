#pragma once
/*
 * Where a run happens: in this process, or in a daemon that holds the data directory. What the run
 * shows comes from a store of this process either way: the real one, or a mirror of the daemon's.
 */
#include "api/types/kinds/pod/pod.h"
#include "cli/manifest/manifests.h"
#include "node/runtime/runtime.h"
#include "view/flow_tracker.h"

struct backend {
    const struct backend_ops *ops;
    struct loop *loop;
    struct store *store;
    struct runtime *runtime; /* for logs */
    bool shared;             /* with others: what they left unfinished is theirs */
};

static inline bool backend_pod_over(const struct object *pod)
{
    return pod_phase_ended(pod_status_phase(pod));
}

struct backend_ops {
    /** Make the namespaces the manifests speak of but do not define. */
    void (*namespaces)(struct backend *backend, const struct manifests *set);
    /** Whether what is stored could be changed to what the manifest says; writes nothing. */
    bool (*possible)(struct backend *backend, const struct manifest *manifest,
                     struct error_list *errors);
    /** Create or replace. The object as it is in the store now, borrowed until the caller returns
     * to the loop; NULL with every finding in `errors`. */
    const struct object *(*apply)(struct backend *backend, const struct manifest *manifest,
                                  struct error_list *errors);
    /** Delete an object, and with it what it owns. Gone already is fine. */
    void (*forget)(struct backend *backend, const struct object *object);

    /** Pods not yet over of what is followed. */
    size_t (*alive)(struct backend *backend, const struct flow_tracker *tracker);
    /** Ask what is followed to end, with grace. */
    void (*stop)(struct backend *backend, const struct flow_tracker *tracker);
    /** End its pods at once. */
    void (*kill)(struct backend *backend, const struct flow_tracker *tracker);
};

struct engine;
struct client;

/** In this process; borrows the engine. */
struct backend *backend_local_new(struct engine *engine);
void backend_local_free(struct backend *backend);

/** In the process at the other end of `client`, which works in the same data directory: the pods'
 * logs are read there. Brings the mirror up to date, of the set's namespace alone when it is one;
 * from then on it follows. `ns` is that of manifests that name none. Borrows client and set.
 * `lost` is called once when the daemon does not answer any more. */
struct backend *backend_remote_new(struct client *client, const struct manifests *set,
                                   const char *ns, void (*lost)(void *ctx, const struct error *err),
                                   void *ctx, struct error *err);
void backend_remote_free(struct backend *backend);
