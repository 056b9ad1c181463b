#pragma once
/*
 * Which devices pods have. A device has one pod at a time; only pods of a previous run whose
 * statuses name the same device share it until both have ended.
 *
 * The devices of a pod are one list for each resource. A container has a part of it: regular
 * containers and sidecars have different devices, init containers those that regular containers get
 * afterwards.
 */
#include "api/types/kinds/pod/pod.h"
#include "node/devices/device_list.h"

struct device_pool;
struct device_grant; /* the devices of one pod */

/** Borrows the list, which does not change any more. Owned. */
struct device_pool *device_pool_new(const struct device_list *list);
void device_pool_free(struct device_pool *pool);

/** Returns whether the pod requests a device. */
bool device_pool_concerns(const struct device_pool *pool, const struct pod_spec *spec);
/** Gives the pod the first free devices of each resource that it requests. Returns NULL, and takes
 * nothing, when there are not enough of one. Owned by the caller until device_pool_give_back. */
struct device_grant *device_pool_take(struct device_pool *pool, const struct pod_spec *spec);
/** Returns the devices that the status of a running pod names, which the pod has from now on; NULL
 * when it names none. Ids that the list does not have are kept and shown, and belong to nobody. */
struct device_grant *device_pool_restore(struct device_pool *pool, const struct pod_spec *spec,
                                         const struct pod_status *status);
/** Frees the grant. NULL is ignored. */
void device_pool_give_back(struct device_pool *pool, struct device_grant *grant);

/** Returns the ids of the container's devices as in struct container_status; NULL when it has none.
 * Lives in the arena. `grant` may be NULL. */
const char *device_grant_text(const struct device_pool *pool, const struct device_grant *grant,
                              const struct pod_spec *spec, const struct pod_container *container,
                              struct arena *arena);

/* A variable is defined before those of the container, which replace it, or after them. */
enum device_rank { DEVICE_BELOW_CONTAINER, DEVICE_ABOVE_CONTAINER };

/** Calls `define` for each variable of that rank which tells the container's programs what devices
 * they have. Values live in the arena. */
void device_variables(const struct device_pool *pool, const struct device_grant *grant,
                      const struct pod_spec *spec, const struct pod_container *container,
                      enum device_rank rank, struct arena *arena,
                      void (*define)(void *ctx, const char *name, const char *value), void *ctx);
