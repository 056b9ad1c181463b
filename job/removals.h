#pragma once
/*
 * Removals of objects that the controller no longer needs: executed Commands, and objects that live
 * with a job that has ended. A removal that fails is tried again after a growing delay.
 */
struct job_controller;
struct kind;
struct meta;

/** Deletes the object that `meta` names, if it still has this uid. Keeps a reference to `meta`. */
void job_remove(struct job_controller *ctl, const struct kind *kind, const struct meta *meta);
/** Frees the removals that wait for their next attempt. Those with a write in flight are freed by
 * its answer; until then they count in ctl->records. */
void job_removals_release(struct job_controller *ctl);
