#pragma once
/*
 * /dev of a box: the host's devices (GPUs and all), with its own shm, pts and mqueue, and room for
 * a file that the host's does not have. Consoles, loop and memory disks are left out: no program of
 * a pod needs them, and each is a mount.
 */
#include "base/error.h"

/** Fill an empty directory of a tmpfs. */
bool dev_fill(int dev_fd, struct error *err);
