#pragma once
/*
 * The body of a pod with its node's name in it.
 *
 * Ten thousand pods of one template have one body; its bound form is made once and remembered. For
 * bodies of their own the name is spliced into the text, without parsing it.
 */
#include "api/types/object.h"

enum { BINDER_SLOTS = 256 };

struct binder {
    const char *node_name; /* borrowed */
    struct {
        struct blob *from, *to;
    } slots[BINDER_SLOTS];
};

void binder_release(struct binder *binder);
/** Owned. The pod must not have a node yet. */
struct blob *binder_body(struct binder *binder, const struct object *pod);
