#pragma once
/*
 * An API server scripted by a test: each exchange is passed to the test's function, which answers
 * it, keeps it open for events, or lets it fail. It has no sockets, so it works in virtual time.
 */
#include "api/client/exchange.h"
#include "base/buf.h"
#include "base/loop.h"

struct scripted_server;

/* One exchange as the server sees it; the function fills in the answer. */
struct scripted_exchange {
    const char *method, *target, *body; /* body "" if there is none */
    int64_t at_ms;                      /* since the server was created */
    /* the answer */
    int status; /* 0: the connection fails */
    int retry_after_s;
    bool sent;       /* the server had received an exchange that fails */
    bool stays_open; /* a watch: scripted_send and scripted_end follow */
    bool silent;     /* never answered */
    struct buf text;
};

typedef void (*scripted_fn)(void *ctx, struct scripted_exchange *ask);

struct scripted_server *scripted_new(struct loop *loop, scripted_fn serve, void *ctx);
void scripted_free(struct scripted_server *scripted);
struct transport *scripted_transport(struct scripted_server *scripted);

/** Sets whether the client can get other credentials after a 401; default: no. */
void scripted_renews(struct scripted_server *scripted, bool renews);

/** Sends more on the one open exchange. */
void scripted_send(struct scripted_server *scripted, const char *text);
void scripted_send_bytes(struct scripted_server *scripted, const void *bytes, size_t len);
enum scripted_end { SCRIPTED_COMPLETE, SCRIPTED_BROKEN };
void scripted_end(struct scripted_server *scripted, enum scripted_end how);
bool scripted_has_open(const struct scripted_server *scripted);

/** All requests so far, one per line: "1200 GET /path?query", with the milliseconds since the
 * start. */
const char *scripted_requests(const struct scripted_server *scripted);
