#pragma once
/*
 * The nodes that pods may be bound to: their capacity, their use and which pods they accept.
 *
 * A machine is one node; a simulated cluster has several. The nodes that can run a pod form a bit
 * mask. It is computed once per pod from its nodeSelector, node affinity, tolerations and requests,
 * and again when a Node object changes.
 *
 * `used` counts bound pods. Reservations are made on the sum of all nodes (scheduler.h). With
 * several nodes a gang is placed tentatively before any of its pods is bound.
 */
#include "api/types/kinds/pod/pod.h"
#include "node/machine/amount.h"
#include "node/scheduler/bind.h"

enum { SCHEDULER_NODES_MAX = 64 };

struct node_info {
    const char *name;        /* name of the node; borrowed, like the labels */
    const struct kv *labels; /* [n_labels] labels that do not come from a Node object */
    size_t n_labels;
    struct amount capacity, used;
    struct meta *meta; /* metadata of the Node object, whose labels take precedence; NULL if there
                        * is none */
    bool cordoned;     /* value of spec.unschedulable */
    json_t *taints;    /* taints of the node; owned; NULL: none */
    struct binder binder;
};

struct node_set {
    struct node_info *items;
    size_t count;
    struct amount capacity; /* sum of the capacities of all nodes */
    struct resource_names extras;
};

struct scheduler_node {
    const char *name; /* name of the node; all pointers are borrowed for the life of the node set */
    struct amount capacity;  /* amounts that pods may use; `pods` is how many run at once */
    const struct kv *labels; /* labels of the node, [n_labels] */
    size_t n_labels;
};

/** Initialises the set with `count` nodes. `extras` (or NULL) names their extended resources. */
void node_set_init(struct node_set *node_set, const struct scheduler_node *options, size_t count,
                   const struct resource_names *extras);
/** Frees what the set owns, but not `node_set` itself. */
void node_set_release(struct node_set *node_set);

/** Returns the index of the node of this name, or -1. */
int node_set_find(const struct node_set *node_set, const char *name);
/** Updates the node `name` from its Node object; NULL means that the object is gone. Returns false
 * if the node is unknown or if the change does not affect which pods it accepts. */
bool node_set_update(struct node_set *node_set, const char *name, const struct object *node);

/** Returns the resources that a pod of this spec requests; its `pods` is 1. */
struct amount node_set_pod_need(const struct node_set *node_set, const struct pod_spec *spec);
/** Returns the bit mask of nodes that can run the pod when empty. If there is none, returns 0 and
 * sets `why` to the reason (owned). */
uint64_t node_set_feasible(const struct node_set *node_set, const struct pod_spec *spec,
                           struct amount need, char **why);

/* One pod to be placed by node_set_try_place. */
struct placement {
    uint64_t feasible;
    struct amount need;
    int node_index; /* result: index of the node where the pod is placed, or -1 */
};
/** Assigns a node to each of `n` placements, using free capacity and `freed` (NULL or one amount
 * per node). Returns false if not all can be placed. Reserves no capacity. O(n × nodes). */
bool node_set_try_place(const struct node_set *node_set, const struct amount *freed,
                        struct placement *placements, size_t n);

/** Converts a map of resource quantities. Resources that it does not name get `missing`. */
struct amount amount_of_map(const struct str_map *map, const struct resource_names *extras,
                            int64_t missing);
