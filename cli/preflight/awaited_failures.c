/*
 * Walks over the steps; what a probe waits for is known without the jobs of its targets.
 */
#include "cli/preflight/awaited_failures.h"

#include <stdio.h>

#include "probes/requirements.h"

void awaited_failures_check(const struct object *flow,
                            void (*found)(void *ctx, const struct error *err), void *ctx)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);

    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_depends *depends = spec->steps.items[i].depends;
        struct error err = {0};
        char field[64];

        if (!depends || !depends->probe || !probe_wants_failure(depends->probe, NULL))
            continue;
        snprintf(field, sizeof field, "spec.flows[%zu].dependsOn.probe", i);
        error_set(&err, ERR_INVALID, field,
                  "it passes only when a pod fails: if none does, the step never starts and the "
                  "flow stays Running; a step that runs only after a failure, and is skipped "
                  "otherwise, has if: {terms: [{target: STEP, phases: [Failed]}]}");
        found(ctx, &err);
    }
}
