#pragma once
/*
 * Namespaces that the server is removing. It refuses to create anything in them, so that a create is
 * answered here instead of being sent, until a while has passed. Ref: spec/cluster.md 3.4.
 */
#include "base/error.h"
#include "base/loop/loop.h"

enum { CLOSING_KNOWN_MS = 60000 };

struct closing_entry;
struct closing {
    struct closing_entry *entries; /* hash table by name of the namespace */
};

/** Notes a refusal (`err` of a create), if it says that the namespace is being removed. */
void closing_note(struct closing *closing, const char *ns, int64_t now_ns, const struct error *err);
/** Returns whether a create in the namespace would be refused as it was before, and fills in the
 * error of that time. */
bool closing_refuses(struct closing *closing, const char *ns, int64_t now_ns, struct error *out);
void closing_release(struct closing *closing);
