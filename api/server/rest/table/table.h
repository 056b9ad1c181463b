#pragma once
/*
 * Writes objects as rows of a meta.k8s.io Table, the form in which `kubectl get` requests them.
 * Ref: spec/kube-api.md 7.
 */
#include "api/types/object.h"

/* What a row carries beside its cells, as the parameter includeObject says. */
enum table_object { TABLE_OBJECT_METADATA, TABLE_OBJECT_FULL, TABLE_OBJECT_NONE };

/* Whether a Table defines its columns. Only the first Table of a watch does; the others have
 * columnDefinitions null. */
enum table_columns { TABLE_NO_COLUMNS, TABLE_COLUMNS };

struct table {
    const struct kind *kind;
    const char *version; /* version of meta.k8s.io: "v1", "v1beta1" */
    enum table_object include;
    int64_t now_ms;
};

struct table_head {
    int64_t revision;
    enum table_columns columns;
    const char *continue_token; /* token for the next page; NULL and "": the list is complete */
    int64_t remaining;          /* number of objects behind the page; 0: unknown */
};

/** A table consists of its beginning, its rows with commas between them, and its end. */
void table_begin(const struct table *table, const struct table_head *head, struct buf *out);
void table_row(const struct table *table, const struct object *object, struct buf *out);
void table_end(struct buf *out);

/** Appends the metadata of an object alone: {"kind":"PartialObjectMetadata",…}. */
void table_write_partial(const struct table *table, const struct object *object, struct buf *out);
