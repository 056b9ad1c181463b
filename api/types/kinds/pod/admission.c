/*
 * Entry points of a pod's admission: the defaults of a Kubernetes API server, disruption budgets,
 * scheduling gates, and the changes that an update may make.
 */
#include "api/types/kinds/pod/admission.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/pod/sim_annotations.h"
#include "api/types/semantic.h"

/* Sets a member that is absent. The value is made only when it is needed. */
#define SET_DEFAULT(object, member, make)                                                          \
    do {                                                                                           \
        if (!json_object_get((object), (member)))                                                  \
            json_object_set_new_nocheck((object), (member), (make));                               \
    } while (0)

static void default_containers(const json_t *containers)
{
    json_t *container;
    size_t i;

    json_array_foreach(containers, i, container)
    {
        SET_DEFAULT(container, "resources", json_object());
        SET_DEFAULT(container, "terminationMessagePath", json_string("/dev/termination-log"));
        SET_DEFAULT(container, "terminationMessagePolicy", json_string("File"));
        SET_DEFAULT(container, "imagePullPolicy", json_string("IfNotPresent"));
    }
}

void pod_mutate(const struct admission *adm, json_t *body, const struct object *draft)
{
    json_t *spec = json_object_get(body, "spec");

    SET_DEFAULT(spec, "restartPolicy", json_string("Always"));
    SET_DEFAULT(spec, "terminationGracePeriodSeconds", json_integer(30));
    SET_DEFAULT(spec, "dnsPolicy", json_string("ClusterFirst"));
    SET_DEFAULT(spec, "securityContext", json_object());
    SET_DEFAULT(spec, "schedulerName", json_string("default-scheduler"));
    SET_DEFAULT(spec, "enableServiceLinks", json_true());
    default_containers(json_object_get(spec, "initContainers"));
    default_containers(json_object_get(spec, "containers"));
    pod_default_resources(spec);
}

void pod_validate(const struct admission *adm, const struct object *old, const struct object *pod,
                  struct error_list *errors)
{
    pod_check_spec(adm, pod_spec_of(pod), "spec", errors);
    if (adm->virtual_runtime)
        pod_sim_check(meta_annotation(pod->meta, ANNOTATION_SIM_DURATION),
                      meta_annotation(pod->meta, ANNOTATION_SIM_EXIT_CODE), "metadata.annotations",
                      errors);
}

/* A positive number, or a percentage from 1% to 99%. */
static bool budget_valid(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || number <= 0)
        return false;
    return !*end || (strcmp(end, "%") == 0 && number <= 99);
}

static const char *const budget_keys[] = {"volcano.sh/jdb-min-available",
                                          "volcano.sh/jdb-max-unavailable"};

/* Checks the disruption budget of a pod that this program's scheduler places. */
static void check_budget(const struct admission *adm, const struct object *pod,
                         struct error_list *errors)
{
    const char *scheduler = pod_spec_of(pod)->scheduler_name;
    size_t given = 0;

    if (!scheduler || !adm->scheduler_name || strcmp(scheduler, adm->scheduler_name) != 0)
        return;
    for (size_t i = 0; i < countof(budget_keys); i++) {
        const char *value = meta_annotation(pod->meta, budget_keys[i]);

        given += value != NULL;
        if (value && !budget_valid(value))
            FINDING(
                errors, ("metadata.annotations[%s]", budget_keys[i]),
                "Invalid value: \"%s\": must be a positive integer, or a percentage which between "
                "1%% ~ 99%%",
                value);
    }
    if (given == countof(budget_keys))
        FINDING(errors, ("metadata.annotations"),
                "Forbidden: not allow configure multiple annotations %s and %s", budget_keys[0],
                budget_keys[1]);
}

/* Returns shallow copies of the containers without their images, which an update may change.
 * Owned. */
static json_t *containers_without_image(const json_t *containers)
{
    json_t *out = json_array();
    const json_t *container;
    size_t i;

    json_array_foreach(containers, i, container)
    {
        json_t *copy = json_copy((json_t *)(uintptr_t)container);

        json_object_del(copy, "image");
        json_array_append_new(out, copy);
    }
    return out;
}

/* Returns a copy of the spec without the members that an update may change. A pod without a
 * node may get one. Owned. */
static json_t *fixed_part(const json_t *spec, bool has_node)
{
    static const char *const mutable_members[] = {
        "activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"};
    static const char *const container_lists[] = {"containers", "initContainers"};
    json_t *out = json_copy((json_t *)(uintptr_t)spec);

    for (size_t i = 0; i < countof(mutable_members); i++)
        json_object_del(out, mutable_members[i]);
    for (size_t i = 0; i < countof(container_lists); i++)
        json_object_set_new(out, container_lists[i],
                            containers_without_image(json_object_get(spec, container_lists[i])));
    if (!has_node)
        json_object_del(out, "nodeName");
    return out;
}

/* Returns whether the update only adds nodeName as the first member of the spec. The scheduler
 * binds every pod this way, so nothing else needs to be compared. */
static bool only_binds(const struct blob *before, const struct blob *after)
{
    static const char head[] = "{\"spec\":{", bound[] = "{\"spec\":{\"nodeName\":\"";
    const char *rest;

    if (strncmp(before->text, head, sizeof head - 1) != 0 ||
        strncmp(after->text, bound, sizeof bound - 1) != 0)
        return false;
    rest = after->text + sizeof bound - 1;
    rest += strcspn(rest, "\"\\");
    return strncmp(rest, "\",", 2) == 0 && strcmp(rest + 2, before->text + sizeof head - 1) == 0;
}

static const char *gate_name(const json_t *gates, size_t i)
{
    return json_string_value(json_object_get(json_array_get(gates, i), "name"));
}

/* Returns whether one of the first `n` gates has the name. */
static bool has_gate(const json_t *gates, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (gate_name(gates, i) && strcmp(gate_name(gates, i), name) == 0)
            return true;
    return false;
}

/* A pod may be created with gates. An update may only remove them. */
static void check_gates(const struct object *old, const struct object *pod,
                        struct error_list *errors)
{
    const json_t *gates = pod_spec_of(pod)->scheduling_gates;
    const json_t *before = old ? pod_spec_of(old)->scheduling_gates : NULL;
    const char *node = pod_spec_of(pod)->node_name;

    for (size_t i = 0; i < json_array_size(gates); i++) {
        const char *name = gate_name(gates, i);

        if (name && has_gate(gates, i, name))
            FINDING(errors, ("spec.schedulingGates[%zu]", i), "Duplicate value: \"%s\"", name);
        if (name && old && !has_gate(before, json_array_size(before), name))
            FINDING(errors, ("spec.schedulingGates[%zu].name", i),
                    "Forbidden: only deletion is allowed, but found new scheduling gate '%s'",
                    name);
    }
    if (json_array_size(gates) && node && *node)
        FINDING(errors, ("spec.nodeName"),
                "Forbidden: cannot be set until all schedulingGates have been cleared");
}

/* A deadline may be added and shortened, but not removed or extended. */
static void check_deadline(const struct pod_spec *old, const struct pod_spec *spec,
                           struct error_list *errors)
{
    struct opt_i64 before = old->active_deadline_s, now = spec->active_deadline_s;

    if (before.set && !now.set)
        FINDING(errors, ("spec.activeDeadlineSeconds"),
                "Invalid value: null: must not update from a positive integer to nil value");
    else if (before.set && now.value > before.value)
        FINDING(errors, ("spec.activeDeadlineSeconds"),
                "Invalid value: %lld: must be less than or equal to previous value (%lld)",
                (long long)now.value, (long long)before.value);
}

static void check_update(const struct object *old, const struct object *pod,
                         struct error_list *errors)
{
    const char *node = pod_spec_of(old)->node_name;
    bool has_node = node && *node;
    scoped(json) json_t *old_body = NULL, *body = NULL, *before = NULL, *after = NULL;

    if (old->body == pod->body || (!has_node && only_binds(old->body, pod->body)))
        return;
    check_deadline(pod_spec_of(old), pod_spec_of(pod), errors);
    old_body = object_body_json(old);
    body = object_body_json(pod);
    before = fixed_part(json_object_get(old_body, "spec"), has_node);
    after = fixed_part(json_object_get(body, "spec"), has_node);
    if (!schema_equal(&pod_spec_schema, before, after))
        FINDING(errors, ("spec"),
                "Forbidden: pod updates may not change fields other than "
                "`spec.containers[*].image`, `spec.initContainers[*].image`, "
                "`spec.activeDeadlineSeconds`, `spec.tolerations`, `spec.schedulingGates`, "
                "`spec.terminationGracePeriodSeconds`");
}

void pod_validate_in_context(const struct admission *adm, const struct object *old,
                             const struct object *pod, struct error_list *errors)
{
    check_gates(old, pod, errors);
    if (old)
        check_update(old, pod, errors);
    else
        check_budget(adm, pod, errors);
}
