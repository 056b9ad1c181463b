#pragma once
/*
 * What the files of this room share.
 */
#include "node/devices/device_list.h"

/** Adds the resource DEVICE_GPU with the ids of the GPUs that `gpus_path` has and `visible` allows.
 * Adds nothing when there are none. */
void device_gpus_find(struct device_list *list, const char *gpus_path, const char *visible);
/** Reads a file of devices into `out`, whose texts are in `arena`. */
bool device_file_read(struct device_list *out, const char *path, struct arena *arena,
                      struct error *err);
