/*
 * Looks up values for environments and volumes: data of ConfigMaps and Secrets, decoded into an
 * arena; fields of the pod; resources of a container, divided by the reference's divisor and
 * rounded up. Ref: k8s.io/kubernetes pkg/fieldpath, pkg/api/v1/resource.
 */
#include "node/kubelet/value_source.h"

#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "api/types/text/quantity.h"
#include "base/buf.h"
#include "base/encoding/base64.h"

enum resolve_result resolve_wait(const struct value_source *source, const struct kind *kind,
                                 const char *name, const char *format, ...)
{
    va_list args;

    source->problem->kind = kind;
    snprintf(source->problem->name, sizeof source->problem->name, "%s", name);
    va_start(args, format);
    vsnprintf(source->problem->message, sizeof source->problem->message, format, args);
    va_end(args);
    return RESOLVE_WAIT;
}

enum resolve_result resolve_invalid(const struct value_source *source, const char *reason,
                                    const char *format, ...)
{
    va_list args;

    source->problem->reason = reason;
    va_start(args, format);
    vsnprintf(source->problem->message, sizeof source->problem->message, format, args);
    va_end(args);
    return RESOLVE_INVALID;
}

bool value_flag(const json_t *doc, const char *member)
{
    return json_is_true(json_object_get(doc, member));
}

int value_mode(const json_t *doc, const char *member, int otherwise)
{
    const json_t *mode = json_object_get(doc, member);

    return json_is_integer(mode) ? (int)json_integer_value(mode) & 0777 : otherwise;
}

const char *value_hosts_as_addresses(const struct value_source *source, const char *text)
{
    size_t len = strlen(text);

    return host_names_replace(source->names, source->arena, text, &len);
}

static struct value_item base64_item(struct arena *arena, const char *key, const json_t *value)
{
    scoped(buf) struct buf bytes = {0};

    base64_decode(json_string_value(value), json_string_length(value), &bytes);
    return (struct value_item){arena_strdup(arena, key),
                               arena_strndup(arena, bytes.data ? bytes.data : "", bytes.len),
                               bytes.len};
}

static struct value_item text_item(struct arena *arena, const char *key, const json_t *value)
{
    size_t len = json_string_length(value);

    return (struct value_item){arena_strdup(arena, key),
                               arena_strndup(arena, json_string_value(value), len), len};
}

static void add_members(const struct value_source *source, json_t *members, bool base64,
                        const char *only_key, struct value_items *out)
{
    const char *key;
    json_t *value;

    json_object_foreach(members, key, value)
    {
        if (!json_is_string(value) || (only_key && strcmp(key, only_key) != 0))
            continue;
        struct value_item *item = &out->items[out->count++];

        *item =
            base64 ? base64_item(source->arena, key, value) : text_item(source->arena, key, value);
        item->bytes = host_names_replace(source->names, source->arena, item->bytes, &item->len);
    }
}

bool value_data(const struct value_source *source, const struct kind *kind, const char *name,
                enum value_part part, const char *only_key, struct value_items *out)
{
    const struct object *object =
        cluster_get(source->cluster, kind, object_namespace(source->pod), name);

    *out = (struct value_items){0};
    if (!object)
        return false;

    scoped(json) json_t *body = object_body_json(object);
    json_t *data = json_object_get(body, "data");
    json_t *binary = part == VALUE_ALL ? json_object_get(body, "binaryData") : NULL;

    out->items = arena_array(source->arena, json_object_size(data) + json_object_size(binary) + 1,
                             sizeof *out->items);
    add_members(source, data, kind == &kind_secret, only_key, out);
    add_members(source, binary, true, only_key, out);
    return true;
}

/* Returns labels or annotations as lines key="escaped value", as the Kubernetes kubelet writes
 * them. */
static const char *pairs_text(struct arena *arena, const struct kv *pairs, size_t n)
{
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; i < n; i++) {
        struct jsonw w = jsonw_to(&text);

        if (i)
            buf_char(&text, '\n');
        buf_str(&text, pairs[i].key);
        buf_char(&text, '=');
        jsonw_str(&w, pairs[i].value);
    }
    return arena_strndup(arena, text.data ? text.data : "", text.len);
}

/* Returns the value of metadata.labels['key'] or metadata.annotations['key']; NULL for any other
 * path. */
static const char *subscript(const struct value_source *source, const char *path)
{
    const struct meta *meta = source->pod->meta;
    const char *open = strstr(path, "['"), *close = open ? strstr(open, "']") : NULL;
    const char *key, *value = NULL;

    if (!close || close[2])
        return NULL;
    key = arena_strndup(source->arena, open + 2, (size_t)(close - open) - 2);
    if (strncmp(path, "metadata.labels[", 16) == 0)
        value = meta_label(meta, key);
    else if (strncmp(path, "metadata.annotations[", 21) == 0)
        value = meta_annotation(meta, key);
    else
        return NULL;
    return value ? value : "";
}

const char *value_field(const struct value_source *source, const char *path)
{
    const struct meta *meta = source->pod->meta;
    const struct {
        const char *path, *value;
    } fields[] = {
        {"metadata.name", meta->name},
        {"metadata.namespace", meta->namespace},
        {"metadata.uid", meta->uid},
        {"spec.nodeName", source->node_name},
        {"spec.serviceAccountName", "default"},
        {"status.hostIP", source->host_ip},
        {"status.hostIPs", source->host_ip},
        {"status.podIP", source->pod_ip},
        {"status.podIPs", source->pod_ip},
    };

    if (!path)
        return NULL;
    for (size_t i = 0; i < countof(fields); i++)
        if (strcmp(path, fields[i].path) == 0)
            return fields[i].value;
    if (strcmp(path, "metadata.labels") == 0)
        return pairs_text(source->arena, meta->labels, meta->n_labels);
    if (strcmp(path, "metadata.annotations") == 0)
        return pairs_text(source->arena, meta->annotations, meta->n_annotations);
    return subscript(source, path);
}

static const struct pod_container *container_named(const struct pod_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->containers.count; i++)
        if (strcmp(spec->containers.items[i].name, name) == 0)
            return &spec->containers.items[i];
    for (size_t i = 0; i < spec->init_containers.count; i++)
        if (strcmp(spec->init_containers.items[i].name, name) == 0)
            return &spec->init_containers.items[i];
    return NULL;
}

/* Returns the amount that a container has of a resource. A limit that is not set is that of the pod,
 * or else the node's capacity. A request that is not set is the limit, or 0. */
static quantity_nano resource_of(const struct value_source *source,
                                 const struct pod_container *container, bool limit,
                                 const char *name)
{
    quantity_nano of_pod;

    if (!limit && pod_amount_text(&container->requests, name))
        return pod_amount(&container->requests, name);
    if (!limit || pod_amount_text(&container->limits, name))
        return pod_amount(&container->limits, name);
    of_pod = pod_amount(&source->spec->limits, name);
    if (of_pod)
        return of_pod;
    if (strcmp(name, "cpu") == 0)
        return (quantity_nano)source->cpu_milli * 1000000;
    if (strcmp(name, "memory") == 0)
        return (quantity_nano)source->memory_bytes * 1000000000;
    return 0;
}

const char *value_resource(const struct value_source *source, const json_t *ref,
                           const struct pod_container *container)
{
    const char *resource = doc_text(ref, "resource"), *name = doc_text(ref, "containerName");
    const char *divisor_text = doc_text(ref, "divisor");
    quantity_nano divisor = 0, value;
    bool limit;

    if (name && *name)
        container = container_named(source->spec, name);
    if (!container || !resource)
        return NULL;
    limit = strncmp(resource, "limits.", 7) == 0;
    if (!limit && strncmp(resource, "requests.", 9) != 0)
        return NULL;
    if (!divisor_text || !quantity_parse(divisor_text, &divisor, NULL) || divisor <= 0)
        divisor = 1000000000; /* the default divisor is 1; "0" means the default, too */
    value = resource_of(source, container, limit, strchr(resource, '.') + 1);
    return arena_printf(source->arena, "%lld", (long long)((value + divisor - 1) / divisor));
}
