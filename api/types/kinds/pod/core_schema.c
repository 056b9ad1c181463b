/*
 * Field tables that several kinds share: selectors, conditions, references, resources, security
 * profiles and claims. Rows with FIELD_PASS are checked and kept, but not decoded.
 *
 * Ref: k8s.io/api core/v1, release 1.30; k8s.io/apimachinery meta/v1.
 */
#include "api/types/kinds/pod/core_schema.h"

#include "api/types/labels.h"

#define RESOURCES(member) offsetof(struct container_resources, member)

/* clang-format off */
static const char *const seccomp_profile_type_values[] = {"Unconfined", "RuntimeDefault", "Localhost", NULL};
static const char *const app_armor_profile_type_values[] = {"Unconfined", "RuntimeDefault", "Localhost", NULL};
static const char *const persistent_volume_access_mode_values[] = {
    "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", NULL};
static const char *const persistent_volume_mode_values[] = {"Block", "Filesystem", NULL};
static const char *const selector_operator_values[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};

static const struct field label_selector_requirement_fields[] = {
    {"key",      FIELD_STR,      FIELD_PASS, .pb = 1, .required = true, .doc = "Key of the label."},
    {"operator", FIELD_STR,      FIELD_PASS, .pb = 2, .required = true, .one_of = selector_operator_values,
     .doc = "Relation of the label's value to the values."},
    {"values",   FIELD_STR_LIST, FIELD_PASS, .pb = 3, .doc = "Values for the operators In and NotIn."},
    {0},
};
static const struct schema label_selector_requirement_schema = {
    "LabelSelectorRequirement", label_selector_requirement_fields};

static const struct field label_selector_fields[] = {
    {"matchLabels",      FIELD_STR_MAP, FIELD_PASS, .pb = 1, .doc = "Labels that an object must have with equal values."},
    {"matchExpressions", FIELD_LIST,    FIELD_PASS, &label_selector_requirement_schema, .pb = 2,
     .doc = "Further requirements that an object must meet."},
    {0},
};
const struct schema label_selector_schema = {"LabelSelector", label_selector_fields};

static const struct field condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .pb = 1, .required = true, .doc = "Type of the condition, unique in the list."},
    {"status",             FIELD_STR,  FIELD_PASS, .pb = 2, .required = true, .one_of = condition_status_values,
     .doc = "Status of the condition: True, False or Unknown."},
    {"observedGeneration", FIELD_I64,  FIELD_PASS, .pb = 3, .doc = "Generation of the spec that the condition describes."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .pb = 4, .doc = "Time when the status last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .pb = 5, .keeps_zero = true, .doc = "One-word reason in CamelCase for the last change."},
    {"message",            FIELD_STR,  FIELD_PASS, .pb = 6, .keeps_zero = true, .doc = "Text that explains the last change."},
    {0},
};
const struct schema condition_schema = {"Condition", condition_fields};

static const struct field object_field_selector_fields[] = {
    {"apiVersion", FIELD_STR, FIELD_PASS, .pb = 1,
     .doc = "API version of the field path; v1 when absent."},
    {"fieldPath",  FIELD_STR, FIELD_PASS, .pb = 2, .required = true,
     .doc = "Path of the field, for example metadata.name."},
    {0},
};
const struct schema object_field_selector_schema = {"ObjectFieldSelector", object_field_selector_fields};

static const struct field resource_field_selector_fields[] = {
    {"containerName", FIELD_STR,      FIELD_PASS, .pb = 1,
     .doc = "Name of the container; required in volumes."},
    {"resource",      FIELD_STR,      FIELD_PASS, .pb = 2, .required = true, .doc = "Resource, for example limits.cpu."},
    {"divisor",       FIELD_QUANTITY, FIELD_PASS, .pb = 3,
     .doc = "Unit of the value; 1 when absent."},
    {0},
};
const struct schema resource_field_selector_schema = {"ResourceFieldSelector", resource_field_selector_fields};

static const struct field local_object_reference_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .pb = 1, .doc = "Name of the object."},
    {0},
};
const struct schema local_object_reference_schema = {"LocalObjectReference", local_object_reference_fields};

static const struct field object_reference_fields[] = {
    {"kind",            FIELD_STR, FIELD_PASS, .pb = 1, .doc = "Kind of the object."},
    {"namespace",       FIELD_STR, FIELD_PASS, .pb = 2, .doc = "Namespace of the object."},
    {"name",            FIELD_STR, FIELD_PASS, .pb = 3, .doc = "Name of the object."},
    {"uid",             FIELD_STR, FIELD_PASS, .pb = 4, .doc = "UID of the object."},
    {"apiVersion",      FIELD_STR, FIELD_PASS, .pb = 5, .doc = "Group and version of the object."},
    {"resourceVersion", FIELD_STR, FIELD_PASS, .pb = 6,
     .doc = "Resource version of the object."},
    {"fieldPath",       FIELD_STR, FIELD_PASS, .pb = 7,
     .doc = "Path of a part of the object, for example spec.containers[2]."},
    {0},
};
const struct schema object_reference_schema = {"ObjectReference", object_reference_fields};

static const struct field typed_local_object_reference_fields[] = {
    {"apiGroup", FIELD_STR, FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Group of the object."},
    {"kind",     FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .doc = "Kind of the object."},
    {"name",     FIELD_STR, FIELD_PASS, .pb = 3, .required = true, .doc = "Name of the object."},
    {0},
};
static const struct schema typed_local_object_reference_schema = {
    "TypedLocalObjectReference", typed_local_object_reference_fields};

static const struct field typed_object_reference_fields[] = {
    {"apiGroup",  FIELD_STR, FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Group of the object."},
    {"kind",      FIELD_STR, FIELD_PASS, .pb = 2, .required = true, .doc = "Kind of the object."},
    {"name",      FIELD_STR, FIELD_PASS, .pb = 3, .required = true, .doc = "Name of the object."},
    {"namespace", FIELD_STR, FIELD_PASS, .pb = 4, .keeps_zero = true,
     .doc = "Namespace of the object. Another namespace must permit the reference with a ReferenceGrant."},
    {0},
};
static const struct schema typed_object_reference_schema = {"TypedObjectReference", typed_object_reference_fields};

static const struct field key_to_path_fields[] = {
    {"key",  FIELD_STR,     FIELD_PASS, .pb = 1, .required = true, .doc = "Key that becomes a file."},
    {"path", FIELD_STR,     FIELD_PASS, .pb = 2, .required = true, .doc = "Relative path of the file."},
    {"mode", FIELD_OPT_I32, FIELD_PASS, .pb = 3, .doc = "Permission bits of the file."},
    {0},
};
const struct schema key_to_path_schema = {"KeyToPath", key_to_path_fields};

static const struct field resource_claim_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of an entry of the pod's resourceClaims."},
    {0},
};
static const struct schema resource_claim_schema = {"ResourceClaim", resource_claim_fields};

static const struct field resource_requirements_fields[] = {
    {"limits",   FIELD_QUANTITY_MAP, RESOURCES(limits), .pb = 1,
     .doc = "Largest amounts of resources that may be used."},
    {"requests", FIELD_QUANTITY_MAP, RESOURCES(requests), .pb = 2,
     .doc = "Amounts of resources that are reserved."},
    {"claims",   FIELD_LIST,         FIELD_PASS, &resource_claim_schema, .pb = 3,
     .doc = "Entries of the pod's resourceClaims that the container uses."},
    {0},
};
const struct schema resource_requirements_schema = {
    "ResourceRequirements", resource_requirements_fields, sizeof(struct container_resources)};

static const struct field volume_resource_requirements_fields[] = {
    {"limits",   FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 1,
     .doc = "Largest amounts of resources that may be used."},
    {"requests", FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 2,
     .doc = "Amounts of resources that are reserved."},
    {0},
};
static const struct schema volume_resource_requirements_schema = {
    "VolumeResourceRequirements", volume_resource_requirements_fields};

static const struct field selinux_options_fields[] = {
    {"user",  FIELD_STR, FIELD_PASS, .pb = 1, .doc = "User of the SELinux context."},
    {"role",  FIELD_STR, FIELD_PASS, .pb = 2, .doc = "Role of the SELinux context."},
    {"type",  FIELD_STR, FIELD_PASS, .pb = 3, .doc = "Type of the SELinux context."},
    {"level", FIELD_STR, FIELD_PASS, .pb = 4, .doc = "Level of the SELinux context."},
    {0},
};
const struct schema selinux_options_schema = {"SELinuxOptions", selinux_options_fields};

static const struct field windows_security_context_options_fields[] = {
    {"gmsaCredentialSpecName", FIELD_STR,      FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Name of the GMSA credential specification."},
    {"gmsaCredentialSpec",     FIELD_STR,      FIELD_PASS, .pb = 2, .keeps_zero = true,
     .doc = "Content of the GMSA credential specification."},
    {"runAsUserName",          FIELD_STR,      FIELD_PASS, .pb = 3, .keeps_zero = true,
     .doc = "Windows user of the container's processes."},
    {"hostProcess",            FIELD_OPT_BOOL, FIELD_PASS, .pb = 4,
     .doc = "Runs the container as a Windows host process."},
    {0},
};
const struct schema windows_security_context_options_schema = {
    "WindowsSecurityContextOptions", windows_security_context_options_fields};

static const struct field seccomp_profile_fields[] = {
    {"type",             FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .one_of = seccomp_profile_type_values,
     .doc = "Kind of the seccomp profile: Unconfined, RuntimeDefault or Localhost."},
    {"localhostProfile", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true,
     .doc = "Path of a profile on the node, for the kind Localhost."},
    {0},
};
const struct schema seccomp_profile_schema = {"SeccompProfile", seccomp_profile_fields};

static const struct field app_armor_profile_fields[] = {
    {"type",             FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .one_of = app_armor_profile_type_values,
     .doc = "Kind of the AppArmor profile: Unconfined, RuntimeDefault or Localhost."},
    {"localhostProfile", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true, .doc = "Name of a profile that is loaded on the node, for the kind Localhost."},
    {0},
};
const struct schema app_armor_profile_schema = {"AppArmorProfile", app_armor_profile_fields};

static const struct field pvc_spec_fields[] = {
    {"accessModes",               FIELD_STR_LIST, FIELD_PASS, .pb = 1, .one_of = persistent_volume_access_mode_values,
     .doc = "Access modes that the volume must have."},
    {"selector",                  FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .pb = 4,
     .doc = "Labels of the volumes that may back the claim."},
    {"resources",                 FIELD_OBJECT,   FIELD_PASS, &volume_resource_requirements_schema, .pb = 2,
     .doc = "Amount of storage that the claim requests."},
    {"volumeName",                FIELD_STR,      FIELD_PASS, .pb = 3,
     .doc = "Name of the PersistentVolume that backs the claim."},
    {"storageClassName",          FIELD_STR,      FIELD_PASS, .pb = 5, .keeps_zero = true,
     .doc = "Name of the StorageClass of the claim."},
    {"volumeMode",                FIELD_STR,      FIELD_PASS, .pb = 6, .keeps_zero = true, .one_of = persistent_volume_mode_values,
     .doc = "Type of the volume: Filesystem (the default) or Block."},
    {"dataSource",                FIELD_OBJECT,   FIELD_PASS, &typed_local_object_reference_schema, .pb = 7,
     .doc = "Snapshot or claim whose content fills the new volume."},
    {"dataSourceRef",             FIELD_OBJECT,   FIELD_PASS, &typed_object_reference_schema, .pb = 8,
     .doc = "Object whose content fills the new volume."},
    {"volumeAttributesClassName", FIELD_STR,      FIELD_PASS, .pb = 9, .keeps_zero = true,
     .doc = "Name of the VolumeAttributesClass of the claim."},
    {0},
};
const struct schema pvc_spec_schema = {"PersistentVolumeClaimSpec", pvc_spec_fields};
/* clang-format on */

void core_set_default(json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key))
        json_decref(value);
    else
        json_object_set_new(object, key, value);
}

bool name_is_empty_or_subdomain(const char *value, struct error *err)
{
    return !*value || name_is_dns_subdomain(value, err);
}
