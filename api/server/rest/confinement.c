/*
 * Whose pods are confined (DC-27): those of a namespace in which a user with less than an
 * administrator's rights has ever asked for a change.
 *
 * The namespace is what such a user's rights end at, and everything in it may be the user's work:
 * templates, scripts in ConfigMaps, flows that start pods long after the token was revoked. So the
 * namespace is marked, once and durably, by an annotation that only administrators can change. The
 * mark is in the same commit as the change, ahead of it. The kubelet reads it when it starts a pod.
 */
#include "api/server/rest/internal.h"
#include "api/types/kinds/pod/pod.h"

static bool may_lead_to_pods(const struct api_call *call)
{
    return call->route.ns && call->request->method != API_GET && call->request->method != API_HEAD;
}

static bool mark(const struct api_call *call, const char *ns, struct error *err)
{
    scoped(json) json_t *doc =
        json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_CONFINED, "true");
    struct registry_patch patch = {REGISTRY_PATCH_MERGE, doc, REGISTRY_MAIN};
    struct error_list errors = {0};
    bool ok = registry_patch(call->api->registry, (struct registry_target){&kind_namespace, "", ns},
                             &patch, &(struct registry_write){0}, NULL, &errors);

    if (!ok && err)
        *err = errors.items[0];
    error_list_release(&errors);
    return ok;
}

bool confinement_require_ns(const struct api_call *call, const char *ns, struct error *err)
{
    const struct api_confinement *confinement = &call->api->confinement;
    const struct identity *identity = call->request->identity;
    const struct object *object;

    if (!confinement->possible || !identity || identity_role(identity, NULL) == ROLE_ADMIN)
        return true;
    object = store_get(call->api->store, &kind_namespace, "", ns);
    if (!object || meta_annotation(object->meta, ANNOTATION_CONFINED))
        return true; /* nothing can be created in a namespace that does not exist */
    return confinement->possible(confinement->ctx, err) && mark(call, ns, err);
}

bool confinement_require(const struct api_call *call, struct error *err)
{
    return !may_lead_to_pods(call) || confinement_require_ns(call, call->route.ns, err);
}
