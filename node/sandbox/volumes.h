#pragma once
/*
 * The volumes of a pod, on disk below its shim's directory.
 *
 *   vol/<i>/                 empty directory; configMap, secret and the like:
 *   vol/<i>/..data -> ..1    swapped by one rename when the files change
 *   vol/<i>/..1/<files>
 *   vol/<i>/<first> -> ..data/<first>
 *
 * Those in memory are a tmpfs there, which containers see because their mount namespaces come from
 * the shim's.
 */
#include "node/shim/message.h"

/** Make the volume directories of the pod below `dir_fd`. `may_mount`: this process has a mount
 * namespace of its own. */
bool volumes_make(int dir_fd, const struct shim_pod *pod, bool may_mount, struct error *err);

/** What a mount shows: a descriptor (O_PATH) of a directory or file, subPath followed beneath the
 * volume. -1 with `err`. */
int volumes_open(int dir_fd, const struct shim_pod *pod, const struct shim_mount *mount,
                 struct error *err);
/** Files are never written through a mount. */
bool volumes_read_only(const struct shim_pod *pod, const struct shim_mount *mount);
