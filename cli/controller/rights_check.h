#pragma once
/*
 * Asks the server which of the rights of a mode this process does not have, one review for each
 * resource and verb, all at once. Ref: spec/cluster.md 1.8, P7.
 */
#include "cli/controller/rights.h"
#include "cli/controller/server.h"

struct rights_wanted {
    unsigned modes;          /* a set of right_mode */
    const char *lease_ns;    /* namespace of the lease; NULL: this process needs none */
    char *const *namespaces; /* the namespaces that are acted in; ends with NULL. NULL: all */
};

/** Appends a line for each missing right: "pods: create, delete\n", in the order of the table. True also when rights are
 * missing. False with `err` set when the server did not answer. A server without reviews is taken to
 * grant everything. */
bool rights_find_missing(struct server *server, const struct rights_wanted *wanted, struct buf *out,
                         struct error *err);
