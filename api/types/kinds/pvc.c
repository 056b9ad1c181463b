/*
 * The kind PersistentVolumeClaim: a request for a directory that outlives pods.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};
static const char *const pvc_phase_values[] = {"Pending", "Bound", "Lost", NULL};
static const char *const persistent_volume_access_mode_values[] = {
    "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", NULL};

static const struct field pvc_condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .pb = 1, .required = true,
     .doc = "Type of the condition, unique in the list."},
    {"status",             FIELD_STR,  FIELD_PASS, .pb = 2, .required = true, .one_of = condition_status_values,
     .doc = "Status of the condition: True, False or Unknown."},
    {"lastProbeTime",      FIELD_TIME, FIELD_PASS, .pb = 3, .doc = "Time when the condition was last checked."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .pb = 4,
     .doc = "Time when the status last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .pb = 5, .doc = "One-word reason for the last change of the status."},
    {"message",            FIELD_STR,  FIELD_PASS, .pb = 6,
     .doc = "Text that explains the last change of the status."},
    {0},
};
static const struct schema pvc_condition_schema = {"PersistentVolumeClaimCondition", pvc_condition_fields};

static const struct field modify_volume_status_fields[] = {
    {"targetVolumeAttributesClassName", FIELD_STR, FIELD_PASS, .pb = 1,
     .doc = "Name of the VolumeAttributesClass that the claim changes to."},
    {"status",                          FIELD_STR, FIELD_PASS, .pb = 2, .required = true,
     .doc = "Progress of the change."},
    {0},
};
static const struct schema modify_volume_status_schema = {"ModifyVolumeStatus", modify_volume_status_fields};

static const struct field pvc_status_fields[] = {
    {"phase",                            FIELD_STR,          FIELD_PASS, .pb = 1, .one_of = pvc_phase_values,
     .doc = "Phase of the claim."},
    {"accessModes",                      FIELD_STR_LIST,     FIELD_PASS, .pb = 2,
     .one_of = persistent_volume_access_mode_values,
     .doc = "Access modes of the volume that backs the claim."},
    {"capacity",                         FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 3,
     .doc = "Capacity of the volume that backs the claim."},
    {"conditions",                       FIELD_LIST,         FIELD_PASS, &pvc_condition_schema, .pb = 4, .merge_key = "type",
     .doc = "Conditions of the claim."},
    {"allocatedResources",               FIELD_QUANTITY_MAP, FIELD_PASS, .pb = 5,
     .doc = "Capacity that has been allocated to the claim."},
    {"allocatedResourceStatuses",        FIELD_STR_MAP,      FIELD_PASS, .pb = 7,
     .doc = "State of a change of the claim's capacity."},
    {"currentVolumeAttributesClassName", FIELD_STR,          FIELD_PASS, .pb = 8, .keeps_zero = true,
     .doc = "Name of the VolumeAttributesClass that the claim uses."},
    {"modifyVolumeStatus",               FIELD_OBJECT,       FIELD_PASS, &modify_volume_status_schema, .pb = 9,
     .doc = "State of a change of the VolumeAttributesClass."},
    {0},
};
static const struct schema pvc_status_schema = {"PersistentVolumeClaimStatus", pvc_status_fields};

static const struct field pvc_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &pvc_spec_schema, .pb = 2, .doc = "Storage that the claim requests."},
    {"status", FIELD_OBJECT, FIELD_PASS, &pvc_status_schema, .pb = 3, .doc = "Volume that backs the claim."},
    {0},
};
static const struct schema pvc_schema = {"PersistentVolumeClaim", pvc_fields, .doc = "A request for a directory that outlives pods."};
/* clang-format on */

static void complete(json_t *body)
{
    json_t *spec = json_object_get(body, "spec");

    if (json_is_object(spec))
        core_set_default(spec, "volumeMode", json_string("Filesystem"));
}

static const char *const short_names[] = {"pvc", NULL};

const struct kind kind_pvc = {
    .id = KIND_PVC,
    .group = "",
    .version = "v1",
    .name = "PersistentVolumeClaim",
    .plural = "persistentvolumeclaims",
    .singular = "persistentvolumeclaim",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .no_generation = true,
    .schema = &pvc_schema,
    .normalize = complete,
};
