#pragma once
/*
 * Whether any node can ever hold the pods of a submitted job.
 */
#include "api/store/store.h"
#include "api/submit/problems.h"
#include "api/types/text/quantity.h"

enum { SUBMIT_ROOM_RESOURCES = 2 }; /* cpu and memory */

/* The most that one node has of each resource. A zeroed struct has not looked. */
struct submit_room {
    quantity_nano most[SUBMIT_ROOM_RESOURCES];
    bool known[SUBMIT_ROOM_RESOURCES]; /* some node tells the amount */
    bool looked;
};

/** Looks at the nodes of the store, unless that was done. O(nodes), once. */
void submit_room_look(struct submit_room *room, const struct store *store);
/** Adds a problem at `path` for each task of a vcjob whose pods are too large for every node. */
void submit_room_check(const struct submit_room *room, const json_t *tasks, const char *path,
                       struct submit_problems *problems);
