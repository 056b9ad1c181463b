#pragma once
/*
 * Resumes what an earlier run of the same data directory left.
 *
 * A run follows the flows and jobs of its manifests and all others that are unfinished in the data
 * directory, because their pods may be at work. A flow or job that is over runs again from the
 * start; one that is unfinished goes on, provided that its manifest has not changed. `fresh`
 * deletes all unfinished ones first. A manifest with a generateName stands for the object that an
 * earlier run made of it, if that one goes on; otherwise a new one is made. In a daemon, whose
 * other clients may use the same generateName, a new one is always made.
 *
 * With `retry_failed` a failed flow starts again where it failed, and a flow that succeeded is
 * kept. With `rerun` the steps that it names run again in a flow that has ended. In both cases
 * steps that were edited run again with all that depends on them. This and `keep_going` are passed
 * to the flow as annotations, because its spec belongs to the user.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "cli/manifest/manifests.h"
#include "cli/preflight/edits.h"
#include "cli/run/backend.h"
#include "view/flow_tracker.h"

struct resume_request {
    struct backend *backend;
    struct flow_tracker *tracker;
    const char *data_dir; /* data directory as named in messages */
    bool fresh, keep_going, retry_failed;
    const char *reuse;       /* value of ANNOTATION_FLOW_REUSE for all flows; or NULL */
    struct flow_rerun rerun; /* steps to run again; its `edited` is not used */
    struct edits *edits;     /* manifests beside what is stored; NULL: none is to run again */
    void (*note)(void *ctx, const char *text);
    void *ctx;
};

/** Applys the manifests and add every flow and job to follow to the tracker. False when one was
 * refused, with every finding printed; a changed unfinished flow is refused before anything is
 * written. */
bool resume_all(const struct resume_request *request, const struct manifests *set);

/** Tells whether a manifest is the pattern of a FlowTrigger among them: a suspended flow, which runs
 * only as the flows that the trigger makes of it. */
bool resume_is_pattern(const struct manifests *set, const struct manifest *manifest);
