#pragma once
/*
 * The status document of a flow, rendered from its model.
 *
 * Up to FLOW_FULL_STEPS steps it is full: the lists, jobStatusList and conditions that upstream
 * has, and nodes[] with phase, attempts and reasons of each step (DC-06). Beyond that it is compact
 * (DC-05): counts, the first hundred names of each list, entries for steps that failed, are
 * blocked, run or were retried, and bitmaps with the results of all steps, so that a result
 * outlives its job. Equal models give equal bytes, because no clock is read (INV-F5).
 *
 * Members that upstream does not have: state.reason, state.message, state.lastTransitionTime,
 * ending, startTime, completionTime, observedGeneration, observedRetry, waitingJobs, stepCounts,
 * nodes; in the compact form also results {completed, failed, skipped, …} and criticalPath.
 */
#include "flow/model/flow_model.h"
#include "flow/status/loop_times.h"

enum {
    COMPACT_LIST_MAX = 100,     /* names per list, steps per cause of being shown */
    REMOVED_ENTRIES_MAX = 1000, /* steps no longer in the spec */
};

struct flow_state {
    enum flow_phase phase;
    enum flow_phase ending; /* how the flow will end, decided before its final steps run; else
                             * NONE */
    char *reason, *message; /* reason and message of the phase; NULL = none */
    char *retry;            /* value of ANNOTATION_FLOW_RETRY that was acted on; NULL = none */
    int64_t since_ms;       /* time at which the phase began */
    int64_t start_ms;       /* first job created; 0 = none yet */
    int64_t completion_ms;  /* terminal phase reached; 0 = not yet */
    int64_t duration_ms;    /* time from the first job to the end, finer than the stored times;
                             * meaningful with completion_ms; -1 = not known */
};

/* Entries of jobStatusList for steps that are no longer in the spec, as JSON. */
struct removed_entries {
    char **items;
    size_t count;
};

struct flow_status_view {
    const struct flow_model *model; /* model of the flow; NULL: the graph is unusable, so only the
                                     * state is shown */
    const struct flow_state *state;
    const struct removed_entries *removed;
    const char *critical_path; /* JSON of criticalPath; or NULL */
    const struct loop_times *loops;
    int64_t generation;
    /** The job of a step, borrowed, or NULL; for the compact form, whose model keeps no jobs. */
    const struct object *(*job)(void *ctx, uint32_t step);
    void *ctx;
};

/** Renders the document (owned). O(steps) up to FLOW_FULL_STEPS. Beyond that the number of entries
 * is bounded; only the bitmaps grow with the steps. */
struct blob *flow_status_render(const struct flow_status_view *view);

/** Returns the name of the member of the status that holds the list. */
const char *flow_list_key(enum flow_list list);
