#pragma once
/*
 * The volumes of a pod: directories v<i>, numbered in the order of the pod's volumes, among the
 * pod's own files; or <uid>.<i> on disk.
 *
 *   emptyDir               on disk; with medium Memory on a tmpfs, of its own if it has a limit
 *   configMap, secret, …   on a tmpfs: v<i>/..data -> ..1, replaced by one rename when files change
 *                                      v<i>/..1/<files>
 *                                      v<i>/<first> -> ..data/<first>
 *
 * The tmpfs is mounted in the shim's mount namespace, from which those of the containers are
 * copied.
 */
#include "node/wire/message.h"

struct volume_dirs {
    int disk_fd; /* the directory of pods, on disk */
    int own_fd;  /* directory of the pod's own files: a tmpfs; at level plain a directory on disk */
    bool may_mount;
};

/** Makes all volumes of a pod. Errors name the volume. */
bool volumes_make(const struct volume_dirs *dirs, const struct shim_pod *pod, struct error *err);
/** Removes the volumes of a pod that lie on disk. */
void volumes_remove(const struct volume_dirs *dirs, const struct shim_pod *pod);

/** Replaces the files of volume `index` of `pod` by those of `volume`. Programs see the old files
 * or the new ones, through one rename. A subPath mounted from the volume keeps its old content: a
 * file by its inode, a directory because old files are kept while one of the pod's mounts has a
 * subPath there. */
bool volumes_update(const struct volume_dirs *dirs, const struct shim_pod *pod, uint32_t index,
                    const struct shim_volume *volume, struct error *err);

/** Returns whether the volume is an emptyDir that lies on disk. */
bool volumes_on_disk(const struct shim_volume *volume);

/** Returns the first emptyDir on disk that exceeds its sizeLimit, or NULL. Walks the files of all
 * those that have a limit. */
const struct shim_volume *volumes_overfull(const struct volume_dirs *dirs,
                                           const struct shim_pod *pod);
/** Returns whether the pod has an emptyDir on disk with a limit. */
bool volumes_limited(const struct shim_pod *pod);

/** Opens (O_PATH) the directory or file that a mount of the pod shows; a subPath is followed
 * without leaving the volume. Returns -1 with `err` on failure. */
int volumes_open(const struct volume_dirs *dirs, const struct shim_pod *pod,
                 const struct shim_mount *mount, struct error *err);
/** Returns whether the mount is read-only. Volumes of files always are. */
bool volumes_read_only(const struct shim_pod *pod, const struct shim_mount *mount);
