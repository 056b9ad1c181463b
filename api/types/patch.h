#pragma once
/*
 * The three patch types of the Kubernetes API on documents, and the merge by field table that
 * strategic merge and JobFlow step patches use.
 */
#include "api/types/schema.h"

/** Each returns the patched document (owned) or NULL with err; `doc` and `patch` are borrowed and
 * unchanged. L-12 bounds them. */
json_t *patch_json(const json_t *doc, const json_t *operations, struct error *err); /* RFC 6902 */
json_t *patch_merge(const json_t *doc, const json_t *patch, struct error *err);     /* RFC 7386 */
json_t *patch_strategic(const struct schema *schema, const json_t *doc, const json_t *patch,
                        struct error *err);
