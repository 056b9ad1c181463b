#pragma once
/*
 * The engine: store, registry, cluster, controllers and node assembled in one process.
 */
#include "api/cluster.h"
#include "api/registry/registry.h"
#include "base/loop/loop.h"
#include "cli/engine/controllers.h"
#include "node/node.h"

struct engine;
struct flow_answers;

/* A simulation in which steps are looked up, to tell which of them would be reused. Jobs are made and
 * never run. */
struct reuse_forecast_options {
    const char *data_dir; /* whose key the digests of Secrets have; NULL: none */
    /** As in struct flow_reuse_options (flow/controller.h). */
    void (*compared)(void *ctx, const char *flow, const char *step, const json_t *rows);
    void *ctx;
};

struct engine_options {
    const char *data_dir; /* data directory; NULL = in memory only (validation, tests) */
    enum store_sync sync;
    bool sim;          /* a simulation: nothing is executed */
    int64_t sim_speed; /* 0: a simulation has a virtual clock; N: it has the real one, and pods take
                        * 1/N of their time */
    bool compat_upstream;                            /* setting --jobflow-compat=upstream */
    bool allow_flow_updates, no_deletion_protection; /* settings of flows (DC-02) */
    /* Refuse arguments that a plugin would ignore. */
    bool strict_plugin_arguments;
    bool gc_aborted; /* ttlSecondsAfterFinished applies to aborted jobs too */
    /* Create the objects that clients expect: kube-system, default service accounts. */
    bool cluster_objects;
    bool no_key_arguments;      /* refuse private keys in arguments (SEC-29) */
    bool no_low_ports;          /* warn of jobs whose sshd would listen below 1024 */
    int64_t flow_steps;         /* --max-flow-steps; 0 = the default */
    int max_pods;               /* how many pods may run at once; 0 = one per CPU */
    const char *node_resources; /* --node-resources; NULL = all resources of the machine */
    const char *devices;        /* --devices: file that describes devices; NULL = none */
    bool own_keyrings;          /* plain pods do not share the session keyring of the user */
    const char *isolation;      /* level of every pod; NULL = the level each pod needs */
    bool confine; /* pods of namespaces in which not only administrators write are confined */
    const char *network;
    bool hosts_as_addresses; /* always; otherwise only for pods that cannot resolve names */
    const char *steps_dir;   /* where relative paths of steps begin, absolute; NULL: nowhere */
    const struct str_map *environment; /* variables of all containers; NULL = none */
    const char *reuse_environment; /* text that counts for the reuse of steps as well; or NULL */
    struct host_paths host_paths;  /* paths that pods may mount (SEC-20) */
    const char *keep_logs, *keep_logs_total; /* limits on logs of pods that are gone; NULL = the
                                              * default */
    int64_t empty_dir_bytes;   /* L-39: limit of an emptyDir without sizeLimit; 0 = none */
    const char *scratch_limit; /* size of a container's private directories; NULL = "none" */
    int64_t restart_backoff_ms;
    const struct flow_answers
        *answers; /* to steps that wait for approval (flow/controller.h); or NULL */
    const struct reuse_forecast_options *forecast; /* of a simulation: see below; or NULL */
    bool controllers;         /* false: only store and registry, for reading and validating */
    bool schedules;           /* make jobs and flows at the times of schedules */
    unsigned controllers_off; /* CONTROLLER_BITs of controllers that do not run */
    bool read_only;           /* read a data directory in which no process runs; takes no lock */
    bool stopped_holder;      /* with read_only: a stopped process holds it (store.h) */
    bool damaged;             /* read what is whole of a damaged store; takes the lock */
    bool few_only;            /* with read_only: load only the kinds with few objects */
    const char *name_only;    /* with read_only: load only objects with this name (store.h) */
};

/** Opens the store and starts everything. Returns an owned engine, or NULL with the errors of
 * store_open and node_start. */
struct engine *engine_start(const struct engine_options *options, struct error *err);
/** Stops the controllers, commits and closes. Pods keep running. NULL is fine. */
void engine_stop(struct engine *engine);
/** Stops the flow and job controllers while the node keeps supervising pods. Used while a run is
 * aborted. */
void engine_stop_controllers(struct engine *engine);

/** Returns the default number of pods that run at once. */
int engine_default_pods(void);

const char *engine_data_dir(const struct engine *engine); /* absolute; NULL in memory */
struct loop *engine_loop(struct engine *engine);
struct store *engine_store(struct engine *engine);
struct registry *engine_registry(struct engine *engine);
struct cluster *engine_cluster(struct engine *engine);
struct runtime *engine_runtime(struct engine *engine); /* NULL without controllers */
