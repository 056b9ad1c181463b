#pragma once
/*
 * An index of Services by the job that their selector names, so that a pod's Services are found
 * without a look at all: one bucket for each such job, and one for each namespace with the Services
 * that name none. A pod can match entries of two buckets.
 */
#include "api/types/object.h"

struct bucket;

struct selector_entry { /* a member of the indexed struct */
    struct bucket *bucket;
    struct selector_entry *next;
};

struct selector_index {
    struct bucket *first;
};

/** Add an entry; `job` NULL: the selector names no job. */
void selector_index_add(struct selector_index *selector_index, struct selector_entry *entry,
                        const char *ns, const char *job);
void selector_index_remove(struct selector_index *selector_index,
                           struct selector_entry *entry); /* no-op when it is not in the index */

/** Visit the entries whose selector may match the pod, until `visit` returns false; returns whether
 * all did not. `visit` must not add or remove entries. */
bool selector_index_each(const struct selector_index *selector_index, const struct meta *pod,
                         bool (*visit)(void *arg, struct selector_entry *entry), void *arg);
