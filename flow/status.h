#pragma once
/*
 * The status document of a flow, written from its record.
 *
 * Up to FLOW_FULL_STEPS steps everything is there: the lists, jobStatusList and conditions as
 * upstream has them, and nodes[] with phase, attempts and reasons (DC-06). Beyond that it is
 * compact (DC-05): counts, the first hundred of each list, the steps that failed, are blocked, run
 * or were retried, and the results of all steps as bitmaps, so that nothing is lost when jobs go.
 * Equal records give equal bytes; no clock is read (INV-F5).
 *
 * Fields beyond upstream's: state.reason, state.message, state.lastTransitionTime, startTime,
 * completionTime, observedGeneration, observedRetry, waitingJobs, stepCounts, nodes, and in the
 * compact form results {completed, failed, skipped, …} and criticalPath.
 */
#include "flow/model/flow_model.h"

enum {
    COMPACT_LIST_MAX = 100,     /* names per list, steps per cause of being shown */
    REMOVED_ENTRIES_MAX = 1000, /* steps no longer in the spec */
};

struct flow_state {
    enum flow_phase phase;
    char *reason, *message; /* why; NULL = nothing to say */
    char *retry;            /* value of ANNOTATION_FLOW_RETRY acted on; NULL = none */
    int64_t since_ms;       /* of the phase */
    int64_t start_ms;       /* first job created; 0 = none yet */
    int64_t completion_ms;  /* terminal phase reached; 0 = not yet */
};

/* Entries of jobStatusList for steps that are no longer in the spec, as JSON. */
struct removed_entries {
    char **items;
    size_t count;
};

struct flow_status_view {
    const struct flow_model *model; /* NULL: the graph is unusable, only the state is shown */
    const struct flow_state *state;
    const struct removed_entries *removed;
    const char *critical_path; /* what the compact form says of the critical path; or NULL */
    int64_t generation;
    /** The step's job, borrowed; for the compact form, whose record keeps none. */
    const struct object *(*job)(void *ctx, uint32_t step);
    void *ctx;
};

/** The document, owned. O(steps) up to FLOW_FULL_STEPS, bounded beyond but for the bitmaps. */
struct blob *flow_status_render(const struct flow_status_view *view);

const char *flow_list_key(enum flow_list list);
