#pragma once
/*
 * What is missing, for people: how much was asked, how much is free, how much there is.
 */
#include "node/machine/amount.h"

/** Why a node of this capacity can never give `need`: an owned text with the figures and a way out;
 * NULL if it can. */
char *shortfall_of_node(struct amount need, struct amount capacity,
                        const struct resource_names *extras);
/** The first resource of which `need` is more than `limit`, as "needs 3 cpu, WHO 2"; `who` ends in
 * a verb. Owned; NULL if there is none. */
char *shortfall_of_limit(struct amount need, struct amount limit, const char *who,
                         const struct resource_names *extras);
/** Every resource that is short now, as "needs 4 pods (1 of 4 free), 3 cpu (500m of 4 free)".
 * Owned; "needs room" if none is. */
char *shortfall_now(struct amount need, struct amount used, struct amount capacity,
                    const struct resource_names *extras);
