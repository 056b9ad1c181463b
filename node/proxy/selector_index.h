#pragma once
/*
 * Where Services wait for pods: a bucket for each job that one names in its selector, and one for
 * each namespace with those that name none. A pod is looked for on two of them.
 */
#include "api/types/object.h"

struct bucket;

struct selector_entry { /* a member of whatever stands there */
    struct bucket *bucket;
    struct selector_entry *next;
};

struct selector_index {
    struct bucket *first;
};

/** `job` NULL: it names none. */
void selector_index_add(struct selector_index *selector_index, struct selector_entry *entry,
                        const char *ns, const char *job);
void selector_index_remove(struct selector_index *selector_index,
                           struct selector_entry *entry); /* no-op when it stands nowhere */

/** All whose selector could mean the pod, until `visit` says false, which is then the result.
 * `visit` may not put anything up or away. */
bool selector_index_each(const struct selector_index *selector_index, const struct meta *pod,
                         bool (*visit)(void *arg, struct selector_entry *entry), void *arg);
