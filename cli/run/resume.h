#pragma once
/*
 * What a run follows: the flows and jobs of its manifests, and those an earlier run of the same
 * data directory left unfinished.
 *
 * A flow or job that is over runs again from the start. One that is unfinished is taken up where it
 * was, if the manifest still says the same; whatever else is unfinished in the data directory is
 * taken up, too, for its pods may be at work. `fresh` forgets all that is unfinished.
 *
 * With `retry_failed` a flow that failed starts again where it failed, and what succeeded stays as
 * it is. That, and `keep_going`, are told to the flow by annotations: its spec is the user's.
 */
#include "cli/manifest/manifests.h"
#include "cli/run/backend.h"
#include "view/flow_tracker.h"

struct resume_request {
    struct backend *backend;
    struct flow_tracker *tracker;
    const char *data_dir; /* for messages */
    bool fresh, keep_going, retry_failed;
    void (*note)(void *ctx, const char *text);
    void *ctx;
};

/** Bring the manifests into the store and everything to be followed to `follow`. False when one was
 * refused, with every finding printed; a changed unfinished flow is refused before anything is
 * written. */
bool resume_all(const struct resume_request *request, const struct manifests *set);
