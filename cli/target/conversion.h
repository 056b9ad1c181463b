#pragma once
/*
 * Holds files against a target, and writes them as Volcano of a version understands them: each step
 * has a template of its own name, in which the flow's scheduling and the step's patch are applied,
 * and a loop over known items is written as its steps. Ref: spec/everyday.md 3.4.
 */
#include "cli/manifest/manifests.h"
#include "cli/target/target.h"

struct conversion_request {
    const struct manifests *set;
    json_t *const *docs; /* the documents as written, [set->count]; not changed */
    const struct target *target;
    const char *namespace;   /* namespace of objects that name none */
    bool warn_of_conversion; /* warn of flows that Volcano takes only when they are converted */
};

struct conversion_result {
    size_t errors, warnings;
    json_t *documents; /* the list of written documents in order of creation, owned;
                         * NULL: the target is a cluster, or there are errors */
};

/** Prints every finding with file, line and field. Returns true when there is no error. The files
 * have passed the preflight. */
bool conversion_run(const struct conversion_request *request, struct conversion_result *result);
