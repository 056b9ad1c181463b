#pragma once
/*
 * The steps that `run --approve` approves as soon as they wait for it.
 */
#include "cli/command/command.h"
#include "cli/manifest/manifests.h"
#include "flow/controller.h"

struct approvals {
    const struct flag_list *steps; /* their names; borrowed */
    struct flow_answers answers;
    char *by;
};

/** Fills a zeroed struct for the answers of the user of this process. */
void approvals_init(struct approvals *approvals, const struct flag_list *steps);
void approvals_release(struct approvals *approvals);
SCOPED_DEFINE(approvals, struct approvals, approvals_release)

/** Returns whether each name is that of a step with `approve` in the manifests; prints those that are
 * not. */
bool approvals_check(const struct flag_list *steps, const struct manifests *set);
