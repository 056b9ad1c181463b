#pragma once
/*
 * An API server that a test plays: each exchange is given to the test's function, which answers,
 * keeps it open for events, or lets it fail. No sockets, so that virtual time may run.
 */
#include "api/client/exchange.h"
#include "base/buf.h"
#include "base/loop.h"

struct scripted_server;

/* One exchange as the server sees it; the function fills in the answer. */
struct scripted_exchange {
    const char *method, *target, *body; /* body "" without */
    int64_t at_ms;                      /* since the script began */
    /* the answer */
    int status; /* 0: the connection fails */
    int retry_after_s;
    bool sent;       /* of one that fails: the server had seen it */
    bool stays_open; /* a watch: scripted_send and scripted_end follow */
    bool silent;     /* no answer at all, until it is cut */
    struct buf text;
};

typedef void (*scripted_fn)(void *ctx, struct scripted_exchange *ask);

struct scripted_server *scripted_new(struct loop *loop, scripted_fn serve, void *ctx);
void scripted_free(struct scripted_server *scripted);
struct transport *scripted_transport(struct scripted_server *scripted);

/** Whether other credentials are to be had after a 401; default: no. */
void scripted_renews(struct scripted_server *scripted, bool renews);

/** Say more on the one exchange that is open; end it as servers do, or by a broken connection. */
void scripted_send(struct scripted_server *scripted, const char *text);
void scripted_send_bytes(struct scripted_server *scripted, const void *bytes, size_t len);
enum scripted_end { SCRIPTED_COMPLETE, SCRIPTED_BROKEN };
void scripted_end(struct scripted_server *scripted, enum scripted_end how);
bool scripted_has_open(const struct scripted_server *scripted);

/** All requests so far, a line each: "1200 GET /path?query" with the milliseconds since the begin.
 */
const char *scripted_requests(const struct scripted_server *scripted);
