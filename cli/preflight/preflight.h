#pragma once
/*
 * Everything admission would say about a set of manifests, before anything is started.
 *
 * The manifests are created in a scratch store in memory, in the order of the kinds table, so that
 * exactly the rules of the real store speak; then what only shows between objects is checked:
 * templates that exist nowhere, names used twice.
 */
#include "cli/engine/engine.h"
#include "cli/manifest/manifests.h"

struct preflight_options {
    const char *namespace; /* for objects that name none */
    bool sim;              /* containers need no command */
    bool compat_upstream;
    int64_t flow_steps;       /* 0 = the default limit */
    int max_pods;             /* a gang larger than this is refused; 0 = any goes */
    const struct store *live; /* objects that already exist there count as known; NULL = none */
    const json_t *known;      /* the same as a list of documents; NULL = none */
    bool fresh, retry_failed; /* which of those flows go on where they are (run/resume.h) */
    bool warn_of_room;        /* say which gangs can never fit this machine */
    const struct preflight_look *look; /* NULL = nobody */
};

/* Who wants to see what admission made of the set; in the order of creation, only of a set without
 * errors so far. Objects are borrowed. */
struct preflight_look {
    void (*object)(void *ctx, const struct manifest *manifest, const struct object *object);
    void (*job)(void *ctx, const struct object *flow, size_t step, const struct object *job);
    /** A gang that can never start with `max_pods` pods at once (0: as many as the machine takes).
     */
    void (*gang)(void *ctx, const struct object *flow, const struct error *problem);
    int max_pods;
    void *ctx;
};

struct preflight_result {
    size_t errors, warnings;
};

/** Fill in namespaces, take out uid and resourceVersion (of objects that were printed), check,
 * print every finding with file and line. True when there was no error.
 */
bool preflight(struct manifests *set, const struct preflight_options *options,
               struct preflight_result *result);

/** Indexes of the set's manifests in the order in which they must be created (owned array of
 * set->count). */
size_t *preflight_order(const struct manifests *set);
