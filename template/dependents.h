#pragma once
/*
 * The jobs made from one template, in order of creation, then name.
 *
 * Jobs come nearly in that order, so adding is appending; removing marks the place, which the next
 * writing of the list closes. Names are not copied: the jobs' metadata is shared.
 */
#include "api/types/object.h"

enum { TEMPLATE_DEPENDENTS_SHOWN = 20000 }; /* names in a status: the oldest */

struct template_dependents {
    struct meta **items; /* of the jobs */
    bool *removed;
    size_t count, cap;
    size_t live;
};

/* Both return whether the list changed. */
bool template_dependents_add(struct template_dependents *list, const struct meta *job);
bool template_dependents_remove(struct template_dependents *list, const struct meta *job);
void template_dependents_release(struct template_dependents *list);

/** The status of the template: {"jobDependsOnList":[…]}, {} when there is none. Owned. O(live). */
struct blob *template_dependents_status(struct template_dependents *list);
