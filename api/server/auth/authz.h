#pragma once
/*
 * What somebody may do: a pure decision over a table (SEC-04).
 *
 * A request is taken apart by its form alone, before anything is looked up: a resource with verb,
 * namespace and name, or a plain path. What no row of the table names is for administrators.
 */
#include "api/server/api.h"
#include "api/server/auth/identity.h"
#include "api/server/message/request_target.h"

struct authz_attributes {
    const char *verb;             /* get, list, watch, create, … */
    const char *path;             /* of what is no resource: its first segment; else NULL */
    const char *full_path;        /* for messages, with `path` */
    const char *group, *resource; /* plural */
    const char *subresource;      /* NULL = the object itself */
    const char *ns;               /* NULL = all namespaces, or of no namespace */
    const char *name;             /* NULL = the collection */
};

/** Strings are borrowed from the target. */
void authz_attributes_of(const struct request_target *target, enum api_method method,
                         const char *full_path, struct authz_attributes *out);
bool authz_allows(const struct identity *identity, const struct authz_attributes *attributes);
/** FORBIDDEN, in the words kubectl's users know. */
void authz_refuse(const struct identity *identity, const struct authz_attributes *attributes,
                  struct error *err);

/* The table, for SelfSubjectRulesReview and for the test that every kind has its row. */
struct authz_rule {
    const char *group, *resource;
    enum role reads, writes; /* who may, at least */
    enum role writes_status; /* … its subresources */
    bool cluster;            /* of no namespace: a role in any namespace is enough to read */
};
extern const struct authz_rule authz_rules[]; /* ends with resource NULL */
