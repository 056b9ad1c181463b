#pragma once
/*
 * What the API offers, as tables: groups in the order in which clients resolve words, the resources
 * of each (the kinds, and requests that are answered at once and never stored), and the
 * subresources. Routing and discovery both read them, so what is listed is what is served.
 */
#include "api/types/kind.h"

/** A group and its one version; "" is the core group. */
struct api_group {
    const char *name, *version;
};
/** In order of preference, ended by a zero row: the core, then ours, so that `get jobs` means
 * vcjobs. */
extern const struct api_group api_groups[];

enum route_subresource {
    ROUTE_MAIN,
    ROUTE_STATUS,
    ROUTE_SCALE,
    ROUTE_STEPS,
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
    bool (*of)(const struct kind *kind);
    const char *group, *version, *body_kind; /* of the body; NULL: the parent's */
    const char *verbs;                       /* with blanks between them; NULL: not listed */
};
/** Ended by a zero row. */
extern const struct subresource subresources[];

/* Asked by POST, answered with the body filled in. */
struct review {
    const char *group, *version, *plural, *singular, *kind;
    bool namespaced;
};
extern const struct review reviews[]; /* ended by a zero row */

/** Verbs of the kind's own collection and objects, with blanks between them. */
const char *resource_verbs(const struct kind *kind);
/** In the category `all` of kubectl. */
bool resource_in_all(const struct kind *kind);
