#pragma once
/*
 * kubeconfig files: the server address and the credentials that kubectl and other clients use.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"

struct kubeconfig_plugin;

struct kubeconfig {
    char *server;      /* address of the server, such as https://127.0.0.1:6480 */
    char *server_name; /* name in its certificate when it differs from the address;
                                  * NULL */
    char *proxy;       /* proxy to the server; NULL: none */
    bool insecure;     /* the certificate is not verified */
    bool uncompressed; /* responses are not compressed */
    struct buf ca;     /* certificates of the authorities that may sign the server's, PEM */
    char *user;        /* name of the user entry; for messages */
    char *token;       /* bearer token; NULL: none */
    char *token_file;  /* file with the token, read for every request because it may
                                  * change; NULL */
    char *basic;       /* basic credentials as "user:password"; NULL: none */
    struct buf certificate, key; /* certificate of the client and its key, PEM; empty: none */
    char *namespace;             /* namespace of requests that name none; NULL: "default" */
    char **headers;              /* headers Impersonate-…, [n_headers] */
    size_t n_headers;
    struct kubeconfig_plugin *plugin; /* plugin that provides credentials; NULL: none */
};
void kubeconfig_release(struct kubeconfig *config); /* erases the secrets, too */
SCOPED_DEFINE(kubeconfig, struct kubeconfig, kubeconfig_release)

struct kubeconfig_options {
    const char *context;          /* overrides the current context of the files; NULL */
    const char *cluster, *user;   /* override those of the context; NULL */
    const char *allowed_plugin;   /* the only credential plugin that may run: an absolute path
                                 * (SEC-34); NULL: none */
    bool insecure;                /* accept a file with insecure-skip-tls-verify */
    const char *as, *as_uid;      /* the user to act as, and its uid; NULL */
    const char *const *as_groups; /* groups of that user, [n_as_groups] */
    size_t n_as_groups;
};

/** Reads a context from a file, or from several separated by ':' and merged as kubectl merges them.
 * NOT_FOUND when none of them exists, INVALID when it cannot be used. `options` NULL: all
 * defaults. */
bool kubeconfig_read(const char *paths, const struct kubeconfig_options *options,
                     struct kubeconfig *out, struct error *err);

/** Reads the configuration of a pod: the address from the environment, the service account from
 * `directory`. NOT_FOUND outside of a pod. */
bool kubeconfig_in_cluster(const char *host, const char *port, const char *directory,
                           struct kubeconfig *out, struct error *err);
#define KUBECONFIG_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/** Returns whether the plugin's credentials are valid at `now_ms`; true without a plugin. */
bool kubeconfig_is_fresh(const struct kubeconfig *config, int64_t now_ms);
/** Runs the credential plugin. It takes up to a minute; no other thread may use the config
 * meanwhile. */
bool kubeconfig_ask(struct kubeconfig *config, struct error *err);
/** Reads the token file again, if there is one. */
bool kubeconfig_read_token(struct kubeconfig *config, struct error *err);

/** Lets requests act as the user of the options, instead of one that the file names. Does nothing
 * when the options name none. Returns false with INVALID when only its groups or its uid are given,
 * or when a name cannot stand in a header. */
bool kubeconfig_impersonate(const struct kubeconfig_options *options, struct kubeconfig *config,
                            struct error *err);
/** Uses the token in this file instead of the user's credentials. */
void kubeconfig_use_token_file(struct kubeconfig *config, const char *path);

/** Returns a server address without trailing slashes; owned. */
char *kubeconfig_server(const char *url);
/** Returns host and port of a server address, without credentials, path and query, so that it may
 * be shown; owned. */
char *kubeconfig_host(const char *url);

/** Appends a kubeconfig with this single cluster, user and context as YAML. */
void kubeconfig_write(const struct kubeconfig *config, struct buf *out);
