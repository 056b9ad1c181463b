/*
 * Finds NVIDIA GPUs by the folders of their driver, without its libraries.
 *
 * The folders are named by PCI addresses. In the order of these names the GPUs have the indices that
 * nvidia-smi shows, and that CUDA uses with CUDA_DEVICE_ORDER=PCI_BUS_ID. CUDA_VISIBLE_DEVICES of
 * this process is read as CUDA reads it: the first entry that means nothing ends the list.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/devices/internal.h"

static int is_gpu(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t count_gpus(const char *path)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_gpu, NULL);

    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    if (n <= 0)
        return 0;
    return (size_t)n < DEVICE_IDS_MAX ? (size_t)n : DEVICE_IDS_MAX;
}

static bool contains(const struct str_list *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->items[i], id) == 0)
            return true;
    return false;
}

static bool is_uuid(const char *entry)
{
    return strncmp(entry, "GPU-", 4) == 0 || strncmp(entry, "MIG-", 4) == 0;
}

/* Returns the id that an entry of CUDA_VISIBLE_DEVICES means, or NULL. The result is `entry` or is
 * in the arena. */
static const char *meaning(char *entry, size_t gpus, struct arena *arena)
{
    char *end, text[24];
    unsigned long index;

    if (is_uuid(entry))
        return entry;
    if (*entry < '0' || *entry > '9')
        return NULL;
    index = strtoul(entry, &end, 10);
    if (*end || index >= gpus)
        return NULL;
    snprintf(text, sizeof text, "%lu", index);
    return arena_strdup(arena, text);
}

static void take_visible(struct str_list *ids, const char *visible, size_t gpus,
                         struct arena *arena)
{
    char *rest = arena_strdup(arena, visible);

    while (rest && ids->count < DEVICE_IDS_MAX) {
        char *entry = strsep(&rest, ",");
        const char *id;

        entry += strspn(entry, " ");
        entry[strcspn(entry, " ")] = '\0';
        id = meaning(entry, gpus, arena);
        if (!id || contains(ids, id))
            return;
        ids->items[ids->count++] = id;
    }
}

static void take_all(struct str_list *ids, size_t gpus, struct arena *arena)
{
    char text[24];

    for (size_t i = 0; i < gpus; i++) {
        snprintf(text, sizeof text, "%zu", i);
        ids->items[ids->count++] = arena_strdup(arena, text);
    }
}

void device_gpus_find(struct device_list *list, const char *gpus_path, const char *visible)
{
    size_t gpus = count_gpus(gpus_path);
    struct device_resource *gpu;

    if (!gpus)
        return;
    gpu = arena_array(list->arena, 1, sizeof *gpu);
    *gpu = (struct device_resource){.name = DEVICE_GPU};
    gpu->ids.items = arena_array(list->arena, DEVICE_IDS_MAX, sizeof *gpu->ids.items);
    if (visible)
        take_visible(&gpu->ids, visible, gpus, list->arena);
    else
        take_all(&gpu->ids, gpus, list->arena);
    list->resources.items = gpu;
    list->resources.count = gpu->ids.count ? 1 : 0;
}
