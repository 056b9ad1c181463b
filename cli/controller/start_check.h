#pragma once
/*
 * What a cluster must have before a controller starts: the kinds of its mode, definitions that keep
 * what it writes, and its rights. Each refusal names the command that mends it. Ref:
 * spec/cluster.md 1.8, P5 to P7.
 */
#include "cli/controller/gang.h"
#include "cli/controller/mode.h"
#include "cli/controller/server.h"

struct start_needs {
    const struct mode *mode;
    const char *gang;        /* one of gang_names */
    const char *lease_ns;    /* namespace of the lease; NULL: this process needs none */
    char *const *namespaces; /* the namespaces that are acted in; NULL: all */
    bool upstream;           /* only what Volcano knows is written, so its definitions do */
};

/** Checks the cluster and finds what it has for the gang. False with `err` set; missing rights are
 * printed before. */
bool start_check(struct server *server, const struct start_needs *needs, enum job_gang *out_gang,
                 struct error *err);
