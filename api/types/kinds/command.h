#pragma once
/*
 * Command (bus.volcano.sh/v1alpha1): an action somebody asks for on a Job or Queue. Ref:
 * spec/job.md 2.3, 18.
 */
#include "api/types/object.h"

/* What a targeted action aims at: O-67. */
#define ANNOTATION_COMMAND_TASK      "volcano.sh/task-spec"
#define ANNOTATION_COMMAND_POD       "volcano.sh/pod-name"
#define ANNOTATION_COMMAND_PARTITION "volcano.sh/partition-id"

struct command {
    const char *action; /* AbortJob, CloseQueue, … */
    struct {
        const char *api_version, *kind, *name, *uid;
    } target;
    const char *reason, *message; /* NULL = absent */
};

const struct command *command_of(const struct object *command);
