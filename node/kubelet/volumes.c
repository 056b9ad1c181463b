/*
 * Resolves volumes: a table has one row and one resolver for each kind of volume source.
 * ConfigMaps, Secrets, downwardAPI and projected volumes become lists of files; emptyDir, hostPath
 * and claims become directories, which the shim creates.
 */
#include "node/kubelet/volumes.h"

#include <string.h>

#include "api/types/kinds/pod/volume_path.h"
#include "api/types/text/doc.h"
#include "api/types/text/quantity.h"
#include "base/mem.h"

enum { MODE_DEFAULT = 0644 };

struct resolver {
    const struct value_source *source;
    const struct volume_rules *rules;
    const char *name; /* name of the volume */
    struct runtime_volume *out;
    struct runtime_file *files; /* files of the volume found so far */
    size_t n_files, cap_files;
    int mode;
};

/* Returns the path without empty components and "."; NULL when it leads out of the volume. */
static const char *clean_path(struct arena *arena, const char *path)
{
    scoped(buf) struct buf out = {0};

    if (!path_descends(path))
        return NULL;
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");

        if (len && !(len == 1 && *at == '.'))
            buf_printf(&out, "%s%.*s", out.len ? "/" : "", (int)len, at);
        at += len;
        at += *at == '/';
    }
    return out.len ? arena_strdup(arena, out.data) : NULL;
}

static enum resolve_result add_file(struct resolver *r, const char *path, const char *bytes,
                                    size_t len, int mode)
{
    const char *clean = path ? clean_path(r->source->arena, path) : NULL;

    if (!clean)
        return resolve_invalid(r->source, "InvalidVolume",
                               "volume %s: path \"%s\" must be relative and stay inside", r->name,
                               path ? path : "");
    mem_grow(r->files, r->n_files, r->cap_files);
    r->files[r->n_files++] = (struct runtime_file){clean, bytes, len, mode};
    return RESOLVED;
}

static const struct value_item *item_named(const struct value_items *items, const char *key)
{
    for (size_t i = 0; i < items->count; i++)
        if (strcmp(items->items[i].key, key) == 0)
            return &items->items[i];
    return NULL;
}

/* Adds the keys of a ConfigMap or Secret that `ref.items` selects, or all of them. */
static enum resolve_result add_keys(struct resolver *r, const struct kind *kind, const char *name,
                                    const json_t *ref, int mode)
{
    const json_t *picks = json_object_get(ref, "items");
    bool optional = value_flag(ref, "optional");
    enum resolve_result result = RESOLVED;
    struct value_items items;

    if (!name)
        return RESOLVED;
    if (!value_data(r->source, kind, name, VALUE_ALL, NULL, &items))
        return optional ? RESOLVED
                        : resolve_wait(r->source, kind, name, "volume %s: %s \"%s\" not found",
                                       r->name, kind->singular, name);
    if (!json_array_size(picks)) {
        for (size_t i = 0; i < items.count && result == RESOLVED; i++)
            result =
                add_file(r, items.items[i].key, items.items[i].bytes, items.items[i].len, mode);
        return result;
    }
    for (size_t i = 0; i < json_array_size(picks) && result == RESOLVED; i++) {
        const json_t *pick = json_array_get(picks, i);
        const char *key = doc_text(pick, "key");
        const struct value_item *item = key ? item_named(&items, key) : NULL;

        if (item)
            result = add_file(r, doc_text(pick, "path"), item->bytes, item->len,
                              value_mode(pick, "mode", mode));
        else if (!optional)
            result = resolve_wait(
                r->source, kind, name, "volume %s: couldn't find key %s in %s %s/%s", r->name,
                key ? key : "", kind->name, object_namespace(r->source->pod), name);
    }
    return result;
}

static enum resolve_result add_fields(struct resolver *r, const json_t *ref, int mode)
{
    const json_t *picks = json_object_get(ref, "items");
    enum resolve_result result = RESOLVED;

    for (size_t i = 0; i < json_array_size(picks) && result == RESOLVED; i++) {
        const json_t *pick = json_array_get(picks, i);
        const json_t *field = json_object_get(pick, "fieldRef");
        const char *value =
            field ? value_field(r->source, doc_text(field, "fieldPath"))
                  : value_resource(r->source, json_object_get(pick, "resourceFieldRef"), NULL);

        if (!value)
            return resolve_invalid(r->source, "InvalidVolume",
                                   "volume %s: item %s names no supported field or resource",
                                   r->name, doc_text(pick, "path"));
        result = add_file(r, doc_text(pick, "path"), value, strlen(value),
                          value_mode(pick, "mode", mode));
    }
    return result;
}

static void take_files(struct resolver *r)
{
    struct runtime_file *files =
        arena_array(r->source->arena, r->n_files + 1, sizeof(struct runtime_file));

    if (r->n_files)
        memcpy(files, r->files, r->n_files * sizeof *files);
    r->out->kind = VOLUME_FILES;
    r->out->files = files;
    r->out->n_files = r->n_files;
    r->out->read_only = true;
}

static enum resolve_result config_map(struct resolver *r, const json_t *ref)
{
    return add_keys(r, &kind_config_map, doc_text(ref, "name"), ref, r->mode);
}

static enum resolve_result secret(struct resolver *r, const json_t *ref)
{
    const char *name = doc_text(ref, "secretName");

    r->out->memory = true;
    return add_keys(r, &kind_secret, name ? name : doc_text(ref, "name"), ref, r->mode);
}

static enum resolve_result downward(struct resolver *r, const json_t *ref)
{
    return add_fields(r, ref, r->mode);
}

static enum resolve_result projected(struct resolver *r, const json_t *ref)
{
    const json_t *sources = json_object_get(ref, "sources");
    enum resolve_result result = RESOLVED;

    for (size_t i = 0; i < json_array_size(sources) && result == RESOLVED; i++) {
        const json_t *one = json_array_get(sources, i), *part;

        if ((part = json_object_get(one, "configMap")))
            result = config_map(r, part);
        else if ((part = json_object_get(one, "secret")))
            result = secret(r, part);
        else if ((part = json_object_get(one, "downwardAPI")))
            result = downward(r, part);
        else
            result = resolve_invalid(r->source, "UnsupportedVolume",
                                     "volume %s: sources[%zu] is none of configMap, secret, "
                                     "downwardAPI",
                                     r->name, i);
    }
    return result;
}

static enum resolve_result empty_dir(struct resolver *r, const json_t *ref)
{
    const char *medium = doc_text(ref, "medium"), *limit = doc_text(ref, "sizeLimit");
    quantity_nano size;

    r->out->kind = VOLUME_EMPTY_DIR;
    r->out->memory = medium && strcmp(medium, "Memory") == 0;
    if (limit && quantity_parse(limit, &size, NULL))
        r->out->size_bytes = quantity_whole(size);
    else if (!r->out->memory)
        r->out->size_bytes = r->rules->empty_dir_bytes;
    return RESOLVED;
}

/* Resolves a hostPath: checks that the node allows the path. The shim opens and creates it. */
static enum resolve_result host_path(struct resolver *r, const json_t *ref)
{
    const struct host_paths *allowed = &r->rules->host_paths;
    const char *path = doc_text(ref, "path"), *type = doc_text(ref, "type");
    const struct host_path_rule *rule;

    if (!path || *path != '/' || host_path_climbs(path))
        return resolve_invalid(r->source, "InvalidVolume",
                               "volume %s: hostPath \"%s\" must be absolute and without '..'",
                               r->name, path ? path : "");
    r->out->kind = VOLUME_HOST_PATH;
    r->out->host_path = arena_strdup(r->source->arena, path);
    r->out->host_type = type && *type ? arena_strdup(r->source->arena, type) : NULL;
    if (allowed->any)
        return RESOLVED;
    rule = host_paths_rule(allowed, path);
    if (!rule)
        return resolve_invalid(
            r->source, "HostPathForbidden",
            "volume %s: hostPath %s is not allowed on this node; use an emptyDir "
            "or a claim, or start the server with --allow-host-path=%s",
            r->name, path, path);
    r->out->host_base = arena_strndup(r->source->arena, rule->prefix, rule->len);
    r->out->host_keep = r->rules->data_dir;
    r->out->read_only = !rule->writable;
    return RESOLVED;
}

char *kubelet_claim_path(const char *data_dir, const char *ns, const char *uid)
{
    return mem_printf("%s/pvc/%s/%s", data_dir ? data_dir : ".", ns, uid);
}

static enum resolve_result claim(struct resolver *r, const json_t *ref)
{
    const char *ns = object_namespace(r->source->pod), *name = doc_text(ref, "claimName");
    const struct object *object =
        name ? cluster_get(r->source->cluster, &kind_pvc, ns, name) : NULL;
    scoped_str path = NULL;

    if (!object || object_deleting(object))
        return resolve_wait(r->source, &kind_pvc, name ? name : "",
                            "volume %s: persistentvolumeclaim \"%s\" not found", r->name,
                            name ? name : "");
    path = kubelet_claim_path(r->rules->data_dir, ns, object_uid(object));
    r->out->kind = VOLUME_CLAIM;
    r->out->host_path = arena_strdup(r->source->arena, path);
    r->out->host_base = r->rules->data_dir;
    r->out->host_type = "DirectoryOrCreate";
    r->out->read_only = value_flag(ref, "readOnly");
    return RESOLVED;
}

static const struct {
    const char *member;
    bool files;
    enum resolve_result (*resolve)(struct resolver *r, const json_t *ref);
} volume_kinds[] = {
    {"emptyDir", false, empty_dir},
    {"configMap", true, config_map},
    {"secret", true, secret},
    {"projected", true, projected},
    {"downwardAPI", true, downward},
    {"hostPath", false, host_path},
    {"persistentVolumeClaim", false, claim},
};

static enum resolve_result resolve_unknown(const struct resolver *r,
                                           const struct pod_volume *volume)
{
    scoped(buf) struct buf known = {0};

    for (size_t i = 0; i < countof(volume_kinds); i++)
        buf_printf(&known, "%s%s", i ? ", " : "", volume_kinds[i].member);
    return resolve_invalid(r->source, "UnsupportedVolume",
                           "volume %s is of a kind this node cannot mount; it knows %s",
                           volume->name, known.data);
}

static enum resolve_result resolve(struct resolver *r, const struct pod_volume *volume)
{
    enum resolve_result result;

    r->name = r->out->name = volume->name;
    r->n_files = 0;
    for (size_t i = 0; i < countof(volume_kinds); i++) {
        const json_t *ref = json_object_get(volume->source, volume_kinds[i].member);

        if (!ref)
            continue;
        r->mode = value_mode(ref, "defaultMode", MODE_DEFAULT);
        result = volume_kinds[i].resolve(r, ref);
        if (result == RESOLVED && volume_kinds[i].files)
            take_files(r);
        return result;
    }
    if (json_object_size(volume->source) <= 1) { /* a volume without a source is an emptyDir */
        r->out->kind = VOLUME_EMPTY_DIR;
        return RESOLVED;
    }
    return resolve_unknown(r, volume);
}

enum resolve_result kubelet_volumes(const struct value_source *source,
                                    const struct volume_rules *rules, struct runtime_volume **out,
                                    size_t *n)
{
    size_t count = source->spec->volumes.count;
    struct runtime_volume *volumes = arena_array(source->arena, count + 1, sizeof *volumes);
    struct resolver r = {.source = source, .rules = rules};
    enum resolve_result result = RESOLVED;

    for (size_t i = 0; i < count && result == RESOLVED; i++) {
        r.out = &volumes[i];
        result = resolve(&r, &source->spec->volumes.items[i]);
    }
    mem_free(r.files);
    *out = volumes;
    *n = count;
    return result;
}
