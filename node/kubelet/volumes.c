/*
 * Volumes: one row per kind of source, each with its own resolver.
 */
#include "node/kubelet/volumes.h"

#include <string.h>

#include "api/types/kinds/pod/volume_check.h"
#include "api/types/text/quantity.h"
#include "base/mem.h"

enum { MODE_DEFAULT = 0644 };

struct resolver {
    const struct source *source;
    const struct volume_rules *rules;
    const char *name; /* of the volume */
    struct runtime_volume *out;
    /* files gathered for it */
    struct runtime_file *files;
    size_t n_files, cap_files;
    int mode;
};

/* Files. */

/* The path without empty components and "."; NULL when it does not stay inside. */
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

static enum source_verdict add_file(struct resolver *r, const char *path, const char *bytes,
                                    size_t len, int mode)
{
    const char *clean = path ? clean_path(r->source->arena, path) : NULL;

    if (!clean)
        return source_never(r->source, "InvalidVolume",
                            "volume %s: path \"%s\" must be relative and stay inside", r->name,
                            path ? path : "");
    mem_grow(r->files, r->n_files, r->cap_files);
    r->files[r->n_files++] = (struct runtime_file){clean, bytes, len, mode};
    return SOURCE_OK;
}

static const struct source_item *item_named(const struct source_items *items, const char *key)
{
    for (size_t i = 0; i < items->count; i++)
        if (strcmp(items->items[i].key, key) == 0)
            return &items->items[i];
    return NULL;
}

/* The keys of a ConfigMap or Secret that `ref.items` picks, or all of them. */
static enum source_verdict add_keys(struct resolver *r, const struct kind *kind, const char *name,
                                    const json_t *ref, int mode)
{
    const json_t *picks = json_object_get(ref, "items");
    bool optional = source_flag(ref, "optional");
    enum source_verdict verdict = SOURCE_OK;
    struct source_items items;

    if (!name)
        return SOURCE_OK;
    if (!source_data(r->source, kind, name, SOURCE_ALL, NULL, &items))
        return optional ? SOURCE_OK
                        : source_wait(r->source, kind, name, "volume %s: %s \"%s\" not found",
                                      r->name, kind->singular, name);
    if (!json_array_size(picks)) {
        for (size_t i = 0; i < items.count && verdict == SOURCE_OK; i++)
            verdict =
                add_file(r, items.items[i].key, items.items[i].bytes, items.items[i].len, mode);
        return verdict;
    }
    for (size_t i = 0; i < json_array_size(picks) && verdict == SOURCE_OK; i++) {
        const json_t *pick = json_array_get(picks, i);
        const char *key = source_text(pick, "key");
        const struct source_item *item = key ? item_named(&items, key) : NULL;

        if (item)
            verdict = add_file(r, source_text(pick, "path"), item->bytes, item->len,
                               source_mode(pick, "mode", mode));
        else if (!optional)
            verdict = source_wait(
                r->source, kind, name, "volume %s: couldn't find key %s in %s %s/%s", r->name,
                key ? key : "", kind->name, object_namespace(r->source->pod), name);
    }
    return verdict;
}

static enum source_verdict add_fields(struct resolver *r, const json_t *ref, int mode)
{
    const json_t *picks = json_object_get(ref, "items");
    enum source_verdict verdict = SOURCE_OK;

    for (size_t i = 0; i < json_array_size(picks) && verdict == SOURCE_OK; i++) {
        const json_t *pick = json_array_get(picks, i);
        const json_t *field = json_object_get(pick, "fieldRef");
        const char *value =
            field ? source_field(r->source, source_text(field, "fieldPath"))
                  : source_resource(r->source, json_object_get(pick, "resourceFieldRef"), NULL);

        if (!value)
            return source_never(r->source, "InvalidVolume",
                                "volume %s: item %s names no field or resource we know", r->name,
                                source_text(pick, "path"));
        verdict = add_file(r, source_text(pick, "path"), value, strlen(value),
                           source_mode(pick, "mode", mode));
    }
    return verdict;
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

/* Kinds. */

static enum source_verdict config_map(struct resolver *r, const json_t *ref)
{
    return add_keys(r, &kind_config_map, source_text(ref, "name"), ref, r->mode);
}

static enum source_verdict secret(struct resolver *r, const json_t *ref)
{
    const char *name = source_text(ref, "secretName");

    r->out->memory = true;
    return add_keys(r, &kind_secret, name ? name : source_text(ref, "name"), ref, r->mode);
}

static enum source_verdict downward(struct resolver *r, const json_t *ref)
{
    return add_fields(r, ref, r->mode);
}

static enum source_verdict projected(struct resolver *r, const json_t *ref)
{
    const json_t *sources = json_object_get(ref, "sources");
    enum source_verdict verdict = SOURCE_OK;

    for (size_t i = 0; i < json_array_size(sources) && verdict == SOURCE_OK; i++) {
        const json_t *one = json_array_get(sources, i), *part;

        if ((part = json_object_get(one, "configMap")))
            verdict = config_map(r, part);
        else if ((part = json_object_get(one, "secret")))
            verdict = secret(r, part);
        else if ((part = json_object_get(one, "downwardAPI")))
            verdict = downward(r, part);
        else
            verdict = source_never(r->source, "UnsupportedVolume",
                                   "volume %s: sources[%zu] is none of configMap, secret, "
                                   "downwardAPI",
                                   r->name, i);
    }
    return verdict;
}

static enum source_verdict empty_dir(struct resolver *r, const json_t *ref)
{
    const char *medium = source_text(ref, "medium"), *limit = source_text(ref, "sizeLimit");
    quantity_nano size;

    r->out->kind = VOLUME_EMPTY_DIR;
    r->out->memory = medium && strcmp(medium, "Memory") == 0;
    if (limit && quantity_parse(limit, &size, NULL))
        r->out->size_bytes = quantity_whole(size);
    else if (!r->out->memory)
        r->out->size_bytes = r->rules->empty_dir_bytes;
    return SOURCE_OK;
}

/* The shim opens and makes it; here is only said what may be. */
static enum source_verdict host_path(struct resolver *r, const json_t *ref)
{
    const struct host_paths *allowed = &r->rules->host_paths;
    const char *path = source_text(ref, "path"), *type = source_text(ref, "type");
    const struct host_path_rule *rule;

    if (!path || *path != '/' || host_path_climbs(path))
        return source_never(r->source, "InvalidVolume",
                            "volume %s: hostPath \"%s\" must be absolute and without '..'", r->name,
                            path ? path : "");
    r->out->kind = VOLUME_HOST_PATH;
    r->out->host_path = arena_strdup(r->source->arena, path);
    r->out->host_type = type && *type ? arena_strdup(r->source->arena, type) : NULL;
    if (allowed->any)
        return SOURCE_OK;
    rule = host_paths_rule(allowed, path);
    if (!rule)
        return source_never(r->source, "HostPathForbidden",
                            "volume %s: hostPath %s is not allowed on this node; use an emptyDir "
                            "or a claim, or start the server with --allow-host-path=%s",
                            r->name, path, path);
    r->out->host_base = arena_strndup(r->source->arena, rule->prefix, rule->len);
    r->out->host_keep = r->rules->data_dir;
    r->out->read_only = !rule->writable;
    return SOURCE_OK;
}

char *kubelet_claim_path(const char *data_dir, const char *ns, const char *uid)
{
    return mem_printf("%s/pvc/%s/%s", data_dir ? data_dir : ".", ns, uid);
}

static enum source_verdict claim(struct resolver *r, const json_t *ref)
{
    const char *ns = object_namespace(r->source->pod), *name = source_text(ref, "claimName");
    const struct object *object =
        name ? cluster_get(r->source->cluster, &kind_pvc, ns, name) : NULL;
    scoped_str path = NULL;

    if (!object || object_deleting(object))
        return source_wait(r->source, &kind_pvc, name ? name : "",
                           "volume %s: persistentvolumeclaim \"%s\" not found", r->name,
                           name ? name : "");
    path = kubelet_claim_path(r->rules->data_dir, ns, object_uid(object));
    r->out->kind = VOLUME_CLAIM;
    r->out->host_path = arena_strdup(r->source->arena, path);
    r->out->host_base = r->rules->data_dir;
    r->out->host_type = "DirectoryOrCreate";
    r->out->read_only = source_flag(ref, "readOnly");
    return SOURCE_OK;
}

static const struct {
    const char *member;
    bool files;
    enum source_verdict (*resolve)(struct resolver *r, const json_t *ref);
} volume_kinds[] = {
    {"emptyDir", false, empty_dir},
    {"configMap", true, config_map},
    {"secret", true, secret},
    {"projected", true, projected},
    {"downwardAPI", true, downward},
    {"hostPath", false, host_path},
    {"persistentVolumeClaim", false, claim},
};

static enum source_verdict resolve(struct resolver *r, const struct pod_volume *volume)
{
    enum source_verdict verdict;

    r->name = r->out->name = volume->name;
    r->n_files = 0;
    for (size_t i = 0; i < countof(volume_kinds); i++) {
        const json_t *ref = json_object_get(volume->source, volume_kinds[i].member);

        if (!ref)
            continue;
        r->mode = source_mode(ref, "defaultMode", MODE_DEFAULT);
        verdict = volume_kinds[i].resolve(r, ref);
        if (verdict == SOURCE_OK && volume_kinds[i].files)
            take_files(r);
        return verdict;
    }
    if (json_object_size(volume->source) <= 1) { /* the name alone means an emptyDir */
        r->out->kind = VOLUME_EMPTY_DIR;
        return SOURCE_OK;
    }
    return source_never(r->source, "UnsupportedVolume",
                        "volume %s is of a kind this node cannot mount; it knows emptyDir, "
                        "configMap, secret, projected, downwardAPI, hostPath, "
                        "persistentVolumeClaim",
                        volume->name);
}

enum source_verdict kubelet_volumes(const struct source *source, const struct volume_rules *rules,
                                    struct runtime_volume **out, size_t *n)
{
    size_t count = source->spec->volumes.count;
    struct runtime_volume *volumes = arena_array(source->arena, count + 1, sizeof *volumes);
    struct resolver r = {.source = source, .rules = rules};
    enum source_verdict verdict = SOURCE_OK;

    for (size_t i = 0; i < count && verdict == SOURCE_OK; i++) {
        r.out = &volumes[i];
        verdict = resolve(&r, &source->spec->volumes.items[i]);
    }
    mem_free(r.files);
    *out = volumes;
    *n = count;
    return verdict;
}
