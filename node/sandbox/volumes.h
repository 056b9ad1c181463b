#pragma once
/*
 * The volumes of a pod: directories v<i>, in order of the pod's volumes, with what is the pod's
 * own, or <uid>.<i> on disk.
 *
 *   emptyDir               on disk; of medium Memory in memory, with a limit a tmpfs of its own
 *   configMap, secret, …   in memory: v<i>/..data -> ..1, swapped by one rename when files change
 *                                     v<i>/..1/<files>
 *                                     v<i>/<first> -> ..data/<first>
 *
 * What is in memory is mounted in the shim's mount namespace, from which those of the containers
 * come.
 */
#include "node/wire/message.h"

struct volume_dirs {
    int disk_fd; /* the directory of pods */
    int own_fd;  /* a file system in memory; at level plain the pod's directory on disk */
    bool may_mount;
};

bool volumes_make(const struct volume_dirs *dirs, const struct shim_pod *pod, struct error *err);
/** Remove what is on disk. */
void volumes_remove(const struct volume_dirs *dirs, const struct shim_pod *pod);

/** Replace the files of a volume: whoever reads them sees the old ones or the new ones, by one
 * rename; what was bound from within (subPath) stays as it was: a file by its inode, a directory
 * because the old files are kept when one of the pod's mounts has a subPath there. `volume` has the
 * new files of volume `index` of `pod`. */
bool volumes_update(const struct volume_dirs *dirs, const struct shim_pod *pod, uint32_t index,
                    const struct shim_volume *volume, struct error *err);

bool volumes_on_disk(const struct shim_volume *volume);

/** The first emptyDir on disk that has outgrown its sizeLimit, or NULL. Costs a walk over those
 * that have one. */
const struct shim_volume *volumes_overfull(const struct volume_dirs *dirs,
                                           const struct shim_pod *pod);
/** Is there any to be looked after? */
bool volumes_limited(const struct shim_pod *pod);

/** What a mount shows: a descriptor (O_PATH) of a directory or file, subPath followed beneath the
 * volume. -1 with `err`. */
int volumes_open(const struct volume_dirs *dirs, const struct shim_pod *pod,
                 const struct shim_mount *mount, struct error *err);
/** Files are never written through a mount. */
bool volumes_read_only(const struct shim_pod *pod, const struct shim_mount *mount);
