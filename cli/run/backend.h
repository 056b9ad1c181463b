#pragma once
/*
 * The backend of a run: an engine in this process, or the daemon that holds the data directory. In
 * both cases the run reads a store of this process, the engine's own or a mirror of the daemon's.
 */
#include "api/types/kinds/pod/pod.h"
#include "cli/manifest/manifests.h"
#include "node/runtime/runtime.h"
#include "view/flow_tracker.h"

struct backend {
    const struct backend_ops *ops;
    struct loop *loop;
    struct store *store;
    struct runtime *runtime; /* runtime that reads logs */
    bool shared;             /* the store has other clients, which may own unfinished flows in it */
};

static inline bool backend_pod_over(const struct object *pod)
{
    return pod_phase_ended(pod_status_phase(pod));
}

struct backend_ops {
    /** Create the namespaces that the manifests use but do not define. */
    void (*namespaces)(struct backend *backend, const struct manifests *set);
    /** Returns whether the stored object could be changed to what the manifest says; writes
     * nothing. */
    bool (*possible)(struct backend *backend, const struct manifest *manifest,
                     struct error_list *errors);
    /** Creates or replaces an object. Returns it as it is in the store now, borrowed until the
     * caller returns to the loop; NULL with every finding in `errors`. */
    const struct object *(*apply)(struct backend *backend, const struct manifest *manifest,
                                  struct error_list *errors);
    /** Deletes an object and the objects it owns. An object that is gone already is no error. */
    /* `keep_record`: a flow that has ended stays as the record of an earlier run. */
    void (*forget)(struct backend *backend, const struct object *object, bool keep_record);

    /** Returns how many pods of the followed flows and jobs are not over. */
    size_t (*alive)(struct backend *backend, const struct flow_tracker *tracker);
    /** Asks the followed flows and jobs to end, with their grace periods. `refusals` receives why a
     * daemon did not accept it; asking again is harmless. */
    void (*stop)(struct backend *backend, const struct flow_tracker *tracker,
                 struct error_list *refusals);
    /** Kills the pods of the followed flows and jobs. */
    void (*kill)(struct backend *backend, const struct flow_tracker *tracker);
};

struct engine;
struct client;

/** The engine of this process, borrowed. */
struct backend *backend_local_new(struct engine *engine);
void backend_local_free(struct backend *backend);

/** The daemon at the other end of `client`, which works in the same data directory: logs of pods
 * are read from there. Waits until the mirror is complete; it holds one namespace if the set uses
 * only one. `ns` is the namespace of manifests that name none. Borrows client and set. `lost` is
 * called once, when the daemon no longer answers. */
struct backend *backend_remote_new(struct client *client, const struct manifests *set,
                                   const char *ns, void (*lost)(void *ctx, const struct error *err),
                                   void *ctx, struct error *err);
void backend_remote_free(struct backend *backend);
