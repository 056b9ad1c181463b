#pragma once
/*
 * The devices of this machine.
 */
#include "node/devices/device_list.h"

/** Finds the devices of this machine (of a simulated one: none) and reads `file`, which describes
 * others (NULL: none). Returns false when the file is wrong; `err` begins with "--devices: ". */
bool machine_devices_read(struct device_list *out, const char *file, bool sim, struct error *err);
