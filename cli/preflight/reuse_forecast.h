#pragma once
/*
 * Tells which steps of the flows in manifests would be reused, and why the others run: the flow
 * controller looks the steps up in a store in memory that has the stored CacheEntries, and jobs that
 * it makes never run. What depends on a step that runs is therefore not looked up; what is known of
 * it follows from the graph.
 */
#include "api/types/text/json_text.h"
#include "cli/client/client.h"
#include "cli/manifest/manifests.h"

struct forecast_request {
    struct client *client;   /* stored objects; NULL: nothing is stored */
    bool only_changed;       /* steps without cache may be reused, too */
    const char *environment; /* variables that count for the work of each step, as text; or NULL */
};

/**
 * Returns an owned document {"namespace/flow": {step: {then, rows}}} of the flows that have a step
 * which may be reused, and that are not stored or have ended. `then` is "reused, made 2026-10-24
 * 02:41", "runs: train.py changed", "runs unless train writes the same" and the like; `rows` is what
 * was compared (reuse_report in flow/reuse/compare.h), if it was.
 */
json_t *reuse_forecast(const struct manifests *set, const struct forecast_request *request);

/** Returns whether a step of the flow in this document has `cache`. */
bool forecast_may_reuse(const json_t *doc);
