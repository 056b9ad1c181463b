#pragma once
/*
 * Admission of pods and of the pod templates of tasks. The rules of a spec hold for both, so that a
 * broken template is refused where it is written and not when its pod is made.
 * Ref: spec/job.md 4.8, spec/kube-api.md 8.7.
 */
#include "api/types/admission.h"
#include "api/types/kinds/pod/pod.h"

/* admission.c: the entry points of the kind */
void pod_mutate(const struct admission *adm, json_t *body, const struct object *draft);
void pod_validate(const struct admission *adm, const struct object *old, const struct object *pod,
                  struct error_list *errors);
void pod_validate_in_context(const struct admission *adm, const struct object *old,
                             const struct object *pod, struct error_list *errors);

/* spec_check.c: the rules of a spec that a field table cannot express */

/** Checks a spec at `path`, for example "spec". */
void pod_check_spec(const struct admission *adm, const struct pod_spec *spec, const char *path,
                    struct error_list *errors);

/* Tells which containers of a template get their command from a job plugin. */
struct pod_commands {
    bool (*given)(const void *ctx, const char *container);
    const void *ctx;
};

/** Checks a PodTemplateSpec at `path`, for example "spec.tasks[0].template"; NULL stands for a
 * missing template. With `commands` NULL every container must name its program. */
void pod_check_template(const struct admission *adm, const json_t *template,
                        const struct pod_commands *commands, const char *path,
                        struct error_list *errors);

/* Defined in resources.c. */

/** Writes the defaults of spec.resources into a pod's spec: requests from the sums of the
 * containers or from the limits, limits of huge pages from the sums. */
void pod_default_resources(json_t *spec);
/** Returns whether spec.resources has any amount. */
bool pod_has_pod_level(const struct pod_spec *spec);
/** Returns whether spec.resources may have an amount of this resource. */
bool pod_resource_has_pod_level(const char *name);
bool pod_resource_is_hugepages(const char *name);
/** Returns what the containers request, or are limited to, together: the larger one of the sum of
 * the regular containers and sidecars, and of the peak while the init containers run. */
quantity_nano pod_containers_request(const struct pod_spec *spec, const char *name);
quantity_nano pod_containers_limit(const struct pod_spec *spec, const char *name);

/* Defined in resources_check.c. */

/** Checks the resources of the container at `path`, for example "spec.containers[0]". */
void pod_check_container_resources(const struct pod_container *container, const char *path,
                                   struct error_list *errors);
/** Checks the resources of the pod as a whole, and those of its containers against them. `path` is
 * that of the spec. */
void pod_check_pod_resources(const struct pod_spec *spec, const char *path,
                             struct error_list *errors);

/* Defined in volume_check.c. */

/** Checks one volume at `path`, for example "spec.volumes[0]": its source, and the rules that the
 * field table cannot express. Ref: Kubernetes pkg/apis/core/validation ValidateVolumes. */
void pod_check_volume(const struct admission *adm, const struct pod_volume *volume,
                      const char *path, struct error_list *errors);

/* Defined in pod.c. */

/** Completes a decoded spec from its document: sets the volumes' sources, which the field table
 * does not decode. The spec then borrows from `doc`. Has the form of decoded_type.finish. */
void pod_spec_finish(void *spec, const json_t *doc, struct arena *arena);
