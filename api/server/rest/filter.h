#pragma once
/*
 * Which objects a list or a watch means: the name of the path, label and field selectors. Ref:
 * spec/kube-api.md 9.
 */
#include "api/server/message/request_target.h"
#include "api/types/labels.h"

struct filter_term;

struct filter {
    struct selector *labels;         /* NULL = all */
    const struct filter_term *terms; /* [n_terms] field requirements, ANDed */
    size_t n_terms;
};

/**
 * Take the selectors out of a query, and `name` (may be NULL) as one more requirement. Strings live
 * in `arena`. BAD_REQUEST for a selector that does not parse, is too long (L-31), or names a field
 * the kind cannot be selected by.
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
