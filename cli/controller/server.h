#pragma once
/*
 * The API server of a controller process: its connections, and the requests that are sent to it
 * before any controller starts.
 *
 * There are three transports, so that a burst of writes delays neither a watch nor the renewal of a
 * lease.
 */
#include <jansson.h>

#include "api/client/remote.h"
#include "cli/client/client.h"

enum server_use { SERVER_STREAMS, SERVER_CALLS, SERVER_LEASES, SERVER_USE_N };

struct server {
    struct loop *loop;
    char *url;       /* shown in messages */
    int minor;       /* minor version of Kubernetes; set by server_check_version */
    char *user;      /* name of the user whose credentials are used; NULL when it is unknown */
    char *namespace; /* namespace of the pod in which this process runs; NULL outside of pods */
    struct transport *transports[SERVER_USE_N];
    struct remote *remotes[SERVER_USE_N];
};

/** Reads the configuration and prepares the connections. Nothing is sent. */
bool server_open(struct server *server, struct loop *loop, const struct client_endpoint *endpoint,
                 struct error *err);
void server_close(struct server *server); /* ignores a zeroed struct */

/** Requests a document and runs the loop until the answer is there. Returns the document (owned),
 * or NULL with an error, which is UNAVAILABLE when the server was not reached. */
json_t *server_get(struct server *server, const char *target, struct error *err);

/** Waits for at most `limit_ms` until the server answers. Returns false with TIMEOUT when it does
 * not, and with UNAUTHORIZED when it refuses the credentials. */
bool server_wait(struct server *server, int64_t limit_ms, struct error *err);

/** Checks that the version of the server is supported. Returns false with INVALID when it is too
 * old. */
bool server_check_version(struct server *server, struct error *err);

/** Returns the addresses of the server as "IP:PORT", *out_count of them, with room for `more` and a
 * final NULL; owned like its texts. The name of the server is looked up. */
char **server_addresses(const struct server *server, size_t more, size_t *out_count);

struct kind;
/** Finds the first of the kinds (ends with NULL) that the server does not have; NULL: it has all.
 * False with `err` set when the server did not answer. */
bool server_find_missing_kind(struct server *server, const struct kind *const *kinds,
                              const struct kind **out, struct error *err);
