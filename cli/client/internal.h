#pragma once
/*
 * The interface between a client and its two transports: HTTP to a socket or server, and an engine
 * in this process.
 */
#include "api/client/kubeconfig.h"
#include "cli/client/client.h"

struct client_ops {
    bool is_live;
    void (*start)(struct client *client, struct client_call *call);
    void (*cancel)(struct client_call *call);
    enum client_ran (*run)(struct client *client, int64_t timeout_ms);
    /* Runs calls for at most that time. NULL for a transport that has `remote`. */
    void (*pass)(struct client *client, int64_t timeout_ms);
    /* Returns the remote server. NULL for a transport without one. */
    struct remote *(*remote)(struct client *client);
    void (*close)(struct client *client); /* frees the transport's struct */
};

/* Says whether a process holds a data directory that is opened in this process. */
enum client_holder { HOLDER_NONE, HOLDER_STOPPED };

/* The common part of a client, embedded first in each transport's struct. */
struct client {
    const struct client_ops *ops;
    char *data_dir;                 /* data directory, or the server's address */
    char *namespace;                /* namespace of its kubeconfig; NULL */
    enum client_holder holder;      /* process that holds a data directory that is opened in this
                                     * process */
    LIST_HEAD(, client_call) calls; /* list of the calls in flight */
    bool stopped;
    enum client_access access; /* how the data directory was opened */
    int follows;               /* how often another client may stand in for this one; 0: never */
    struct client *successor;  /* the client that stands in for this one since its process ended;
                                * owned, NULL */
};

/** Opens a data directory by its process, or by its store when no process answers (open.c). Returns
 * an owned client, or NULL with `err` (may be NULL). */
struct client *client_open_directory(const char *data_dir, enum client_access access,
                                     struct error *err);
/** Connects to the socket of a data directory. Returns an owned client, or NULL with NOT_FOUND when
 * no process listens. `token` is shown to it; NULL: none, the kernel says who asks. `loop` is
 * borrowed; NULL, here and below: the client makes its own. */
struct client *client_http_open(const char *data_dir, const char *token, struct loop *loop,
                                struct error *err);
/** Opens the server named by kubeconfig files, or the one at `url` as the kubeconfig's user.
 * `kubeconfig` may be NULL: requests are then anonymous. A named token file replaces the user's
 * credentials. */
struct client *client_kube_open(const char *kubeconfig, const struct kubeconfig_options *options,
                                const char *url, const char *token_file, struct loop *loop,
                                struct error *err);
/** Reads the configuration for client_kube_open. */
bool client_kube_config(const char *kubeconfig, const struct kubeconfig_options *options,
                        const char *url, const char *token_file, struct kubeconfig *out,
                        struct error *err);
/** Opens the server of the cluster this process runs in as a pod; NOT_FOUND when it runs in none.
 */
struct client *client_cluster_open(const char *host, const char *port, struct loop *loop,
                                   struct error *err);
/** Opens the store of a data directory in this process. With HOLDER_STOPPED, only to look at it;
 * the store is then read beside the process that holds it. */
struct client *client_local_open(const char *data_dir, enum client_access access,
                                 enum client_holder holder, struct error *err);

/* Called by a transport with bytes of the body; and at the end of the answer. */
void client_take_data(struct client_call *call, const char *bytes, size_t len);
/** Prints a warning of the server. `text` is the value of a Warning header. */
void client_take_warning(const char *text, size_t len);
void client_take_end(struct client_call *call);
