#pragma once
/*
 * /dev of a sandboxed container: the host's devices, GPUs included, with its own shm, pts and
 * mqueue. It is writable, so that mount points missing on the host can be made.
 *
 * Consoles, loop devices and RAM disks are left out, and so are devices that no program of the pod
 * may open, because each device costs a file or even a mount.
 */
#include "base/error.h"

/** Fills `dev_fd`, an empty directory of a tmpfs, as /dev of a container. `owner` is the uid that
 * is root for the pod's programs; 0 = the uid of this process. */
bool dev_fill(int dev_fd, unsigned owner, struct error *err);
