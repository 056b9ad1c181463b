#pragma once
/*
 * What the verbs and pages of the API share: the state of the API, a request that has been taken
 * apart (api_call), and a response that is being produced (api_stream).
 *
 *   api_handle ─► (waits for the commit) ─► run ─► run … ─► end
 *                                            ▲      │ backlog
 *                                            └──────┘ drained
 */
#include <sys/queue.h>

#include "api/server/api.h"
#include "api/server/message/accept.h"
#include "api/server/message/status.h"
#include "api/server/rest/filter.h"
#include "api/server/rest/route.h"
#include "api/server/rest/store_metrics.h"
#include "api/server/rest/traffic.h"
#include "api/server/rest/watch_event_cache.h"
#include "api/submit/addresses.h"
#include "api/submit/ids.h"
#include "api/submit/retention.h"

enum { BACKLOG_LOW = 256 << 10 }; /* a stream produces its next piece below this backlog */

static inline struct registry_target route_target(const struct route *route)
{
    return (struct registry_target){route->kind, route->ns, route->name};
}

struct api {
    struct loop *loop;
    struct registry *registry;
    struct store *store;
    struct api_logs logs; /* read is NULL when this process has no logs */
    struct api_conversions conversions;
    struct api_confinement confinement; /* `possible` NULL: every author is trusted */
    LIST_HEAD(, api_stream) streams;    /* all that have not ended */
    struct watch_event_cache *event_cache;
    struct watch_batcher *batcher;
    struct store_watch *pods; /* open while logs are followed, to see containers end */
    size_t followers;         /* streams that follow a log */
    struct openapi *openapi;  /* OpenAPI documents; NULL until the first request for them */
    struct store *crds;       /* CustomResourceDefinitions; NULL until the first request for them */
    struct traffic traffic;
    struct progress_table *progress; /* NULL while no progress is watched */
    /* The watches, and the data that their clients have not read, as last looked at (L-27). */
    LIST_HEAD(, watch) watches;
    size_t unread_bytes;
    struct store_metrics store_metrics;
    struct submit_ids submit_ids;              /* the ids that were given to submitted jobs */
    size_t submission_items;                   /* most items of a submission; 0: the default */
    struct submit_addresses *submit_addresses; /* NULL for a read-only store */
    struct submit_retention *submit_retention; /* NULL for a read-only store */
    char *backup_path; /* where a copy of the store is made; NULL: backups are off */
    bool is_daemon, stopping;
};

struct stream_ops {
    void (*run)(struct api_stream *stream);     /* produces the next piece; may end the stream */
    void (*release)(struct api_stream *stream); /* frees the struct around the stream */
    void (*finish)(struct api_stream *stream);  /* the API stops: sends the rest; may be NULL */
    /* Size of the response so far, for api_response_size; NULL: unknown. */
    size_t (*size)(const struct api_stream *stream);
    bool long_running;
};

/* First member of each kind of stream's own struct. */
struct api_stream {
    const struct stream_ops *ops;
    struct api *api;
    struct api_response *response;
    LIST_ENTRY(api_stream) all;
    struct task task;   /* the next run, never inside api_handle */
    bool awaits_commit; /* the store posts the task once everything accepted is durable */
    bool awaits_drain;  /* api_drained posts the task */
    enum traffic_class traffic;
    struct traffic_user *user;
};

/* A request taken apart; lives in the arena of the call of api_handle. */
struct api_call {
    struct api *api;
    const struct api_request *request;
    struct api_response *response;
    struct arena *arena;
    struct request_target target;
    struct route route;
    struct store *store; /* holds the objects of the route's kind */
    struct media media;
    const char *name;           /* name of the object, from the path or the body; NULL */
    enum traffic_class traffic; /* class of the request; NONE until the request is admitted */
    struct traffic_user *user;
};

enum stream_start { STREAM_NOW, STREAM_DURABLE };

/* rest/stream.c: streams */

/** Fills in and registers a stream. Its first run comes in a task: with STREAM_DURABLE after
 * everything accepted so far is committed. */
void stream_start(struct api_stream *stream, const struct api_call *call,
                  const struct stream_ops *ops, enum stream_start when);
/** Runs the stream again: soon, or once the transport's backlog is gone. */
void stream_continue(struct api_stream *stream);
/** Ends the response; the stream is freed. */
void stream_end(struct api_stream *stream);
/** Aborts the response, whose rest cannot be produced; the stream is freed. */
void stream_abort(struct api_stream *stream);

/* rest/reply.c: responses in one piece */

struct reply {
    int status;
    const char *content_type;    /* media type of the response; NULL: JSON */
    struct buf body;             /* `body` is freed when it has been sent */
    struct error_list *warnings; /* sent as headers; may be NULL; borrowed */
    const char *headers[4];      /* further headers, "Name: value"; borrowed */
    enum error_code code;        /* the code decides about a header Retry-After */
};
struct api_stream *reply_send(const struct api_call *call, struct reply *reply,
                              enum stream_start when);
struct api_stream *reply_object(const struct api_call *call, int status,
                                const struct object *object, struct error_list *warnings);
struct api_stream *reply_error(const struct api_call *call, const struct error *err);
/** Like reply_error; an INVALID error is about the request's options, such as "PodLogOptions", and
 * not about the object. */
struct api_stream *reply_option_error(const struct api_call *call, const char *options,
                                      const struct error *err);
struct api_stream *reply_errors(const struct api_call *call, const struct error_list *errors);
struct api_stream *reply_failure(const struct api_call *call, const struct error_list *errors,
                                 const struct status_subject *about);
/** Responds with a Status that says that the object is deleted. */
struct api_stream *reply_deleted(const struct api_call *call, const char *uid);
/** Responds with a Status of Success that has no details. */
struct api_stream *reply_success(const struct api_call *call, int status);
/** Returns the object that the path names, or NULL with NOT_FOUND. Borrowed. */
const struct object *find_object(const struct api_call *call, struct error *err);

/* rest/write_options.c: options and results of a write */

struct write {
    struct registry_write how;
    struct error_list errors, warnings;
    struct error_list strict;    /* duplicate and unknown fields found while decoding the body */
    const struct object *object; /* the object as stored */
    bool manager_given;          /* the query names the manager; it is not derived from the user
                                  * agent */
};
void write_release(struct write *write);
SCOPED_DEFINE(write, struct write, write_release)
/** Reads the options from the query. INVALID, naming the parameter; `write` may be released after a
 * failure, too. */
bool write_init(struct write *write, const struct api_call *call, struct error *err);
/** Reads the dryRun parameters. INVALID for anything but All. */
bool dry_run_parse(const struct request_target *target, enum registry_dry_run *out,
                   struct error *err);

/* rest/body.c: request bodies */

/** Returns the body as a document (owned): exactly one object in JSON, YAML or protobuf. NULL with
 * BAD_REQUEST, TOO_LARGE or MEDIA_TYPE. A duplicate member is noted in `duplicates` and its last
 * value holds; with NULL it is an error. */
json_t *body_parse(const struct api_call *call, struct error_list *duplicates, struct error *err);
/** Returns the size and depth allowed for the body; a JobFlow may be larger than other objects. */
const struct json_limits *body_limits(const struct api_call *call);

/* rest/confinement.c: pods of authors who are no administrators */

/** Marks the request's namespace if its sender is such an author and asks for a change. False when
 * the change is refused: its pods could not be confined. */
bool confinement_require(const struct api_call *call, struct error *err);
/** The same for a change in `ns` that the path of the request does not name. */
bool confinement_require_ns(const struct api_call *call, const char *ns, struct error *err);

/* The verbs; each returns the stream that responds. */

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
struct api_stream *verb_progress(const struct api_call *call);
struct api_stream *verb_template(const struct api_call *call);
struct api_stream *verb_instantiate(const struct api_call *call);
struct api_stream *verb_bind(const struct api_call *call);
struct api_stream *verb_stream_unsupported(const struct api_call *call);

/* The pages, which are not resources; each returns NULL for a request that is not its own. */

/** /version, /livez, /readyz, /healthz and /metrics. Ref: spec/kube-api.md 3.1, 3.2. */
struct api_stream *page_health(const struct api_call *call);
/** POST of a review: a question about the sender's own permissions, which is not stored. Ref:
 * spec/kube-api.md 6.12. */
struct api_stream *page_review(const struct api_call *call);
/** POST below /v1: submissions of jobs (armada-submit.md B.2). */
struct api_stream *page_submit(const struct api_call *call);
/** Returns whether the path may be one of page_submit, whose bodies may be as large as a JobFlow. */
bool submit_is_path(const struct request_target *target);
/** GET /backup: a consistent copy of the store as an SQLite file. It holds Secrets, so only
 * administrators get it. */
struct api_stream *page_backup(const struct api_call *call);
/** api/server/schema/discovery.c: /api, /apis and the paths between them and the resources. Ref:
 * spec/kube-api.md 3.3, 3.4. */
struct api_stream *page_discovery(const struct api_call *call);
/** api/server/schema/openapi.c: /openapi/v2, /openapi/v3 and the paths below it. */
struct api_stream *page_openapi(const struct api_call *call);
void openapi_free(struct openapi *openapi); /* NULL is ignored */
