#pragma once
/*
 * The steps of a flow one by one, from any API server. A server without the subresource "steps"
 * gives the flow and its jobs, and the list is made of them here.
 */
#include "api/types/kind.h"
#include "cli/client/client.h"

/**
 * Passes the list of the steps of a JobFlow in pages, borrowed, to `page`, which returns false to
 * stop: Tables, or JobFlowStepLists when `as_table` is false. False with `err` set: NOT_FOUND when
 * there is no such flow.
 */
bool step_fetch(struct client *client, const char *ns, const char *flow, bool as_table,
                bool (*page)(void *ctx, json_t *page), void *ctx, struct error *err);
