#pragma once
/*
 * Command objects: actions that a user requests for a job by name. Ref: spec/job.md 18, O-65…O-68.
 *
 * A Command becomes a request in the job's queue. Its uid is stored in the status with the decision
 * it leads to, and only then is the Command deleted. A Command that is found again after a crash is
 * not executed when its uid is already stored.
 */
#include "api/cluster.h"

struct job_controller;
struct job_run;
struct job_request;
struct parked_command;

/* The key in controlledResources under which the last executed Command is remembered. */
#define RESOURCE_COMMAND_UID "command-uid"

void job_command_arrived(struct job_controller *ctl, const struct object *command);
/** Executes the Commands that arrived before this job; each waits 30 s for its job. */
void job_commands_unpark(struct job_controller *ctl, const struct object *job);
void job_commands_release(struct job_controller *ctl);
/** Deletes a Command whose request was dealt with. */
void job_command_done(struct job_run *run, const struct object *command);
