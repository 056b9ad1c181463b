#pragma once
/*
 * What a client's two transports share: requests over HTTP on a unix socket, and requests to an
 * engine in this process.
 */
#include "api/client/kubeconfig.h"
#include "cli/client/client.h"

struct client_ops {
    bool is_live;
    void (*start)(struct client *client, struct client_call *call);
    void (*cancel)(struct client_call *call);
    enum client_ran (*run)(struct client *client, int64_t timeout_ms);
    void (*pass)(struct client *client, int64_t timeout_ms); /* NULL: with `remote` */
    struct remote *(*remote)(struct client *client);         /* NULL: there is none */
    void (*close)(struct client *client);                    /* frees the transport */
};

/* Embedded first in each transport's struct. */
struct client {
    const struct client_ops *ops;
    char *data_dir;            /* or the server's address */
    char *namespace;           /* that of its kubeconfig; NULL */
    struct client_call *calls; /* under way */
    bool stopped;
};

/** NULL with NOT_FOUND when nobody listens on the socket of the directory. */
struct client *client_http_open(const char *data_dir, struct error *err);
/** The server that kubeconfig files name, or the one at `url` as their user; without files (NULL)
 * as nobody. With a token from a file instead, when one is named. */
struct client *client_kube_open(const char *kubeconfig, const struct kubeconfig_options *options,
                                const char *url, const char *token_file, struct error *err);
/** That of the cluster this process is a pod of; NOT_FOUND when it is none. */
struct client *client_cluster_open(const char *host, const char *port, struct error *err);
struct client *client_local_open(const char *data_dir, enum client_access access,
                                 struct error *err);

/* A transport tells: bytes of the body, the end. */
void client_take_data(struct client_call *call, const char *bytes, size_t len);
void client_take_warning(const char *text, size_t len); /* the value of a Warning header */
void client_take_end(struct client_call *call);
