#pragma once
/*
 * What answers the requests of pages that are signed in with one credential: it asks one API server
 * with that credential's rights. web/site.h says whose requests these are.
 */
#include "web/site.h"
#include "web/upstream/upstream.h"

struct web_server;
struct child_slots;

struct web_server_options {
    struct web_site *site;
    struct upstream *upstream;
    struct child_slots *child_slots;
    const struct client_endpoint *endpoint; /* children of this process ask it */
    const char *token;                      /* children show it there; NULL: none */
    const char *namespace;                  /* namespace of the page; NULL: that of the endpoint */
    const char *open;                       /* name of the flow that the page opens; NULL: none */
    bool read_only; /* nothing that changes passes, whatever the user may do */
};

/** Borrows what the options refer to. */
struct web_server *web_server_new(const struct web_server_options *options);
void web_server_free(struct web_server *server); /* NULL is fine; no answer may be under way */
/** Call when upstream_options.changed is called. */
void web_server_upstream_changed(struct web_server *server);
