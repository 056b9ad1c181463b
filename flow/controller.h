#pragma once
/*
 * The JobFlow controller: creates the jobs of a flow's steps as their dependencies are satisfied,
 * and keeps the flow's status. It works on any cluster (api/cluster.h). Ref: spec/jobflow.md 5.4.
 */
#include <jansson.h>

#include "api/cluster.h"

struct flow_controller;

/* What the reuse of steps needs to know of the machine. */
struct flow_reuse_options {
    const char *directory; /* where relative paths of steps begin, absolute; NULL: nowhere */
    /** Returns the directory beneath which pods may see the path, or NULL. May itself be NULL: pods
     * see everything. */
    const char *(*base_of)(void *ctx, const char *path);
    /** Returns the key of the digests of Secrets, borrowed. */
    const void *(*secret)(void *ctx, size_t *out_len);
    /** Gets what a look-up compared with the newest result of the step's work, or else of the step: a
     * list of {name, role, same, text}, borrowed. NULL: the list is not wanted. */
    void (*compared)(void *ctx, const char *flow, const char *step, const json_t *rows);
    void *ctx;
    const char *environment; /* counts as part of the work of every step; borrowed; NULL: nothing */
    size_t entries_max;      /* largest number of entries; 0: the default */
};

/* What this process itself answers to a step that waits for its approval. */
struct flow_answer {
    bool rejects;
    int64_t after_ms; /* how long the step waits for it */
};
struct flow_answers {
    /** Finds the answer to a step. Returns false when there is none. */
    bool (*of)(void *ctx, const struct object *flow, const char *step, struct flow_answer *out);
    void *ctx;
    const char *by; /* who answers; borrowed */
};

struct flow_options {
    bool upstream_compat;
    /* How long changes are collected before a status is written, in milliseconds; 0 = 100. Flows of
     * more than a hundred steps collect up to ten times as long. */
    int64_t status_window_ms;
    /* "IP:PORT" that probes never connect to (SEC-13): those of the API server itself.
     * NULL-terminated, borrowed; or NULL. */
    const char *const *refused_addresses;
    /* Makes the sockets by which probes reach pods (probes/address.h); borrowed; or NULL. */
    const struct probe_sockets *sockets;
    /* Steps may be reused; borrowed. NULL: all run, because their files cannot be seen. */
    const struct flow_reuse_options *reuse;
    /* The pods run where their files cannot be seen from here: flows with `cache` are told that it is
     * ignored. */
    bool files_unseen;
    /* The jobs of a gang of a flow start as each of them fits, whatever the others do. */
    bool gangs_unenforced;
    /* Address at which probes reach pods that have none of their own; NULL: such pods are not
     * probed. */
    const char *host_address;
    /* Answers to steps that wait for their approval; borrowed. NULL: only Commands answer. */
    const struct flow_answers *answers;
    /* Nobody vouches for the annotation that names the sender of a Command. */
    bool senders_unknown;
};
struct flow_controller *flow_controller_start(struct cluster *cluster,
                                              const struct flow_options *options);
/** Decides nothing more, and sends the statuses that wait for their window. The caller stops the
 * controller when its writes have been answered. */
void flow_controller_drain(struct flow_controller *controller);
/** Stops reacting at once. Its memory is freed when the last write in flight has been answered. */
void flow_controller_stop(struct flow_controller *controller); /* NULL is ignored */
