/*
 * Create: admission, the name, and the fields that the server owns. Ref: spec/kube-api.md 6.4.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "base/mem.h"

static bool namespace_takes(const struct registry *r, const struct object *draft,
                            struct error_list *errors)
{
    const char *ns = object_namespace(draft);
    const struct object *ns_object;
    char resource[RESOURCE_TEXT_MAX];

    if (!draft->kind->namespaced)
        return true;
    ns_object = store_get(r->store, &kind_namespace, "", ns);
    if (!ns_object)
        return registry_no_namespace(ns, errors);
    if (!object_deleting(ns_object))
        return true;
    error_list_add(errors, ERR_FORBIDDEN, "metadata.namespace",
                   "%s \"%s\" is forbidden: unable to create new content in namespace %s because "
                   "it is being terminated",
                   registry_resource(draft->kind, resource), object_name(draft), ns);
    return false;
}

static bool name_is_free(const struct registry *r, const struct object *draft, const char *name,
                         struct error_list *errors)
{
    const struct object *holder = store_get(r->store, draft->kind, object_namespace(draft), name);
    char resource[RESOURCE_TEXT_MAX];

    if (!holder)
        return true;
    error_list_add(errors, ERR_EXISTS, "", "%s%s \"%s\" already exists",
                   object_deleting(holder) ? "object is being deleted: " : "",
                   registry_resource(draft->kind, resource), name);
    return false;
}

/* Copies the labels into `out` with `key` set to `value`. `out` has room for one more. */
static uint32_t labels_with(const struct meta *meta, const char *key, const char *value,
                            struct kv *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < meta->n_labels; i++)
        if (strcmp(meta->labels[i].key, key) != 0)
            out[n++] = meta->labels[i];
    out[n++] = (struct kv){key, value};
    return n;
}

static struct meta *born_meta(struct registry *r, const struct object *draft, const char *name)
{
    static const char name_label[] = "kubernetes.io/metadata.name";
    struct meta meta = *draft->meta;
    struct kv *labels = NULL;
    struct meta *born;
    char uid[CLOCK_UUID_LEN + 1];
    int64_t now_ms = loop_wall_ms(r->loop);

    clock_uuid(loop_clock(r->loop), uid);
    meta.name = name;
    meta.uid = uid;
    meta.generation = draft->kind->no_generation ? 0 : 1;
    meta.created_part_ms = (uint16_t)(now_ms % 1000);
    meta.created_at_ms = now_ms - meta.created_part_ms;
    meta.deleted_at_ms = 0;
    meta.deletion_grace_s = -1;
    if (draft->kind == &kind_namespace) {
        labels = mem_array(meta.n_labels + 1, sizeof *labels);
        meta.n_labels = labels_with(draft->meta, name_label, name, labels);
        meta.labels = labels;
    }
    born = meta_new(&meta);
    mem_free(labels);
    return born;
}

/* Returns the initial status: the draft's own only for kinds without a status subresource. */
static struct blob *born_status(const struct object *draft)
{
    static const char pending[] = "{\"phase\":\"Pending\"}", active[] = "{\"phase\":\"Active\"}";
    static const char no_balancer[] = "{\"loadBalancer\":{}}";
    static const char open[] = "{\"state\":\"Open\"}"; /* O-10: the queue accepts jobs at once */

    if (draft->kind == &kind_pod)
        return blob_intern(pending, strlen(pending));
    if (draft->kind == &kind_namespace)
        return blob_intern(active, strlen(active));
    if (draft->kind == &kind_service)
        return blob_intern(no_balancer, strlen(no_balancer));
    if (draft->kind == &kind_queue)
        return blob_intern(open, strlen(open));
    return draft->kind->has_status ? NULL : blob_ref(draft->status);
}

static struct blob *born_body(const struct object *draft)
{
    static const char namespace_body[] = "{\"spec\":{\"finalizers\":[\"kubernetes\"]}}";

    if (draft->kind == &kind_namespace)
        return blob_intern(namespace_body, strlen(namespace_body));
    return blob_ref(draft->body);
}

static bool may_be_born(struct registry *r, const struct object *draft, char name[254],
                        struct error_list *errors)
{
    if (draft->revision) {
        error_list_add(errors, ERR_BAD_REQUEST, "metadata.resourceVersion",
                       "resourceVersion should not be set on objects to be created");
        return false;
    }
    if (!namespace_takes(r, draft, errors))
        return false;
    snprintf(name, 254, "%s", object_name(draft));
    if (!*name)
        registry_generate_name(r, draft->kind, object_namespace(draft), draft->meta->generate_name,
                               name);
    return name_is_free(r, draft, name, errors) && registry_has_room(r, draft, true, errors);
}

static void follow_up(struct registry *r, const struct object *created)
{
    gc_owners_changed(r->gc, NULL, created);
    if (created->kind == &kind_event)
        event_ttl_added(r->events, created);
    if (created->kind == &kind_namespace)
        builtins_of_namespace(r, created);
}

/* Sets the managed fields of `born` (consumed): `managed` (consumed), or NULL to compute them from
 * `body`. */
static struct object *with_managed_fields(struct registry *r, struct object *born, char *managed,
                                          const json_t *body, const struct registry_write *how)
{
    if (!how || !how->manager) {
        mem_free(managed);
        return born;
    }
    return managed_fields_put(born, managed ? managed : managed_fields_begin(r, born, body, how));
}

/* Creates the object of `draft`, which has passed admission. `draft` and `managed` are consumed.
 * `body` is the draft's body as a document, or NULL. */
static bool create(struct registry *r, struct object *draft, const json_t *body,
                   const struct registry_write *how, char *managed, const struct object **out,
                   struct error_list *errors)
{
    enum registry_dry_run dry_run = how ? how->dry_run : REGISTRY_APPLY;
    scoped_str owned = managed;
    struct object *born = NULL;
    const struct object *created;
    char name[254];

    if (may_be_born(r, draft, name, errors))
        born = object_new(draft->kind, born_meta(r, draft, name), born_body(draft),
                          born_status(draft));
    object_unref(draft);
    if (!born)
        return false;
    born = with_managed_fields(r, born, take(owned), body, how);
    created = registry_put(r, born, dry_run);
    if (dry_run == REGISTRY_APPLY) {
        follow_up(r, created);
        if (how && how->settles)
            settle_created(r->settle, created);
    }
    if (out)
        *out = created;
    return true;
}

bool create_from_document(struct registry *r, json_t *doc, const struct registry_write *how,
                          char *managed, const struct object **out, struct error_list *errors)
{
    struct admission admission = registry_admission_for(r, how);
    scoped_str owned = managed;
    scoped(json) json_t *body = NULL;
    struct object *draft;

    if (!registry_may_write(r, errors))
        return false;
    admission.out_body = &body;
    draft = admission_admit(&admission, doc, NULL, how->unknown, errors);
    return draft && create(r, draft, body, how, take(owned), out, errors);
}

bool registry_create(struct registry *r, json_t *doc, const struct registry_write *how,
                     const struct object **out, struct error_list *errors)
{
    return create_from_document(r, doc, how, NULL, out, errors);
}

bool registry_create_object(struct registry *r, struct object *draft, const struct object **out,
                            struct error_list *errors)
{
    if (!registry_may_write(r, errors)) {
        object_unref(draft);
        return false;
    }
    draft = admission_admit_object(&r->admission, draft, NULL, errors);
    return draft && create(r, draft, NULL, NULL, NULL, out, errors);
}
