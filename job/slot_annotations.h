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
#include "job/model.h"

/** What the job's annotations ask for. */
void job_slot_annotations_configure(struct job_model *model);
/** A new view: take over what is stored. */
void job_slot_annotations_load(struct job_model *model);
/** Restarts are again as stored: the decision that counted them did not get through. */
void job_slot_annotations_reload_restarts(struct job_model *model);
/** They may differ from what is stored. */
void job_slot_annotations_mark_changed(struct job_model *model);
/** Bring controlledResources up to date, before the status is written. True when that changed them.
 */
bool job_slot_annotations_write(struct job_model *model);
/** The status was written: what it does not keep is forgotten. */
void job_slot_annotations_stored(struct job_model *model);

/** A targeted restart of slots `from` … `to`-1 of a task is decided. */
void job_slot_annotations_count_restart(struct job_model *model, uint32_t task, int32_t from,
                                        int32_t to);
