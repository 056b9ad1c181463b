#pragma once
/*
 * The three patch types of the Kubernetes API on documents. Ref: spec/kube-api.md section 10.
 */
#include "api/types/schema/schema.h"

/*
 * Each returns the patched document (owned) or NULL with err; `doc` and `patch` are borrowed and
 * unchanged. BAD_REQUEST: the patch is no patch of its type. INVALID: it does not fit the document.
 * TOO_LARGE: L-12.
 */

/** RFC 6902. At most 10,000 operations, 3 MiB of copies, results nested no deeper than 128 levels.
 */
json_t *patch_json(const json_t *doc, const json_t *operations, struct error *err);
/** RFC 7386. */
json_t *patch_merge(const json_t *doc, const json_t *patch, struct error *err);
/**
 * Strategic merge by the merge keys of `schema`, which is that of the document; an object's
 * metadata is known besides. Directives: $patch replace, delete and merge; $retainKeys;
 * $setElementOrder/F; $deleteFromPrimitiveList/F.
 */
json_t *patch_strategic(const struct schema *schema, const json_t *doc, const json_t *patch,
                        struct error *err);
