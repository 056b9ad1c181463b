#pragma once
/*
 * kubeconfig files: how kubectl and other clients find a server and what they show it.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"
#include <stdbool.h>

struct kubeconfig {
    char *server;                /* https://127.0.0.1:6480 */
    struct buf ca;               /* PEM */
    char *user;                  /* its name; for people */
    char *token;                 /* NULL without */
    struct buf certificate, key; /* PEM; empty without */
    char *namespace_;            /* NULL: default */
};
void kubeconfig_release(struct kubeconfig *config); /* wipes the token */
SCOPED_DEFINE(kubeconfig, struct kubeconfig, kubeconfig_release)

/** The current context of a file, or of several with ':' between them. NOT_FOUND when there is none
 * of them, INVALID when it cannot be used. */
bool kubeconfig_read(const char *paths, struct kubeconfig *out, struct error *err);

/** The YAML of a file with this one cluster, user and context. */
void kubeconfig_write(const struct kubeconfig *config, struct buf *out);
