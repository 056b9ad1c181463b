#pragma once
/*
 * Which jobs hold a counted resource that a waiting job needs (spec/everyday.md 7.3).
 */
#include <jansson.h>

#include "base/buf.h"
#include "cli/client/client.h"

/* Pods that are bound to a node, of all namespaces that the client may read. A zeroed struct has not
 * fetched them yet. */
struct resource_holders {
    json_t *pods;
    size_t seen; /* pods that were looked at */
};
void resource_holders_release(struct resource_holders *holders);

/** If `message` of the scheduler says that an extended resource, such as example.com/db, is lacking,
 * appends "; in use by etl-load, sync-load": the jobs whose pods hold it. Where it is lacking in a
 * queue, only jobs of that queue count. `ns` is the namespace of the waiting job. */
void resource_holders_write(struct resource_holders *holders, struct client *client, const char *ns,
                            const char *message, struct buf *out);
