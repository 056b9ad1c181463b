#pragma once
/*
 * What the API serves, as tables: the groups, in the order in which clients resolve resource names;
 * the subresources; and the reviews, which are requests that are answered at once and never stored.
 * Routing and discovery both read the tables, so everything listed is served.
 */
#include "api/types/kind.h"

/** A group and its one version; "" is the core group. */
struct api_group {
    const char *name, *version;
};
/** The API groups in order of preference, ended by a zero row. The core group comes first, then the
 * volcano.sh groups, so that `kubectl get jobs` means batch.volcano.sh. */
extern const struct api_group api_groups[];

enum route_subresource {
    ROUTE_MAIN,
    ROUTE_STATUS,
    ROUTE_SCALE,
    ROUTE_STEPS,
    ROUTE_PROGRESS,
    ROUTE_TEMPLATE,
    ROUTE_INSTANTIATE,
    ROUTE_LOG,
    ROUTE_EVICTION,
    ROUTE_BINDING,
    ROUTE_EXEC,
    ROUTE_ATTACH,
    ROUTE_PORT_FORWARD,
    ROUTE_N,
};

struct subresource {
    const char *name;
    enum route_subresource sub;
    bool (*of)(const struct kind *kind);     /* whether the kind has it */
    const char *group, *version, *body_kind; /* type of the body; NULL: that of the parent */
    const char *verbs;                       /* verbs separated by blanks; NULL: not listed */
};
/** The subresources of all kinds, ended by a zero row. */
extern const struct subresource subresources[];

/* A POST whose response is its body with the status filled in. */
struct review {
    const char *group, *version, *plural, *singular, *kind;
    bool namespaced;
};
extern const struct review reviews[]; /* ended by a zero row */

/** Verbs of the kind's own collection and objects, with blanks between them. */
const char *resource_verbs(const struct kind *kind);
/** Returns whether `kubectl get all` includes the kind. */
bool resource_in_all(const struct kind *kind);
