#pragma once
/*
 * Finds out which of Volcano's controllers run in a cluster, from the Deployments of its controller
 * manager. Two controllers for the same kind would write the same statuses (DCL-18).
 *
 * The functions are pure. Ref: spec/cluster.md 1.3; Volcano cmd/controller-manager/app/server.go,
 * isControllerEnabled.
 */
#include <jansson.h>

#include "base/error.h"

/** Returns whether Volcano runs the controller `name` ("jobflow-controller") when its flag
 * --controllers has this value. The first entry that names it decides; otherwise "*" does. */
bool volcano_runs(const char *list, const char *name);

enum { VOLCANO_RIVALS_MAX = 3 };

/* Controllers of Volcano that do what a mode of this process does. */
struct volcano_rivals {
    const char *names[VOLCANO_RIVALS_MAX + 1]; /* ends with NULL */
    const char *without;                       /* the value of --controllers that leaves them out */
    int since_minor;                           /* the first version 1.N that has one of them */
};

/** Returns the minor version of an image ("…:v1.13.2" is 13), or -1 when its tag is no version. */
int volcano_minor_of_image(const char *image);

/** Returns whether the Deployment document runs no rival. Otherwise CONFLICT, with what to change. A
 * Deployment without replicas runs nothing. */
bool volcano_allows(const json_t *deployment, const struct volcano_rivals *rivals,
                    struct error *err);

/** Returns whether the value of --volcano-controllers names no rival. Otherwise CONFLICT, with what
 * to change. */
bool volcano_list_allows(const char *list, const struct volcano_rivals *rivals, struct error *err);
