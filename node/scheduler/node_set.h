#pragma once
/*
 * The nodes pods may be bound to: what each has, what is taken of it, whom it takes.
 *
 * A machine is one place; a simulated cluster has several. Where pods may go is a mask with one bit
 * for each place, made once per pod from its nodeSelector, node affinity, tolerations and requests,
 * and again when a Node object changes.
 *
 * `used` counts pods that are bound. Reservations are made on the sum of all places (scheduler.h);
 * with several places a gang is tried on them before any of its pods is bound.
 */
#include "api/cluster.h"
#include "api/types/kinds/pod/pod.h"
#include "node/machine/amount.h"
#include "node/scheduler/bind.h"

enum { PLACES_MAX = 64 };

struct place {
    const char *name;        /* borrowed, as the labels */
    const struct kv *labels; /* [n_labels] those the node has without its object */
    size_t n_labels;
    struct amount capacity, used;
    struct meta *meta; /* of the Node object, whose labels come first; NULL = there is none */
    bool cordoned;     /* spec.unschedulable */
    json_t *taints;    /* owned; NULL = none */
    struct binder binder;
};

struct places {
    struct place *items;
    size_t count;
    struct amount capacity; /* of all together */
    struct resource_names extras;
};

struct place_options {
    const char *name;        /* all borrowed for the life of the places */
    struct amount capacity;  /* allocatable; pods = how many run at once */
    const struct kv *labels; /* [n_labels] */
    size_t n_labels;
};

void places_init(struct places *places, const struct place_options *options, size_t count,
                 const struct resource_names *extras);
void places_release(struct places *places);

/** The place of this name, or -1. */
int places_find(const struct places *places, const char *name);
/** Take over what a Node object says; NULL with its `name`: it is gone. False: not one of ours, or
 * nothing changed that matters to pods. */
bool places_see(struct places *places, const char *name, const struct object *node);

struct amount places_need(const struct places *places, const struct pod_spec *spec);
/** Which places can take the pod at all. None: 0, and `why` is an owned text. */
uint64_t places_fit(const struct places *places, const struct pod_spec *spec, struct amount need,
                    char **why);

struct place_wish {
    uint64_t fits;
    struct amount need;
    int place; /* out */
};
/** Find a place for each wish, with what is free and with `freed` (NULL or [count]) besides. False:
 * not for all. Takes nothing. O(wishes × places). */
bool places_try(const struct places *places, const struct amount *freed, struct place_wish *wishes,
                size_t n);

/** The amount of a resource map; what it does not name is `missing`. */
struct amount amount_of_map(const struct str_map *map, const struct resource_names *extras,
                            int64_t missing);
