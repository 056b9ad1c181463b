/*
 * The kind Namespace: a space of object names. Deleting it deletes the objects in it.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};
static const char *const namespace_phase_values[] = {"Active", "Terminating", NULL};

static const struct field namespace_spec_fields[] = {
    {"finalizers", FIELD_STR_LIST, FIELD_PASS, .pb = 1,
     .doc = "Finalizers that must be removed before the namespace is deleted."},
    {0},
};
static const struct schema namespace_spec_schema = {"NamespaceSpec", namespace_spec_fields};

static const struct field namespace_condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .pb = 1, .required = true,
     .doc = "Type of the condition."},
    {"status",             FIELD_STR,  FIELD_PASS, .pb = 2, .required = true, .one_of = condition_status_values,
     .doc = "Status of the condition: True, False or Unknown."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .pb = 4, .doc = "Time when the status last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .pb = 5, .doc = "One-word reason in CamelCase for the last change."},
    {"message",            FIELD_STR,  FIELD_PASS, .pb = 6, .doc = "Text that explains the last change."},
    {0},
};
static const struct schema namespace_condition_schema = {"NamespaceCondition", namespace_condition_fields};

static const struct field namespace_status_fields[] = {
    {"phase",      FIELD_STR,  FIELD_PASS, .pb = 1, .one_of = namespace_phase_values,
     .doc = "Phase of the namespace: Active or Terminating."},
    {"conditions", FIELD_LIST, FIELD_PASS, &namespace_condition_schema, .pb = 2, .merge_key = "type",
     .doc = "Conditions of the namespace."},
    {0},
};
static const struct schema namespace_status_schema = {"NamespaceStatus", namespace_status_fields};

static const struct field namespace_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &namespace_spec_schema, .pb = 2, .doc = "Finalizers of the namespace."},
    {"status", FIELD_OBJECT, FIELD_PASS, &namespace_status_schema, .pb = 3, .doc = "Phase of the namespace."},
    {0},
};
static const struct schema namespace_schema = {"Namespace", namespace_fields, .doc = "A space of object names. Deleting it deletes the objects in it."};
/* clang-format on */

static const char *const short_names[] = {"ns", NULL};

const struct kind kind_namespace = {
    .id = KIND_NAMESPACE,
    .group = "",
    .version = "v1",
    .name = "Namespace",
    .plural = "namespaces",
    .singular = "namespace",
    .short_names = short_names,
    .has_status = true,
    .no_generation = true,
    .few = true,
    .schema = &namespace_schema,
};
