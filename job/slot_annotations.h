#pragma once
/*
 * What a job remembers of single slots beyond the life of their pods, in
 * status.controlledResources:
 *
 *   succeeded-pods-TASK   0-2,5      these have succeeded and their pods were deleted; they are not
 *                                    run again (annotation volcano.sh/keep-succeeded: "true", O-61)
 *   slot-restarts-TASK    0:2,5-7:1  targeted restarts of each slot
 *   targeted-restarts     4          how many of retryCount the slots answer for
 *                                    (annotation volcano.sh/restart-budget: slot, O-77)
 *
 * They are written with the status, so a restart is counted with the phase that it leads to, or not
 * at all.
 */
#include "job/view.h"

/** What the job's annotations ask for. */
void job_notes_configure(struct job_view *view);
/** A new view: take over what is stored. */
void job_notes_load(struct job_view *view);
/** Restarts are again as stored: the decision that counted them did not get through. */
void job_notes_reload_restarts(struct job_view *view);
/** They may differ from what is stored. */
void job_notes_review(struct job_view *view);
/** Bring controlledResources up to date, before the status is written. True when that changed them.
 */
bool job_notes_write(struct job_view *view);
/** The status was written: what it does not keep is forgotten. */
void job_notes_settle(struct job_view *view);

/** A targeted restart of slots `from` … `to`-1 of a task is decided. */
void job_notes_restarted(struct job_view *view, uint32_t task, int32_t from, int32_t to);
