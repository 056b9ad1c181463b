/*
 * The anchors of a YAML document as a list. A linear search suffices, because documents have few
 * anchors and their number is limited.
 */
#include "api/types/text/yaml_anchor.h"

#include <string.h>

#include "base/mem.h"

size_t yaml_anchor_open(struct yaml_anchors *anchors, const char *name)
{
    mem_grow(anchors->items, anchors->count, anchors->cap);
    anchors->items[anchors->count] = (struct yaml_anchor){.name = mem_strdup(name)};
    return anchors->count++;
}

void yaml_anchor_close(struct yaml_anchors *anchors, size_t index, json_t *value, size_t height,
                       size_t weight)
{
    struct yaml_anchor *anchor = &anchors->items[index];

    anchor->value = json_incref(value);
    anchor->height = height;
    anchor->weight = weight;
}

const struct yaml_anchor *yaml_anchor_find(const struct yaml_anchors *anchors, const char *name)
{
    for (size_t i = anchors->count; i-- > 0;)
        if (strcmp(anchors->items[i].name, name) == 0)
            return &anchors->items[i];
    return NULL;
}

static json_t *copy_of(json_t *value)
{
    const char *key;
    json_t *member, *copy;
    size_t i;

    if (json_is_object(value)) {
        copy = json_object();
        json_object_foreach(value, key, member)
            json_object_set_new_nocheck(copy, key, copy_of(member));
    } else if (json_is_array(value)) {
        copy = json_array();
        json_array_foreach(value, i, member) json_array_append_new(copy, copy_of(member));
    } else {
        copy = json_incref(value);
    }
    return copy;
}

json_t *yaml_anchor_copy(const struct yaml_anchor *anchor)
{
    return copy_of(anchor->value);
}

void yaml_anchors_clear(struct yaml_anchors *anchors)
{
    for (size_t i = 0; i < anchors->count; i++) {
        mem_free(anchors->items[i].name);
        json_decref(anchors->items[i].value);
    }
    anchors->count = 0;
    anchors->aliases = 0;
}

void yaml_anchors_release(struct yaml_anchors *anchors)
{
    yaml_anchors_clear(anchors);
    mem_free(anchors->items);
    *anchors = (struct yaml_anchors){0};
}
