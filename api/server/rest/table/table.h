#pragma once
/*
 * Objects as table rows, the way kubectl's `get` asks for them (meta.k8s.io Table). Ref:
 * spec/kube-api.md 7.
 */
#include "api/types/object.h"

enum table_object { /* includeObject: what a row carries beside its cells */
                    TABLE_OBJECT_METADATA,
                    TABLE_OBJECT_FULL,
                    TABLE_OBJECT_NONE,
};

struct table {
    const struct kind *kind;
    const char *version; /* of meta.k8s.io: "v1", "v1beta1" */
    enum table_object include;
    int64_t now_ms;
};

struct table_head {
    int64_t revision;
    bool definitions;      /* false: columnDefinitions is null (later events of a watch) */
    const char *continue_; /* NULL and "": the end */
    int64_t remaining;     /* 0: not said */
};

/** A table is its beginning, its rows with commas between them, and its end. */
void table_begin(const struct table *table, const struct table_head *head, struct buf *out);
void table_row(const struct table *table, const struct object *object, struct buf *out);
void table_end(struct buf *out);

/** {"kind":"PartialObjectMetadata",…}: the metadata alone. */
void table_write_partial(const struct table *table, const struct object *object, struct buf *out);
