/*
 * Create or replace.
 */
#include "cli/apply.h"
#include "base/scoped.h"
#include <string.h>

const char *apply_result_text(enum apply_result result)
{
    static const char *const texts[] = {
        [APPLY_CREATED] = "created",
        [APPLY_CONFIGURED] = "configured",
        [APPLY_UNCHANGED] = "unchanged",
        [APPLY_FAILED] = "failed",
    };

    return texts[result];
}

/* The stored object with what the manifest says laid over it: fields the manifest does not mention
 * stay, as kubectl apply leaves them. */
static bool replace(struct registry *registry, const struct manifest *manifest,
                    const struct object *stored, struct error_list *warnings,
                    const struct object **out, struct error_list *errors)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR, .warnings = warnings};
    scoped(json) json_t *patch = json_copy(manifest->doc);

    json_object_del(patch, "status");
    return registry_patch(registry, stored->kind, object_namespace(stored), object_name(stored),
                          REGISTRY_PATCH_MERGE, patch, REGISTRY_MAIN, &how, out, errors);
}

enum apply_result apply_manifest(struct registry *registry, const struct manifest *manifest,
                                 struct error_list *warnings, const struct object **out,
                                 struct error_list *errors)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR, .warnings = warnings};
    const json_t *metadata = json_object_get(manifest->doc, "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const struct object *stored =
        name ? store_get(registry_store(registry), manifest->kind, ns ? ns : "", name) : NULL;
    int64_t revision;

    if (!stored)
        return registry_create(registry, manifest->doc, &how, out, errors) ? APPLY_CREATED
                                                                           : APPLY_FAILED;
    revision = stored->revision;
    if (!replace(registry, manifest, stored, warnings, out, errors))
        return APPLY_FAILED;
    return (*out)->revision == revision ? APPLY_UNCHANGED : APPLY_CONFIGURED;
}
