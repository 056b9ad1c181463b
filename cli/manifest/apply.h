#pragma once
/*
 * Applies manifests to a store: creates missing objects, replaces changed ones, keeps equal ones.
 */
#include "api/registry/registry.h"
#include "cli/manifest/manifests.h"

enum apply_result { APPLY_CREATED, APPLY_CONFIGURED, APPLY_UNCHANGED, APPLY_FAILED };

/** Applies one manifest. Warnings go to `warnings` (may be NULL); on failure `errors` has every
 * finding. `*out` is borrowed and valid until the caller returns to the event loop. */
enum apply_result apply_manifest(struct registry *registry, const struct manifest *manifest,
                                 struct error_list *warnings, const struct object **out,
                                 struct error_list *errors);
/** Creates the namespaces that the manifests name but do not define, because a run's private store
 * has no other client to create them. An invalid name is reported with its manifest. */
void apply_namespaces(struct registry *registry, const struct manifests *set);
/** Returns whether the stored object could be changed to match the manifest, without writing. True
 * when no object of its name is stored. */
bool apply_possible(struct registry *registry, const struct manifest *manifest,
                    struct error_list *errors);
/** Returns the merge patch with which apply_manifest changes the stored document to match the
 * manifest. Owned. */
json_t *apply_patch(const struct manifest *manifest, const json_t *stored);
