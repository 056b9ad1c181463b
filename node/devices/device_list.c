/*
 * Puts together what is found on the machine and what a file describes.
 */
#include <string.h>

#include "node/devices/internal.h"

static const char *const gpu_variables[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};

struct device_resource *device_list_find(const struct device_list *list, const char *name)
{
    for (size_t i = 0; i < list->resources.count; i++)
        if (strcmp(list->resources.items[i].name, name) == 0)
            return &list->resources.items[i];
    return NULL;
}

static void add_unless_described(struct device_list *list, const struct device_list *found)
{
    for (size_t i = 0; i < found->resources.count; i++)
        if (!device_list_find(list, found->resources.items[i].name))
            list->resources.items[list->resources.count++] = found->resources.items[i];
}

/* The variables of GPUs are known, so that a file need not name them. */
static void default_variables(struct device_list *list)
{
    struct device_resource *gpu = device_list_find(list, DEVICE_GPU);
    const char **items;

    if (!gpu || gpu->env.count)
        return;
    items = arena_array(list->arena, countof(gpu_variables), sizeof *items);
    memcpy(items, gpu_variables, sizeof gpu_variables);
    gpu->env = (struct str_list){items, countof(gpu_variables)};
}

static bool check_count(const struct device_list *list, struct error *err)
{
    if (list->resources.count <= DEVICE_RESOURCES_MAX)
        return true;
    return error_set(err, ERR_INVALID, "", "there may be %d named resources at most, here are %zu",
                     DEVICE_RESOURCES_MAX, list->resources.count);
}

bool device_list_read(struct device_list *out, const struct device_sources *sources,
                      struct error *err)
{
    struct arena *arena = arena_new(0);
    struct device_list described = {.arena = arena}, found = {.arena = arena};

    *out = (struct device_list){.arena = arena};
    if (sources->file && !device_file_read(&described, sources->file, arena, err)) {
        device_list_release(out);
        return false;
    }
    if (sources->gpus_path)
        device_gpus_find(&found, sources->gpus_path, sources->visible);
    out->resources.items = arena_array(arena, described.resources.count + found.resources.count + 1,
                                       sizeof *out->resources.items);
    add_unless_described(out, &described);
    add_unless_described(out, &found);
    default_variables(out);
    if (check_count(out, err))
        return true;
    device_list_release(out);
    return false;
}

void device_list_release(struct device_list *list)
{
    if (list->arena)
        arena_free(list->arena);
    *list = (struct device_list){0};
}
