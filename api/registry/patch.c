/*
 * Patch: patches the stored document and stores the result as an update does. Ref: spec/kube-api.md
 * 6.6, 10.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "api/types/patch/patch.h"

/* Returns whether a real cluster defines the kind by a CustomResourceDefinition. */
static bool is_custom(const struct kind *kind)
{
    static const char suffix[] = "volcano.sh";
    size_t len = strlen(kind->group);

    return len >= strlen(suffix) && strcmp(kind->group + len - strlen(suffix), suffix) == 0;
}

static json_t *apply(const struct kind *kind, const json_t *doc, const struct registry_patch *patch,
                     struct error *err)
{
    if (patch->type == REGISTRY_PATCH_JSON)
        return patch_json(doc, patch->doc, err);
    if (patch->type == REGISTRY_PATCH_MERGE)
        return patch_merge(doc, patch->doc, err);
    if (!is_custom(kind))
        return patch_strategic(kind->schema, doc, patch->doc, err);
    error_set(err, ERR_MEDIA_TYPE, "",
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json-patch+json, application/merge-patch+json, "
              "application/apply-patch+yaml");
    return NULL;
}

static const char *metadata_text(const json_t *doc, const char *member)
{
    const char *text = json_string_value(json_object_get(json_object_get(doc, "metadata"), member));

    return text ? text : "";
}

/* Restores the parts of the object's identity that the patched document leaves out. */
static bool complete(const struct object *current, json_t *patched, struct error_list *errors)
{
    const struct {
        const char *member, *stored;
    } kept[] = {{"namespace", object_namespace(current)}, {"uid", object_uid(current)}};
    json_t *metadata = json_object_get(patched, "metadata");

    if (!json_is_object(metadata) || !*metadata_text(patched, "name")) {
        error_list_add(errors, ERR_BAD_REQUEST, "metadata.name",
                       "the name of the object (%s based on URL) was undeterminable: name must be "
                       "provided",
                       object_name(current));
        return false;
    }
    for (size_t i = 0; i < countof(kept); i++)
        if (*kept[i].stored && !*metadata_text(patched, kept[i].member))
            json_object_set_new(metadata, kept[i].member, json_string(kept[i].stored));
    return true;
}

/* Rejects a patch that changes the identity of the object. The namespace of a cluster-scoped object
 * is ignored, as in every write. */
static bool still_the_same(const struct object *current, const json_t *patched,
                           struct error_list *errors)
{
    const struct {
        const char *member, *stored, *field;
        enum error_code code;
    } identity[] = {
        {"name", object_name(current), "metadata.name", ERR_BAD_REQUEST},
        {"namespace", object_namespace(current), "metadata.namespace", ERR_BAD_REQUEST},
        {"uid", object_uid(current), "metadata.uid", ERR_INVALID},
    };
    const char *kind = json_string_value(json_object_get(patched, "kind"));
    const char *version = json_string_value(json_object_get(patched, "apiVersion"));

    if (!kind || !version || kind_by_gvk(version, kind) != current->kind) {
        error_list_add(errors, ERR_BAD_REQUEST, "kind",
                       "a patch cannot change the apiVersion and kind of an object");
        return false;
    }
    for (size_t i = 0; i < countof(identity); i++) {
        const char *text = metadata_text(patched, identity[i].member);
        bool ignored = !current->kind->namespaced && strcmp(identity[i].member, "namespace") == 0;

        if (ignored || strcmp(text, identity[i].stored) == 0)
            continue;
        if (identity[i].code == ERR_INVALID)
            error_list_add(errors, ERR_INVALID, identity[i].field,
                           "Invalid value: \"%.128s\": field is immutable", text);
        else
            error_list_add(errors, identity[i].code, identity[i].field,
                           "the %s of the object (%.253s) does not match the %s on the URL (%s)",
                           identity[i].member, text, identity[i].member, identity[i].stored);
        return false;
    }
    return true;
}

bool registry_patch(struct registry *r, struct registry_target at,
                    const struct registry_patch *patch, const struct registry_write *how,
                    const struct object **out, struct error_list *errors)
{
    const struct object *current = store_get(r->store, at.kind, at.ns, at.name);
    scoped(json) json_t *doc = NULL;
    scoped(json) json_t *patched = NULL;
    struct error err = {0};

    if (!current)
        return registry_not_found(at.kind, at.name, errors);
    doc = object_to_json(current);
    patched = apply(at.kind, doc, patch, &err);
    if (!patched) {
        error_list_add(errors, err.code,
                       err.code == ERR_INVALID && !*err.field ? "patch" : err.field, "%s",
                       err.message);
        return false;
    }
    return complete(current, patched, errors) && still_the_same(current, patched, errors) &&
           registry_update(r, patched, patch->sub, how, out, errors);
}
