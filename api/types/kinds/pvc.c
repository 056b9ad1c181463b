/*
 * PersistentVolumeClaim (v1).
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
    {"type",               FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "Kind of the condition, unique in its list."},
    {"status",             FIELD_STR,  FIELD_PASS, .required = true, .one_of = condition_status_values,
     .doc = "True, False or Unknown."},
    {"lastProbeTime",      FIELD_TIME, FIELD_PASS, .doc = "The time we probed the condition."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS,
     .doc = "The time the condition transitioned from one status to another."},
    {"reason",             FIELD_STR,  FIELD_PASS, .doc = "One word for the last transition."},
    {"message",            FIELD_STR,  FIELD_PASS,
     .doc = "The human-readable message indicating details about last transition."},
    {0},
};
static const struct schema pvc_condition_schema = {"PersistentVolumeClaimCondition", pvc_condition_fields};

static const struct field modify_volume_status_fields[] = {
    {"targetVolumeAttributesClassName", FIELD_STR, FIELD_PASS,
     .doc = "The name of the VolumeAttributesClass the PVC currently being reconciled."},
    {"status",                          FIELD_STR, FIELD_PASS, .required = true,
     .doc = "The status of the ControllerModifyVolume operation."},
    {0},
};
static const struct schema modify_volume_status_schema = {"ModifyVolumeStatus", modify_volume_status_fields};

static const struct field pvc_status_fields[] = {
    {"phase",                            FIELD_STR,          FIELD_PASS, .one_of = pvc_phase_values,
     .doc = "Represents the current phase of PersistentVolumeClaim."},
    {"accessModes",                      FIELD_STR_LIST,     FIELD_PASS,
     .one_of = persistent_volume_access_mode_values,
     .doc = "Contains the actual access modes the volume backing the PVC has."},
    {"capacity",                         FIELD_QUANTITY_MAP, FIELD_PASS,
     .doc = "Represents the actual resources of the underlying volume."},
    {"conditions",                       FIELD_LIST,         FIELD_PASS, &pvc_condition_schema, .merge_key = "type",
     .doc = "The current Condition of persistent volume claim."},
    {"allocatedResources",               FIELD_QUANTITY_MAP, FIELD_PASS,
     .doc = "AllocatedResources tracks the resources allocated to a PVC including its capacity."},
    {"allocatedResourceStatuses",        FIELD_STR_MAP,      FIELD_PASS,
     .doc = "AllocatedResourceStatuses stores status of resource being resized for the given PVC."},
    {"currentVolumeAttributesClassName", FIELD_STR,          FIELD_PASS,
     .doc = "The current name of the VolumeAttributesClass the PVC is using."},
    {"modifyVolumeStatus",               FIELD_OBJECT,       FIELD_PASS, &modify_volume_status_schema,
     .doc = "Represents the status object of ControllerModifyVolume operation."},
    {0},
};
static const struct schema pvc_status_schema = {"PersistentVolumeClaimStatus", pvc_status_fields};

static const struct field pvc_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &pvc_spec_schema, .doc = "What kind of storage is asked for."},
    {"status", FIELD_OBJECT, FIELD_PASS, &pvc_status_schema, .doc = "What backs the claim."},
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
