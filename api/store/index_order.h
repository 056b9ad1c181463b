#pragma once
/*
 * The entries of a kind in the order of their names, for pages: an array whose front is sorted and
 * whose back is as the entries came. For index.c.
 */
#include <string.h>

#include "api/store/index.h"

/* A namespace and a name, neither of them terminated. */
struct index_key {
    const char *ns, *name;
    size_t ns_len, name_len;
};

static inline struct index_key index_key(const char *ns, const char *name)
{
    ns = ns ? ns : "";
    return (struct index_key){ns, name, strlen(ns), strlen(name)};
}

static inline struct index_key index_key_of(const struct object *object)
{
    return index_key(object_namespace(object), object_name(object));
}

void index_order_add(struct sorted_index *sorted, struct entry *entry);
/** Leaves a hole. */
void index_order_remove(struct sorted_index *sorted, struct entry *entry);
