#pragma once
/*
 * Pages that are no resources: version, health, metrics. Ref: spec/kube-api.md 3.1, 3.2.
 */
#include "api/server/rest/internal.h"

/** The answer to /version, /livez, /readyz, /healthz and /metrics; NULL for other paths. */
struct api_stream *health_answer(const struct api_call *call);
