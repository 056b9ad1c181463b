#pragma once
/*
 * A sandbox at level plain: there are no namespaces, so the pod's volumes are directories. For
 * each container a tree of links mirrors its mount paths and the path of its termination message,
 * and environment variables tell where the tree is.
 *
 *   VC_MOUNT_ROOT   $VC_MOUNT_ROOT/etc/volcano is what would be mounted at /etc/volcano
 *   VC_HOSTS_FILE   the hosts file
 *   VC_SSH_DIR      what would be mounted at …/.ssh
 */
#include "node/sandbox/pod_sandbox.h"

/** Returns the path of libnss_wrapper, with which dynamically linked programs find the names of the
 * hosts file. Returns NULL when this machine does not have it. */
const char *plain_name_library(void);

/** Makes the trees of links, and adds the variables to the environments of the containers. */
bool plain_make(struct pod_sandbox *sandbox, struct error *err);
