#pragma once
/*
 * What applying or running manifests would do: which objects are made or changed, and for each flow
 * the jobs of its steps, in the order in which they can start.
 *
 * Made from the same dry run as `validate`, so it shows what admission makes of the files: defaults
 * filled in, patches merged.
 */
#include "api/types/text/json_text.h"
#include "cli/client/client.h"
#include "cli/manifest/manifests.h"

struct plan_options {
    const char *namespace;
    bool sim;
    int max_pods;
    struct client *client; /* what is stored; NULL: nothing is */
};

/**
 * {objects: [{action, kind, namespace, name, changes: [{path, from, to}], refused,
 *              begunAnewByRun}],
 *  flows: [{name, namespace, steps: [{name, stage, after, template, job, needs, problem}],
 *           problems: [{path, message}],
 *           templates: [{name, version, copy, gone, changes: [{path, from, to}]}]}]}
 * `action` is create, change or keep; `refused` why a stored flow may not be edited so, which a
 * run of one that has ended does not ask; `job` the Job without status; `problems` gangs that can
 * never start; `templates`, of a stored flow that pins them, how the newest version of each differs
 * from the pinned one, or that it is gone. *out_refused: an edit of an unfinished flow is refused.
 * Owned; NULL when the files were refused, with every finding
 * printed.
 */
json_t *plan_make(struct manifests *set, const struct plan_options *options, bool *out_refused);
