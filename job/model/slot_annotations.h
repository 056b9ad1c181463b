#pragma once
/*
 * Facts about single slots that outlive their pods, stored in status.controlledResources:
 *
 *   succeeded-pods-TASK   0-2,5      these have succeeded and their pods were deleted; they are not
 *                                    run again (annotation volcano.sh/keep-succeeded: "true", O-61);
 *                                    where finished pods may be collected at any time, all that
 *                                    have succeeded
 *   slot-restarts-TASK    0:2,5-7:1  targeted restarts of each slot
 *   targeted-restarts     4          how many of retryCount the slots answer for
 *                                    (annotation volcano.sh/restart-budget: slot, O-77)
 *
 * They are part of the job's status (not of metadata.annotations) and are written with it, so that
 * a restart is counted together with the phase that it leads to, or not at all.
 */
#include "job/model/model.h"

/** Returns whether the stored status names successes of a task. */
bool job_slot_annotations_name_successes(const struct job_model *model, uint32_t task);

/** Reads from the job's annotations which facts are to be kept. */
void job_slot_annotations_configure(struct job_model *model);
/** Takes over the stored facts into a new model. */
void job_slot_annotations_load(struct job_model *model);
/** Returns to the stored restarts: the decision that counted others was not stored. */
void job_slot_annotations_reload_restarts(struct job_model *model);
/** The model may differ from what is stored. */
void job_slot_annotations_mark_changed(struct job_model *model);
/** Brings controlledResources up to date before the status is written. True when that changed
 * them. */
bool job_slot_annotations_write(struct job_model *model);
/** The status was stored: forget successes and restarts that it does not have. */
void job_slot_annotations_stored(struct job_model *model);

/** Counts a targeted restart of slots `from` … `to`-1 of a task. */
void job_slot_annotations_count_restart(struct job_model *model, uint32_t task, int32_t from,
                                        int32_t to);
