#pragma once
/*
 * The sender of a request: a user name, groups, and the roles that follow from the groups.
 *
 *   system:masters              everything
 *   jobflow:viewer[:NAMESPACE]  reads, everywhere or in one namespace
 *   jobflow:editor[:NAMESPACE]  reads and writes
 *   jobflow:admin               everything
 *
 * Tokens, client certificates (the subject's organisations) and users of the unix socket all become
 * an identity, so authorization never depends on the way of authentication. Reference-counted; for
 * the loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/scoped.h"

enum role { ROLE_NONE, ROLE_VIEWER, ROLE_EDITOR, ROLE_ADMIN };
extern const char *const role_names[];    /* names by role, ended by NULL */
enum role role_by_name(const char *name); /* returns ROLE_NONE for an unknown name */

struct grant {
    enum role role;
    const char *ns; /* namespace in which the role holds; NULL: everywhere */
};

struct identity {
    unsigned refs;
    char *user;
    char **groups; /* names of the groups, [n_groups] */
    size_t n_groups;
    struct grant *grants; /* roles by namespace, [n_grants]; names are borrowed from the groups */
    size_t n_grants;
    size_t connections; /* connections that are not evicted because of this identity */
    bool authenticated;
    bool revoked; /* the token of the user has been removed; connections that use it should be
                   * closed */
};

/** Returns a user with these groups and system:authenticated. Copies. */
struct identity *identity_new(const char *user, const char *const *groups, size_t n_groups);
/** Returns a user with a role, everywhere or (n_namespaces > 0) in some namespaces. */
struct identity *identity_with_role(const char *user, enum role role, const char *const *namespaces,
                                    size_t n_namespaces);
struct identity *identity_anonymous(void);
struct identity *identity_ref(struct identity *identity);
void identity_unref(struct identity *identity); /* NULL is ignored */
SCOPED_DEFINE_PTR(identity, struct identity *, identity_unref)

/** Returns the greatest role in a namespace; with `ns` NULL the greatest that holds everywhere. */
enum role identity_role(const struct identity *identity, const char *ns);
/** Returns the greatest role in any namespace. */
enum role identity_best_role(const struct identity *identity);
