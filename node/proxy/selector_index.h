#pragma once
/*
 * Where Services wait for pods: a shelf for each job that one names in its selector, and one for
 * each namespace with those that name none. A pod is looked for on two of them.
 */
#include "api/types/object.h"

struct shelf;

struct shelved { /* a member of whatever stands there */
    struct shelf *shelf;
    struct shelved *next;
};

struct shelves {
    struct shelf *first;
};

/** `job` NULL: it names none. */
void shelve(struct shelves *shelves, struct shelved *shelved, const char *ns, const char *job);
void unshelve(struct shelves *shelves, struct shelved *shelved); /* no-op when it stands nowhere */

/** All whose selector could mean the pod, until `visit` says false, which is then the result.
 * `visit` may not put anything up or away. */
bool shelves_each(const struct shelves *shelves, const struct meta *pod,
                  bool (*visit)(void *arg, struct shelved *shelved), void *arg);
