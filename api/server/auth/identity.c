/*
 * Makes identities. Group names are parsed once, into roles that hold everywhere or in one
 * namespace.
 */
#include "api/server/auth/identity.h"

#include <string.h>

#include "base/mem.h"

const char *const role_names[] = {
    [ROLE_NONE] = "none",
    [ROLE_VIEWER] = "viewer",
    [ROLE_EDITOR] = "editor",
    [ROLE_ADMIN] = "admin",
    NULL,
};

enum role role_by_name(const char *name)
{
    for (int role = ROLE_VIEWER; role_names[role]; role++)
        if (strcmp(role_names[role], name) == 0)
            return (enum role)role;
    return ROLE_NONE;
}

/* Parses the role that a group grants; false for a group that grants none. */
static bool parse_group(const char *group, struct grant *out)
{
    static const char prefix[] = "jobflow:";

    *out = (struct grant){ROLE_ADMIN, NULL};
    if (strcmp(group, "system:masters") == 0)
        return true;
    if (strncmp(group, prefix, sizeof prefix - 1) != 0)
        return false;
    group += sizeof prefix - 1;
    for (int role = ROLE_VIEWER; role_names[role]; role++) {
        size_t n = strlen(role_names[role]);

        if (strncmp(group, role_names[role], n) != 0 || (group[n] != '\0' && group[n] != ':'))
            continue;
        *out = (struct grant){(enum role)role, group[n] ? group + n + 1 : NULL};
        return !out->ns || (*out->ns && role != ROLE_ADMIN);
    }
    return false;
}

static void add_group(struct identity *identity, char *group /* `group` is owned by the identity */)
{
    struct grant grant;

    identity->groups =
        mem_resize(identity->groups, (identity->n_groups + 1) * sizeof *identity->groups);
    identity->groups[identity->n_groups++] = group;
    if (!parse_group(group, &grant))
        return;
    identity->grants =
        mem_resize(identity->grants, (identity->n_grants + 1) * sizeof *identity->grants);
    identity->grants[identity->n_grants++] = grant;
}

static struct identity *new_user(const char *user)
{
    struct identity *identity = mem_alloc(sizeof *identity);

    identity->refs = 1;
    identity->user = mem_strdup(user);
    return identity;
}

struct identity *identity_new(const char *user, const char *const *groups, size_t n_groups)
{
    struct identity *identity = new_user(user);

    for (size_t i = 0; i < n_groups; i++)
        add_group(identity, mem_strdup(groups[i]));
    add_group(identity, mem_strdup("system:authenticated"));
    identity->authenticated = true;
    return identity;
}

struct identity *identity_with_role(const char *user, enum role role, const char *const *namespaces,
                                    size_t n_namespaces)
{
    struct identity *identity = new_user(user);

    if (role == ROLE_ADMIN)
        add_group(identity, mem_strdup("system:masters"));
    else if (n_namespaces == 0)
        add_group(identity, mem_printf("jobflow:%s", role_names[role]));
    for (size_t i = 0; role != ROLE_ADMIN && i < n_namespaces; i++)
        add_group(identity, mem_printf("jobflow:%s:%s", role_names[role], namespaces[i]));
    add_group(identity, mem_strdup("system:authenticated"));
    identity->authenticated = true;
    return identity;
}

struct identity *identity_anonymous(void)
{
    struct identity *identity = new_user("system:anonymous");

    add_group(identity, mem_strdup("system:unauthenticated"));
    return identity;
}

struct identity *identity_ref(struct identity *identity)
{
    identity->refs++;
    return identity;
}

void identity_unref(struct identity *identity)
{
    if (!identity || --identity->refs > 0)
        return;
    for (size_t i = 0; i < identity->n_groups; i++)
        mem_free(identity->groups[i]);
    mem_free(identity->groups);
    mem_free(identity->grants);
    mem_free(identity->user);
    mem_free(identity);
}

enum role identity_role(const struct identity *identity, const char *ns)
{
    enum role best = ROLE_NONE;

    for (size_t i = 0; i < identity->n_grants; i++) {
        const struct grant *grant = &identity->grants[i];

        if (grant->role > best && (!grant->ns || (ns && strcmp(grant->ns, ns) == 0)))
            best = grant->role;
    }
    return best;
}

enum role identity_best_role(const struct identity *identity)
{
    enum role best = ROLE_NONE;

    for (size_t i = 0; i < identity->n_grants; i++)
        if (identity->grants[i].role > best)
            best = identity->grants[i].role;
    return best;
}
