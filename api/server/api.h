#pragma once
/*
 * The Kubernetes-compatible API without sockets: takes a request, produces a response.
 *
 * A transport (an HTTP connection, or a command that opened the store itself) fills in an
 * api_request and receives the response through the callbacks of an api_response. Responses to
 * writes come after the commit. Long-running responses (watches and followed logs) go on until
 * either side ends them.
 *
 * Flow control: a long response is produced piece by piece, and only while the transport's backlog
 * is small. A transport calls api_drained when its backlog is gone.
 */
#include "api/registry/registry.h"
#include "api/types/log_query.h"
#include "base/loop/loop.h"

struct api;
struct api_stream; /* a response that is being produced */
struct identity;
struct request_record;
struct traffic_limits;
struct watch_batcher;

/** Reads pod logs by the uid of the pod; the node's runtime implements it. `*offset` is 0 at first
 * and is advanced by each read, so that a follower goes on where it stopped. False with NOT_FOUND
 * when there is no such log. */
struct api_logs {
    bool (*read)(void *ctx, const char *uid, const struct log_query *query, int64_t *offset,
                 struct buf *out, struct error *err);
    void *ctx;
};

/** Conversions between jobs and job templates; both return owned documents. `patch` may be NULL. */
struct api_conversions {
    json_t *(*to_template)(const json_t *job);
    json_t *(*to_job)(const struct object *job_template, const json_t *patch, struct error *err);
};

/** Whether this process can confine pods whose authors are no administrators. False, with the reason
 * for the client, when it cannot; such a user may then change nothing. */
struct api_confinement {
    bool (*possible)(void *ctx, struct error *err);
    void *ctx;
};

/** Borrows the registry. `logs` is copied; NULL when this process has no logs. */
struct api *api_new(struct loop *loop, struct registry *registry, const struct api_logs *logs);
/** Enables …/jobs/NAME/template and …/jobtemplates/NAME/instantiate. Call before the first
 * request. */
void api_set_conversions(struct api *api, const struct api_conversions *conversions);
/** Marks namespaces in which others than administrators change something, so that their pods are
 * confined. Without it every author is trusted. */
void api_set_confinement(struct api *api, const struct api_confinement *confinement);
/** Lets administrators GET /backup; the copy is made in `directory`. Call at most once. */
void api_enable_backups(struct api *api, const char *directory);
/** Makes /version report that this process is a daemon, to which clients may submit work. */
void api_set_daemon(struct api *api);
/* What holds for submissions of jobs. */
struct api_submission_limits {
    size_t items;         /* most items of one request; 0: the default */
    int64_t retention_ms; /* how long the deduplication id of an ended job is remembered */
};
/** Without a call the defaults hold. A later call changes the retention of stored ids, too. */
void api_set_submissions(struct api *api, const struct api_submission_limits *limits);
/** Bounds the requests in flight; a member of 0 means its default. */
void api_set_limits(struct api *api, const struct traffic_limits *limits);
void api_free(struct api *api); /* ends every stream; NULL is fine */

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
enum { API_METHOD_N = API_OTHER + 1 };
/** Returns the method of an HTTP name such as "GET", or API_OTHER for a name without a constant. */
enum api_method api_method_of(const char *name);

struct api_request {
    enum api_method method;
    const char *target;          /* path and query as received, still percent-encoded */
    const char *accept;          /* header Accept; NULL: anything */
    const char *content_type;    /* media type of the body; NULL: JSON */
    const char *accept_encoding; /* header Accept-Encoding; NULL: identity */
    const char *user_agent;      /* the first part of it is the default field manager; NULL: none */
    const void *body;
    size_t body_len;
    const struct identity *identity; /* the sender; NULL: this process, which may do everything */
    const char *peer;                /* address, or user of the unix socket; NULL: not known */
    const char *head; /* the head as received; only for handlers that keep it, else NULL */
    size_t head_len;
};

/* Callbacks of the transport. The API calls `head` once, `data` or `blob` any number of times and
 * `end` or `abort` once; all on the loop, never inside api_handle. */
struct api_response {
    /** Receives the status and the headers, as "Name: value". */
    void (*head)(struct api_response *response, int status, const char *content_type,
                 const char *const *headers, size_t n_headers);
    void (*data)(struct api_response *response, const void *bytes, size_t len);
    void (*end)(struct api_response *response);
    /** Returns the bytes taken but not yet sent. A watch whose backlog passes L-27 is ended. */
    size_t (*backlog)(const struct api_response *response);
    /** Called instead of `end` when the rest cannot be produced: the client must not take what it
     * has for the whole. */
    void (*abort)(struct api_response *response);
    /** Called before `head` with the object that a write created, changed or deleted. May be
     * NULL. */
    void (*object)(struct api_response *response, const struct object *object);
    /** Like `data` for bytes that many clients get: keeps a reference instead of a copy. May be
     * NULL. */
    void (*blob)(struct api_response *response, struct blob *blob);
    /** Drops the blobs of which nothing was sent yet. May be NULL. */
    void (*discard)(struct api_response *response);
};

/** Handles a request. `request` is borrowed for the call, `response` until `end` or `abort`. The
 * stream is valid until then; api_cancel ends it early without `end`. */
struct api_stream *api_handle(struct api *api, const struct api_request *request,
                              struct api_response *response);
/** Responds with an error that the transport found before the request reached the API. */
struct api_stream *api_refuse(struct api *api, const struct error *err,
                              struct api_response *response);
/** Authorizes a request before its body is read. Returns NULL, and the largest body allowed (L-01,
 * DC-05), when the body may be read; otherwise the response that refuses the request. */
struct api_stream *api_authorize(struct api *api, const struct api_request *request,
                                 struct api_response *response, size_t *out_body_max);
void api_cancel(struct api_stream *stream);
/** Tells a stream that waits for the transport's backlog to go on. */
void api_drained(struct api_stream *stream);
/** Adds a complete request to the metrics. */
void api_record(struct api *api, const struct request_record *record);
/** Ends every watch and followed log after its remaining text; the server is about to stop. */
void api_end_long_running(struct api *api);
/** Returns true for a watch or a followed log, which has no end of its own. */
bool api_is_long_running(const struct api_stream *stream);
/** Returns the size in bytes of a response that is complete and waits only for the disk;
 * API_SIZE_UNKNOWN for a response that is produced piece by piece. */
size_t api_response_size(const struct api_stream *stream);
#define API_SIZE_UNKNOWN SIZE_MAX
/** Returns the batcher in whose rounds transports send watch events. */
struct watch_batcher *api_watch_batcher(struct api *api);
