#pragma once
/*
 * The Kubernetes-compatible API without its sockets: a request in, an answer out.
 *
 * Transports (the unix socket's HTTP connections; a command that opened the store itself) fill in
 * an api_request and receive the answer through an api_answer of theirs. Answers to writes come
 * after the commit; watches and followed logs go on until either side ends them.
 */
#include "api/registry/registry.h"
#include "base/loop.h"

struct api;
struct api_stream;

/** How pod logs are read; the node's runtime behind it. All pointers borrowed. NULL when this
 * process has none. */
struct api_logs {
    bool (*read)(void *ctx, const struct object *pod, const char *container, bool previous,
                 bool timestamps, int64_t tail_lines, int64_t since_ms, int64_t limit_bytes,
                 int64_t *offset, struct buf *out, struct error *err);
    void *ctx;
};

struct api *api_new(struct loop *loop, struct registry *registry, const struct api_logs *logs);
void api_free(struct api *api); /* ends every stream */

enum api_method {
    API_GET,
    API_HEAD,
    API_POST,
    API_PUT,
    API_PATCH,
    API_DELETE,
    API_OPTIONS,
    API_OTHER
};

struct api_request {
    enum api_method method;
    const char *target;       /* path and query as they came, still encoded */
    const char *accept;       /* NULL = anything */
    const char *content_type; /* NULL = JSON */
    const char *user_agent;   /* for events and logs; may be NULL */
    const void *body;
    size_t body_len;
};

/* Filled in by the transport. `head` once, `data` any number of times, `end` once; all on the loop,
 * never inside api_handle. */
struct api_answer {
    void (*head)(struct api_answer *answer, int status, const char *content_type,
                 const char *const *headers /* "Name: value", NULL-terminated */);
    void (*data)(struct api_answer *answer, const void *bytes, size_t len);
    void (*end)(struct api_answer *answer);
    /** Bytes accepted but not yet sent; a stream whose backlog passes L-27 is ended. */
    size_t (*backlog)(const struct api_answer *answer);
};

/** Begin to answer. `request` is borrowed for the call, `answer` until `end`. The handle is valid
 * until `end`; cancel ends early without `end`. */
struct api_stream *api_handle(struct api *api, const struct api_request *request,
                              struct api_answer *answer);
void api_cancel(struct api_stream *stream);
