#pragma once
/*
 * Connects the client of API servers with an API server in the same process, without sockets and in
 * virtual time. A plan says what happens to each request on its way.
 */
#include "api/client/exchange.h"
#include "api/server/api.h"

enum api_fate {
    API_ANSWERED,
    API_UNREACHABLE,  /* the connection is refused: the request was not sent */
    API_REQUEST_LOST, /* the connection breaks before the server has the request */
    API_ANSWER_LOST,  /* the connection breaks after the server has done what was asked */
    API_HANGS,        /* there is never an answer */
    API_BUSY,         /* 429 with Retry-After of one second */
    API_FAILS,        /* 500, and nothing has changed */
};

struct api_transport;

/** Decides what happens to a request. */
typedef enum api_fate (*api_fate_fn)(void *ctx, const char *method, const char *target);

/** Borrows api and loop. */
struct api_transport *api_transport_new(struct loop *loop, struct api *api);
void api_transport_free(struct api_transport *transport); /* after its last exchange */
struct transport *api_transport_base(struct api_transport *transport);

/** Sets the plan; NULL: every request is answered. */
void api_transport_plan(struct api_transport *transport, api_fate_fn fate, void *ctx);
/** Breaks every watch and every other exchange that is open. */
void api_transport_break(struct api_transport *transport);

/** Returns the requests so far whose method is `method` and whose target contains `part`; NULL: any.
 */
unsigned api_transport_count(const struct api_transport *transport, const char *method,
                             const char *part);
