#pragma once
/*
 * A client of the API of a data directory: requests out, answers as they come.
 *
 * Whoever works in the directory answers on its socket. When nobody does, the same requests are
 * answered from the store itself, opened in this process, by the very same API, so that a finished
 * run can be looked at; then nothing will change any more, and watches end after the present state.
 *
 * A call is a struct inside the asker's struct. Several may be under way at once; their callbacks
 * come one at a time, from client_run.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "api/types/text/json_text.h" /* scoped(json) */
#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"

struct client;

enum client_access {
    CLIENT_LOOK,   /* takes no lock: any number may look at once */
    CLIENT_CHANGE, /* a store nobody works in is locked for the while */
};

#define CLIENT_USUAL_DIR ".jobflow"

/* Where a command finds what it asks: a data directory, or a server. */
struct client_place {
    const char *data_dir;
    const char *kubeconfig;               /* NULL: $KUBECONFIG, where it is asked for */
    const char *server;                   /* URL; NULL: that of the kubeconfig */
    const char *context, *cluster, *user; /* of the kubeconfig; NULL: its current ones */
    const char *token_file;               /* NULL: what the user has */
    const char *exec_plugin;              /* may be started for credentials */
    bool insecure;                        /* whoever answers is believed */
};
#define CLIENT_PLACE_USUAL                                                                         \
    {                                                                                              \
        .data_dir = CLIENT_USUAL_DIR                                                               \
    }

/* Rows of a command's flags; `at` is the offset of its client_place. */
/* clang-format off */
#define CLIENT_PLACE_FLAG(type, name, placeholder, help, at, member) \
    {type, name, 0, placeholder, help, (at) + offsetof(struct client_place, member)}
#define CLIENT_PLACE_FLAGS(at)                                                                                                          \
    CLIENT_PLACE_FLAG(FLAG_STR,  "data-dir",          "DIR",  "where state and logs are kept; default: .jobflow",       at, data_dir),    \
    CLIENT_PLACE_FLAG(FLAG_STR,  "kubeconfig",        "FILE", "ask the server that FILE names",                         at, kubeconfig),  \
    CLIENT_PLACE_FLAG(FLAG_STR,  "server",            "URL",  "ask this server, as the kubeconfig's user",              at, server),      \
    CLIENT_PLACE_FLAG(FLAG_STR,  "context",           "NAME", "the kubeconfig's context, instead of the current one",   at, context),     \
    CLIENT_PLACE_FLAG(FLAG_STR,  "cluster",           "NAME", "the kubeconfig's cluster, instead of the context's",     at, cluster),     \
    CLIENT_PLACE_FLAG(FLAG_STR,  "user",              "NAME", "the kubeconfig's user, instead of the context's",        at, user),        \
    CLIENT_PLACE_FLAG(FLAG_STR,  "token-file",        "FILE", "show the server the token in FILE",                      at, token_file),  \
    CLIENT_PLACE_FLAG(FLAG_STR,  "allow-exec-plugin", "PATH", "this program may be started for credentials (user.exec)", at, exec_plugin), \
    CLIENT_PLACE_FLAG(FLAG_BOOL, "insecure-cluster",  NULL,   "accept insecure-skip-tls-verify: believe whoever answers", at, insecure)
/* clang-format on */

/**
 * Where the usual directory is not there: the server that $KUBECONFIG names, or else the daemon of
 * this user, or else the cluster this process is a pod of.
 *
 * Owned, or NULL: NOT_FOUND without such a data directory (with the way out), CONFLICT when a
 * process that does not answer holds it.
 */
struct client *client_open(const char *data_dir, enum client_access access, struct error *err);
/** The server, when the place names one by kubeconfig or URL; else client_open. */
struct client *client_open_at(const struct client_place *place, enum client_access access,
                              struct error *err);
/** Whether it does. */
bool client_place_is_server(const struct client_place *place);
/** Whether it does, or there is a store in the directory. */
bool client_place_may_be(const struct client_place *place);
/** Neither, and yet somebody would be asked: the server of $KUBECONFIG, the user's daemon. */
bool client_place_is_implied(const struct client_place *place);
void client_close(struct client *client); /* after its last call; NULL is fine */
SCOPED_DEFINE_PTR(client, struct client *, client_close)

/** Somebody is at work in the directory: things may still change. */
bool client_is_live(const struct client *client);
const char *client_data_dir(const struct client *client);
/** The namespace of objects that name none: the one given, else that of the kubeconfig, else
 * "default". Borrowed. */
const char *client_namespace(const struct client *client, const char *given);

struct client_call {
    /* the request; borrowed until the answer is complete */
    const char *method;                /* NULL = GET */
    const char *target;                /* path and query */
    const char *accept, *content_type; /* NULL = JSON */
    const void *body;
    size_t body_len;
    /* the answer */
    int status;      /* of HTTP; 0: none came, see `err` */
    struct buf text; /* the body, or with `data` that of a failure */
    struct error err;
    void (*data)(struct client_call *call, const char *bytes, size_t len); /* NULL: gathered */
    void (*done)(struct client_call *call);                                /* may be NULL */
    /* private */
    struct client *client;
    struct client_call *next, **link; /* of those under way */
    void *transport;
};

/** Begin a call. */
void client_start(struct client *client, struct client_call *call);
/** No callback follows. Also for a call that is not under way; not from its own `data`. */
void client_cancel(struct client_call *call);
/** Cancel, and free what the answer holds. */
void client_call_release(struct client_call *call);
SCOPED_DEFINE(client_call, struct client_call, client_call_release)

/* ---- others that ask the same server: reflectors, electors ---- */

struct remote;
/** NULL for a store nobody works in: nothing changes there. */
struct remote *client_remote(struct client *client);
/** Let them work, until something has ended or `timeout_ms` has passed. */
void client_pass(struct client *client, int64_t timeout_ms);

enum client_ran { CLIENT_IDLE, CLIENT_STOPPED, CLIENT_TIMED_OUT };
/** Until no call is under way, client_stop is called, or `timeout_ms` (-1: none) has passed. */
enum client_ran client_run(struct client *client, int64_t timeout_ms);
void client_stop(struct client *client);

/** Whether a complete answer is a success; else `err` is what the Status says: its code by reason,
 * its message. */
bool client_ok(const struct client_call *call, struct error *err);

/** What the Status of a refusal says, finding by finding. */
void client_findings(const struct client_call *call, struct error_list *errors);

/* ---- one request at a time ---- */

/** Start, run to the end; client_ok. Other calls go on meanwhile. */
bool client_do(struct client *client, struct client_call *call, struct error *err);
/** The answer to a GET as a document; owned. */
json_t *client_get(struct client *client, const char *target, struct error *err);
