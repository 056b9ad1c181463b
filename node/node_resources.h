#pragma once
/*
 * What pods may use of a machine, as a user writes it: "cpu=4,memory=8Gi,nvidia.com/gpu=2".
 *
 * cpu and memory replace what the machine has; every other name is a resource it has besides.
 */
#include "base/error.h"
#include "node/machine/amount.h"

enum { MACHINE_RESOURCES_TEXT_MAX = 512 };

struct machine_resources {
    int64_t cpu_milli, memory_bytes; /* 0 = what the machine has */
    struct resource_names extras;    /* into `text` */
    int64_t extra[AMOUNT_EXTRA];
    char text[MACHINE_RESOURCES_TEXT_MAX]; /* private; a copy of the struct must not outlive it */
};

/** INVALID with the part that is wrong. NULL and "" say nothing. */
bool machine_resources_parse(const char *text, struct machine_resources *out, struct error *err);
