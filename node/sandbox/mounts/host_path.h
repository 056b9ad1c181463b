#pragma once
/*
 * A path of the host that a pod mounts: a hostPath volume, or the directory of a claim.
 *
 * Below its base directory (struct shim_volume.host_base) a path is opened component by component,
 * and no link may lead out. A path without a base is opened as the user sees it (DC-08). The
 * directory to be kept (host_keep) is never shown: neither paths inside it nor paths that contain
 * it can be mounted. Ref: spec/reliability.md SEC-18, SEC-20.
 */
#include "node/wire/message.h"

/** Returns whether the host path of a volume exists with the type that the volume asks for. A
 * missing path is made if the type says so. It is called before the pod's first container
 * starts. */
bool host_path_ready(const struct shim_volume *volume, struct error *err);
/** Opens the host path of a volume. Returns a descriptor (O_PATH), or -1 with `err`. */
int host_path_open(const struct shim_volume *volume, struct error *err);
