#pragma once
/*
 * An index of Services by the job that their selector names, so that a pod's Services are found
 * without a look at all: one bucket for each such job, and one for each namespace with the Services
 * that name none. A pod can match entries of two buckets.
 */
#include "api/types/object.h"

struct bucket;

struct selector_entry { /* an entry is a member of the indexed struct */
    struct bucket *bucket;
    struct selector_entry *next;
};

struct selector_index {
    struct bucket *first;
};

/** Adds an entry. `job` NULL: the selector names no job. */
void selector_index_add(struct selector_index *selector_index, struct selector_entry *entry,
                        const char *ns, const char *job);
/** Removes an entry; does nothing for an entry that is not in the index. */
void selector_index_remove(struct selector_index *selector_index, struct selector_entry *entry);

/** Visits the entries whose selector may match the pod, until `visit` returns false. Returns false
 * when a visit did. `visit` must not add or remove entries. */
bool selector_index_each(const struct selector_index *selector_index, const struct meta *pod,
                         bool (*visit)(void *arg, struct selector_entry *entry), void *arg);
