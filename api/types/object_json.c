/*
 * Converts documents to objects and back: metadata to and from its struct, status and body to and
 * from canonical JSON bytes.
 */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/object.h"
#include "api/types/schema/schema.h"
#include "api/types/text/json_text.h"

/* ObjectMeta as its field table decodes it. `struct meta` is made from this struct. */
struct meta_doc {
    const char *name, *generate_name, *namespace, *uid, *resource_version;
    int64_t generation, created_ms, deleted_ms;
    struct opt_i64 deletion_grace_s;
    struct str_map labels, annotations;
    struct {
        struct owner_ref *items;
        size_t count;
    } owners;
    struct str_list finalizers;
    json_t *managed_fields;
};

#define OWNER(member) offsetof(struct owner_ref, member)
#define META(member)  offsetof(struct meta_doc, member)
/* clang-format off */
static const struct field owner_fields[] = {
    {"apiVersion",         FIELD_STR,  OWNER(api_version), .pb = 5, .required = true, .doc = "API version of the owner."},
    {"kind",               FIELD_STR,  OWNER(kind),        .pb = 1, .required = true, .doc = "Kind of the owner."},
    {"name",               FIELD_STR,  OWNER(name),        .pb = 3, .required = true, .doc = "Name of the owner."},
    {"uid",                FIELD_STR,  OWNER(uid),         .pb = 4, .required = true, .doc = "UID of the owner."},
    {"controller",         FIELD_BOOL, OWNER(controller),                    .pb = 6, .keeps_zero = true, .doc = "The owner manages this object."},
    {"blockOwnerDeletion", FIELD_BOOL, OWNER(block_owner_deletion), .pb = 7, .keeps_zero = true,
        .doc = "With foreground deletion the owner stays until this object is gone."},
    {0},
};
static const struct schema owner_schema = {
    "OwnerReference", owner_fields, sizeof(struct owner_ref), .doc = "An object this one belongs to and goes away with.",
};

/* Only for protobuf: JSON keeps the entries as they are. */
static const struct field managed_fields[] = {
    {"manager",    FIELD_STR,  FIELD_PASS, .pb = 1},
    {"operation",  FIELD_STR,  FIELD_PASS, .pb = 2},
    {"apiVersion", FIELD_STR,  FIELD_PASS, .pb = 3},
    {"time",       FIELD_TIME, FIELD_PASS, .pb = 4},
    {"fieldsType", FIELD_STR,  FIELD_PASS, .pb = 6},
    {"fieldsV1",   FIELD_ANY,  FIELD_PASS, .pb = 7, .pb_as = PB_JSON},
    {"subresource", FIELD_STR, FIELD_PASS, .pb = 8},
    {0},
};
static const struct schema managed_schema = {"ManagedFieldsEntry", managed_fields};

static const struct field meta_fields[] = {
    {"name",                       FIELD_STR,      META(name),             .pb = 1, .doc = "Name, unique among the objects of this kind in the namespace."},
    {"generateName",               FIELD_STR,      META(generate_name),    .pb = 2, .doc = "Prefix of a name the server completes when name is absent."},
    {"namespace",                  FIELD_STR,      META(namespace),       .pb = 3, .doc = "Namespace; absent for kinds without one."},
    {"selfLink",                   FIELD_STR,      FIELD_PASS,             .pb = 4, .doc = "Ignored."},
    {"uid",                        FIELD_STR,      META(uid),              .pb = 5, .doc = "Identity of this object over time; set by the server."},
    {"resourceVersion",            FIELD_STR,      META(resource_version), .pb = 6, .doc = "Version of the stored object; as a precondition on writes."},
    {"generation",                 FIELD_I64,      META(generation),       .pb = 7, .doc = "Counts the changes of the desired state; set by the server."},
    {"creationTimestamp",          FIELD_TIME,     META(created_ms),       .pb = 8, .doc = "When it was created; set by the server."},
    {"deletionTimestamp",          FIELD_TIME,     META(deleted_ms),       .pb = 9, .doc = "When it was or will be deleted; set by the server."},
    {"deletionGracePeriodSeconds", FIELD_OPT_I64,  META(deletion_grace_s), .pb = 10, .doc = "Seconds it may take to end; set by the server."},
    {"labels",                     FIELD_STR_MAP,  META(labels),           .incidental = true, .pb = 11, .doc = "Identifying pairs, for selectors."},
    {"annotations",                FIELD_STR_MAP,  META(annotations),      .incidental = true, .pb = 12, .doc = "Other pairs, for tools."},
    {"ownerReferences",            FIELD_LIST,     META(owners), .pb = 13, .of = &owner_schema, .merge_key = "uid",
        .doc = "Objects it belongs to; when all are gone it is collected."},
    {"finalizers",                 FIELD_STR_LIST, META(finalizers), .pb = 14, .merge_key = "",
        .doc = "Must be empty before the object is removed; each is taken out by who put it in."},
    {"managedFields",              FIELD_ANY,      META(managed_fields), .pb = 17, .pb_as = PB_MESSAGES, .pb_of = &managed_schema,
        .doc = "Who set which field; kept by the server."},
    {0},
};
const struct schema metadata_schema = {
    "ObjectMeta", meta_fields, sizeof(struct meta_doc), .doc = "Metadata every object has.",
};
/* clang-format on */

bool object_is_body_member(const char *key)
{
    static const char *const envelope[] = {"apiVersion", "kind", "metadata", "status"};

    for (size_t i = 0; i < countof(envelope); i++)
        if (strcmp(key, envelope[i]) == 0)
            return false;
    return true;
}

static const char *text_member(const json_t *doc, const char *key, struct error_list *errors)
{
    const char *text = json_string_value(json_object_get(doc, key));

    if (!text || !*text)
        error_list_add(errors, ERR_BAD_REQUEST, key, "Required value: every object names its %s",
                       key);
    return text && *text ? text : NULL;
}

const struct kind *object_kind_from_json(const json_t *doc, struct error_list *errors)
{
    if (!json_is_object(doc)) {
        error_list_add(errors, ERR_BAD_REQUEST, "",
                       "an object was expected: a mapping with apiVersion, kind and metadata");
        return NULL;
    }

    const char *api_version = text_member(doc, "apiVersion", errors);
    const char *name = text_member(doc, "kind", errors);
    const struct kind *kind = api_version && name ? kind_by_gvk(api_version, name) : NULL;

    if (kind || !api_version || !name)
        return kind;

    const struct kind *near = kind_nearest(name);

    if (near)
        error_list_add(
            errors, ERR_BAD_REQUEST, "kind",
            "no kind \"%s\" in version \"%s\"; did you mean kind \"%s\" in version \"%s\"?", name,
            api_version, near->name, kind_api_version(near));
    else
        error_list_add(errors, ERR_BAD_REQUEST, "kind", "no kind \"%s\" in version \"%s\"", name,
                       api_version);
    return NULL;
}

/* Parses a resourceVersion. "" and "0" mean that there is none. */
static bool parse_revision(const char *text, int64_t *out, struct error_list *errors)
{
    char *end = NULL;

    *out = 0;
    if (!text || !*text)
        return true;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && !errno)
        return true;
    *out = 0;
    error_list_add(errors, ERR_INVALID, "metadata.resourceVersion",
                   "Invalid value: \"%.64s\": must be a decimal number", text);
    return false;
}

struct meta *meta_from_json(const struct kind *kind, const json_t *metadata, int64_t *out_revision,
                            struct error_list *errors)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(buf) struct buf managed = {0};
    struct meta_doc doc;
    struct error err = {0};

    if (!schema_decode(&metadata_schema, metadata, arena, &doc, &err)) {
        error_prefix(&err, "metadata: ");
        error_list_append(errors, &err);
        return NULL;
    }
    if (!parse_revision(doc.resource_version, out_revision, errors))
        return NULL;
    if (json_array_size(doc.managed_fields))
        json_text(doc.managed_fields, &managed);

    struct meta draft = {
        .namespace = kind->namespaced ? doc.namespace : "",
        .name = doc.name,
        .generate_name = doc.generate_name && *doc.generate_name ? doc.generate_name : NULL,
        .uid = doc.uid,
        .generation = doc.generation,
        .created_at_ms = doc.created_ms,
        .created_part_ms = doc.created_ms > 0 && doc.created_ms % 1000 == 0 ? 999 : 0,
        .deleted_at_ms = doc.deleted_ms,
        .deletion_grace_s = doc.deletion_grace_s.set ? doc.deletion_grace_s.value : -1,
        .labels = (const struct kv *)(const void *)doc.labels.items,
        .annotations = (const struct kv *)(const void *)doc.annotations.items,
        .owners = doc.owners.items,
        .finalizers = doc.finalizers.items,
        .managed_fields = managed.data,
        .n_labels = (uint32_t)doc.labels.count,
        .n_annotations = (uint32_t)doc.annotations.count,
        .n_owners = (uint32_t)doc.owners.count,
        .n_finalizers = (uint32_t)doc.finalizers.count,
    };

    return meta_new(&draft);
}
_Static_assert(sizeof(struct kv) == sizeof(struct str_pair) &&
                   offsetof(struct kv, value) == offsetof(struct str_pair, value),
               "labels are decoded as a str_map and kept as kv");

static struct blob *status_from_json(const json_t *status, struct error_list *errors)
{
    scoped(buf) struct buf text = {0};

    if (!status || json_is_null(status))
        return NULL;
    if (!json_is_object(status)) {
        error_list_add(errors, ERR_INVALID, "status",
                       "Invalid value: status must be of type object");
        return NULL;
    }
    json_text(status, &text);
    return blob_from_buf(&text);
}

struct blob *object_body_from_json(const json_t *members)
{
    scoped(buf) struct buf text = {0};
    scoped(json) json_t *body = json_object();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)members, key, value)
    {
        if (object_is_body_member(key) && !json_is_null(value))
            json_object_set_nocheck(body, key, value);
    }
    json_text(body, &text);
    return blob_intern(text.data, text.len);
}

struct object *object_of_kind_from_json(const struct kind *kind, const json_t *doc,
                                        struct error_list *errors)
{
    static const struct schema_options options = {UNKNOWN_PRUNE, .drop_null = true};
    size_t before = errors->count + errors->dropped;
    const json_t *written = json_object_get(doc, "metadata");
    scoped(json) json_t *metadata = written ? json_deep_copy(written) : json_object();

    schema_check(&metadata_schema, metadata, "metadata", &options, errors);
    if (errors->count + errors->dropped > before)
        return NULL;

    int64_t revision = 0;
    struct meta *meta = meta_from_json(kind, metadata, &revision, errors);
    struct blob *status = status_from_json(json_object_get(doc, "status"), errors);

    if (errors->count + errors->dropped > before) {
        meta_unref(meta);
        blob_unref(status);
        return NULL;
    }

    struct object *object = object_new(kind, meta, object_body_from_json(doc), status);

    object->revision = revision;
    return object;
}

struct object *object_from_json(const json_t *doc, struct error_list *errors)
{
    const struct kind *kind = object_kind_from_json(doc, errors);

    return kind ? object_of_kind_from_json(kind, doc, errors) : NULL;
}

static json_t *parsed(const char *text, size_t len)
{
    json_t *doc = json_read(text, len);

    return doc ? doc : json_object();
}

json_t *object_to_json(const struct object *object)
{
    scoped(buf) struct buf text = {0};

    object_write(object, &text);
    return parsed(text.data, text.len);
}

json_t *object_body_json(const struct object *object)
{
    return parsed(object->body->text, object->body->len);
}

json_t *object_status_json(const struct object *object)
{
    return object->status ? parsed(object->status->text, object->status->len) : json_object();
}
