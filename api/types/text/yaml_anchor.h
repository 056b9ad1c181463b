#pragma once
/*
 * The anchors of one YAML document: names for values, with what an alias to each would cost.
 */
#include <jansson.h>
#include <stddef.h>

struct yaml_anchor {
    char *name;
    json_t *value; /* a reference; NULL while its node is being built */
    size_t height; /* levels of containers */
    size_t weight;
};

struct yaml_anchors {
    struct yaml_anchor *items;
    size_t count, cap;
    size_t aliases; /* expanded so far */
};

/** Begin a node with an anchor: its index, for yaml_anchor_close. */
size_t yaml_anchor_open(struct yaml_anchors *anchors, const char *name);
void yaml_anchor_close(struct yaml_anchors *anchors, size_t index, json_t *value, size_t height,
                       size_t weight);
/** The latest anchor of a name, or NULL. */
const struct yaml_anchor *yaml_anchor_find(const struct yaml_anchors *anchors, const char *name);
/** A copy of the value (owned). Scalars are shared, for nobody changes them. */
json_t *yaml_anchor_copy(const struct yaml_anchor *anchor);
void yaml_anchors_clear(struct yaml_anchors *anchors); /* keeps the memory */
void yaml_anchors_release(struct yaml_anchors *anchors);
