#pragma once
/*
 * The API server behind the gateway: whatever the commands with the same flags would talk to.
 *
 *   process in the data directory ◄──► its store, when no process runs there
 *   server of a kubeconfig
 *
 * In a data directory a process may start and end while the gateway runs. The upstream notices that
 * within a second, opens what is there now and tells its owner. Calls that were under way then end
 * with UNAVAILABLE. A daemon that serves the page itself sends the requests to its own socket, with
 * a token that stands for the user of the page. Calls to a store run in this process and block it, because nothing else could
 * answer them; nothing is changed there.
 */
#include "api/client/remote.h"
#include "cli/client/client.h"

struct upstream;

/* clang-format off */
#define UPSTREAM_KINDS(X) X(RUN, "run") X(DAEMON, "daemon") X(STORE, "store") X(CLUSTER, "cluster")
/* clang-format on */
#define UPSTREAM_ENUM(name, text) UPSTREAM_##name,
enum upstream_kind { UPSTREAM_KINDS(UPSTREAM_ENUM) UPSTREAM_KIND_N };
#undef UPSTREAM_ENUM

/* What is known of the server. Strings are borrowed until the next change. */
struct upstream_info {
    enum upstream_kind kind;
    const char *name;   /* data directory or URL */
    const char *user;   /* name of the user as which the gateway asks */
    const char *reason; /* why nothing changes, or why the server does not answer; NULL: it does */
    bool live;          /* objects may change */
    bool may_change;    /* the user may create flows in the namespace */
    bool known;         /* the server has said who the user is */
};

struct upstream_options {
    struct loop *loop;
    struct client_endpoint endpoint;
    const char *namespace; /* NULL: the endpoint's */
    /* Shown to the daemon that has the endpoint's data directory, which is this process; `user` is
     * whom it stands for. NULL: the endpoint says all. */
    const char *token, *user;
    /* Called when there is another server than before, and when something new is known of it. */
    void (*changed)(void *ctx);
    void *ctx;
};

/** Opens the server. The texts of the endpoint are borrowed. NULL with the errors of
 * client_open_at. */
struct upstream *upstream_new(const struct upstream_options *options, struct error *err);
void upstream_free(struct upstream *upstream); /* NULL is fine; no call may be under way */
void upstream_info(const struct upstream *upstream, struct upstream_info *out);
const char *upstream_kind_text(enum upstream_kind kind);
/** Returns the namespace for requests that name none. */
const char *upstream_namespace(const struct upstream *upstream);
/** Returns a number that is another one whenever there is another server. */
unsigned upstream_generation(const struct upstream *upstream);

/* Part of the caller's struct. Callbacks run on the loop, never inside upstream_start. */
struct upstream_call {
    /* The request; borrowed until `done`. */
    const char *method;                /* NULL: GET */
    const char *target;                /* path and query */
    const char *accept, *content_type; /* media types; NULL: JSON */
    const void *body;
    size_t body_len;
    int64_t limit_ms; /* time limit; 0: none */
    /* The answer. */
    int status;             /* 0: no answer, see `err` */
    const char *media_type; /* media type of the answer; "" when not given */
    struct buf text;        /* the body; with `data`, only that of a failure */
    struct error err;
    /* Receives the body of a success in pieces; NULL: it is gathered in `text`. Must not cancel the
     * call. */
    void (*data)(struct upstream_call *call, const char *bytes, size_t len);
    void (*done)(struct upstream_call *call);
    /* private */
    struct upstream *upstream;
    bool under_way, is_local;
    struct remote_call remote;
    struct client_call local;
    struct task task;
    LIST_ENTRY(upstream_call) all;
};

void upstream_start(struct upstream *upstream, struct upstream_call *call);
/** Cancels a call, so that no callback follows; fine for one that is not under way. */
void upstream_cancel(struct upstream_call *call);
/** Cancels the call and frees its answer. */
void upstream_call_release(struct upstream_call *call);
