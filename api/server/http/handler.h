#pragma once
/*
 * What answers the requests of a listener: the API, or pages that are no part of it.
 *
 * A connection reads requests and writes responses; a handler decides what a response is. Both talk
 * through the callbacks of an api_response, which a handler never calls inside `handle`,
 * `authorize` or `refuse`. A response that is under way is a stream, a pointer that only its
 * handler understands.
 */
#include "api/server/api.h"
#include "api/server/message/request_head.h"
#include "api/server/rest/request_record.h"

struct http_handler;

struct http_handler_ops {
    /* Refuses a request by its head, as it was received, before anything else is done with it;
     * not asked for a unix socket. NULL: the host list of the listener decides. */
    bool (*check_head)(struct http_handler *handler, const char *bytes, size_t len,
                       const struct request_head *head, struct error *err);
    /* Returns the sender as a reference, which keeps the connection from being evicted; NULL: not
     * known, and the listener's authn is asked, if there is one. May be NULL. */
    struct identity *(*identify)(struct http_handler *handler, const struct api_request *request);
    /* As api_handle, api_authorize and api_refuse. */
    void *(*handle)(struct http_handler *handler, const struct api_request *request,
                    struct api_response *response);
    void *(*authorize)(struct http_handler *handler, const struct api_request *request,
                       struct api_response *response, size_t *out_body_max);
    void *(*refuse)(struct http_handler *handler, const struct error *err,
                    struct api_response *response);
    void (*cancel)(void *stream);
    void (*drained)(void *stream);
    bool (*is_long_running)(const void *stream);
    /* As api_response_size; NULL: API_SIZE_UNKNOWN for each response. */
    size_t (*response_size)(const void *stream);
    /* Adds a complete request to the metrics; may be NULL. */
    void (*record)(struct http_handler *handler, const struct request_record *record);
    /* As api_watch_batcher; NULL: blobs are sent at the end of the turn. */
    struct watch_batcher *(*batcher)(struct http_handler *handler);
    /* Header lines that every response has, also that to a request that cannot be read; each ends
     * with CR LF. NULL: none. */
    const char *headers;
    bool keeps_head; /* requests carry their head as received */
};

struct http_handler {
    const struct http_handler_ops *ops;
};

/* The handler that is the API. */
struct api_handler {
    struct http_handler base;
    struct api *api;
};
/** Returns the handler, which borrows `api`. */
struct http_handler *api_handler_init(struct api_handler *handler, struct api *api);
