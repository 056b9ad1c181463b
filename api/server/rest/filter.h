#pragma once
/*
 * The objects that a list or a watch selects: by label selector, field selector and the name in the
 * path. Ref: spec/kube-api.md 9.
 */
#include "api/server/message/request_target.h"
#include "api/types/labels.h"

struct filter_term;

struct filter {
    struct selector *labels;         /* label selector; NULL = all objects */
    const struct filter_term *terms; /* requirements on fields, [n_terms], all of which must hold */
    size_t n_terms;
};

/**
 * Reads the selectors of a query and adds `name` (may be NULL) as one more requirement. Strings
 * live in `arena`. BAD_REQUEST for a selector that does not parse, is too long (L-31), or names a
 * field by which the kind cannot be selected.
 */
bool filter_parse(const struct request_target *target, const struct kind *kind, const char *name,
                  struct arena *arena, struct filter *out, struct error *err);
void filter_release(struct filter *filter);
SCOPED_DEFINE(filter, struct filter, filter_release)

static inline bool filter_is_empty(const struct filter *filter)
{
    return !filter->labels && filter->n_terms == 0;
}
bool filter_matches(const struct filter *filter, const struct object *object);
