#pragma once
/*
 * Manifests into a store: create what is missing, replace what differs, leave what is equal.
 */
#include "api/registry/registry.h"
#include "cli/manifest/manifests.h"

enum apply_result { APPLY_CREATED, APPLY_CONFIGURED, APPLY_UNCHANGED, APPLY_FAILED };

/** Apply one manifest. Warnings go to `warnings` (may be NULL); on failure every finding is in
 * `errors`. `*out` is borrowed until the caller returns to the loop. */
enum apply_result apply_manifest(struct registry *registry, const struct manifest *manifest,
                                 struct error_list *warnings, const struct object **out,
                                 struct error_list *errors);
/** Make the namespaces the manifests speak of but do not define: in a store of one's own nobody
 * else would. A bad name is left to the manifest's own error. */
void apply_namespaces(struct registry *registry, const struct manifests *set);
/** Whether the stored object could be changed to what the manifest says; writes nothing. True when
 * nothing is stored under its name. */
bool apply_possible(struct registry *registry, const struct manifest *manifest,
                    struct error_list *errors);
/** The merge patch that makes a stored document what the manifest says, as apply_manifest does it;
 * owned. */
json_t *apply_patch(const struct manifest *manifest, const json_t *stored);
