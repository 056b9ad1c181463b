/*
 * Field tables of pod volumes and of the sources that the node provides. Other sources are one row
 * each.
 *
 * Only the name is decoded. The node gets the source as it was written. Ref: k8s.io/api core/v1,
 * release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

#define VOLUME(member) offsetof(struct pod_volume, member)

/* clang-format off */
static const char *const host_path_type_values[] = {
    "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice", NULL};
static const char *const storage_medium_values[] = {"", "Memory", "HugePages", "HugePages-", NULL};

static const struct field host_path_volume_source_fields[] = {
    {"path", FIELD_STR, FIELD_PASS, .pb = 1, .required = true, .doc = "Path of the directory on the host."},
    {"type", FIELD_STR, FIELD_PASS, .pb = 2, .keeps_zero = true, .one_of = host_path_type_values,
     .doc = "Says what must exist at the path, or be created there; nothing is checked when empty."},
    {0},
};
static const struct schema host_path_volume_source_schema = {"HostPathVolumeSource", host_path_volume_source_fields};

static const struct field empty_dir_volume_source_fields[] = {
    {"medium",    FIELD_STR,      FIELD_PASS, .pb = 1, .one_of = storage_medium_values,
     .doc = "Storage of the directory: disk (empty, the default) or memory (Memory)."},
    {"sizeLimit", FIELD_QUANTITY, FIELD_PASS, .pb = 2,
     .doc = "Largest total size of the files in the directory."},
    {0},
};
static const struct schema empty_dir_volume_source_schema = {"EmptyDirVolumeSource", empty_dir_volume_source_fields};

static const struct field secret_volume_source_fields[] = {
    {"secretName",  FIELD_STR,      FIELD_PASS, .pb = 1, .doc = "Name of a Secret in the pod's namespace."},
    {"items",       FIELD_LIST,     FIELD_PASS, &key_to_path_schema, .pb = 2,
     .doc = "Keys that become files. When absent, each key of the Secret becomes a file."},
    {"defaultMode", FIELD_OPT_I32,  FIELD_PASS, .pb = 3,
     .doc = "Permission bits of files that have no mode of their own."},
    {"optional",    FIELD_OPT_BOOL, FIELD_PASS, .pb = 4,
     .doc = "Says whether the pod may start without the Secret or its keys."},
    {0},
};
static const struct schema secret_volume_source_schema = {"SecretVolumeSource", secret_volume_source_fields};

static const struct field pvc_volume_source_fields[] = {
    {"claimName", FIELD_STR,  FIELD_PASS, .pb = 1, .required = true,
     .doc = "Name of a PersistentVolumeClaim in the pod's namespace."},
    {"readOnly",  FIELD_BOOL, FIELD_PASS, .pb = 2, .doc = "Makes all mounts of the volume read-only."},
    {0},
};
static const struct schema pvc_volume_source_schema = {"PersistentVolumeClaimVolumeSource", pvc_volume_source_fields};

static const struct field downward_api_volume_file_fields[] = {
    {"path",             FIELD_STR,     FIELD_PASS, .pb = 1, .required = true,
     .doc = "Relative path of the file in the volume."},
    {"fieldRef",         FIELD_OBJECT,  FIELD_PASS, &object_field_selector_schema, .pb = 2,
     .doc = "Field of the pod: annotations, labels, name, namespace or uid."},
    {"resourceFieldRef", FIELD_OBJECT,  FIELD_PASS, &resource_field_selector_schema, .pb = 3,
     .doc = "Request or limit of a container: cpu or memory."},
    {"mode",             FIELD_OPT_I32, FIELD_PASS, .pb = 4,
     .doc = "Permission bits of the file, from 0000 to 0777 (octal) or 0 to 511."},
    {0},
};
static const struct schema downward_api_volume_file_schema = {
    "DownwardAPIVolumeFile", downward_api_volume_file_fields};

static const struct field downward_api_volume_source_fields[] = {
    {"items",       FIELD_LIST,    FIELD_PASS, &downward_api_volume_file_schema, .pb = 1,
     .doc = "Files of the volume."},
    {"defaultMode", FIELD_OPT_I32, FIELD_PASS, .pb = 2, .doc = "Permission bits of files that have no mode of their own."},
    {0},
};
static const struct schema downward_api_volume_source_schema = {
    "DownwardAPIVolumeSource", downward_api_volume_source_fields};

static const struct field config_map_volume_source_fields[] = {
    {"name",        FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the ConfigMap."},
    {"items",       FIELD_LIST,     FIELD_PASS, &key_to_path_schema, .pb = 2,
     .doc = "Keys that become files. When absent, each key of the ConfigMap becomes a file."},
    {"defaultMode", FIELD_OPT_I32,  FIELD_PASS, .pb = 3,
     .doc = "Permission bits of files that have no mode of their own."},
    {"optional",    FIELD_OPT_BOOL, FIELD_PASS, .pb = 4, .doc = "Says whether the pod may start without the ConfigMap or its keys."},
    {0},
};
static const struct schema config_map_volume_source_schema = {
    "ConfigMapVolumeSource", config_map_volume_source_fields};

static const struct field secret_projection_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the Secret."},
    {"items",    FIELD_LIST,     FIELD_PASS, &key_to_path_schema, .pb = 2,
     .doc = "Keys that become files. When absent, each key of the Secret becomes a file."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .pb = 4, .doc = "Says whether the pod may start without the Secret or its keys."},
    {0},
};
static const struct schema secret_projection_schema = {"SecretProjection", secret_projection_fields};

static const struct field downward_api_projection_fields[] = {
    {"items", FIELD_LIST, FIELD_PASS, &downward_api_volume_file_schema, .pb = 1, .doc = "Files with fields of the pod."},
    {0},
};
static const struct schema downward_api_projection_schema = {"DownwardAPIProjection", downward_api_projection_fields};

static const struct field config_map_projection_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .pb_in = 1, .pb = 1, .doc = "Name of the ConfigMap."},
    {"items",    FIELD_LIST,     FIELD_PASS, &key_to_path_schema, .pb = 2,
     .doc = "Keys that become files. When absent, each key of the ConfigMap becomes a file."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .pb = 4, .doc = "Says whether the pod may start without the ConfigMap or its keys."},
    {0},
};
static const struct schema config_map_projection_schema = {"ConfigMapProjection", config_map_projection_fields};

static const struct field service_account_token_projection_fields[] = {
    {"audience",          FIELD_STR,     FIELD_PASS, .pb = 1, .doc = "Audience that the token is meant for."},
    {"expirationSeconds", FIELD_OPT_I64, FIELD_PASS, .pb = 2, NOT_NEGATIVE,
     .doc = "Requested validity of the token in seconds."},
    {"path",              FIELD_STR,     FIELD_PASS, .pb = 3, .required = true,
     .doc = "Relative path of the file with the token."},
    {0},
};
static const struct schema service_account_token_projection_schema = {
    "ServiceAccountTokenProjection", service_account_token_projection_fields};

static const struct field cluster_trust_bundle_projection_fields[] = {
    {"name",          FIELD_STR,      FIELD_PASS, .pb = 1, .keeps_zero = true, .doc = "Name of one ClusterTrustBundle."},
    {"signerName",    FIELD_STR,      FIELD_PASS, .pb = 2, .keeps_zero = true,
     .doc = "Signer whose ClusterTrustBundles are combined."},
    {"labelSelector", FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .pb = 3,
     .doc = "Labels of the ClusterTrustBundles that are combined."},
    {"optional",      FIELD_OPT_BOOL, FIELD_PASS, .pb = 5,
     .doc = "Says whether the pod may start without the ClusterTrustBundles."},
    {"path",          FIELD_STR,      FIELD_PASS, .pb = 4, .required = true,
     .doc = "Relative path of the file with the bundle."},
    {0},
};
static const struct schema cluster_trust_bundle_projection_schema = {
    "ClusterTrustBundleProjection", cluster_trust_bundle_projection_fields};

static const struct field volume_projection_fields[] = {
    {"secret",              FIELD_OBJECT, FIELD_PASS, &secret_projection_schema, .pb = 1, .doc = "Keys of a Secret."},
    {"downwardAPI",         FIELD_OBJECT, FIELD_PASS, &downward_api_projection_schema, .pb = 2,
     .doc = "Fields of the pod."},
    {"configMap",           FIELD_OBJECT, FIELD_PASS, &config_map_projection_schema, .pb = 3,
     .doc = "Keys of a ConfigMap."},
    {"serviceAccountToken", FIELD_OBJECT, FIELD_PASS, &service_account_token_projection_schema, .pb = 4,
     .doc = "Token of a ServiceAccount. Only the simulated runtime accepts it."},
    {"clusterTrustBundle",  FIELD_OBJECT, FIELD_PASS, &cluster_trust_bundle_projection_schema, .pb = 5,
     .doc = "Trust anchors of ClusterTrustBundles. Only the simulated runtime accepts them."},
    {0},
};
static const struct schema volume_projection_schema = {"VolumeProjection", volume_projection_fields};

static const struct field projected_volume_source_fields[] = {
    {"sources",     FIELD_LIST,    FIELD_PASS, &volume_projection_schema, .pb = 1, .doc = "Sources whose files the volume combines."},
    {"defaultMode", FIELD_OPT_I32, FIELD_PASS, .pb = 2,
     .doc = "Permission bits of files that have no mode of their own."},
    {0},
};
static const struct schema projected_volume_source_schema = {"ProjectedVolumeSource", projected_volume_source_fields};

/* Sources that the node cannot provide. Their members are kept as written and are not checked:
 * without `--runtime sim` admission refuses such a volume as a whole. */
static const struct field no_fields[] = {{0}};
static const struct schema unsupported_source_schema = {
    "UnsupportedVolumeSource", no_fields, .preserve_unknown = true,
    .doc = "A volume source that this program does not provide. Only the simulated runtime accepts it."};
#define UNSUPPORTED(name, number, what) \
    {name, FIELD_OBJECT, FIELD_PASS, &unsupported_source_schema, .pb_in = 2, .pb = (number), .doc = what " Only the simulated runtime accepts it."}

static const struct field volume_fields[] = {
    {"name",                  FIELD_STR,    VOLUME(name), .pb = 1, .required = true, .doc = "Name of the volume, unique within the pod."},
    {"hostPath",              FIELD_OBJECT, FIELD_PASS, &host_path_volume_source_schema, .pb_in = 2, .pb = 1,
     .doc = "File or directory of the host."},
    {"emptyDir",              FIELD_OBJECT, FIELD_PASS, &empty_dir_volume_source_schema, .pb_in = 2, .pb = 2,
     .doc = "Empty directory that exists as long as the pod."},
    UNSUPPORTED("gcePersistentDisk", 3, "Disk of Google Compute Engine."),
    UNSUPPORTED("awsElasticBlockStore", 4, "Disk of Amazon Elastic Block Store."),
    UNSUPPORTED("gitRepo", 5, "Copy of a git repository."),
    {"secret",                FIELD_OBJECT, FIELD_PASS, &secret_volume_source_schema, .pb_in = 2, .pb = 6,
     .doc = "Files with the values of a Secret."},
    UNSUPPORTED("nfs", 7, "Directory of an NFS server."),
    UNSUPPORTED("iscsi", 8, "iSCSI disk."),
    UNSUPPORTED("glusterfs", 9, "Glusterfs volume."),
    {"persistentVolumeClaim", FIELD_OBJECT, FIELD_PASS, &pvc_volume_source_schema, .pb_in = 2, .pb = 10,
     .doc = "Directory of a PersistentVolumeClaim in the pod's namespace."},
    UNSUPPORTED("rbd", 11, "Ceph block device."),
    UNSUPPORTED("flexVolume", 12, "Volume of a FlexVolume driver."),
    UNSUPPORTED("cinder", 13, "Volume of OpenStack Cinder."),
    UNSUPPORTED("cephfs", 14, "Directory of a Ceph file system."),
    UNSUPPORTED("flocker", 15, "Flocker volume."),
    {"downwardAPI",           FIELD_OBJECT, FIELD_PASS, &downward_api_volume_source_schema, .pb_in = 2, .pb = 16,
     .doc = "Files with fields of the pod."},
    UNSUPPORTED("fc", 17, "Fibre Channel disk."),
    UNSUPPORTED("azureFile", 18, "Share of Azure Files."),
    {"configMap",             FIELD_OBJECT, FIELD_PASS, &config_map_volume_source_schema, .pb_in = 2, .pb = 19,
     .doc = "Files with the values of a ConfigMap."},
    UNSUPPORTED("vsphereVolume", 20, "vSphere volume."),
    UNSUPPORTED("quobyte", 21, "Quobyte volume."),
    UNSUPPORTED("azureDisk", 22, "Azure data disk."),
    UNSUPPORTED("photonPersistentDisk", 23, "Disk of Photon Controller."),
    {"projected",             FIELD_OBJECT, FIELD_PASS, &projected_volume_source_schema, .pb_in = 2, .pb = 26,
     .doc = "Files of several Secrets, ConfigMaps and pod fields in one directory."},
    UNSUPPORTED("portworxVolume", 24, "Portworx volume."),
    UNSUPPORTED("scaleIO", 25, "ScaleIO volume."),
    UNSUPPORTED("storageos", 27, "StorageOS volume."),
    UNSUPPORTED("csi", 28, "Volume of a CSI driver."),
    UNSUPPORTED("ephemeral", 29, "Volume of a claim that is created with the pod."),
    {0},
};
const struct schema volume_schema = {"Volume", volume_fields, sizeof(struct pod_volume)};
/* clang-format on */
