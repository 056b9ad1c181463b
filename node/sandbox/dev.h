#pragma once
/*
 * /dev of a sandbox: the host's devices (GPUs and all), with its own shm, pts and mqueue, and room for
 * a file that the host's does not have. Consoles, loop and memory disks are left out, and so are
 * devices that no program of the pod could open: each is a file to be made, or even a mount.
 */
#include "base/error.h"

/** Fill an empty directory of a tmpfs. `owner`: whose ids the programs have; 0 = ours. */
bool dev_fill(int dev_fd, unsigned owner, struct error *err);
