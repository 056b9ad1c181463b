#pragma once
/*
 * Who asks: a user name, groups, and the rights that follow from the groups.
 *
 *   system:masters              everything
 *   jobflow:viewer[:NAMESPACE]  looks, everywhere or in one namespace
 *   jobflow:editor[:NAMESPACE]  looks and changes
 *   jobflow:admin               everything
 *
 * Tokens, client certificates (the subject's organisations) and the users of the unix socket all
 * end here, so what may be done never depends on how somebody came in. Loop thread only; counted.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/scoped.h"

enum role { ROLE_NONE, ROLE_VIEWER, ROLE_EDITOR, ROLE_ADMIN };
extern const char *const role_names[];    /* by role, from ROLE_VIEWER on; NULL-terminated after */
enum role role_by_name(const char *name); /* ROLE_NONE if unknown */

struct grant {
    enum role role;
    const char *ns; /* NULL: everywhere */
};

struct identity {
    unsigned refs;
    char *user;
    char **groups; /* [n_groups] */
    size_t n_groups;
    struct grant *grants; /* [n_grants], names borrowed from the groups */
    size_t n_grants;
    bool authenticated;
    bool revoked; /* its token is gone; whoever still holds it should let go */
};

/** Of a user with these groups; system:authenticated is added. Copies. */
struct identity *identity_new(const char *user, const char *const *groups, size_t n_groups);
/** Somebody with a role, everywhere or (n_namespaces > 0) in some namespaces. */
struct identity *identity_with_role(const char *user, enum role role, const char *const *namespaces,
                                    size_t n_namespaces);
struct identity *identity_anonymous(void);
struct identity *identity_ref(struct identity *identity);
void identity_unref(struct identity *identity); /* NULL is fine */
SCOPED_DEFINE_PTR(identity, struct identity *, identity_unref)

/** The greatest role in a namespace; `ns` NULL: of those that hold everywhere. */
enum role identity_role(const struct identity *identity, const char *ns);
/** The greatest role anywhere. */
enum role identity_best_role(const struct identity *identity);
