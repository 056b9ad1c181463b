#pragma once
/*
 * The Kubernetes-compatible API without its sockets: a request in, an answer out.
 *
 * Transports (the unix socket's HTTP connections; a command that opened the store itself) fill in
 * an api_request and receive the answer through an api_answer of theirs. Answers to writes come
 * after the commit; watches and followed logs go on until either side ends them.
 *
 * Flow control: a long answer is produced piece by piece, and only while the transport's backlog is
 * small. A transport whose backlog has gone calls api_drained.
 */
#include "api/registry/registry.h"
#include "api/types/log_query.h"
#include "base/loop.h"

struct api;
struct api_stream;
struct identity;
struct pacer;
struct record;
struct traffic_limits;

/** How pod logs are read; the node's runtime behind it. `*offset` is 0 at first and moves on, for
 * followers. False with NOT_FOUND when there is no such log. */
struct api_logs {
    bool (*read)(void *ctx, const struct object *pod, const struct log_query *query,
                 int64_t *offset, struct buf *out, struct error *err);
    void *ctx;
};

/** How jobs become templates and templates jobs; owned documents. `patch` may be NULL. */
struct api_conversions {
    json_t *(*to_template)(const json_t *job);
    json_t *(*to_job)(const struct object *template_, const json_t *patch, struct error *err);
};

/** Borrows the registry. `logs` is copied; NULL when this process has none. */
struct api *api_new(struct loop *loop, struct registry *registry, const struct api_logs *logs);
/** Before the first request: …/jobs/NAME/template and …/jobtemplates/NAME/instantiate work by
 * these. */
void api_convert_with(struct api *api, const struct api_conversions *conversions);
/** Administrators may GET /backup; the copy is made in `directory`. Once. */
void api_allow_backups(struct api *api, const char *directory);
/** /version says that this is a daemon, which takes in what others want to run. */
void api_be_daemon(struct api *api);
/** How much may be under way at once; 0 members are the defaults. */
void api_limit(struct api *api, const struct traffic_limits *limits);
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

struct api_request {
    enum api_method method;
    const char *target;          /* path and query as they came, still encoded */
    const char *accept;          /* NULL = anything */
    const char *content_type;    /* NULL = JSON */
    const char *accept_encoding; /* NULL = as it is */
    const char *user_agent;      /* NULL = not said; its name is the default field manager */
    const void *body;
    size_t body_len;
    const struct identity *identity; /* who asks; NULL = this process itself, which may do all */
};

/* Filled in by the transport. `head` once, `data` any number of times, `end` once; all on the loop,
 * never inside api_handle. */
struct api_answer {
    void (*head)(struct api_answer *answer, int status, const char *content_type,
                 const char *const *headers /* [n] "Name: value" */, size_t n_headers);
    void (*data)(struct api_answer *answer, const void *bytes, size_t len);
    void (*end)(struct api_answer *answer);
    /** Bytes taken but not yet sent. A watch whose backlog passes L-27 is ended. */
    size_t (*backlog)(const struct api_answer *answer);
    /** Instead of `end`: what was begun cannot be finished, and nobody must take it for whole. */
    void (*cut)(struct api_answer *answer);
    /** Before the head: the object that a change has made or left. May be NULL. */
    void (*about)(struct api_answer *answer, const struct object *object);
    /** As `data`, of bytes that many are told: a reference is kept instead of a copy. May be NULL.
     */
    void (*line)(struct api_answer *answer, struct blob *line);
};

/** Begin to answer. `request` is borrowed for the call, `answer` until `end`. The handle is valid
 * until `end`; cancel ends early without `end`. */
struct api_stream *api_handle(struct api *api, const struct api_request *request,
                              struct api_answer *answer);
/** Answer with a failure: what the transport found wrong with the request before it came here. */
struct api_stream *api_refuse(struct api *api, const struct error *err, struct api_answer *answer);
/** Before a body is read: NULL when the request may come in, and how large its body may be (L-01,
 * DC-05); otherwise the answer that refuses it. */
struct api_stream *api_judge(struct api *api, const struct api_request *request,
                             struct api_answer *answer, size_t *out_body_max);
void api_cancel(struct api_stream *stream);
/** The backlog is gone: a stream that waited for it goes on. */
void api_drained(struct api_stream *stream);
/** A transport tells of an answer that is complete, for the metrics. */
void api_note(struct api *api, const struct record *record, bool endless);
/** End every watch and followed log, with their last words: the server is about to stop. */
void api_end_endless(struct api *api);
/** A watch or followed log: it has no end of its own, so nobody waits for it. */
bool api_is_endless(const struct api_stream *stream);
/** How long an answer is that is decided and waits for the disk alone; API_IN_PIECES of one that is
 * produced as it is read. */
size_t api_held(const struct api_stream *stream);
#define API_IN_PIECES SIZE_MAX
/** By whom transports send what watches say. */
struct pacer *api_pacer(struct api *api);
