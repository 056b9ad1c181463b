/*
 * Creates the objects that every store has, and those that clients of a daemon expect in a cluster.
 */
#include <string.h>

#include "api/registry/internal.h"
#include "base/log.h"

struct builtin {
    const struct kind *kind;
    const char *name, *body, *status;
    bool of_cluster; /* created for a daemon only, not for `jobflow run` */
};

/* clang-format off */
static const struct builtin builtins[] = {
    {&kind_namespace, "default",     "{}",                                                NULL},
    {&kind_queue,     "root",        "{\"spec\":{\"weight\":1}}",                         "{\"state\":\"Open\"}"},
    {&kind_queue,     "default",     "{\"spec\":{\"weight\":1,\"parent\":\"root\"}}",     "{\"state\":\"Open\"}"},
    {&kind_namespace, "kube-system", "{}",                                                NULL, true},
    {&kind_namespace, "kube-public", "{}",                                                NULL, true},
};
/* clang-format on */

static void make(struct registry *r, const struct builtin *builtin, const char *ns)
{
    const struct meta draft = {.namespace = ns, .name = builtin->name, .deletion_grace_s = -1};
    struct error_list errors = {0};
    struct error err;
    const struct object *object = NULL;

    if (store_get(r->store, builtin->kind, ns, builtin->name))
        return;
    registry_create_object(r,
                           object_new(builtin->kind, meta_new(&draft),
                                      blob_intern(builtin->body, strlen(builtin->body)), NULL),
                           &object, &errors);
    if (object && builtin->status)
        registry_update_status(r, object, blob_new(builtin->status, strlen(builtin->status)), NULL,
                               &errors);
    if (!error_list_ok(&errors, &err))
        log_error("built-in object not made", kv_str("kind", builtin->kind->name),
                  kv_str("name", builtin->name), kv_str("error", err.message));
    error_list_release(&errors);
}

void builtins_of_namespace(struct registry *r, const struct object *ns_object)
{
    static const struct builtin account = {&kind_service_account, "default", "{}", NULL, true};

    if (r->options.cluster_objects && !object_deleting(ns_object))
        make(r, &account, object_name(ns_object));
}

static void complete(void *arg, const struct object *ns_object)
{
    builtins_of_namespace(arg, ns_object);
}

void builtins_make(struct registry *r)
{
    for (size_t i = 0; i < countof(builtins); i++)
        if (!builtins[i].of_cluster || r->options.cluster_objects)
            make(r, &builtins[i], "");
    if (r->options.cluster_objects) /* the store may have been created by `jobflow run` */
        store_each(r->store, &kind_namespace, NULL, complete, r);
}
