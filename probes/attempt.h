#pragma once
/*
 * One attempt of a probe: a GET, a gRPC call or a TCP connection, ended by its time limit at the
 * latest. Used for probes of steps and for the kubelet's probes of containers.
 *
 * The attempt is a struct inside the caller's struct. `done` runs once, on the loop, never inside
 * start. The time limit is real time even on a virtual clock, because the peer runs in real time;
 * the loop is held meanwhile.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/loop/loop.h"
#include "probes/address.h"

enum {
    PROBE_TIMEOUT_S = 1,      /* time limit in seconds, when the entry names none */
    PROBE_TIMEOUT_MAX_S = 30, /* longest time limit in seconds (L-33) */
    PROBE_BODY_MAX = 10 * 1024,
    PROBE_HEADERS_MAX = 16 * 1024,
    PROBE_PATH_MAX = 2 * 1024,
    PROBE_HEADER_NAME_MAX = 256,
    PROBE_HEADER_VALUE_MAX = 4 * 1024
};

struct probe_attempt {
    void (*done)(struct probe_attempt *attempt, bool passed);
    void *operation; /* private to the kind of probe; NULL: no attempt is in flight */
};

struct probe_http_client;
struct probe_http_client *probe_http_client_new(struct loop *loop);
/** Frees the client; no attempt may be in flight. */
void probe_http_client_free(struct probe_http_client *client);

/** Begins a GET. False when the entry cannot be requested at all (bad header, bad path): the
 * attempt has failed, and `done` does not run. */
bool probe_http_start(struct probe_http_client *client, struct probe_attempt *attempt,
                      const struct probe_http *entry, const struct probe_address *address);
void probe_http_cancel(struct probe_attempt *attempt); /* `done` will not run. No-op when no attempt
                                                        * is in flight */

struct probe_grpc {
    const char *service; /* service to check; NULL or "": the server as a whole */
    int32_t timeout_s;
};
/** Begins a health check. Cancelled by probe_http_cancel. */
bool probe_grpc_start(struct probe_http_client *client, struct probe_attempt *attempt,
                      const struct probe_grpc *entry, const struct probe_address *address);

/** Begins a connection. False when it fails at once; `done` does not run then. */
bool probe_tcp_start(struct loop *loop, struct probe_attempt *attempt,
                     const struct probe_tcp *entry, const struct probe_address *address);
void probe_tcp_cancel(struct probe_attempt *attempt);

/** Returns the time limit of an attempt; below 1 means the default. */
static inline int64_t probe_timeout_ms(int32_t timeout_s)
{
    if (timeout_s < 1)
        timeout_s = PROBE_TIMEOUT_S;
    return (int64_t)(timeout_s > PROBE_TIMEOUT_MAX_S ? PROBE_TIMEOUT_MAX_S : timeout_s) * 1000;
}
