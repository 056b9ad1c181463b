#pragma once
/*
 * An API client for a data directory or a server.
 *
 * The process that runs in the data directory answers on its socket. When no process runs there,
 * the client opens the store in this process and answers the same requests with the same API code,
 * so that a finished run can be inspected. Nothing changes in such a store, and a watch on it ends
 * after the present state. When the process is stopped (Ctrl-Z) the client does the same beside it,
 * says so, and refuses to change anything.
 *
 * A call is a struct embedded in the caller's struct. Several calls may be in flight at once; their
 * callbacks run one at a time, from client_run.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "api/types/text/json_text.h" /* for scoped(json) */
#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"
#include "cli/command/command.h"

struct client;

enum client_access {
    CLIENT_LOOK,   /* reads only and takes no lock; any number of readers may run at once */
    CLIENT_CHANGE, /* may write; a store without a running process is locked until close */
};

#define CLIENT_USUAL_DIR ".jobflow"

/* What a command connects to: a data directory or a server. */
struct client_endpoint {
    const char *data_dir;
    const char *kubeconfig; /* path of the kubeconfig; NULL: $KUBECONFIG where it applies */
    const char *server;     /* URL; NULL: the kubeconfig's server */
    const char *context, *cluster, *user; /* names in the kubeconfig; NULL: the current ones */
    const char *token_file;               /* file with a token; NULL: the user's credentials from
                                           * the kubeconfig */
    /* The only exec plugin that may be started for credentials. */
    const char *exec_plugin;
    bool insecure;              /* do not verify the server's certificate */
    const char *as, *as_uid;    /* the user to act as, and its uid; NULL: as oneself */
    struct flag_list as_groups; /* groups of that user */
};
#define CLIENT_ENDPOINT_USUAL                                                                      \
    {                                                                                              \
        .data_dir = CLIENT_USUAL_DIR                                                               \
    }

/* Flag rows that fill a client_endpoint; `at` is its offset in the command's options. */
/* clang-format off */
#define CLIENT_ENDPOINT_FLAG(type, name, placeholder, help, at, member) \
    {type, name, 0, placeholder, help, (at) + offsetof(struct client_endpoint, member)}
#define CLIENT_SERVER_FLAGS(at)                                                                                                          \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "kubeconfig",        "FILE", "ask the server that FILE names",                         at, kubeconfig),  \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "server",            "URL",  "ask this server, as the kubeconfig's user",              at, server),      \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "context",           "NAME", "the kubeconfig's context, instead of the current one",   at, context),     \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "cluster",           "NAME", "the kubeconfig's cluster, instead of the context's",     at, cluster),     \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "user",              "NAME", "the kubeconfig's user, instead of the context's",        at, user),        \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "token-file",        "FILE", "show the server the token in FILE",                      at, token_file),  \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "allow-exec-plugin", "PATH", "this program may be started for credentials (user.exec)", at, exec_plugin), \
    CLIENT_ENDPOINT_FLAG(FLAG_BOOL, "insecure-cluster",  NULL,   "accept insecure-skip-tls-verify: do not verify the server", at, insecure),   \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "as",                "USER", "act as this user, if the server allows it",                 at, as),          \
    CLIENT_ENDPOINT_FLAG(FLAG_LIST, "as-group",          "GROUP", "a group of that user; may be given several times",         at, as_groups),   \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "as-uid",            "UID",  "the uid of that user",                                      at, as_uid)
#define CLIENT_ENDPOINT_FLAGS(at)                                                                                                          \
    CLIENT_ENDPOINT_FLAG(FLAG_STR,  "data-dir",          "DIR",  "where state and logs are kept; default: .jobflow",       at, data_dir),    \
    CLIENT_SERVER_FLAGS(at)
/* clang-format on */

/**
 * Opens a client for a data directory. When the default directory does not exist, it opens the
 * server that $KUBECONFIG names, else the daemon of this user, else the cluster this process runs
 * in as a pod.
 *
 * Waits, and says so, as long as a process has the data directory and does not answer yet. When the
 * process ends before it has answered a plain GET, the store answers, or the process that has the
 * directory then.
 *
 * Returns an owned client, or NULL with NOT_FOUND when there is no such data directory (the message
 * says what to do), or CONFLICT when another reader of the store lasts too long.
 */
struct client *client_open(const char *data_dir, enum client_access access, struct error *err);
/** Opens the server when `endpoint` names one by kubeconfig or URL; otherwise calls client_open. */
struct client *client_open_at(const struct client_endpoint *endpoint, enum client_access access,
                              struct error *err);
struct kubeconfig;
/** Reads the configuration of the server that `endpoint` names, else that of $KUBECONFIG, else that
 * of the cluster this process runs in as a pod. NOT_FOUND when there is none of these. */
bool client_endpoint_config(const struct client_endpoint *endpoint, struct kubeconfig *out,
                            struct error *err);
struct loop;
/** As client_open_at, for a program that serves others meanwhile: the users of client_remote run on
 * `loop`, which is borrowed, and calls must not be started. NOT for a store without a running
 * process: client_remote is then NULL and calls run as usual, on a loop of their own. */
struct client *client_open_on(struct loop *loop, const struct client_endpoint *endpoint,
                              struct error *err);
/** Opens the process that has a data directory and shows it this token, in place of its user's own
 * rights. `loop` as for client_open_on. NOT_FOUND when no process listens there. */
struct client *client_open_as(struct loop *loop, const char *data_dir, const char *token,
                              struct error *err);
/** Returns the exit code of a command that could not open its client: EXIT_REFUSED for a data
 * directory that is not safe to use and for flags that do not fit each other, else EXIT_FAILED. */
int client_open_failed(const struct error *err);
/** As client_open_at, for a command. When it fails it prints the error and sets the exit code of the
 * command, which client_open_failed tells. */
struct client *client_open_or_say(const struct client_endpoint *endpoint, enum client_access access,
                                  int *out_code);
/** Returns true when a daemon (`serve`) answers, not a run, a store or another API server. */
bool client_is_daemon(struct client *client);
/** Returns true when `endpoint` names a server by kubeconfig or URL. */
bool client_endpoint_is_server(const struct client_endpoint *endpoint);
/** Returns true when `endpoint` names a server, or its data directory holds a store. */
bool client_endpoint_may_exist(const struct client_endpoint *endpoint);
/** Returns true when `endpoint` names no server and has no store, but client_open_at would still
 * find a server: that of $KUBECONFIG or the user's daemon. */
bool client_endpoint_is_implied(const struct client_endpoint *endpoint);
void client_close(struct client *client); /* call after the last call has ended; NULL is fine */
SCOPED_DEFINE_PTR(client, struct client *, client_close)

/** Returns true when a running process answers, so objects may still change. */
bool client_is_live(const struct client *client);
/** Says why nothing changes while a client is not live: "no process runs in DIR". Owned. */
char *client_not_live_reason(const struct client *client);
const char *client_data_dir(const struct client *client);
/** Returns the namespace for objects that name none: `given`, else that of the kubeconfig, else
 * "default". Borrowed. */
const char *client_namespace(const struct client *client, const char *given);

enum { CLIENT_MEDIA_TYPE_MAX = 96 };

struct client_call {
    /* The request; its strings are borrowed until the answer is complete. */
    const char *method;                /* method of the request; NULL = GET */
    const char *target;                /* path and query of the request */
    const char *accept, *content_type; /* media types; NULL = JSON */
    const void *body;
    size_t body_len;
    /* The answer. */
    int status;      /* HTTP status; 0: no answer, see `err` */
    struct buf text; /* the body; when `data` is set, only the body of a failure */
    char media_type[CLIENT_MEDIA_TYPE_MAX]; /* media type of the answer; "" when not given */
    struct error err;
    /* Receives the body in pieces; NULL: the body is gathered in `text`. */
    void (*data)(struct client_call *call, const char *bytes, size_t len);
    void (*done)(struct client_call *call); /* called when the call has ended; may be NULL */
    /* private */
    struct client *client;
    LIST_ENTRY(client_call) in_flight; /* le_prev NULL: it is not */
    void *transport;
};

static inline bool client_call_in_flight(const struct client_call *call)
{
    return call->in_flight.le_prev;
}
/** Starts a call. Its callbacks run from client_run. */
void client_start(struct client *client, struct client_call *call);
/** Cancels a call; no callback follows. Does nothing for a call that is not in flight. Must not be
 * called from the call's own `data` callback. */
void client_cancel(struct client_call *call);
/** Cancels the call and frees what its answer holds. */
void client_call_release(struct client_call *call);
SCOPED_DEFINE(client_call, struct client_call, client_call_release)

struct remote;
/** Returns the connection for reflectors and electors that use the same server. Borrowed. NULL for
 * a store without a running process, where nothing changes. */
struct remote *client_remote(struct client *client);
/** Runs the users of client_remote until a call has ended or `timeout_ms` milliseconds have passed.
 */
void client_pass(struct client *client, int64_t timeout_ms);

enum client_ran { CLIENT_IDLE, CLIENT_STOPPED, CLIENT_TIMED_OUT };
/** Runs calls until none is in flight, client_stop is called, or `timeout_ms` milliseconds (-1: no
 * limit) have passed. */
enum client_ran client_run(struct client *client, int64_t timeout_ms);
void client_stop(struct client *client);

/** Returns whether a complete answer is a success. On failure `err` takes its code from the reason
 * of the Status and its message from the message of the Status. */
bool client_ok(const struct client_call *call, struct error *err);

/** Adds each cause listed in the Status of a refusal to `errors`. */
void client_findings(const struct client_call *call, struct error_list *errors);

/** Starts a call, runs it to its end and returns client_ok. Other calls proceed meanwhile. */
bool client_do(struct client *client, struct client_call *call, struct error *err);
/** Sends a GET and returns the answer as an owned document, or NULL with `err` set. */
json_t *client_get(struct client *client, const char *target, struct error *err);
