#pragma once
/*
 * An API server for tests of the client: each request is passed to a function of the test, which
 * answers it, keeps it open for events, or lets it fail. It has no sockets and works in virtual
 * time.
 */
#include "api/client/exchange.h"
#include "base/buf.h"
#include "base/loop/loop.h"

struct scripted_server;

/* One request and its response; the function fills in the response. */
struct scripted_exchange {
    const char *method, *target, *body; /* the request; body "" if there is none */
    int64_t at_ms;                      /* time of the request since the server was created */
    /* The members from here on are the response. */
    int status; /* HTTP status; 0: the connection fails */
    int retry_after_s;
    bool sent;       /* for a connection that fails: the server had received the request before */
    bool stays_open; /* a watch: the test continues it with scripted_send and scripted_end */
    bool silent;     /* the request is never answered */
    struct buf text;
};

typedef void (*scripted_fn)(void *ctx, struct scripted_exchange *ask);

struct scripted_server *scripted_new(struct loop *loop, scripted_fn serve, void *ctx);
void scripted_free(struct scripted_server *scripted);
struct transport *scripted_transport(struct scripted_server *scripted);

/** Sets whether the client can get other credentials after a 401; default: no. */
void scripted_renews(struct scripted_server *scripted, bool renews);

/** Sends more bytes on the one open watch. */
void scripted_send(struct scripted_server *scripted, const char *text);
/** Sends like scripted_send, but does not run the loop; for calls from a scripted_fn, which the loop
 * runs. */
void scripted_push(struct scripted_server *server, const char *text);
void scripted_send_bytes(struct scripted_server *scripted, const void *bytes, size_t len);
enum scripted_end { SCRIPTED_COMPLETE, SCRIPTED_BROKEN };
void scripted_end(struct scripted_server *scripted, enum scripted_end how);
bool scripted_has_open(const struct scripted_server *scripted);

/** Returns all requests so far, one per line: "1200 GET /path?query", with the milliseconds since
 * the server was created. */
const char *scripted_requests(const struct scripted_server *scripted);
