#pragma once
/*
 * Discovery: which groups, resources and verbs there are. Two shapes: one document per group (all
 * that kubectl before 1.27 and many libraries know), and the aggregated one. Ref: spec/kube-api.md
 * 3.3, 3.4.
 */
#include "api/server/rest/internal.h"

/** The answer to /api, /apis and what lies between them and the resources; NULL for other paths. */
struct api_stream *discovery_answer(const struct api_call *call);
