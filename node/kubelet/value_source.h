#pragma once
/*
 * Where the values of a pod's environment and volumes come from: ConfigMaps, Secrets, fields of the
 * pod itself, resources of its containers.
 *
 * Resolving ends in one of three ways. WAIT names the object whose appearance or change may help:
 * the pod is held in CreateContainerConfigError until then. NEVER is a fault of the pod itself.
 */
#include "api/cluster.h"
#include "api/types/kinds/pod/pod.h"
#include "base/arena.h"
#include "node/machine/host_names.h"

enum resolve_result { RESOLVED, RESOLVE_WAIT, RESOLVE_INVALID };

struct resolve_problem {
    const struct kind *kind; /* WAIT: what is missed, */
    char name[256];          /* in the pod's namespace */
    const char *reason;      /* NEVER: a constant */
    char message[ERROR_MESSAGE_MAX];
};

/* What the look-ups of one pod need. Results live in the arena; the rest is borrowed. */
struct value_source {
    struct cluster *cluster;
    struct arena *arena;
    const struct object *pod;
    const struct pod_spec *spec;
    const char *pod_ip, *host_ip, *node_name;
    int64_t cpu_milli, memory_bytes; /* of the node: limits that are not set */
    const struct host_names *names;  /* that become addresses; NULL = none do */
    const struct services *services; /* it is told of (services.h); NULL = of none */
    struct resolve_problem *problem; /* written when the verdict is not OK */
};

struct value_item {
    const char *key;
    const char *bytes; /* NUL-terminated after `len` */
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

/** A text for the pod: with addresses for names where that is how it is told of others. */
const char *value_hosts_as_addresses(const struct value_source *source, const char *text);

/* Variables are made of texts alone: no binaryData. */
enum value_part { VALUE_ALL, VALUE_TEXTS };

/** The data of a ConfigMap or Secret, decoded; all keys, or `only_key`. False: no such object. */
bool value_data(const struct value_source *source, const struct kind *kind, const char *name,
                enum value_part part, const char *only_key, struct value_items *out);

/** A `fieldRef` path; NULL when the path is none we know. */
const char *value_field(const struct value_source *source, const char *path);
/** A `resourceFieldRef`; `container` is meant where it names none. NULL when it is not understood.
 */
const char *value_resource(const struct value_source *source, const json_t *ref,
                           const struct pod_container *container);

/* Members of documents admission has checked. */
bool value_flag(const json_t *doc, const char *member); /* false when absent */
int value_mode(const json_t *doc, const char *member, int otherwise);
