#pragma once
/*
 * Look-up of the values that a pod's environment and volumes refer to: ConfigMaps, Secrets, fields
 * of the pod itself, resources of its containers.
 */
#include "api/cluster.h"
#include "api/types/kinds/pod/pod.h"
#include "node/devices/device_pool.h"
#include "node/machine/host_names.h"

/* The results of a look-up. WAIT: an object or a key is missing; the pod waits in
 * CreateContainerConfigError until the object is created or changed. INVALID: the pod itself is
 * wrong, and fails. */
enum resolve_result { RESOLVED, RESOLVE_WAIT, RESOLVE_INVALID };

struct resolve_problem {
    const struct kind *kind; /* WAIT: kind of the missing object */
    char name[256];          /* WAIT: name of the missing object, in the pod's namespace */
    const char *reason;      /* INVALID: reason, a constant */
    char message[ERROR_MESSAGE_MAX];
};

/* The inputs of all look-ups for one pod. Results live in the arena; the rest is borrowed. */
struct value_source {
    struct cluster *cluster;
    struct arena *arena;
    const struct object *pod;
    const struct pod_spec *spec;
    const char *pod_ip, *host_ip, *node_name;
    int64_t cpu_milli, memory_bytes; /* capacity of the node, which is the value of limits that are
                                      * not set */
    const struct host_names *names;  /* host names to be replaced by addresses; NULL = none */
    const struct services *services; /* Services that the pod's variables describe (services.h);
                                      * NULL = none */
    const struct str_map *environment;         /* variables of all containers; NULL = none */
    const struct device_pool *devices;         /* devices of the node; NULL = none */
    const struct device_grant *devices_of_pod; /* those that the pod has; NULL = none */
    struct resolve_problem *problem;           /* written when the result is not RESOLVED */
};

struct value_item {
    const char *key;
    const char *bytes; /* the `len` bytes of the value, followed by a NUL */
    size_t len;
};
struct value_items {
    struct value_item *items;
    size_t count;
};

enum resolve_result resolve_wait(const struct value_source *source, const struct kind *kind,
                                 const char *name, const char *format, ...) PRINTF_LIKE(4, 5);
enum resolve_result resolve_invalid(const struct value_source *source, const char *reason,
                                    const char *format, ...) PRINTF_LIKE(3, 4);

/** Returns `text` with host names replaced by addresses, if the pod gets addresses instead of
 * names; else `text` itself. */
const char *value_hosts_as_addresses(const struct value_source *source, const char *text);

/* The values of a ConfigMap that are asked for. VALUE_TEXTS leaves out binaryData, which cannot be
 * in a variable. */
enum value_part { VALUE_ALL, VALUE_TEXTS };

/** Decodes the data of a ConfigMap or Secret: all keys, or `only_key`. Returns false when there is
 * no such object. */
bool value_data(const struct value_source *source, const struct kind *kind, const char *name,
                enum value_part part, const char *only_key, struct value_items *out);

/** Returns the value of a `fieldRef` path; NULL when the path is not supported. */
const char *value_field(const struct value_source *source, const char *path);
/** Returns the value of a `resourceFieldRef`. It applies to `container` when it names no container.
 * Returns NULL when the resource is not supported. */
const char *value_resource(const struct value_source *source, const json_t *ref,
                           const struct pod_container *container);

/* The next two functions read members of documents that admission has checked. */
bool value_flag(const json_t *doc, const char *member); /* an absent member is false */
int value_mode(const json_t *doc, const char *member, int otherwise);
