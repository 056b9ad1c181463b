#pragma once
/*
 * The engine: store, registry, cluster, controllers and node put together in one process.
 */
#include "api/cluster.h"
#include "api/registry/registry.h"
#include "base/loop.h"
#include "cli/engine/controllers.h"
#include "node/node.h"

struct engine;

struct engine_options {
    const char *data_dir; /* NULL = in memory only (validation, tests) */
    enum store_sync sync;
    bool sim;                                        /* virtual clock, nothing executed */
    bool compat_upstream;                            /* --jobflow-compat=upstream */
    bool allow_flow_updates, no_deletion_protection; /* DC-02 */
    bool strict_plugin_arguments;                    /* what a plugin would ignore is refused */
    bool gc_aborted;            /* ttlSecondsAfterFinished counts for aborted jobs too */
    bool cluster_objects;       /* what clients look for: kube-system, accounts of namespaces */
    bool no_key_arguments;      /* private keys in arguments are refused (SEC-29) */
    int64_t flow_steps;         /* --max-flow-steps; 0 = the default */
    int max_pods;               /* 0 = one per CPU */
    const char *node_resources; /* --node-resources; NULL = what the machine has */
    const char *isolation;      /* NULL = by need; otherwise every pod gets this level */
    const char *network;
    bool hosts_as_addresses;      /* always; otherwise where pods could not look names up */
    struct host_paths host_paths; /* which ones pods may mount (SEC-20) */
    int64_t empty_dir_bytes;      /* L-39: one without sizeLimit; 0 = any */
    int64_t restart_backoff_ms;
    bool controllers;         /* false: only store and registry, for looking and validating */
    unsigned controllers_off; /* of those, CONTROLLER_BITs that do not run */
    bool read_only;           /* look at a data directory nobody is at work in; takes no lock */
    bool few_only;            /* … at the kinds of which there are few */
    const char *name_only;    /* … or at what has this name (store.h) */
};

/** Open the store and start everything. Errors as store_open's and node_start's. Ends as recovery
 * began: nothing is lost in between. */
struct engine *engine_start(const struct engine_options *options, struct error *err);
/** Stop the controllers, commit, close. Pods go on. NULL is fine. */
void engine_stop(struct engine *engine);
/** Stop deciding: flow and job controllers end, the node goes on looking after pods (used while a
 * run is being aborted). */
void engine_stop_controllers(struct engine *engine);

/** Pods at once where nothing else is said. */
int engine_default_pods(void);

const char *engine_data_dir(const struct engine *engine); /* absolute; NULL in memory */
struct loop *engine_loop(struct engine *engine);
struct store *engine_store(struct engine *engine);
struct registry *engine_registry(struct engine *engine);
struct runtime *engine_runtime(struct engine *engine); /* NULL without controllers */
