#pragma once
/*
 * The three patch types of the Kubernetes API, applied to documents. Ref: spec/kube-api.md section
 * 10.
 */
#include "api/types/schema/schema.h"

/*
 * Each function returns the patched document (owned) or NULL with err; `doc` and `patch` are
 * borrowed and unchanged. BAD_REQUEST: the patch is malformed. INVALID: it does not fit the
 * document. TOO_LARGE: it exceeds L-12.
 */

/** Applies a JSON Patch (RFC 6902). At most 10,000 operations and 3 MiB of copies; results nest no
 * deeper than 128 levels. */
json_t *patch_json(const json_t *doc, const json_t *operations, struct error *err);
/** Applies a JSON Merge Patch (RFC 7386). */
json_t *patch_merge(const json_t *doc, const json_t *patch, struct error *err);
/**
 * Applies a strategic merge patch by the merge keys of `schema`, the table of the document, and of
 * object metadata. Directives: $patch replace, delete and merge; $retainKeys; $setElementOrder/F;
 * $deleteFromPrimitiveList/F.
 */
json_t *patch_strategic(const struct schema *schema, const json_t *doc, const json_t *patch,
                        struct error *err);
