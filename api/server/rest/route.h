#pragma once
/*
 * Resolves a path to a kind, a namespace, a name and a subresource.
 *
 *   /api/v1/namespaces/NS/pods/NAME/log
 *   /apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME/SUBRESOURCE
 */
#include "api/server/message/request_target.h"
#include "api/server/rest/group_alias.h"
#include "api/server/rest/resources.h"

struct route {
    const struct kind *kind;
    const struct group_alias *alias; /* the path uses an alias of the kind's group; NULL */
    const char *ns;   /* namespace; "" for a cluster-scoped kind; NULL = all namespaces */
    const char *name; /* name of the object; NULL = the collection */
    enum route_subresource sub;
};

/** NOT_FOUND, with kube-apiserver's text, when the path leads nowhere. */
bool route_find(const struct request_target *target, struct route *out, struct error *err);
