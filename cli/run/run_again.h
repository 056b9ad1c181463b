#pragma once
/*
 * Prepares that flows which have ended run again: which steps do, what the user is told before, and
 * the annotations that ask the flow (flow/manual_retry.c).
 *
 * `selective` says that the steps of --from or --only run again or, with --retry-failed, the edited
 * steps of a flow that succeeded. Otherwise the steps run again that failed, never ran or were
 * edited.
 */
#include "cli/preflight/foresight.h"
#include "cli/run/resume.h"

/** Returns whether steps of the stored flow were edited since it ran. */
bool run_again_is_edited(const struct resume_request *request, const struct object *stored);
/** Returns whether a flow can run again; `stored` is NULL when it has never run. */
bool run_again_may_begin(const char *name, const struct object *stored, struct error *err);
/** Finds out what happens to the steps of the flow. Returns false with `err` when a name is not
 * that of a step. */
bool run_again_foresee(const struct resume_request *request, const struct object *stored,
                       bool selective, struct foresight *out, struct error *err);
/** Tells the user what happens to the steps of the flow. */
void run_again_tell(const struct resume_request *request, const struct object *stored,
                    bool selective, const struct foresight *foresight);
/** Sets the annotations that ask the flow. */
void run_again_annotate(const struct resume_request *request, const struct object *stored,
                        bool selective, json_t *annotations);
