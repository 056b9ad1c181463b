#pragma once
/*
 * Objects that live with jobs (api/types/lives_with.h), by the job they name: ConfigMaps, Secrets,
 * Services and claims. They are deleted when the job has ended or was deleted. On the embedded
 * cluster that is one commit with the job's last phase.
 */
#include "api/cluster.h"

struct job_controller;
struct job_dependents_of;

/** An object of a kind that may live with a job was added, changed or deleted. */
void job_dependents_changed(struct job_controller *ctl, enum cluster_change change,
                            const struct object *old, const struct object *object);
/** The job was listed: when it has ended, deletes what lives with it and is older than its end. */
void job_dependents_seen(struct job_controller *ctl, const struct object *job);
/** The job has ended, or was deleted before its end: deletes what lives with it. O(their number). */
void job_dependents_end(struct job_controller *ctl, const struct object *job);
void job_dependents_release(struct job_controller *ctl);
