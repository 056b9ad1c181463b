#pragma once
/*
 * Computes what applying or running manifests would do: which objects are created or changed, and
 * for each flow the jobs of its steps in the order in which they can start.
 *
 * A plan uses the same dry run as `validate`, so it shows objects as admitted: defaults set and
 * patches merged.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/json_text.h"
#include "cli/client/client.h"
#include "cli/manifest/manifests.h"
#include "cli/preflight/fit.h"

struct plan_options {
    const char *namespace;
    bool sim;
    const struct fit *fit;
    struct client *client; /* stored objects; NULL: nothing is stored */
    bool is_guest;         /* who asks may not be the user of this machine: none of its programs is
                            * run, and no file is looked at, because the manifests name it */
    bool again;            /* tell what a retry, or with `rerun` a rerun, does to ended flows */
    struct flow_rerun rerun;
    bool only_changed;       /* steps without cache may be reused, too */
    const char *environment; /* variables that flags name, as text; or NULL */
};

/**
 * Returns an owned document, or NULL when the files were refused, after printing every finding:
 *
 *   {objects: [{action, kind, namespace, name, changes: [{path, from, to}], refused,
 *               begunAnewByRun, problem}],
 *    flows: [{name, namespace, steps: [{name, stage, after, template, job, needs, problem,
 *                                            then, compared}],
 *             problems: [{path, message}],
 *             templates: [{name, version, copy, gone, changes: [{path, from, to}]}]}]}
 *
 * `action` is create, change or keep. `refused` is the reason why a stored flow may not be edited
 * this way; a run that restarts an ended flow ignores it. `job` is the Job without status.
 * `then` is what a retry or rerun does to the step (foresight.h), or whether it would be reused
 * (reuse_forecast.h); `compared` is then what decided.
 * `problem` is why a job can never run on `fit`, `problems` lists gangs that can never start. `templates` exists for a stored flow that pins its
 * templates: how the newest version of each differs from the pinned one, or that it was deleted.
 * `*out_refused` is set when an edit of an unfinished flow is refused.
 */
json_t *plan_make(struct manifests *set, const struct plan_options *options, bool *out_refused);

/** Returns whether a flow of the files has a step with `cache`. */
bool plan_may_reuse(const struct manifests *set);
