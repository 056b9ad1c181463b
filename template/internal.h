#pragma once
/* Shared by the files that make bodies: the parsed template. */
#include "template/instantiate.h"

/** Returns the document of the template's body, parsed once for many jobs in a row. Borrowed until
 * the next call. */
json_t *template_document(struct template_cache *cache, const struct object *template);

/* What is remembered of a body: whether its strings contain references. */
struct known_template {
    struct blob *body; /* owned reference, so that the address stays in use; NULL: none */
    bool has_references;
};
/** The place that remembers a body, or has remembered another one. */
struct known_template *template_known(struct template_cache *cache, const struct blob *body);
