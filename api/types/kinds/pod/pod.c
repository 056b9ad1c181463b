/*
 * The kind Pod: its decoded spec and its constant. Its resources are in resources.c.
 */
#include "api/types/kinds/pod/pod.h"

#include <string.h>

#include "api/types/decoded.h"
#include "api/types/kinds/pod/admission.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/schema/enum_text.h"
#include "base/compiler.h"

static const char *const phase_texts[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};

const char *pod_phase_text(enum pod_phase phase)
{
    return phase_texts[phase];
}

bool pod_phase_parse(const char *text, enum pod_phase *out)
{
    int found;

    if (!enum_find(phase_texts, POD_PHASE_N, text, &found))
        return false;
    *out = (enum pod_phase)found;
    return true;
}

/* Treats an empty object as absent, so that the spec need not keep its document for it. */
static void drop_empty(json_t **object)
{
    if (*object && !json_object_size(*object))
        *object = NULL;
}

void pod_spec_finish(void *decoded, const json_t *doc, struct arena *arena)
{
    struct pod_spec *spec = decoded;
    const json_t *volumes = json_object_get(doc, "volumes");
    const json_t *resources = json_object_get(doc, "resources");

    for (size_t i = 0; i < spec->volumes.count; i++)
        spec->volumes.items[i].source = json_array_get(volumes, i);
    spec->claims_of_pod = json_is_array(json_object_get(resources, "claims"));
    drop_empty(&spec->security_context);
    drop_empty(&spec->node_selector);
    drop_empty(&spec->affinity);
    for (size_t i = 0; i < spec->containers.count; i++)
        drop_empty(&spec->containers.items[i].security_context);
}

static bool container_borrows(const struct pod_container *c)
{
    for (size_t i = 0; i < c->env.count; i++)
        if (c->env.items[i].value_from)
            return true;
    return c->env_from || c->liveness || c->readiness || c->startup || c->lifecycle ||
           c->security_context;
}

/* The spec of a plain pod borrows nothing, so its document, several times as large as the text, is
 * freed. */
static bool spec_borrows(const void *decoded)
{
    const struct pod_spec *spec = decoded;
    bool borrows = spec->volumes.count || spec->security_context || spec->host_aliases ||
                   spec->node_selector || spec->affinity || spec->tolerations ||
                   spec->scheduling_gates;

    for (size_t i = 0; i < spec->init_containers.count; i++)
        borrows = borrows || container_borrows(&spec->init_containers.items[i]);
    for (size_t i = 0; i < spec->containers.count; i++)
        borrows = borrows || container_borrows(&spec->containers.items[i]);
    return borrows;
}

static const struct decoded_type spec_type = {
    .member = "spec",
    .schema = &pod_spec_schema,
    .keep_document = true,
    .borrows = spec_borrows,
    .finish = pod_spec_finish,
};

const struct pod_spec *pod_spec_of(const struct object *pod)
{
    return decoded_of(pod->body, &spec_type);
}

/* clang-format off */
static const struct field pod_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &pod_spec_schema, .pb = 2, .required = true, .doc = "Containers of the pod and their settings."},
    {"status", FIELD_OBJECT, FIELD_PASS, &pod_status_schema, .pb = 3, .doc = "State of the pod and of its containers."},
    {0},
};
/* clang-format on */
static const struct schema pod_schema = {
    "Pod", pod_fields, .doc = "Containers that run together, as processes of this machine."};

static const char *const short_names[] = {"po", NULL};

const struct kind kind_pod = {
    .id = KIND_POD,
    .group = "",
    .version = "v1",
    .name = "Pod",
    .plural = "pods",
    .singular = "pod",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .no_generation = true,
    .schema = &pod_schema,
    .mutate = pod_mutate,
    .validate = pod_validate,
    .validate_in_context = pod_validate_in_context,
};

enum seccomp_profile pod_seccomp_profile(const struct pod_spec *spec,
                                         const struct pod_container *container)
{
    static const char *const types[] = {
        [SECCOMP_UNCONFINED] = "Unconfined",
        [SECCOMP_RUNTIME_DEFAULT] = "RuntimeDefault",
        [SECCOMP_LOCALHOST] = "Localhost",
    };
    const json_t *own = json_object_get(container->security_context, "seccompProfile");
    const json_t *profile = own ? own : json_object_get(spec->security_context, "seccompProfile");
    const char *type = json_string_value(json_object_get(profile, "type"));

    for (size_t i = SECCOMP_UNCONFINED; type && i < countof(types); i++)
        if (strcmp(types[i], type) == 0)
            return (enum seccomp_profile)i;
    return SECCOMP_UNSET;
}
