/*
 * Compares each manifest with the stored object of its name, and creates, replaces or keeps the
 * object. Creates namespaces that manifests name but do not define.
 */
#include "cli/manifest/apply.h"

#include <string.h>

#include "base/scoped.h"

static const struct object *stored_object(struct registry *registry,
                                          const struct manifest *manifest)
{
    const json_t *metadata = json_object_get(manifest->doc, "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));

    return name ? store_get(registry_store(registry), manifest->kind, ns ? ns : "", name) : NULL;
}

/* Returns a merge patch that sets `wanted` and removes the members that only `stored` has. Owned;
 * `wanted` is unchanged. */
static json_t *replacement(json_t *wanted, json_t *stored)
{
    json_t *patch = json_copy(wanted), *was;
    const char *key;

    json_object_foreach(stored, key, was)
    {
        json_t *now = json_object_get(patch, key);

        if (!now)
            json_object_set_new(patch, key, json_null());
        else if (json_is_object(now) && json_is_object(was))
            json_object_set_new(patch, key, replacement(now, was));
    }
    return patch;
}

/* Returns true for kinds whose file defines the whole spec: a field missing there is removed. For
 * others, such as a bound claim, the cluster also writes the spec, so fields missing in the file
 * are kept. */
static bool file_owns_spec(const struct kind *kind)
{
    return kind == &kind_job_template || kind == &kind_job_flow || kind == &kind_config_map ||
           kind == &kind_secret || kind == &kind_queue;
}

static bool replace(struct registry *registry, const struct manifest *manifest,
                    const struct object *stored, const struct registry_write *how,
                    const struct object **out, struct error_list *errors)
{
    bool says_all = file_owns_spec(stored->kind);

    if (says_all && !manifest->differs &&
        (manifest->unchanged || registry_unchanged(registry, manifest->doc, stored))) {
        *out = stored;
        return true;
    }

    scoped(json) json_t *body = says_all ? object_body_json(stored) : NULL;
    scoped(json) json_t *patch = replacement(manifest->doc, body);

    json_object_del(patch, "status");
    return registry_patch(registry, registry_target_of(stored),
                          &(struct registry_patch){REGISTRY_PATCH_MERGE, patch}, how, out, errors);
}

json_t *apply_patch(const struct manifest *manifest, const json_t *stored)
{
    static const char *const not_body[] = {"apiVersion", "kind", "metadata", "status"};
    scoped(json) json_t *body =
        file_owns_spec(manifest->kind) ? json_copy((json_t *)(size_t)stored) : NULL;
    json_t *patch;

    for (size_t i = 0; i < countof(not_body); i++)
        json_object_del(body, not_body[i]);
    patch = replacement(manifest->doc, body);
    json_object_del(patch, "status");
    return patch;
}

bool apply_possible(struct registry *registry, const struct manifest *manifest,
                    struct error_list *errors)
{
    const struct registry_write how = {.dry_run = REGISTRY_DRY_RUN, .unknown = UNKNOWN_ERROR};
    const struct object *stored = stored_object(registry, manifest), *out;

    return !stored || replace(registry, manifest, stored, &how, &out, errors);
}

enum apply_result apply_manifest(struct registry *registry, const struct manifest *manifest,
                                 struct error_list *warnings, const struct object **out,
                                 struct error_list *errors)
{
    const struct registry_write how = {.unknown = UNKNOWN_ERROR, .warnings = warnings};
    const struct object *stored = stored_object(registry, manifest);
    int64_t revision;

    if (!stored)
        return registry_create(registry, manifest->doc, &how, out, errors) ? APPLY_CREATED
                                                                           : APPLY_FAILED;
    revision = stored->revision;
    if (!replace(registry, manifest, stored, &how, out, errors))
        return APPLY_FAILED;
    return (*out)->revision == revision ? APPLY_UNCHANGED : APPLY_CONFIGURED;
}

static bool defines_namespace(const struct manifests *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *defined = json_string_value(
            json_object_get(json_object_get(set->items[i].doc, "metadata"), "name"));

        if (set->items[i].kind == &kind_namespace && defined && strcmp(defined, name) == 0)
            return true;
    }
    return false;
}

void apply_namespaces(struct registry *registry, const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct registry_write how = {.unknown = UNKNOWN_ERROR};
        const char *name = json_string_value(
            json_object_get(json_object_get(set->items[i].doc, "metadata"), "namespace"));
        struct error_list errors = {0};
        const struct object *made;

        if (!name || !set->items[i].kind->namespaced ||
            store_get(registry_store(registry), &kind_namespace, "", name) ||
            defines_namespace(set, name))
            continue;

        scoped(json) json_t *doc =
            json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", kind_api_version(&kind_namespace),
                      "kind", kind_namespace.name, "metadata", "name", name);

        registry_create(registry, doc, &how, &made, &errors);
        error_list_release(&errors);
    }
}
