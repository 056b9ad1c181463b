#pragma once
/*
 * Describes this machine and writes its Node object.
 */
#include "api/cluster.h"
#include "node/devices/device_list.h"
#include "node/machine/amount.h"
#include "node/runtime/runtime.h"

enum { MACHINE_LABELS = 3, MACHINE_TEXT_MAX = 256 };

struct machine {
    char name[MACHINE_TEXT_MAX];
    char boot_id[64]; /* boot id of the machine; "sim" if simulated */
    char kernel[MACHINE_TEXT_MAX], os_image[MACHINE_TEXT_MAX], machine_id[64];
    struct amount capacity, allocatable;
    struct resource_names extras;
    const struct device_list *devices; /* devices behind some of `extras`; borrowed; NULL: none */
    struct kv labels[MACHINE_LABELS];  /* labels of the machine; their strings are in this struct or
                                       * constant */
    bool sim;
};

struct machine_options {
    const char *name; /* name of the Node; NULL: the host name, converted to a DNS name */
    int64_t max_pods, cpu_milli, memory_bytes; /* amounts that pods may use; 0: all of the
                                                * machine */
    struct resource_names extras;              /* names of further resources; borrowed */
    int64_t extra[AMOUNT_EXTRA];               /* amount of each of `extras` */
    const struct device_list *devices;         /* devices behind some of `extras`; NULL: none */
    bool sim;
};

/** Reads names, labels, capacity and boot id of this machine. */
void machine_read(struct machine *machine, const struct machine_options *options);

/** Returns true if the machine was rebooted after the stored Node object of this name was written.
 */
bool machine_restarted(struct cluster *cluster, const struct machine *machine);
/** Refuses a store with a Node of the other kind: a simulation must never continue real pods, nor a
 * real node simulated ones. Returns false with CONFLICT. */
bool machine_check_directory(struct cluster *cluster, const struct machine *machine,
                             struct error *err);

/**
 * Creates or updates the Node object. `runtime` names how pods run here; `capabilities` (borrowed;
 * NULL if simulated) are what pods get. Writes that depend on machine_restarted must precede this
 * call, because it stores the new boot id.
 */
struct machine_writer;
struct machine_writer *machine_write(struct cluster *cluster, const struct machine *machine,
                                     const char *runtime,
                                     const struct runtime_capabilities *capabilities);
/** Does not wait for writes; NULL is ignored. */
void machine_writer_free(struct machine_writer *writer);
