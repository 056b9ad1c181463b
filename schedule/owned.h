#pragma once
/*
 * The objects of one kind that a CronJob or FlowTrigger has made.
 */
#include "api/cluster.h"

/* References to objects, oldest first. */
struct owned_list {
    struct object **items;
    size_t count, cap;
};
void owned_list_release(struct owned_list *list);
SCOPED_DEFINE(owned_list, struct owned_list, owned_list_release)

/** Returns whether `owner` is the controller of the object, by its owner references. */
bool owned_by(const struct object *owner, const struct object *object);
/** Adds the objects of this kind whose controller is `owner`. O(n log n) in their number. */
void owned_gather(struct cluster *cluster, const struct kind *kind, const struct object *owner,
                  struct owned_list *out);
