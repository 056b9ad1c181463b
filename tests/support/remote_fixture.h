#pragma once
/*
 * A remote cluster whose API server is in the same process, in virtual time. A plan lets requests
 * fail on their way.
 */
#include "api/cluster_remote/cluster_remote.h"
#include "tests/support/api.h"
#include "tests/support/api_transport.h"

struct remote_fixture {
    struct api_fixture api;
    struct api_transport *transport;
    struct remote *remote;
    struct cluster *cluster;
    struct cluster_watcher watcher;
    struct buf told; /* changes of ConfigMaps: "+a ~a -a" */
    unsigned synced;
    struct error unsupported; /* why the server cannot be used */
    /* The plan: requests with `method` meet `fate`, the first `skip` excepted, `times` times.
     * Watches are excepted, too. */
    enum api_fate fate;
    const char *method;
    int skip, times;
};

/** Starts the server and a cluster that follows ConfigMaps, JobFlows and the Jobs of flows. Its
 * writes are not fenced. */
void remote_fixture_start(struct remote_fixture *fixture);
void remote_fixture_stop(struct remote_fixture *fixture);

/* A write, and how it ended. */
struct remote_write {
    struct cluster_call call;
    struct object *result; /* owned; NULL: none */
    struct error err;
    int ended; /* number of its ends */
};
#define REMOTE_WRITE                                                                               \
    {                                                                                              \
        .call.done = remote_write_done                                                             \
    }
void remote_write_done(struct cluster_call *call, const struct object *result,
                       const struct error *err);
/** Frees the result, so that the struct can be used again. */
void remote_write_release(struct remote_write *write);
