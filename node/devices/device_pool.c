/*
 * Gives out devices, and reads what pods of a previous run have.
 */
#include "node/devices/device_pool.h"

#include <string.h>

#include "base/mem.h"

struct device_pool {
    const struct device_list *list;
    unsigned holders[DEVICE_RESOURCES_MAX]
                    [DEVICE_IDS_MAX]; /* number of pods that have the device */
};

/* The devices of a pod of one resource. */
struct granted {
    size_t count;
    char **ids; /* owned; NULL: no container has had this part */
};
struct device_grant {
    struct granted resources[DEVICE_RESOURCES_MAX]; /* by index in the list */
};

struct device_pool *device_pool_new(const struct device_list *list)
{
    struct device_pool *pool = mem_alloc(sizeof *pool);

    pool->list = list;
    return pool;
}

void device_pool_free(struct device_pool *pool)
{
    mem_free(pool);
}

static const struct device_resource *resource_at(const struct device_pool *pool, size_t i)
{
    return &pool->list->resources.items[i];
}

static size_t resource_count(const struct device_pool *pool)
{
    return pool->list->resources.count;
}

bool device_pool_concerns(const struct device_pool *pool, const struct pod_spec *spec)
{
    for (size_t i = 0; i < resource_count(pool); i++)
        if (pod_spec_request(spec, resource_at(pool, i)->name) > 0)
            return true;
    return false;
}

static size_t free_devices(const struct device_pool *pool, size_t resource)
{
    size_t n = 0;

    for (size_t i = 0; i < resource_at(pool, resource)->ids.count; i++)
        n += !pool->holders[resource][i];
    return n;
}

static void take_first(struct device_pool *pool, size_t resource, size_t count, struct granted *out)
{
    const struct str_list *ids = &resource_at(pool, resource)->ids;

    out->ids = mem_array(count + 1, sizeof *out->ids);
    for (size_t i = 0; i < ids->count && out->count < count; i++) {
        if (pool->holders[resource][i])
            continue;
        pool->holders[resource][i]++;
        out->ids[out->count++] = mem_strdup(ids->items[i]);
    }
}

struct device_grant *device_pool_take(struct device_pool *pool, const struct pod_spec *spec)
{
    struct device_grant *grant;

    for (size_t i = 0; i < resource_count(pool); i++)
        if (pod_spec_request(spec, resource_at(pool, i)->name) > (int64_t)free_devices(pool, i))
            return NULL;
    grant = mem_alloc(sizeof *grant);
    for (size_t i = 0; i < resource_count(pool); i++)
        take_first(pool, i, (size_t)pod_spec_request(spec, resource_at(pool, i)->name),
                   &grant->resources[i]);
    return grant;
}

/* Finds the part of the pod's devices that the container has. Returns its size, which is 0 outside
 * of the grant. */
static size_t part_of(const struct granted *granted, const struct pod_spec *spec,
                      const struct pod_container *container, const char *name, size_t *out_from)
{
    int64_t before, share = pod_container_share(spec, container, name, &before);
    int64_t count = (int64_t)granted->count;

    if (share <= 0 || before >= count)
        return 0;
    *out_from = (size_t)before;
    return (size_t)(share < count - before ? share : count - before);
}

/* Returns the ids of a resource in a text of struct container_status, and how long they are; NULL
 * when it has none. */
static const char *ids_in(const char *devices, const char *name, size_t *out_len)
{
    size_t len = strlen(name);

    while (devices) {
        const char *next = strchr(devices, ';');

        if (strncmp(devices, name, len) == 0 && devices[len] == '=') {
            *out_len = strcspn(devices + len + 1, ";");
            return devices + len + 1;
        }
        devices = next ? next + 1 : NULL;
    }
    return NULL;
}

static void hold(struct device_pool *pool, size_t resource, const char *id, int change)
{
    const struct str_list *ids = &resource_at(pool, resource)->ids;

    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->items[i], id) == 0)
            pool->holders[resource][i] += (unsigned)change;
}

/* Puts the ids that a container has into the part of the grant that belongs to it. */
static void restore_part(struct device_pool *pool, size_t resource, struct granted *granted,
                         size_t from, size_t count, const char *ids, size_t len)
{
    const char *end = ids + len;

    for (size_t i = from; i < from + count && ids < end; i++) {
        size_t id = strcspn(ids, ",;");

        if (!granted->ids[i]) {
            granted->ids[i] = mem_printf("%.*s", (int)id, ids);
            hold(pool, resource, granted->ids[i], 1);
        }
        ids += id + 1;
    }
}

static const struct container_status *status_of(const struct container_status *items, size_t n,
                                                const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].name && strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}

struct restore {
    struct device_pool *pool;
    const struct pod_spec *spec;
    struct device_grant *grant;
    bool any;
};

static void restore_container(struct restore *r, const struct pod_container *container,
                              const struct container_status *status)
{
    for (size_t i = 0; status && i < resource_count(r->pool); i++) {
        const char *name = resource_at(r->pool, i)->name;
        size_t len = 0, from = 0;
        const char *ids = ids_in(status->devices, name, &len);
        size_t count = part_of(&r->grant->resources[i], r->spec, container, name, &from);

        if (!ids || !count)
            continue;
        restore_part(r->pool, i, &r->grant->resources[i], from, count, ids, len);
        r->any = true;
    }
}

struct device_grant *device_pool_restore(struct device_pool *pool, const struct pod_spec *spec,
                                         const struct pod_status *status)
{
    struct restore r = {pool, spec, mem_alloc(sizeof *r.grant), false};

    for (size_t i = 0; i < resource_count(pool); i++) {
        int64_t count = pod_spec_request(spec, resource_at(pool, i)->name);
        struct granted *granted = &r.grant->resources[i];

        granted->count = count < 0 ? 0 : count < DEVICE_IDS_MAX ? (size_t)count : DEVICE_IDS_MAX;
        granted->ids = mem_array(granted->count + 1, sizeof *granted->ids);
    }
    for (size_t i = 0; i < spec->init_containers.count; i++)
        restore_container(&r, &spec->init_containers.items[i],
                          status_of(status->init_containers.items, status->init_containers.count,
                                    spec->init_containers.items[i].name));
    for (size_t i = 0; i < spec->containers.count; i++)
        restore_container(&r, &spec->containers.items[i],
                          status_of(status->containers.items, status->containers.count,
                                    spec->containers.items[i].name));
    if (r.any)
        return r.grant;
    device_pool_give_back(pool, r.grant);
    return NULL;
}

void device_pool_give_back(struct device_pool *pool, struct device_grant *grant)
{
    if (!grant)
        return;
    for (size_t i = 0; i < resource_count(pool); i++) {
        struct granted *granted = &grant->resources[i];

        for (size_t j = 0; j < granted->count; j++) {
            if (granted->ids[j])
                hold(pool, i, granted->ids[j], -1);
            mem_free(granted->ids[j]);
        }
        mem_free(granted->ids);
    }
    mem_free(grant);
}

/* Appends the ids of the container's devices of one resource, with commas. Returns whether it has
 * any. */
static bool write_ids(const struct device_pool *pool, const struct device_grant *grant,
                      const struct pod_spec *spec, const struct pod_container *container,
                      size_t resource, struct buf *out)
{
    const struct granted *granted = grant ? &grant->resources[resource] : NULL;
    const char *comma = "";
    size_t from = 0, count;

    count =
        granted ? part_of(granted, spec, container, resource_at(pool, resource)->name, &from) : 0;
    for (size_t i = from; i < from + count; i++) {
        if (!granted->ids[i])
            continue;
        buf_printf(out, "%s%s", comma, granted->ids[i]);
        comma = ",";
    }
    return *comma;
}

const char *device_grant_text(const struct device_pool *pool, const struct device_grant *grant,
                              const struct pod_spec *spec, const struct pod_container *container,
                              struct arena *arena)
{
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; grant && i < resource_count(pool); i++) {
        scoped(buf) struct buf ids = {0};

        if (write_ids(pool, grant, spec, container, i, &ids))
            buf_printf(&text, "%s%s=%s", text.len ? ";" : "", resource_at(pool, i)->name, ids.data);
    }
    return text.len ? arena_strdup(arena, text.data) : NULL;
}

/* The value of a variable for a container that has no device, which hides all of them. */
static const char *nothing(const char *variable)
{
    return strcmp(variable, "NVIDIA_VISIBLE_DEVICES") == 0 ? "void" : "";
}

void device_variables(const struct device_pool *pool, const struct device_grant *grant,
                      const struct pod_spec *spec, const struct pod_container *container,
                      enum device_rank rank, struct arena *arena,
                      void (*define)(void *ctx, const char *name, const char *value), void *ctx)
{
    for (size_t i = 0; i < resource_count(pool); i++) {
        const struct device_resource *resource = resource_at(pool, i);
        scoped(buf) struct buf ids = {0};
        bool has = write_ids(pool, grant, spec, container, i, &ids);
        const char *value = has ? arena_strdup(arena, ids.data) : NULL;

        if (has && rank == DEVICE_BELOW_CONTAINER && strcmp(resource->name, DEVICE_GPU) == 0)
            define(ctx, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
        if (has != (rank == DEVICE_ABOVE_CONTAINER))
            continue;
        for (size_t j = 0; j < resource->env.count; j++)
            define(ctx, resource->env.items[j], has ? value : nothing(resource->env.items[j]));
    }
}
