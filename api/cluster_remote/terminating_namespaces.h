#pragma once
/*
 * Namespaces that the server is removing. It refuses to create anything in them, so that a create is
 * answered here instead of being sent, until a while has passed. Ref: spec/cluster.md 3.4.
 */
#include "base/error.h"
#include "base/loop/loop.h"

enum { TERMINATING_KNOWN_MS = 60000 };

struct terminating_namespace;
struct terminating_namespaces {
    struct terminating_namespace *entries; /* hash table by name of the namespace */
};

/** Notes a refusal (`err` of a create), if it says that the namespace is being removed. */
void terminating_namespaces_note(struct terminating_namespaces *terminating, const char *ns,
                                 int64_t now_ns, const struct error *err);
/** Returns whether a create in the namespace would be refused as it was before, and fills in the
 * error of that time. */
bool terminating_namespaces_refuses(struct terminating_namespaces *terminating, const char *ns,
                                    int64_t now_ns, struct error *out);
void terminating_namespaces_release(struct terminating_namespaces *terminating);
