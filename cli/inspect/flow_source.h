#pragma once
/*
 * Loads the flows that the operands of a command name: flows in manifest files, or stored flows,
 * written jf/NAME.
 *
 * The templates of a flow in a file come from the files, else from the data directory, if there is
 * one. Its states come from the stored flow of the same name, if there is one.
 */
#include "api/types/text/json_text.h"
#include "cli/client/client.h"
#include "cli/manifest/manifests.h"
#include "view/flow_view.h"

struct flow_source_options {
    struct client_endpoint endpoint;
    const char *namespace; /* namespace of flows that name none; NULL: the default */
    bool states;           /* take the states of flows in files from the store */
    bool past;             /* look for completed jobs of the same templates */
    bool brief; /* read only a few jobs of a large flow; a flow that is over is not linked unless
                 * times say what decided its length */
};

struct flow_source {
    json_t *flow;          /* document of a flow in a file, with the stored status, owned; NULL: the
                            * flow is stored */
    struct buf text;       /* text of a stored flow, until its view is made */
    json_t *templates;     /* templates of the namespace, {name: JobTemplate}; owned */
    struct client *client; /* client that reads the flow's jobs; NULL: they cannot be read */
    bool past, brief;      /* copied from the options */
    const struct manifest *manifest; /* manifest of the flow; NULL: it comes from the store */
    const char *ns;
};

struct flow_sources {
    struct flow_source *items; /* the sources, [count] */
    size_t count, cap;
    struct manifests set;  /* manifests of the files */
    struct client *client; /* client of the store; NULL when there is none or it is not needed */
};

/** Loads the flows that the operands name; several files make one set. Problems are printed.
 * Returns EXIT_OK, EXIT_REFUSED for bad operands and files, EXIT_FAILED for a flow that is not there.
 */
int flow_sources_load(const struct flow_source_options *options, int n, char **operands,
                      struct flow_sources *out);
void flow_sources_release(struct flow_sources *sources);
SCOPED_DEFINE(flow_sources, struct flow_sources, flow_sources_release)

/** Makes the view of a source, once, with estimates and expected times. NULL after printing what is
 * wrong, for a file with its line. */
struct flow_view *flow_source_view(struct flow_source *source, int64_t now_ms);
/** Returns the present time by the clock that the store uses. */
int64_t flow_source_now_ms(void);
