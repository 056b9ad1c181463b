/*
 * Field tables that several core kinds share: references, resources, security profiles, claims.
 *
 * Ref: k8s.io/api core/v1, release 1.30. FIELD_PASS rows are checked and kept, not read.
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
    {"key",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "Label key the requirement is about."},
    {"operator", FIELD_STR,      FIELD_PASS, .required = true, .one_of = selector_operator_values,
     .doc = "How the label's value relates to the values."},
    {"values",   FIELD_STR_LIST, FIELD_PASS, .doc = "Values of In and NotIn."},
    {0},
};
static const struct schema label_selector_requirement_schema = {
    "LabelSelectorRequirement", label_selector_requirement_fields};

static const struct field label_selector_fields[] = {
    {"matchLabels",      FIELD_STR_MAP, FIELD_PASS, .doc = "Labels that must be equal."},
    {"matchExpressions", FIELD_LIST,    FIELD_PASS, &label_selector_requirement_schema,
     .doc = "Requirements that must hold besides."},
    {0},
};
const struct schema label_selector_schema = {"LabelSelector", label_selector_fields};

static const struct field condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .required = true, .doc = "Kind of the condition, unique in its list."},
    {"status",             FIELD_STR,  FIELD_PASS, .required = true, .one_of = condition_status_values,
     .doc = "True, False or Unknown."},
    {"observedGeneration", FIELD_I64,  FIELD_PASS, .doc = "Generation of the spec the condition is about."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .doc = "When the condition last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .doc = "One word for why, in CamelCase."},
    {"message",            FIELD_STR,  FIELD_PASS, .doc = "The same for people."},
    {0},
};
const struct schema condition_schema = {"Condition", condition_fields};

static const struct field object_field_selector_fields[] = {
    {"apiVersion", FIELD_STR, FIELD_PASS,
     .doc = "Version of the schema the FieldPath is written in terms of, defaults to \"v1\"."},
    {"fieldPath",  FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Path of the field to select in the specified API version."},
    {0},
};
const struct schema object_field_selector_schema = {"ObjectFieldSelector", object_field_selector_fields};

static const struct field resource_field_selector_fields[] = {
    {"containerName", FIELD_STR,      FIELD_PASS,
     .doc = "Container name: required for volumes, optional for env vars."},
    {"resource",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "Required: resource to select."},
    {"divisor",       FIELD_QUANTITY, FIELD_PASS,
     .doc = "Specifies the output format of the exposed resources, defaults to \"1\"."},
    {0},
};
const struct schema resource_field_selector_schema = {"ResourceFieldSelector", resource_field_selector_fields};

static const struct field local_object_reference_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .doc = "Name of the referent."},
    {0},
};
const struct schema local_object_reference_schema = {"LocalObjectReference", local_object_reference_fields};

static const struct field object_reference_fields[] = {
    {"kind",            FIELD_STR, FIELD_PASS, .doc = "Kind of the referent."},
    {"namespace",       FIELD_STR, FIELD_PASS, .doc = "Namespace of the referent."},
    {"name",            FIELD_STR, FIELD_PASS, .doc = "Name of the referent."},
    {"uid",             FIELD_STR, FIELD_PASS, .doc = "UID of the referent."},
    {"apiVersion",      FIELD_STR, FIELD_PASS, .doc = "API version of the referent."},
    {"resourceVersion", FIELD_STR, FIELD_PASS,
     .doc = "Specific resourceVersion to which this reference is made, if any."},
    {"fieldPath",       FIELD_STR, FIELD_PASS,
     .doc = "If referring to a piece of an object instead of an entire object, this string should contain a valid "
            "JSON/Go field access statement, such as desiredState.manifest.containers[2]."},
    {0},
};
const struct schema object_reference_schema = {"ObjectReference", object_reference_fields};

static const struct field typed_local_object_reference_fields[] = {
    {"apiGroup", FIELD_STR, FIELD_PASS, .doc = "The group for the resource being referenced."},
    {"kind",     FIELD_STR, FIELD_PASS, .required = true, .doc = "The type of resource being referenced."},
    {"name",     FIELD_STR, FIELD_PASS, .required = true, .doc = "The name of resource being referenced."},
    {0},
};
static const struct schema typed_local_object_reference_schema = {
    "TypedLocalObjectReference", typed_local_object_reference_fields};

static const struct field typed_object_reference_fields[] = {
    {"apiGroup",  FIELD_STR, FIELD_PASS, .doc = "The group for the resource being referenced."},
    {"kind",      FIELD_STR, FIELD_PASS, .required = true, .doc = "The type of resource being referenced."},
    {"name",      FIELD_STR, FIELD_PASS, .required = true, .doc = "The name of resource being referenced."},
    {"namespace", FIELD_STR, FIELD_PASS,
     .doc = "The namespace of resource being referenced Note that when a namespace is specified, a "
            "gateway.networking.k8s.io/ReferenceGrant object is required in the referent namespace to allow that "
            "namespace's owner to accept the reference."},
    {0},
};
static const struct schema typed_object_reference_schema = {"TypedObjectReference", typed_object_reference_fields};

static const struct field key_to_path_fields[] = {
    {"key",  FIELD_STR,     FIELD_PASS, .required = true, .doc = "The key to project."},
    {"path", FIELD_STR,     FIELD_PASS, .required = true, .doc = "The relative path of the file to map the key to."},
    {"mode", FIELD_OPT_I32, FIELD_PASS, .doc = "Optional: mode bits used to set permissions on this file."},
    {0},
};
const struct schema key_to_path_schema = {"KeyToPath", key_to_path_fields};

static const struct field resource_claim_fields[] = {
    {"name", FIELD_STR, FIELD_PASS, .required = true,
     .doc = "Name must match the name of one entry in pod.spec.resourceClaims of the Pod where this field is used."},
    {0},
};
static const struct schema resource_claim_schema = {"ResourceClaim", resource_claim_fields};

static const struct field resource_requirements_fields[] = {
    {"limits",   FIELD_QUANTITY_MAP, RESOURCES(limits),
     .doc = "Limits describes the maximum amount of compute resources allowed."},
    {"requests", FIELD_QUANTITY_MAP, RESOURCES(requests),
     .doc = "Requests describes the minimum amount of compute resources required."},
    {"claims",   FIELD_LIST,         FIELD_PASS, &resource_claim_schema,
     .doc = "Claims lists the names of resources, defined in spec.resourceClaims, that are used by this container."},
    {0},
};
const struct schema resource_requirements_schema = {
    "ResourceRequirements", resource_requirements_fields, sizeof(struct container_resources)};

static const struct field volume_resource_requirements_fields[] = {
    {"limits",   FIELD_QUANTITY_MAP, FIELD_PASS,
     .doc = "Limits describes the maximum amount of compute resources allowed."},
    {"requests", FIELD_QUANTITY_MAP, FIELD_PASS,
     .doc = "Requests describes the minimum amount of compute resources required."},
    {0},
};
static const struct schema volume_resource_requirements_schema = {
    "VolumeResourceRequirements", volume_resource_requirements_fields};

static const struct field selinux_options_fields[] = {
    {"user",  FIELD_STR, FIELD_PASS, .doc = "A SELinux user label that applies to the container."},
    {"role",  FIELD_STR, FIELD_PASS, .doc = "A SELinux role label that applies to the container."},
    {"type",  FIELD_STR, FIELD_PASS, .doc = "A SELinux type label that applies to the container."},
    {"level", FIELD_STR, FIELD_PASS, .doc = "SELinux level label that applies to the container."},
    {0},
};
const struct schema selinux_options_schema = {"SELinuxOptions", selinux_options_fields};

static const struct field windows_security_context_options_fields[] = {
    {"gmsaCredentialSpecName", FIELD_STR,      FIELD_PASS, .doc = "The name of the GMSA credential spec to use."},
    {"gmsaCredentialSpec",     FIELD_STR,      FIELD_PASS,
     .doc = "Where the GMSA admission webhook (https://github.com/kubernetes-sigs/windows-gmsa) inlines the contents "
            "of the GMSA credential spec named by the GMSACredentialSpecName field."},
    {"runAsUserName",          FIELD_STR,      FIELD_PASS,
     .doc = "The UserName in Windows to run the entrypoint of the container process."},
    {"hostProcess",            FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "HostProcess determines if a container should be run as a 'Host Process' container."},
    {0},
};
const struct schema windows_security_context_options_schema = {
    "WindowsSecurityContextOptions", windows_security_context_options_fields};

static const struct field seccomp_profile_fields[] = {
    {"type",             FIELD_STR, FIELD_PASS, .required = true, .one_of = seccomp_profile_type_values,
     .doc = "Indicates which kind of seccomp profile will be applied."},
    {"localhostProfile", FIELD_STR, FIELD_PASS,
     .doc = "Indicates a profile defined in a file on the node should be used."},
    {0},
};
const struct schema seccomp_profile_schema = {"SeccompProfile", seccomp_profile_fields};

static const struct field app_armor_profile_fields[] = {
    {"type",             FIELD_STR, FIELD_PASS, .required = true, .one_of = app_armor_profile_type_values,
     .doc = "Indicates which kind of AppArmor profile will be applied."},
    {"localhostProfile", FIELD_STR, FIELD_PASS, .doc = "Indicates a profile loaded on the node that should be used."},
    {0},
};
const struct schema app_armor_profile_schema = {"AppArmorProfile", app_armor_profile_fields};

static const struct field pvc_spec_fields[] = {
    {"accessModes",               FIELD_STR_LIST, FIELD_PASS, .one_of = persistent_volume_access_mode_values,
     .doc = "Contains the desired access modes the volume should have."},
    {"selector",                  FIELD_OBJECT,   FIELD_PASS, &label_selector_schema,
     .doc = "A label query over volumes to consider for binding."},
    {"resources",                 FIELD_OBJECT,   FIELD_PASS, &volume_resource_requirements_schema,
     .doc = "Requests of storage."},
    {"volumeName",                FIELD_STR,      FIELD_PASS,
     .doc = "The binding reference to the PersistentVolume backing this claim."},
    {"storageClassName",          FIELD_STR,      FIELD_PASS,
     .doc = "The name of the StorageClass required by the claim."},
    {"volumeMode",                FIELD_STR,      FIELD_PASS, .one_of = persistent_volume_mode_values,
     .doc = "Defines what type of volume is required by the claim."},
    {"dataSource",                FIELD_OBJECT,   FIELD_PASS, &typed_local_object_reference_schema,
     .doc = "DataSource field can be used to specify either: * An existing VolumeSnapshot object "
            "(snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) If the provisioner or "
            "an external controller can support the specified data source, it will create a new volume based on the "
            "contents of the specified data source."},
    {"dataSourceRef",             FIELD_OBJECT,   FIELD_PASS, &typed_object_reference_schema,
     .doc = "Specifies the object from which to populate the volume with data, if a non-empty volume is desired."},
    {"volumeAttributesClassName", FIELD_STR,      FIELD_PASS,
     .doc = "VolumeAttributesClassName may be used to set the VolumeAttributesClass used by this claim."},
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
