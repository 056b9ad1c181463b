#pragma once
/*
 * Messages for users about missing resources: how much is asked for, free and available.
 */
#include "node/machine/amount.h"

/** Returns why nodes of this capacity can never give `need`, with amounts and a remedy (owned).
 * Returns NULL if they can. */
char *shortfall_of_node(struct amount need, struct amount capacity,
                        const struct resource_names *extras);
/** Returns the first resource for which `need` exceeds `limit`, as "needs 3 cpu, SUBJECT 2"
 * (owned), or NULL if there is none. `subject` ends in a verb, for example "the node has". */
char *shortfall_of_limit(struct amount need, struct amount limit, const char *subject,
                         const struct resource_names *extras);
/** Returns every resource that is short now, as "needs 4 pods (1 of 4 free), 3 cpu (500m of 4
 * free)", or "needs room" if none is. Owned. */
char *shortfall_now(struct amount need, struct amount used, struct amount capacity,
                    const struct resource_names *extras);
