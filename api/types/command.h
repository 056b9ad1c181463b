#pragma once
/*
 * Command (bus.volcano.sh/v1alpha1): an action somebody asks for on a Job or Queue. Ref:
 * spec/job.md 2.3, 18.
 */
#include "api/types/object.h"

struct command {
    const char *action; /* AbortJob, CloseQueue, … */
    struct {
        const char *api_version, *kind, *name, *uid;
    } target;
    const char *reason, *message; /* NULL = absent */
};

const struct command *command_of(const struct object *command);
