#pragma once
/*
 * Label selectors, and the formats of names and labels.
 */
#include "api/types/object.h"

struct selector;

/** Parses a Kubernetes label selector: a=b, a!=b, a in (x,y), a notin (x), a, !a, a>1. Returns an
 * owned selector, or NULL with BAD_REQUEST. Its size is bounded by L-31. */
struct selector *selector_parse(const char *text, struct error *err);
void selector_free(struct selector *selector);
SCOPED_DEFINE_PTR(selector, struct selector *, selector_free)
bool selector_matches(const struct selector *selector,
                      const struct meta *meta); /* a selector that is NULL matches all */
/** Appends the selector as text that parses to an equal selector. */
void selector_print(const struct selector *selector, struct buf *out);

/* Checks the format of a label's name. On failure err->message is Kubernetes' text about the rule,
 * without the value. */
bool label_key_valid(const char *key, struct error *err);
bool label_value_valid(const char *value, struct error *err);
bool name_is_dns_label(const char *name, struct error *err);     /* at most 63 bytes, RFC 1123 */
bool name_is_dns_subdomain(const char *name, struct error *err); /* at most 253, RFC 1123 */
bool name_is_dns1035_label(const char *name,
                           struct error *err); /* RFC 1035: begins with a letter */
bool name_is_qualified(const char *name,
                       struct error *err); /* at most 63 characters, [A-Za-z0-9] at both ends, -_.
                                            * inside */
