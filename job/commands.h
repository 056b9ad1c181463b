#pragma once
/*
 * Commands for jobs: what people ask for by name. Ref: spec/job.md 18, O-65…O-68.
 *
 * A Command becomes a request in the job's mailbox. Its uid is stored with the decision it leads
 * to, and only then the Command is deleted; found again after a crash, a uid already stored is not
 * executed twice.
 */
#include "api/cluster.h"

struct job_controller;
struct job_run;
struct job_request;
struct parked_command;

/* The key in controlledResources under which the last executed Command is remembered. */
#define RESOURCE_COMMAND_UID "command-uid"

void job_command_arrived(struct job_controller *ctl, const struct object *command);
/** Commands that came before their job (waited for 30 s). */
void job_commands_unpark(struct job_controller *ctl, const struct object *job);
void job_commands_release(struct job_controller *ctl);
/** The request of a Command is dealt with: delete the Command. */
void job_command_done(struct job_run *run, const struct object *command);
