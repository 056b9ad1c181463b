#pragma once
/*
 * Field tables of core kinds that other tables refer to, and macros and helpers for rows.
 */
#include "api/types/kind.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/schema/schema.h"

/* The bounds of a number, for use in a row. */
#define BOUNDS(low, high) .bounded = true, .min = (low), .max = (high)
#define NOT_NEGATIVE      BOUNDS(0, INT32_MAX)

/* Overlays requests and limits of struct pod_container. */
struct container_resources {
    struct str_map requests, limits;
};

extern const struct schema label_selector_schema;
extern const struct schema condition_schema;

extern const struct schema object_field_selector_schema;
extern const struct schema resource_field_selector_schema;
extern const struct schema local_object_reference_schema;
extern const struct schema object_reference_schema;
extern const struct schema key_to_path_schema;
extern const struct schema resource_requirements_schema;
extern const struct schema selinux_options_schema;
extern const struct schema windows_security_context_options_schema;
extern const struct schema seccomp_profile_schema;
extern const struct schema app_armor_profile_schema;
extern const struct schema pvc_spec_schema;

extern const struct schema container_schema;
extern const struct schema env_var_schema;
extern const struct schema ephemeral_container_schema;
extern const struct schema volume_schema;
extern const struct schema affinity_schema;
extern const struct schema toleration_schema;
extern const struct schema topology_spread_constraint_schema;
extern const struct schema pod_status_schema;

/** Sets a member that is absent. `value` is consumed. */
void core_set_default(json_t *object, const char *key, json_t *value);

/** A format for rows: empty, which admission replaces, or a DNS subdomain. */
bool name_is_empty_or_subdomain(const char *value, struct error *err);
