#pragma once
/*
 * Finds FlowTriggers by the names in their specs: the name of the pattern, the names of flows whose
 * end they wait for, and the names of triggers whose flows they wait for. A change of a flow
 * reaches exactly the triggers that it concerns, however many others there are.
 */
#include <sys/queue.h>

#include "api/types/object.h"

struct trigger_name;

struct trigger_index {
    struct trigger_name *names; /* hash table by role, namespace and name */
};

/* What a name is to the trigger that has it in its spec. */
enum trigger_role {
    TRIGGER_PATTERN, /* flowName: the flow that each firing copies */
    TRIGGER_SOURCE,  /* flows[].name: a flow whose end fires */
    TRIGGER_MAKER    /* flows[].trigger: a trigger whose flows fire when they end */
};

/* The names of one trigger: a member of its owner's struct. */
struct trigger_names {
    struct trigger_mention *items; /* [count], private to this module */
    size_t count;
};

/** Replaces the names of a trigger by those in its spec. O(their number). */
void trigger_names_set(struct trigger_index *index, struct trigger_names *names,
                       const struct object *trigger);
/** Removes the names of a trigger. An index without names holds no memory. */
void trigger_names_clear(struct trigger_index *index, struct trigger_names *names);

/**
 * Calls `visit` for each mention of the flow, or of the trigger that its label names, in the order
 * in which they were set. O(number of calls). A trigger that mentions the flow twice is visited
 * twice. `visit` must not change the index.
 */
void trigger_index_each(const struct trigger_index *index, const struct object *flow,
                        void (*visit)(struct trigger_names *names, enum trigger_role role));
