#pragma once
/*
 * The flows a command speaks of: those of manifest files, or stored ones named jf/NAME.
 *
 * Of a flow in a file, the templates come from the files and else from the data directory, if there
 * is one; its state, when it is stored there under its name.
 */
#include "api/types/text/json_text.h"
#include "cli/client/client.h"
#include "cli/manifest/manifests.h"
#include "view/flow_view.h"

struct flow_source_options {
    struct client_place place;
    const char *namespace_; /* of flows that name none; NULL: the usual one */
    bool states;            /* of flows in files, too */
    bool past;              /* look for completed jobs of the same templates */
    bool brief; /* of a large flow no more than a few jobs; one that is over is not linked unless
                   times say what decided its length */
};

struct flow_source {
    json_t *flow;                    /* of a file, owned; with status when it is stored; or NULL */
    struct buf text;                 /* of the store, until there is a view of it */
    json_t *templates;               /* owned: {name: JobTemplate} of its namespace */
    struct client *client;           /* who knows its jobs; NULL: nobody */
    bool past, brief;                /* as asked for */
    const struct manifest *manifest; /* NULL: from the store */
    const char *ns;
};

struct flow_sources {
    struct flow_source *items; /* [count] */
    size_t count, cap;
    struct manifests set;  /* of the files */
    struct client *client; /* NULL: nothing is stored, or nothing was asked */
};

/** Load what the operands name; several files make one set. Problems are printed. Returns EXIT_OK,
 * EXIT_REFUSED for bad operands and files, EXIT_FAILED for a flow that is not there. */
int flow_sources_load(const struct flow_source_options *options, int n, char **operands,
                      struct flow_sources *out);
void flow_sources_release(struct flow_sources *sources);
SCOPED_DEFINE(flow_sources, struct flow_sources, flow_sources_release)

/** The view of one, once, with estimates and expected times. Problems are printed, those of a file
 * with its line; NULL then. */
struct flow_view *flow_source_view(struct flow_source *source, int64_t now_ms);
/** The store's present time. */
int64_t flow_source_now_ms(void);
