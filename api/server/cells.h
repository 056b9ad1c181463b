#pragma once
/*
 * The columns of kinds whose cells are worked out rather than read from a path.
 */
#include "api/types/object.h"

struct cell_column {
    const char *title;
    const char *type; /* string, integer, date */
    int priority;
    void (*write)(struct jsonw *w, const struct object *object,
                  int64_t now_ms); /* one JSON value */
};

/** Columns of a kind, ended by a zero row, or NULL when its printer columns (kinds.h) say it all.
 */
const struct cell_column *cells_of(const struct kind *kind);

void cell_name(struct jsonw *w, const struct object *object, int64_t now_ms);
void cell_age(struct jsonw *w, const struct object *object, int64_t now_ms);
/** The age text of a moment: "12s", "<unknown>" for 0. */
void cell_write_age(struct jsonw *w, int64_t at_ms, int64_t now_ms);
/** The pod's STATUS as kubectl shows it: CrashLoopBackOff, Completed, Init:0/1, … Ref:
 * spec/kube-api.md 7.3. */
void cell_pod_status_text(const struct object *pod, char *out, size_t size);
