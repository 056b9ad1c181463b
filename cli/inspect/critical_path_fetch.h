#pragma once
/*
 * The part of a large flow's critical path that is over.
 *
 * The status of a large flow tells no times of steps that have completed, and to ask for those of
 * all steps takes long. But a path goes through few of them: from its first step whose time is
 * known it is followed backwards, and only the jobs of those are asked for that the step there
 * waited for.
 */
#include "cli/client/client.h"
#include "view/flow_view.h"

/** Of a view with path_cut. It stays cut when a job is gone, after some ten questions, and
 * where nobody is at work: there each question would be a search in the whole store. */
void critical_path_fetch(struct flow_view *view, struct client *client);
