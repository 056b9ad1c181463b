/*
 * Field tables of pod volumes and their sources.
 *
 * Only the name is read here; a source is handed to the node as it was written.
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

#define VOLUME(member) offsetof(struct pod_volume, member)

/* clang-format off */
static const char *const host_path_type_values[] = {
    "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice", NULL};
static const char *const storage_medium_values[] = {"", "Memory", "HugePages", "HugePages-", NULL};

static const struct field host_path_volume_source_fields[] = {
    {"path", FIELD_STR, FIELD_PASS, .required = true, .doc = "Path of the directory on the host."},
    {"type", FIELD_STR, FIELD_PASS, .one_of = host_path_type_values,
     .doc = "Type for HostPath Volume Defaults to \"\"."},
    {0},
};
static const struct schema host_path_volume_source_schema = {"HostPathVolumeSource", host_path_volume_source_fields};

static const struct field empty_dir_volume_source_fields[] = {
    {"medium",    FIELD_STR,      FIELD_PASS, .one_of = storage_medium_values,
     .doc = "Represents what type of storage medium should back this directory."},
    {"sizeLimit", FIELD_QUANTITY, FIELD_PASS,
     .doc = "The total amount of local storage required for this EmptyDir volume."},
    {0},
};
static const struct schema empty_dir_volume_source_schema = {"EmptyDirVolumeSource", empty_dir_volume_source_fields};

static const struct field gce_persistent_disk_volume_source_fields[] = {
    {"pdName",    FIELD_STR,  FIELD_PASS, .required = true, .doc = "Unique name of the PD resource in GCE."},
    {"fsType",    FIELD_STR,  FIELD_PASS, .doc = "Filesystem type of the volume that you want to mount."},
    {"partition", FIELD_I32,  FIELD_PASS, .doc = "The partition in the volume that you want to mount."},
    {"readOnly",  FIELD_BOOL, FIELD_PASS, .doc = "ReadOnly here will force the ReadOnly setting in VolumeMounts."},
    {0},
};
static const struct schema gce_persistent_disk_volume_source_schema = {
    "GCEPersistentDiskVolumeSource", gce_persistent_disk_volume_source_fields};

static const struct field aws_elastic_block_store_volume_source_fields[] = {
    {"volumeID",  FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "Unique ID of the persistent disk resource in AWS (Amazon EBS volume)."},
    {"fsType",    FIELD_STR,  FIELD_PASS, .doc = "The filesystem type of the volume that you want to mount."},
    {"partition", FIELD_I32,  FIELD_PASS, .doc = "The partition in the volume that you want to mount."},
    {"readOnly",  FIELD_BOOL, FIELD_PASS,
     .doc = "ReadOnly value true will force the readOnly setting in VolumeMounts."},
    {0},
};
static const struct schema aws_elastic_block_store_volume_source_schema = {
    "AWSElasticBlockStoreVolumeSource", aws_elastic_block_store_volume_source_fields};

static const struct field git_repo_volume_source_fields[] = {
    {"repository", FIELD_STR, FIELD_PASS, .required = true, .doc = "The URL."},
    {"revision",   FIELD_STR, FIELD_PASS, .doc = "The commit hash for the specified revision."},
    {"directory",  FIELD_STR, FIELD_PASS, .doc = "The target directory name."},
    {0},
};
static const struct schema git_repo_volume_source_schema = {"GitRepoVolumeSource", git_repo_volume_source_fields};

static const struct field secret_volume_source_fields[] = {
    {"secretName",  FIELD_STR,      FIELD_PASS, .doc = "The name of the secret in the pod's namespace to use."},
    {"items",       FIELD_LIST,     FIELD_PASS, &key_to_path_schema,
     .doc = "Items If unspecified, each key-value pair in the Data field of the referenced Secret will be projected "
            "into the volume as a file whose name is the key and content is the value."},
    {"defaultMode", FIELD_OPT_I32,  FIELD_PASS,
     .doc = "Optional: mode bits used to set permissions on created files by default."},
    {"optional",    FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Field specify whether the Secret or its keys must be defined."},
    {0},
};
static const struct schema secret_volume_source_schema = {"SecretVolumeSource", secret_volume_source_fields};

static const struct field nfs_volume_source_fields[] = {
    {"server",   FIELD_STR,  FIELD_PASS, .required = true, .doc = "The hostname or IP address of the NFS server."},
    {"path",     FIELD_STR,  FIELD_PASS, .required = true, .doc = "Path that is exported by the NFS server."},
    {"readOnly", FIELD_BOOL, FIELD_PASS,
     .doc = "ReadOnly here will force the NFS export to be mounted with read-only permissions."},
    {0},
};
static const struct schema nfs_volume_source_schema = {"NFSVolumeSource", nfs_volume_source_fields};

static const struct field iscsi_volume_source_fields[] = {
    {"targetPortal",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "ISCSI Target Portal."},
    {"iqn",               FIELD_STR,      FIELD_PASS, .required = true, .doc = "The target iSCSI Qualified Name."},
    {"lun",               FIELD_I32,      FIELD_PASS, .required = true, .doc = "Represents iSCSI Target Lun number."},
    {"iscsiInterface",    FIELD_STR,      FIELD_PASS, .doc = "The interface Name that uses an iSCSI transport."},
    {"fsType",            FIELD_STR,      FIELD_PASS,
     .doc = "The filesystem type of the volume that you want to mount."},
    {"readOnly",          FIELD_BOOL,     FIELD_PASS,
     .doc = "ReadOnly here will force the ReadOnly setting in VolumeMounts."},
    {"portals",           FIELD_STR_LIST, FIELD_PASS, .doc = "The iSCSI Target Portal List."},
    {"chapAuthDiscovery", FIELD_BOOL,     FIELD_PASS,
     .doc = "Defines whether support iSCSI Discovery CHAP authentication."},
    {"chapAuthSession",   FIELD_BOOL,     FIELD_PASS,
     .doc = "Defines whether support iSCSI Session CHAP authentication."},
    {"secretRef",         FIELD_OBJECT,   FIELD_PASS, &local_object_reference_schema,
     .doc = "The CHAP Secret for iSCSI target and initiator authentication."},
    {"initiatorName",     FIELD_STR,      FIELD_PASS, .doc = "The custom iSCSI Initiator Name."},
    {0},
};
static const struct schema iscsi_volume_source_schema = {"ISCSIVolumeSource", iscsi_volume_source_fields};

static const struct field glusterfs_volume_source_fields[] = {
    {"endpoints", FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "The endpoint name that details Glusterfs topology."},
    {"path",      FIELD_STR,  FIELD_PASS, .required = true, .doc = "The Glusterfs volume path."},
    {"readOnly",  FIELD_BOOL, FIELD_PASS,
     .doc = "ReadOnly here will force the Glusterfs volume to be mounted with read-only permissions."},
    {0},
};
static const struct schema glusterfs_volume_source_schema = {"GlusterfsVolumeSource", glusterfs_volume_source_fields};

static const struct field pvc_volume_source_fields[] = {
    {"claimName", FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "The name of a PersistentVolumeClaim in the same namespace as the pod using this volume."},
    {"readOnly",  FIELD_BOOL, FIELD_PASS, .doc = "ReadOnly Will force the ReadOnly setting in VolumeMounts."},
    {0},
};
static const struct schema pvc_volume_source_schema = {"PersistentVolumeClaimVolumeSource", pvc_volume_source_fields};

static const struct field rbd_volume_source_fields[] = {
    {"monitors",  FIELD_STR_LIST, FIELD_PASS, .required = true, .doc = "A collection of Ceph monitors."},
    {"image",     FIELD_STR,      FIELD_PASS, .required = true, .doc = "The rados image name."},
    {"fsType",    FIELD_STR,      FIELD_PASS, .doc = "The filesystem type of the volume that you want to mount."},
    {"pool",      FIELD_STR,      FIELD_PASS, .doc = "The rados pool name."},
    {"user",      FIELD_STR,      FIELD_PASS, .doc = "The rados user name."},
    {"keyring",   FIELD_STR,      FIELD_PASS, .doc = "The path to key ring for RBDUser."},
    {"secretRef", FIELD_OBJECT,   FIELD_PASS, &local_object_reference_schema,
     .doc = "Name of the authentication secret for RBDUser."},
    {"readOnly",  FIELD_BOOL,     FIELD_PASS,
     .doc = "ReadOnly here will force the ReadOnly setting in VolumeMounts."},
    {0},
};
static const struct schema rbd_volume_source_schema = {"RBDVolumeSource", rbd_volume_source_fields};

static const struct field flex_volume_source_fields[] = {
    {"driver",    FIELD_STR,     FIELD_PASS, .required = true,
     .doc = "The name of the driver to use for this volume."},
    {"fsType",    FIELD_STR,     FIELD_PASS, .doc = "The filesystem type to mount."},
    {"secretRef", FIELD_OBJECT,  FIELD_PASS, &local_object_reference_schema,
     .doc = "Optional: secretRef is reference to the secret object containing sensitive information to pass to the "
            "plugin scripts."},
    {"readOnly",  FIELD_BOOL,    FIELD_PASS, .doc = "Optional: defaults to false (read/write)."},
    {"options",   FIELD_STR_MAP, FIELD_PASS, .doc = "Optional: this field holds extra command options if any."},
    {0},
};
static const struct schema flex_volume_source_schema = {"FlexVolumeSource", flex_volume_source_fields};

static const struct field cinder_volume_source_fields[] = {
    {"volumeID",  FIELD_STR,    FIELD_PASS, .required = true,
     .doc = "VolumeID used to identify the volume in cinder."},
    {"fsType",    FIELD_STR,    FIELD_PASS, .doc = "The filesystem type to mount."},
    {"readOnly",  FIELD_BOOL,   FIELD_PASS, .doc = "ReadOnly defaults to false (read/write)."},
    {"secretRef", FIELD_OBJECT, FIELD_PASS, &local_object_reference_schema,
     .doc = "Optional: points to a secret object containing parameters used to connect to OpenStack."},
    {0},
};
static const struct schema cinder_volume_source_schema = {"CinderVolumeSource", cinder_volume_source_fields};

static const struct field cephfs_volume_source_fields[] = {
    {"monitors",   FIELD_STR_LIST, FIELD_PASS, .required = true,
     .doc = "Required: Monitors is a collection of Ceph monitors."},
    {"path",       FIELD_STR,      FIELD_PASS,
     .doc = "Optional: Used as the mounted root, rather than the full Ceph tree, default is /."},
    {"user",       FIELD_STR,      FIELD_PASS, .doc = "Optional: User is the rados user name, default is admin."},
    {"secretFile", FIELD_STR,      FIELD_PASS,
     .doc = "Optional: SecretFile is the path to key ring for User, default is /etc/ceph/user.secret."},
    {"secretRef",  FIELD_OBJECT,   FIELD_PASS, &local_object_reference_schema,
     .doc = "Optional: SecretRef is reference to the authentication secret for User, default is empty."},
    {"readOnly",   FIELD_BOOL,     FIELD_PASS, .doc = "Optional: Defaults to false (read/write)."},
    {0},
};
static const struct schema cephfs_volume_source_schema = {"CephFSVolumeSource", cephfs_volume_source_fields};

static const struct field flocker_volume_source_fields[] = {
    {"datasetName", FIELD_STR, FIELD_PASS,
     .doc = "Name of the dataset stored as metadata -> name on the dataset for Flocker should be considered as "
            "deprecated."},
    {"datasetUUID", FIELD_STR, FIELD_PASS, .doc = "The UUID of the dataset."},
    {0},
};
static const struct schema flocker_volume_source_schema = {"FlockerVolumeSource", flocker_volume_source_fields};

static const struct field downward_api_volume_file_fields[] = {
    {"path",             FIELD_STR,     FIELD_PASS, .required = true,
     .doc = "Required: Path is the relative path name of the file to be created."},
    {"fieldRef",         FIELD_OBJECT,  FIELD_PASS, &object_field_selector_schema,
     .doc = "Required: Selects a field of the pod: only annotations, labels, name, namespace and uid are supported."},
    {"resourceFieldRef", FIELD_OBJECT,  FIELD_PASS, &resource_field_selector_schema,
     .doc = "Selects a resource of the container: only resources limits and requests (limits.cpu, limits.memory, "
            "requests.cpu and requests.memory) are currently supported."},
    {"mode",             FIELD_OPT_I32, FIELD_PASS,
     .doc = "Mode bits used to set permissions on this file, must be an octal value between 0000 and 0777 or a "
            "decimal value between 0 and 511."},
    {0},
};
static const struct schema downward_api_volume_file_schema = {
    "DownwardAPIVolumeFile", downward_api_volume_file_fields};

static const struct field downward_api_volume_source_fields[] = {
    {"items",       FIELD_LIST,    FIELD_PASS, &downward_api_volume_file_schema,
     .doc = "A list of downward API volume file."},
    {"defaultMode", FIELD_OPT_I32, FIELD_PASS, .doc = "Mode bits to use on created files by default."},
    {0},
};
static const struct schema downward_api_volume_source_schema = {
    "DownwardAPIVolumeSource", downward_api_volume_source_fields};

static const struct field fc_volume_source_fields[] = {
    {"targetWWNs", FIELD_STR_LIST, FIELD_PASS, .doc = "Optional: FC target worldwide names (WWNs)."},
    {"lun",        FIELD_OPT_I32,  FIELD_PASS, .doc = "Optional: FC target lun number."},
    {"fsType",     FIELD_STR,      FIELD_PASS, .doc = "The filesystem type to mount."},
    {"readOnly",   FIELD_BOOL,     FIELD_PASS, .doc = "Optional: Defaults to false (read/write)."},
    {"wwids",      FIELD_STR_LIST, FIELD_PASS,
     .doc = "Wwids Optional: FC volume world wide identifiers (wwids) Either wwids or combination of targetWWNs and "
            "lun must be set, but not both simultaneously."},
    {0},
};
static const struct schema fc_volume_source_schema = {"FCVolumeSource", fc_volume_source_fields};

static const struct field azure_file_volume_source_fields[] = {
    {"secretName", FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "The name of secret that contains Azure Storage Account Name and Key."},
    {"shareName",  FIELD_STR,  FIELD_PASS, .required = true, .doc = "The azure share Name."},
    {"readOnly",   FIELD_BOOL, FIELD_PASS, .doc = "ReadOnly defaults to false (read/write)."},
    {0},
};
static const struct schema azure_file_volume_source_schema = {
    "AzureFileVolumeSource", azure_file_volume_source_fields};

static const struct field config_map_volume_source_fields[] = {
    {"name",        FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"items",       FIELD_LIST,     FIELD_PASS, &key_to_path_schema,
     .doc = "Items if unspecified, each key-value pair in the Data field of the referenced ConfigMap will be "
            "projected into the volume as a file whose name is the key and content is the value."},
    {"defaultMode", FIELD_OPT_I32,  FIELD_PASS,
     .doc = "Optional: mode bits used to set permissions on created files by default."},
    {"optional",    FIELD_OPT_BOOL, FIELD_PASS, .doc = "Specify whether the ConfigMap or its keys must be defined."},
    {0},
};
static const struct schema config_map_volume_source_schema = {
    "ConfigMapVolumeSource", config_map_volume_source_fields};

static const struct field vsphere_virtual_disk_volume_source_fields[] = {
    {"volumePath",        FIELD_STR, FIELD_PASS, .required = true,
     .doc = "The path that identifies vSphere volume vmdk."},
    {"fsType",            FIELD_STR, FIELD_PASS, .doc = "Filesystem type to mount."},
    {"storagePolicyName", FIELD_STR, FIELD_PASS, .doc = "The storage Policy Based Management (SPBM) profile name."},
    {"storagePolicyID",   FIELD_STR, FIELD_PASS,
     .doc = "The storage Policy Based Management (SPBM) profile ID associated with the StoragePolicyName."},
    {0},
};
static const struct schema vsphere_virtual_disk_volume_source_schema = {
    "VsphereVirtualDiskVolumeSource", vsphere_virtual_disk_volume_source_fields};

static const struct field quobyte_volume_source_fields[] = {
    {"registry", FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "Represents a single or multiple Quobyte Registry services specified as a string as host:port pair "
            "(multiple entries are separated with commas) which acts as the central registry for volumes."},
    {"volume",   FIELD_STR,  FIELD_PASS, .required = true,
     .doc = "A string that references an already created Quobyte volume by name."},
    {"readOnly", FIELD_BOOL, FIELD_PASS,
     .doc = "ReadOnly here will force the Quobyte volume to be mounted with read-only permissions."},
    {"user",     FIELD_STR,  FIELD_PASS, .doc = "User to map volume access to Defaults to serivceaccount user."},
    {"group",    FIELD_STR,  FIELD_PASS, .doc = "Group to map volume access to Default is no group."},
    {"tenant",   FIELD_STR,  FIELD_PASS,
     .doc = "Tenant owning the given Quobyte volume in the Backend Used with dynamically provisioned Quobyte volumes, "
            "value is set by the plugin."},
    {0},
};
static const struct schema quobyte_volume_source_schema = {"QuobyteVolumeSource", quobyte_volume_source_fields};

static const struct field azure_disk_volume_source_fields[] = {
    {"diskName",    FIELD_STR,      FIELD_PASS, .required = true,
     .doc = "The Name of the data disk in the blob storage."},
    {"diskURI",     FIELD_STR,      FIELD_PASS, .required = true, .doc = "The URI of data disk in the blob storage."},
    {"cachingMode", FIELD_STR,      FIELD_PASS, .doc = "The Host Caching mode: None, Read Only, Read Write."},
    {"fsType",      FIELD_STR,      FIELD_PASS, .doc = "Filesystem type to mount."},
    {"readOnly",    FIELD_OPT_BOOL, FIELD_PASS, .doc = "ReadOnly Defaults to false (read/write)."},
    {"kind",        FIELD_STR,      FIELD_PASS,
     .doc = "Kind expected values are Shared: multiple blob disks per storage account Dedicated: single blob disk per "
            "storage account Managed: azure managed data disk (only in managed availability set)."},
    {0},
};
static const struct schema azure_disk_volume_source_schema = {
    "AzureDiskVolumeSource", azure_disk_volume_source_fields};

static const struct field photon_persistent_disk_volume_source_fields[] = {
    {"pdID",   FIELD_STR, FIELD_PASS, .required = true,
     .doc = "The ID that identifies Photon Controller persistent disk."},
    {"fsType", FIELD_STR, FIELD_PASS, .doc = "The filesystem type to mount."},
    {0},
};
static const struct schema photon_persistent_disk_volume_source_schema = {
    "PhotonPersistentDiskVolumeSource", photon_persistent_disk_volume_source_fields};

static const struct field secret_projection_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"items",    FIELD_LIST,     FIELD_PASS, &key_to_path_schema,
     .doc = "Items if unspecified, each key-value pair in the Data field of the referenced Secret will be projected "
            "into the volume as a file whose name is the key and content is the value."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Field specify whether the Secret or its key must be defined."},
    {0},
};
static const struct schema secret_projection_schema = {"SecretProjection", secret_projection_fields};

static const struct field downward_api_projection_fields[] = {
    {"items", FIELD_LIST, FIELD_PASS, &downward_api_volume_file_schema, .doc = "A list of DownwardAPIVolume file."},
    {0},
};
static const struct schema downward_api_projection_schema = {"DownwardAPIProjection", downward_api_projection_fields};

static const struct field config_map_projection_fields[] = {
    {"name",     FIELD_STR,      FIELD_PASS, .doc = "Name of the referent."},
    {"items",    FIELD_LIST,     FIELD_PASS, &key_to_path_schema,
     .doc = "Items if unspecified, each key-value pair in the Data field of the referenced ConfigMap will be "
            "projected into the volume as a file whose name is the key and content is the value."},
    {"optional", FIELD_OPT_BOOL, FIELD_PASS, .doc = "Specify whether the ConfigMap or its keys must be defined."},
    {0},
};
static const struct schema config_map_projection_schema = {"ConfigMapProjection", config_map_projection_fields};

static const struct field service_account_token_projection_fields[] = {
    {"audience",          FIELD_STR,     FIELD_PASS, .doc = "The intended audience of the token."},
    {"expirationSeconds", FIELD_OPT_I64, FIELD_PASS, NOT_NEGATIVE,
     .doc = "The requested duration of validity of the service account token."},
    {"path",              FIELD_STR,     FIELD_PASS, .required = true,
     .doc = "The path relative to the mount point of the file to project the token into."},
    {0},
};
static const struct schema service_account_token_projection_schema = {
    "ServiceAccountTokenProjection", service_account_token_projection_fields};

static const struct field cluster_trust_bundle_projection_fields[] = {
    {"name",          FIELD_STR,      FIELD_PASS, .doc = "Select a single ClusterTrustBundle by object name."},
    {"signerName",    FIELD_STR,      FIELD_PASS,
     .doc = "Select all ClusterTrustBundles that match this signer name."},
    {"labelSelector", FIELD_OBJECT,   FIELD_PASS, &label_selector_schema,
     .doc = "Select all ClusterTrustBundles that match this label selector."},
    {"optional",      FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "If true, don't block pod startup if the referenced ClusterTrustBundle(s) aren't available."},
    {"path",          FIELD_STR,      FIELD_PASS, .required = true,
     .doc = "Relative path from the volume root to write the bundle."},
    {0},
};
static const struct schema cluster_trust_bundle_projection_schema = {
    "ClusterTrustBundleProjection", cluster_trust_bundle_projection_fields};

static const struct field volume_projection_fields[] = {
    {"secret",              FIELD_OBJECT, FIELD_PASS, &secret_projection_schema, .doc = "Keys of a Secret."},
    {"downwardAPI",         FIELD_OBJECT, FIELD_PASS, &downward_api_projection_schema,
     .doc = "DownwardAPI information about the downwardAPI data to project."},
    {"configMap",           FIELD_OBJECT, FIELD_PASS, &config_map_projection_schema,
     .doc = "ConfigMap information about the configMap data to project."},
    {"serviceAccountToken", FIELD_OBJECT, FIELD_PASS, &service_account_token_projection_schema,
     .doc = "Information about the serviceAccountToken data to project."},
    {"clusterTrustBundle",  FIELD_OBJECT, FIELD_PASS, &cluster_trust_bundle_projection_schema,
     .doc = "ClusterTrustBundle allows a pod to access the `.spec.trustBundle` field of ClusterTrustBundle objects in "
            "an auto-updating file."},
    {0},
};
static const struct schema volume_projection_schema = {"VolumeProjection", volume_projection_fields};

static const struct field projected_volume_source_fields[] = {
    {"sources",     FIELD_LIST,    FIELD_PASS, &volume_projection_schema, .doc = "The list of volume projections."},
    {"defaultMode", FIELD_OPT_I32, FIELD_PASS,
     .doc = "The mode bits used to set permissions on created files by default."},
    {0},
};
static const struct schema projected_volume_source_schema = {"ProjectedVolumeSource", projected_volume_source_fields};

static const struct field portworx_volume_source_fields[] = {
    {"volumeID", FIELD_STR,  FIELD_PASS, .required = true, .doc = "VolumeID uniquely identifies a Portworx volume."},
    {"fsType",   FIELD_STR,  FIELD_PASS,
     .doc = "Represents the filesystem type to mount Must be a filesystem type supported by the host operating "
            "system."},
    {"readOnly", FIELD_BOOL, FIELD_PASS, .doc = "ReadOnly defaults to false (read/write)."},
    {0},
};
static const struct schema portworx_volume_source_schema = {"PortworxVolumeSource", portworx_volume_source_fields};

static const struct field scale_io_volume_source_fields[] = {
    {"gateway",          FIELD_STR,    FIELD_PASS, .required = true,
     .doc = "The host address of the ScaleIO API Gateway."},
    {"system",           FIELD_STR,    FIELD_PASS, .required = true,
     .doc = "The name of the storage system as configured in ScaleIO."},
    {"secretRef",        FIELD_OBJECT, FIELD_PASS, &local_object_reference_schema,
     .doc = "SecretRef references to the secret for ScaleIO user and other sensitive information."},
    {"sslEnabled",       FIELD_BOOL,   FIELD_PASS,
     .doc = "SslEnabled Flag enable/disable SSL communication with Gateway, default false."},
    {"protectionDomain", FIELD_STR,    FIELD_PASS,
     .doc = "The name of the ScaleIO Protection Domain for the configured storage."},
    {"storagePool",      FIELD_STR,    FIELD_PASS,
     .doc = "The ScaleIO Storage Pool associated with the protection domain."},
    {"storageMode",      FIELD_STR,    FIELD_PASS,
     .doc = "Indicates whether the storage for a volume should be ThickProvisioned or ThinProvisioned."},
    {"volumeName",       FIELD_STR,    FIELD_PASS,
     .doc = "The name of a volume already created in the ScaleIO system that is associated with this volume source."},
    {"fsType",           FIELD_STR,    FIELD_PASS, .doc = "The filesystem type to mount."},
    {"readOnly",         FIELD_BOOL,   FIELD_PASS, .doc = "ReadOnly Defaults to false (read/write)."},
    {0},
};
static const struct schema scale_io_volume_source_schema = {"ScaleIOVolumeSource", scale_io_volume_source_fields};

static const struct field storageos_volume_source_fields[] = {
    {"volumeName",      FIELD_STR,    FIELD_PASS, .doc = "The human-readable name of the StorageOS volume."},
    {"volumeNamespace", FIELD_STR,    FIELD_PASS, .doc = "Specifies the scope of the volume within StorageOS."},
    {"fsType",          FIELD_STR,    FIELD_PASS, .doc = "The filesystem type to mount."},
    {"readOnly",        FIELD_BOOL,   FIELD_PASS, .doc = "ReadOnly defaults to false (read/write)."},
    {"secretRef",       FIELD_OBJECT, FIELD_PASS, &local_object_reference_schema,
     .doc = "Specifies the secret to use for obtaining the StorageOS API credentials."},
    {0},
};
static const struct schema storageos_volume_source_schema = {"StorageOSVolumeSource", storageos_volume_source_fields};

static const struct field csi_volume_source_fields[] = {
    {"driver",               FIELD_STR,      FIELD_PASS, .required = true,
     .doc = "The name of the CSI driver that handles this volume."},
    {"readOnly",             FIELD_OPT_BOOL, FIELD_PASS,
     .doc = "Specifies a read-only configuration for the volume."},
    {"fsType",               FIELD_STR,      FIELD_PASS, .doc = "FsType to mount."},
    {"volumeAttributes",     FIELD_STR_MAP,  FIELD_PASS,
     .doc = "VolumeAttributes stores driver-specific properties that are passed to the CSI driver."},
    {"nodePublishSecretRef", FIELD_OBJECT,   FIELD_PASS, &local_object_reference_schema,
     .doc = "A reference to the secret object containing sensitive information to pass to the CSI driver to complete "
            "the CSI NodePublishVolume and NodeUnpublishVolume calls."},
    {0},
};
static const struct schema csi_volume_source_schema = {"CSIVolumeSource", csi_volume_source_fields};

static const struct field pvc_template_fields[] = {
    {"metadata", FIELD_OBJECT, FIELD_PASS, &metadata_schema,
     .doc = "May contain labels and annotations that will be copied into the PVC when creating it."},
    {"spec",     FIELD_OBJECT, FIELD_PASS, &pvc_spec_schema, .required = true,
     .doc = "The specification for the PersistentVolumeClaim."},
    {0},
};
static const struct schema pvc_template_schema = {"PersistentVolumeClaimTemplate", pvc_template_fields};

static const struct field ephemeral_volume_source_fields[] = {
    {"volumeClaimTemplate", FIELD_OBJECT, FIELD_PASS, &pvc_template_schema,
     .doc = "Will be used to create a stand-alone PVC to provision the volume."},
    {0},
};
static const struct schema ephemeral_volume_source_schema = {"EphemeralVolumeSource", ephemeral_volume_source_fields};

static const struct field volume_fields[] = {
    {"name",                  FIELD_STR,    VOLUME(name), .required = true, .doc = "Name of the volume."},
    {"hostPath",              FIELD_OBJECT, FIELD_PASS, &host_path_volume_source_schema,
     .doc = "Represents a pre-existing file or directory on the host machine that is directly exposed to the "
            "container."},
    {"emptyDir",              FIELD_OBJECT, FIELD_PASS, &empty_dir_volume_source_schema,
     .doc = "Represents a temporary directory that shares a pod's lifetime."},
    {"gcePersistentDisk",     FIELD_OBJECT, FIELD_PASS, &gce_persistent_disk_volume_source_schema,
     .doc = "Represents a GCE Disk resource that is attached to a kubelet's host machine and then exposed to the pod."},
    {"awsElasticBlockStore",  FIELD_OBJECT, FIELD_PASS, &aws_elastic_block_store_volume_source_schema,
     .doc = "Represents an AWS Disk resource that is attached to a kubelet's host machine and then exposed to the "
            "pod."},
    {"gitRepo",               FIELD_OBJECT, FIELD_PASS, &git_repo_volume_source_schema,
     .doc = "Represents a git repository at a particular revision."},
    {"secret",                FIELD_OBJECT, FIELD_PASS, &secret_volume_source_schema,
     .doc = "Represents a secret that should populate this volume."},
    {"nfs",                   FIELD_OBJECT, FIELD_PASS, &nfs_volume_source_schema,
     .doc = "Represents an NFS mount on the host that shares a pod's lifetime."},
    {"iscsi",                 FIELD_OBJECT, FIELD_PASS, &iscsi_volume_source_schema,
     .doc = "Represents an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the "
            "pod."},
    {"glusterfs",             FIELD_OBJECT, FIELD_PASS, &glusterfs_volume_source_schema,
     .doc = "Represents a Glusterfs mount on the host that shares a pod's lifetime."},
    {"persistentVolumeClaim", FIELD_OBJECT, FIELD_PASS, &pvc_volume_source_schema,
     .doc = "PersistentVolumeClaimVolumeSource represents a reference to a PersistentVolumeClaim in the same "
            "namespace."},
    {"rbd",                   FIELD_OBJECT, FIELD_PASS, &rbd_volume_source_schema,
     .doc = "Represents a Rados Block Device mount on the host that shares a pod's lifetime."},
    {"flexVolume",            FIELD_OBJECT, FIELD_PASS, &flex_volume_source_schema,
     .doc = "Represents a generic volume resource that is provisioned/attached using an exec based plugin."},
    {"cinder",                FIELD_OBJECT, FIELD_PASS, &cinder_volume_source_schema,
     .doc = "Represents a cinder volume attached and mounted on kubelets host machine."},
    {"cephfs",                FIELD_OBJECT, FIELD_PASS, &cephfs_volume_source_schema,
     .doc = "Represents a Ceph FS mount on the host that shares a pod's lifetime."},
    {"flocker",               FIELD_OBJECT, FIELD_PASS, &flocker_volume_source_schema,
     .doc = "Represents a Flocker volume attached to a kubelet's host machine."},
    {"downwardAPI",           FIELD_OBJECT, FIELD_PASS, &downward_api_volume_source_schema,
     .doc = "Represents downward API about the pod that should populate this volume."},
    {"fc",                    FIELD_OBJECT, FIELD_PASS, &fc_volume_source_schema,
     .doc = "Represents a Fibre Channel resource that is attached to a kubelet's host machine and then exposed to the "
            "pod."},
    {"azureFile",             FIELD_OBJECT, FIELD_PASS, &azure_file_volume_source_schema,
     .doc = "Represents an Azure File Service mount on the host and bind mount to the pod."},
    {"configMap",             FIELD_OBJECT, FIELD_PASS, &config_map_volume_source_schema,
     .doc = "Represents a configMap that should populate this volume."},
    {"vsphereVolume",         FIELD_OBJECT, FIELD_PASS, &vsphere_virtual_disk_volume_source_schema,
     .doc = "Represents a vSphere volume attached and mounted on kubelets host machine."},
    {"quobyte",               FIELD_OBJECT, FIELD_PASS, &quobyte_volume_source_schema,
     .doc = "Represents a Quobyte mount on the host that shares a pod's lifetime."},
    {"azureDisk",             FIELD_OBJECT, FIELD_PASS, &azure_disk_volume_source_schema,
     .doc = "Represents an Azure Data Disk mount on the host and bind mount to the pod."},
    {"photonPersistentDisk",  FIELD_OBJECT, FIELD_PASS, &photon_persistent_disk_volume_source_schema,
     .doc = "Represents a PhotonController persistent disk attached and mounted on kubelets host machine."},
    {"projected",             FIELD_OBJECT, FIELD_PASS, &projected_volume_source_schema,
     .doc = "Projected items for all in one resources secrets, configmaps, and downward API."},
    {"portworxVolume",        FIELD_OBJECT, FIELD_PASS, &portworx_volume_source_schema,
     .doc = "Represents a portworx volume attached and mounted on kubelets host machine."},
    {"scaleIO",               FIELD_OBJECT, FIELD_PASS, &scale_io_volume_source_schema,
     .doc = "Represents a ScaleIO persistent volume attached and mounted on Kubernetes nodes."},
    {"storageos",             FIELD_OBJECT, FIELD_PASS, &storageos_volume_source_schema,
     .doc = "Represents a StorageOS volume attached and mounted on Kubernetes nodes."},
    {"csi",                   FIELD_OBJECT, FIELD_PASS, &csi_volume_source_schema,
     .doc = "Csi (Container Storage Interface) represents ephemeral storage that is handled by certain external CSI "
            "drivers (Beta feature)."},
    {"ephemeral",             FIELD_OBJECT, FIELD_PASS, &ephemeral_volume_source_schema,
     .doc = "Represents a volume that is handled by a cluster storage driver."},
    {0},
};
const struct schema volume_schema = {"Volume", volume_fields, sizeof(struct pod_volume)};
/* clang-format on */
