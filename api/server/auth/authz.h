#pragma once
/*
 * Authorization: a pure decision over a table (SEC-04).
 *
 * A request is taken apart by its form alone, before anything is looked up: either a resource with
 * verb, namespace and name, or a plain path. Requests that no row of the table names are for
 * administrators only.
 */
#include "api/server/api.h"
#include "api/server/auth/identity.h"
#include "api/server/message/request_target.h"

struct authz_attributes {
    const char *verb;             /* get, list, watch, create, … */
    const char *path;             /* first segment of a path that is not a resource; else NULL */
    const char *full_path;        /* path for messages, set together with `path` */
    const char *group, *resource; /* API group and plural of the kind */
    const char *subresource;      /* subresource that is asked for; NULL: the object itself */
    const char *ns;   /* namespace; NULL: all namespaces, or a resource without namespace */
    const char *name; /* name of the object; NULL: the collection */
};

/** Takes a request apart. Strings are borrowed from the target. */
void authz_attributes_of(const struct request_target *target, enum api_method method,
                         const char *full_path, struct authz_attributes *out);
bool authz_allows(const struct identity *identity, const struct authz_attributes *attributes);
/** Sets FORBIDDEN, in the words of kube-apiserver. */
void authz_refuse(const struct identity *identity, const struct authz_attributes *attributes,
                  struct error *err);

/* The table, for SelfSubjectRulesReview and for the test that every kind has its row. */
struct authz_rule {
    const char *group, *resource;
    enum role reads, writes; /* the least role that may */
    enum role writes_status; /* the least role that may write subresources */
    enum role deletes;       /* the least role that may delete; 0: that which may write */
    bool cluster;            /* the resource has no namespace, and a role in any namespace suffices
                              * to read it, unless `whole` is set */
    bool whole;              /* the least role is needed in all namespaces */
};
extern const struct authz_rule authz_rules[]; /* ends with resource NULL */
