#pragma once
/*
 * kubeconfig files: how kubectl and other clients find a server and what they show it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"

struct kubeconfig_plugin;

struct kubeconfig {
    char *server;                /* https://127.0.0.1:6480 */
    char *server_name;           /* the name its certificate has, when another; NULL */
    char *proxy;                 /* NULL: none */
    bool insecure;               /* its certificate is not looked at */
    bool uncompressed;           /* answers come as they are */
    struct buf ca;               /* PEM */
    char *user;                  /* its name; for people */
    char *token;                 /* NULL without */
    char *token_file;            /* to be read for every request, for it may change; NULL */
    char *basic;                 /* "user:password"; NULL */
    struct buf certificate, key; /* PEM; empty without */
    char *namespace;             /* NULL: default */
    char **headers;              /* [n_headers]: Impersonate-…: whom to act for */
    size_t n_headers;
    struct kubeconfig_plugin *plugin; /* a program that gives credentials; NULL */
};
void kubeconfig_release(struct kubeconfig *config); /* wipes what is secret */
SCOPED_DEFINE(kubeconfig, struct kubeconfig, kubeconfig_release)

struct kubeconfig_options {
    const char *context;        /* instead of the files' current one; NULL */
    const char *cluster, *user; /* instead of the context's; NULL */
    const char *allowed_plugin; /* the one program that may be started for credentials: an absolute
                                   path (SEC-34); NULL: none */
    bool insecure;              /* insecure-skip-tls-verify is accepted */
};

/** A context of a file, or of several with ':' between them, as kubectl merges them. NOT_FOUND when
 * there is none of them, INVALID when it cannot be used. `options` NULL: all defaults. */
bool kubeconfig_read(const char *paths, const struct kubeconfig_options *options,
                     struct kubeconfig *out, struct error *err);

/** What a pod of a cluster is given: address from the environment, account in a directory.
 * NOT_FOUND outside of one. */
bool kubeconfig_in_cluster(const char *host, const char *port, const char *directory,
                           struct kubeconfig *out, struct error *err);
#define KUBECONFIG_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* ---- credentials that change ---- */

/** Whether what a program gave still holds at `now_ms`; true without such a program. */
bool kubeconfig_is_fresh(const struct kubeconfig *config, int64_t now_ms);
/** Ask the program. Takes up to a minute; nobody else may look at the config meanwhile. */
bool kubeconfig_ask(struct kubeconfig *config, struct error *err);
/** Read the token's file again, if it comes from one. */
bool kubeconfig_read_token(struct kubeconfig *config, struct error *err);

/** A token from this file, instead of whatever the user has. */
void kubeconfig_use_token_file(struct kubeconfig *config, const char *path);

/** An address as it stands before paths: without slashes at its end; owned. */
char *kubeconfig_server(const char *url);

/** The YAML of a file with this one cluster, user and context. */
void kubeconfig_write(const struct kubeconfig *config, struct buf *out);
