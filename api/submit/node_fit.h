#pragma once
/*
 * Whether any node can ever hold the pods of a submitted job.
 */
#include "api/store/store.h"
#include "api/submit/problems.h"
#include "api/types/text/quantity.h"

enum { NODE_FIT_RESOURCES = 2 }; /* cpu and memory */

/* The most that one node has of each resource. All zero: the nodes were not read yet. */
struct submit_node_fit {
    quantity_nano most[NODE_FIT_RESOURCES];
    bool known[NODE_FIT_RESOURCES]; /* some node tells the amount */
    bool read;
};

/** Reads the nodes of the store, unless that was done. O(nodes), once. */
void submit_node_fit_read(struct submit_node_fit *fit, const struct store *store);
/** Adds a problem at `path` for each task of a vcjob whose pods are too large for every node. */
void submit_node_fit_check(const struct submit_node_fit *fit, const json_t *tasks, const char *path,
                           struct submit_problems *problems);
