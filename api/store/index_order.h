#pragma once
/*
 * The entries of a kind sorted by namespace and name, for paged lists: the front of the array is
 * sorted, the back is in order of arrival. Used by index.c only.
 */
#include <string.h>

#include "api/store/index.h"

/* A namespace and a name. Neither is terminated. */
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
/** Leaves a hole in the array. */
void index_order_remove(struct sorted_index *sorted, struct entry *entry);
