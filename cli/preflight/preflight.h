#pragma once
/*
 * Checks a set of manifests with everything that admission would say, before anything starts.
 *
 * The manifests are created in a scratch store in memory, in the order of the kinds table, so the
 * rules of the real store apply. Then problems between objects are checked: missing templates,
 * names used twice.
 */
#include "cli/engine/engine.h"
#include "cli/manifest/manifests.h"
#include "cli/preflight/edits.h"
#include "cli/preflight/fit.h"

enum preflight_room { ROOM_WARNED_OF, ROOM_REQUIRED };
enum preflight_needs { NEEDS_IGNORED, NEEDS_WARNED_OF, NEEDS_REQUIRED };

struct preflight_options {
    const char *namespace; /* namespace of objects that name none */
    bool sim;              /* simulation: containers need no command */
    bool compat_upstream;
    int64_t flow_steps;       /* largest number of steps of a flow; 0 = the default limit */
    bool runs;                /* the set is to be run: what could never end is refused */
    const struct store *live; /* objects that exist there count as known; NULL = none */
    const json_t *known;      /* known objects as a list of documents; NULL = none */
    bool fresh, retry_failed; /* decide which stored flows continue (run/resume.h) */
    struct edits *edits;      /* receives templates and flows beside those of `live`; NULL = none */
    bool shared_network;   /* every pod uses the machine's network, even if it asks for its own */
    const struct fit *fit; /* the machine that pods must fit; NULL = any */
    enum preflight_room room;          /* jobs that can never run on `fit` */
    const struct fit *simulated;       /* the machine of which `fit` is a simulation: what does not
                                        * fit it is worth a warning; NULL = none */
    enum preflight_needs needs;        /* programs that pods need and this machine lacks */
    const struct preflight_look *look; /* receives what the check has seen; NULL = none */
};

/* Callbacks that receive the objects as admitted, in the order of creation, as long as the set has
 * no error. Objects are borrowed. `queues` is a store with all queues of the set. */
struct preflight_look {
    void (*object)(void *ctx, const struct manifest *manifest, const struct object *object,
                   const struct store *queues);
    void (*job)(void *ctx, const struct object *flow, size_t step, const struct object *job,
                const struct store *queues);
    /** A gang that can never start on the machine of the options. */
    void (*gang)(void *ctx, const struct object *flow, const struct error *problem);
    void *ctx;
};

struct preflight_result {
    size_t errors, warnings;
};

/** Sets missing namespaces, removes uid and resourceVersion (present in objects that were printed),
 * checks the set, and prints every finding with file and line. Returns true when there is no
 * error. */
bool preflight(struct manifests *set, const struct preflight_options *options,
               struct preflight_result *result);

/** Returns the indexes of the set's manifests in the order in which they must be created: an owned
 * array of set->count. */
size_t *preflight_order(const struct manifests *set);
