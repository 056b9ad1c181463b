#pragma once
/*
 * Objects as table rows, the way kubectl's `get` asks for them (meta.k8s.io/v1 Table). Ref:
 * spec/kube-api.md 7.
 */
#include "api/types/object.h"

enum table_object {
    TABLE_OBJECT_METADATA,
    TABLE_OBJECT_FULL,
    TABLE_OBJECT_NONE
}; /* includeObject */

struct table_options {
    int64_t now_ms;
    enum table_object include;
    int64_t revision;
    const char *continue_; /* "" = the end */
};

/** Write a whole Table of `n` objects. With `definitions` false the column definitions are null
 * (later events of a watch). */
void table_write(const struct kind *kind, const struct object *const *objects, size_t n,
                 bool definitions, const struct table_options *options, struct buf *out);
