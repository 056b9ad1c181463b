#pragma once
/*
 * One request being answered: the common part of one-shot answers, lists, watches and followed
 * logs.
 *
 *   api_handle ─► (waits for the commit) ─► run ─► run … ─► end
 *                                            ▲      │ backlog
 *                                            └──────┘ drained
 */
#include "api/server/api.h"
#include "api/server/message/accept.h"
#include "api/server/message/status.h"
#include "api/server/rest/event_lines.h"
#include "api/server/rest/filter.h"
#include "api/server/rest/metrics.h"
#include "api/server/rest/route.h"
#include "api/server/rest/traffic.h"

enum { BACKLOG_LOW = 256 << 10 }; /* below it a stream goes on producing */

struct api {
    struct loop *loop;
    struct registry *registry;
    struct store *store;
    struct api_logs logs; /* read NULL: this process has none */
    struct api_conversions conversions;
    struct api_stream *streams; /* every one not yet ended */
    struct event_lines *lines;  /* of the event watches are being told of */
    struct pacer *pacer;
    struct store_watch *pods; /* while logs are followed: whose containers have ended */
    size_t followers;
    struct openapi *openapi;   /* NULL until asked for */
    struct store *definitions; /* of kinds; NULL until asked for */
    struct traffic traffic;
    struct figures figures;
    char *backup_path; /* where a copy of the store is made; NULL: nowhere */
    bool is_daemon, stopping;
};

struct stream_ops {
    void (*run)(struct api_stream *stream);     /* produce the next piece; may end the stream */
    void (*release)(struct api_stream *stream); /* free what the kind of stream added, and itself */
    void (*last)(struct api_stream *stream);    /* the API goes: say what is left; may be NULL */
    size_t (*held)(const struct api_stream *stream); /* see api_held; NULL: in pieces */
    bool endless;
};

/* First member of each kind's own struct. */
struct api_stream {
    const struct stream_ops *ops;
    struct api *api;
    struct api_answer *answer;
    struct api_stream *next, **link;
    struct task task;   /* the next run, never inside api_handle */
    bool awaits_commit; /* the task is in the store's hands */
    bool awaits_drain;
    enum traffic_class traffic; /* what it is counted as */
    struct traffic_user *user;
};

/* A request taken apart; lives in the arena of api_handle's call. */
struct api_call {
    struct api *api;
    const struct api_request *request;
    struct api_answer *answer;
    struct arena *arena;
    struct target target;
    struct route route;
    struct store *store; /* where what the route means is read from */
    struct media media;
    const char *name;           /* of the object meant: the path's, or the body's; NULL */
    enum traffic_class traffic; /* NONE until it is let in */
    struct traffic_user *user;
};

enum stream_start { STREAM_NOW, STREAM_DURABLE };

/** Fill in and register a stream; its first run comes in a task, when durable after everything
 * accepted so far is committed. */
void stream_start(struct api_stream *stream, const struct api_call *call,
                  const struct stream_ops *ops, enum stream_start when);
/** Run again: soon, or once the transport's backlog is gone. */
void stream_again(struct api_stream *stream);
/** Say the answer is complete; the stream is gone afterwards. */
void stream_end(struct api_stream *stream);
/** Say that the rest will never come; the stream is gone afterwards. */
void stream_cut(struct api_stream *stream);

/* ---- reply.c: answers in one piece ---- */

struct reply {
    int status;
    const char *content_type;    /* NULL: JSON */
    struct buf body;             /* consumed */
    struct error_list *warnings; /* become headers; may be NULL; borrowed */
    const char *headers[4];      /* more of them, "Name: value"; borrowed */
    enum error_code code;        /* for Retry-After */
};
struct api_stream *reply_send(const struct api_call *call, struct reply *with,
                              enum stream_start when);
struct api_stream *reply_object(const struct api_call *call, int status,
                                const struct object *object, struct error_list *warnings);
struct api_stream *reply_error(const struct api_call *call, const struct error *err);
/** About options of the request instead of an object: "PodLogOptions". */
struct api_stream *reply_option_error(const struct api_call *call, const char *options,
                                      const struct error *err);
struct api_stream *reply_errors(const struct api_call *call, const struct error_list *errors);
struct api_stream *reply_failure(const struct api_call *call, const struct error_list *errors,
                                 const struct status_subject *about);
/** `object` is gone. */
struct api_stream *reply_gone(const struct api_call *call, const char *uid);
/** Status Success, and nothing else to say. */
struct api_stream *reply_success(const struct api_call *call, int status);
void write_not_found(const struct api_call *call, struct error *err);

/* ---- options.c: what every write brings and gets ---- */

struct write {
    struct registry_write how;
    struct error_list errors, warnings;
    struct error_list odd;       /* what the body says twice, or says that is not read */
    const struct object *object; /* as stored */
    bool manager_given;          /* not only guessed from the user agent */
};
void write_release(struct write *write);
SCOPED_DEFINE(write, struct write, write_release)
/** Take the options out of the query. INVALID, naming the parameter; `write` may be released all
 * the same. */
bool write_init(struct write *write, const struct api_call *call, struct error *err);
/** The dryRun parameters. INVALID for anything but All. */
bool dry_run_parse(const struct target *target, enum registry_dry_run *out, struct error *err);

/* ---- the verbs; each returns the stream that answers ---- */

struct api_stream *verb_get(const struct api_call *call);
struct api_stream *verb_list(const struct api_call *call);
struct api_stream *verb_watch(const struct api_call *call);
struct api_stream *verb_log(const struct api_call *call);
struct api_stream *verb_create(const struct api_call *call);
struct api_stream *verb_update(const struct api_call *call);
struct api_stream *verb_patch(const struct api_call *call);
struct api_stream *verb_delete(const struct api_call *call);
struct api_stream *verb_delete_collection(const struct api_call *call);
struct api_stream *verb_evict(const struct api_call *call);
struct api_stream *verb_scale_get(const struct api_call *call);
struct api_stream *verb_scale_set(const struct api_call *call);
struct api_stream *verb_steps(const struct api_call *call);
struct api_stream *verb_template(const struct api_call *call);
struct api_stream *verb_instantiate(const struct api_call *call);
struct api_stream *verb_bind(const struct api_call *call);
struct api_stream *verb_no_stream(const struct api_call *call);

/* ---- body.c ---- */

/** The body as a document (owned): JSON or YAML, one of it. NULL with BAD_REQUEST, TOO_LARGE or
 * MEDIA_TYPE. Members given twice are noted in `twice`, and the last holds; NULL: they are refused.
 */
json_t *body_parse(const struct api_call *call, struct error_list *twice, struct error *err);
/** How large it may be: that of a JobFlow, or any other. */
const struct json_limits *body_limits(const struct api_call *call);
