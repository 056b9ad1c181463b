#pragma once
/*
 * The devices of a machine that pods request by the name of a resource, such as nvidia.com/gpu:
 * their ids, and the variables that tell a program which of them are its own. GPUs are found; a file
 * describes others. Ref: spec/everyday.md 15.
 */
#include "api/types/schema/schema.h"
#include "base/collections/arena.h"
#include "base/error.h"
#include "base/scoped.h"

enum { DEVICE_RESOURCES_MAX = 3, DEVICE_IDS_MAX = 256, DEVICE_VARIABLES_MAX = 8 };

#define DEVICE_GPU       "nvidia.com/gpu"
#define DEVICE_GPUS_PATH "/proc/driver/nvidia/gpus"

struct device_resource {
    const char *name;    /* name of the resource */
    struct str_list ids; /* ids in the order in which they are given out */
    struct str_list env; /* variables that hold the ids of a container */
};

struct device_list {
    struct {
        struct device_resource *items;
        size_t count;
    } resources;         /* at most DEVICE_RESOURCES_MAX, each name once */
    struct arena *arena; /* owns all texts and arrays; NULL: the list is empty */
};

/* Where devices are looked for. */
struct device_sources {
    const char *gpus_path; /* folder in which the driver has one folder for each GPU; NULL: none are
                            * looked for */
    const char *visible;   /* CUDA_VISIBLE_DEVICES of this process; NULL: it is not set */
    const char *file;      /* file that describes devices; NULL: none */
};

/** Fills `out` with the devices of the machine; a resource of the file replaces the one that is
 * found. Returns false, with an empty list, when the file is wrong; the message of `err` begins with
 * its name and, if it is known, the line. */
bool device_list_read(struct device_list *out, const struct device_sources *sources,
                      struct error *err);
void device_list_release(struct device_list *list);
SCOPED_DEFINE(device_list, struct device_list, device_list_release)

/** Returns the resource with this name, or NULL. Borrowed. */
struct device_resource *device_list_find(const struct device_list *list, const char *name);
