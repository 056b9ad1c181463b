#pragma once
/*
 * The anchors of one YAML document: each names a value and knows the cost of an alias to it.
 */
#include <jansson.h>
#include <stddef.h>

struct yaml_anchor {
    char *name;
    json_t *value; /* the anchored value, owned; NULL while its node is being built */
    size_t height; /* number of nested containers in the value */
    size_t weight;
};

struct yaml_anchors {
    struct yaml_anchor *items;
    size_t count, cap;
    size_t aliases; /* aliases expanded so far */
};

/** Begins a node with an anchor and returns the anchor's index, which yaml_anchor_close takes. */
size_t yaml_anchor_open(struct yaml_anchors *anchors, const char *name);
/** Ends the node: from now on aliases to the anchor resolve to `value` (a reference is taken). */
void yaml_anchor_close(struct yaml_anchors *anchors, size_t index, json_t *value, size_t height,
                       size_t weight);
/** Returns the latest anchor with this name, or NULL. */
const struct yaml_anchor *yaml_anchor_find(const struct yaml_anchors *anchors, const char *name);
/** Returns a copy of the value (owned). Scalars are shared, because they never change. */
json_t *yaml_anchor_copy(const struct yaml_anchor *anchor);
void yaml_anchors_clear(struct yaml_anchors *anchors); /* empties the table and keeps its memory */
void yaml_anchors_release(struct yaml_anchors *anchors);
