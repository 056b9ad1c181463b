#pragma once
/*
 * Builds the body of a bound pod: the same JSON with spec.nodeName set.
 *
 * Pods of one template share one interned body; its bound form is built once and cached. For other
 * bodies the name is spliced into the text without parsing.
 */
#include "api/types/object.h"

enum { BINDER_SLOTS = 256 };

struct binder {
    const char *node_name; /* name of the node; borrowed */
    struct {
        struct blob *from, *to;
    } slots[BINDER_SLOTS];
};

/** Empties the cache, but does not free `binder` itself. */
void binder_release(struct binder *binder);
/** Returns the bound body (owned). The pod must be unbound. */
struct blob *binder_body(struct binder *binder, const struct object *pod);
