#pragma once
/*
 * This machine as a Node object: what it is, what of it pods may use, whether it was restarted.
 */
#include "api/cluster.h"
#include "node/machine/amount.h"
#include "node/runtime/runtime.h"

enum { MACHINE_LABELS = 3, MACHINE_TEXT_MAX = 256 };

struct machine {
    char name[MACHINE_TEXT_MAX];
    char boot_id[64]; /* "sim" for a simulated one */
    char kernel[MACHINE_TEXT_MAX], os_image[MACHINE_TEXT_MAX], machine_id[64];
    struct amount capacity, allocatable;
    struct resource_names extras;
    struct kv labels[MACHINE_LABELS]; /* into this struct or constants */
    bool sim;
};

struct machine_options {
    const char *name;                          /* NULL = the host name, made a DNS name */
    int64_t max_pods, cpu_milli, memory_bytes; /* allocatable; 0 = all there is */
    struct resource_names extras;              /* borrowed */
    int64_t extra[AMOUNT_EXTRA];               /* how many of each */
    bool sim;
};

void machine_read(struct machine *machine, const struct machine_options *options);

/** Whether the stored Node of this name was written before the machine was started. */
bool machine_restarted(struct cluster *cluster, const struct machine *machine);

/**
 * Create or update the Node object; `runtime` says how pods run here, `capabilities` (borrowed; NULL =
 * simulated) what they get. Whatever depends on
 * machine_restarted must have been written before: the new boot id lies behind it in the log.
 */
struct machine_writer;
struct machine_writer *machine_write(struct cluster *cluster, const struct machine *machine,
                                     const char *runtime,
                                     const struct runtime_capabilities *capabilities);
void machine_writer_free(struct machine_writer *writer); /* waits for nothing; NULL is fine */
