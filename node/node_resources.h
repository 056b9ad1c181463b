#pragma once
/*
 * Parses the resources that pods may use of a machine, for example
 * "cpu=4,memory=8Gi,nvidia.com/gpu=2".
 *
 * Values of cpu and memory replace those of the machine. Every other name is an additional
 * resource.
 */
#include "base/error.h"
#include "node/devices/device_list.h"
#include "node/machine/amount.h"

enum { MACHINE_RESOURCES_TEXT_MAX = 512 };

struct machine_resources {
    int64_t cpu_milli, memory_bytes; /* amounts of CPU and memory; 0: those of the machine */
    struct resource_names extras;    /* further resources; their names point into `text` */
    int64_t extra[AMOUNT_EXTRA];
    char text[MACHINE_RESOURCES_TEXT_MAX]; /* private; copies of the struct must not outlive the
                                            * original, whose text they use */
};

/** Parses `text`; NULL and "" give no resources. Returns false with an INVALID error that quotes
 * the wrong part. */
bool machine_resources_parse(const char *text, struct machine_resources *out, struct error *err);

/** Adds the devices to the resources, each with its number. Of a resource that the text limits only
 * the first ids stay in the list. When the text has more of a resource than there are ids, `strict`
 * says whether that is an error. The names point into the list. */
bool machine_resources_add_devices(struct machine_resources *resources, struct device_list *devices,
                                   bool strict, struct error *err);

/** Parses a size in bytes, or "none", which gives 0. */
bool size_limit_parse(const char *text, int64_t *out_bytes, struct error *err);
