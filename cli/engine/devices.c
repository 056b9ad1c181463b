/*
 * Finds GPUs where the driver lists them, unless the environment of this process names fewer, and
 * reads the file of --devices.
 */
#include "cli/engine/devices.h"

#include <stdlib.h>

bool machine_devices_read(struct device_list *out, const char *file, bool sim, struct error *err)
{
    const struct device_sources sources = {.gpus_path = sim ? NULL : DEVICE_GPUS_PATH,
                                           .visible = getenv("CUDA_VISIBLE_DEVICES"),
                                           .file = file};
    bool ok = device_list_read(out, &sources, err);

    if (!ok)
        error_prefix(err, "--devices: ");
    return ok;
}
