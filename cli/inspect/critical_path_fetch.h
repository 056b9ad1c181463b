#pragma once
/*
 * Fetches the part of a large flow's critical path that is over.
 *
 * The status of a large flow has no times of completed steps, and asking for those of all steps
 * takes long. A path leads through few steps, so it is followed backwards from the first step whose
 * time is known, and only the jobs of that step's targets are requested.
 */
#include "cli/client/client.h"
#include "view/flow_view.h"

/** Extends the path of a view with path_cut. It stays cut when a job is gone, after 40 requests,
 * and when no process serves the store: then each request would read the whole store. */
void critical_path_fetch(struct flow_view *view, struct client *client);
