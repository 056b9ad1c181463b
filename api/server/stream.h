#pragma once
/*
 * One request being answered: the common part of one-shot answers, watches and followed logs.
 */
#include "api/server/api.h"
#include "api/server/route.h"
#include "api/types/labels.h"

struct api {
    struct loop *loop;
    struct registry *registry;
    struct store *store;
    struct api_logs logs;
    bool has_logs;
    struct api_stream *streams; /* every one not yet ended */
};

struct api_stream {
    struct api *api;
    struct api_answer *answer;
    struct api_stream *next, **link;
    struct task task; /* the first answer, never inside api_handle */
    void (*release)(
        struct api_stream *stream); /* frees what the kind of stream added, then itself */
    bool awaits_commit;             /* the task is in the store's hands */
    /* one-shot answers */
    int status;
    const char *content_type;
    struct buf body;
};

/* A request taken apart; lives in the arena of api_handle's call. */
struct api_call {
    struct api *api;
    const struct api_request *request;
    struct api_answer *answer;
    struct arena *arena;
    struct target target;
    struct route route;
    bool table; /* the client takes a Table */
};

/** Fill in and register a stream (embedded first in the kind's own struct). */
void stream_init(struct api_stream *stream, struct api *api, struct api_answer *answer,
                 void (*release)(struct api_stream *stream));
/** Say the answer is complete; the stream is gone afterwards. */
void stream_end(struct api_stream *stream);

enum reply_when { REPLY_NOW, REPLY_DURABLE };
/** Answer with a finished JSON (or text) body, emptied; when durable: after everything accepted so
 * far is committed. */
struct api_stream *reply_body(const struct api_call *call, int status, const char *content_type,
                              struct buf *body, enum reply_when when);
struct api_stream *reply_object(const struct api_call *call, int status,
                                const struct object *object, enum reply_when when);
struct api_stream *reply_error(const struct api_call *call, const struct error *err);
struct api_stream *reply_errors(const struct api_call *call, const struct error_list *errors);

/* The verbs; each returns the stream that answers. */
struct api_stream *verb_get(const struct api_call *call);
struct api_stream *verb_list(const struct api_call *call);
struct api_stream *verb_watch(const struct api_call *call);
struct api_stream *verb_log(const struct api_call *call);
struct api_stream *verb_create(const struct api_call *call);
struct api_stream *verb_update(const struct api_call *call);
struct api_stream *verb_patch(const struct api_call *call);
struct api_stream *verb_delete(const struct api_call *call);

/* Which objects a list or watch means: selectors of the query. */
struct api_filter {
    struct selector *labels; /* NULL = all */
    const char *name;        /* fieldSelector metadata.name=…; NULL = any */
    const char *ns;          /* fieldSelector metadata.namespace=… */
    const char *involved_uid, *involved_name, *involved_kind; /* of events */
};
/** BAD_REQUEST for a selector that does not parse or a field that cannot be selected by. Strings
 * live in the call's arena. */
bool filter_parse(const struct api_call *call, struct api_filter *out, struct error *err);
void filter_release(struct api_filter *filter);
bool filter_matches(const struct api_filter *filter, const struct object *object);
