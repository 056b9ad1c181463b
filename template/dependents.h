#pragma once
/*
 * The jobs made from one template, in order of creation, then of name.
 *
 * Adding and removing a job only remembers it. The list is brought up to date when the status is
 * asked for, once for all changes since. Names are not copied: the jobs' metadata is shared.
 */
#include "api/types/object.h"

/* The largest number of names in a status, which lists the oldest jobs. */
enum { TEMPLATE_DEPENDENTS_SHOWN = 20000 };

struct meta_list {
    struct meta **items; /* references to the jobs */
    size_t count, cap;
};

struct template_dependents {
    struct meta_list ordered;
    struct meta_list added, removed; /* jobs added and removed since `ordered` was computed */
};

void template_dependents_add(struct template_dependents *list, const struct meta *job);
void template_dependents_remove(struct template_dependents *list, const struct meta *job);
void template_dependents_release(struct template_dependents *list);
size_t template_dependents_count(
    const struct template_dependents *list); /* upper bound: a job both added and removed may
                                              * count */

/** Returns the status of the template: {"jobDependsOnList":[…]}, {} when there is none. Owned.
 * O(n), and O(m log m) for the m that were added or removed. */
struct blob *template_dependents_status(struct template_dependents *list);
