#pragma once
/*
 * Builds the URL path of a resource and the query of a list, as the Kubernetes API lays them out.
 */
#include "api/types/kind.h"
#include "base/buf.h"

/** Appends the path of an object, or without `name` of the collection; without `ns` over all
 * namespaces. */
void resource_write_path(const struct kind *kind, const char *ns, const char *name,
                         struct buf *out);
/** Appends "?key=value" or "&key=value", encoded; nothing when `value` is NULL or empty. */
void resource_write_query(const char *key, const char *value, struct buf *out);
