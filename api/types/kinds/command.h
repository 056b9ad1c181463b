#pragma once
/*
 * Command (bus.volcano.sh/v1alpha1): a request for an action on a Job or Queue. A controller
 * carries it out and deletes it. Ref: spec/job.md 2.3, 18.
 */
#include "api/types/object.h"

/* O-67: these annotations name the part of a job that an action applies to. */
#define ANNOTATION_COMMAND_TASK      "volcano.sh/task-spec"
#define ANNOTATION_COMMAND_POD       "volcano.sh/pod-name"
#define ANNOTATION_COMMAND_PARTITION "volcano.sh/partition-id"

struct command {
    const char *action; /* action that is asked for: AbortJob, CloseQueue, … */
    struct {
        const char *api_version, *kind, *name, *uid;
    } target;
    const char *reason, *message; /* members of the Command; NULL = absent */
};

/** Returns the decoded command, borrowed from the object's blob. */
const struct command *command_of(const struct object *command);
