#pragma once
/*
 * A sandbox at level plain: no namespaces. The pod's volumes are directories; a tree of links mirrors
 * the mount paths, and variables in the environment say where it is.
 *
 *   VC_MOUNT_ROOT   $VC_MOUNT_ROOT/etc/volcano is what would be mounted at /etc/volcano
 *   VC_HOSTS_FILE   the hosts file
 *   VC_SSH_DIR      what would be mounted at …/.ssh
 */
#include "node/sandbox/pod_sandbox.h"

/** The library with which programs that are linked dynamically find the pod's names; NULL = this
 * machine has none. */
const char *plain_name_library(void);

bool plain_make(struct pod_sandbox *sandbox, struct error *err);
