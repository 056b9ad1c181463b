#pragma once
/*
 * PodGroup (scheduling.volcano.sh/v1beta1): a group of pods that the scheduler places together,
 * with the queue it waits in. Also the network topology, which Jobs and PodGroups have in the same
 * form.
 *
 * A PodGroup has no status subresource. Spec and status are decoded and written separately.
 * Ref: spec/job.md 2.4, 15.
 */
#include "api/types/object.h"
#include "api/types/schema/schema.h"

/* clang-format off */
#define PODGROUP_PHASES(X)    \
    X(NONE,      "")          \
    X(PENDING,   "Pending")   \
    X(INQUEUE,   "Inqueue")   \
    X(RUNNING,   "Running")   \
    X(UNKNOWN,   "Unknown")   \
    X(COMPLETED, "Completed")
/* clang-format on */
#define PODGROUP_ENUM(name, text) PODGROUP_##name,
enum podgroup_phase { PODGROUP_PHASES(PODGROUP_ENUM) PODGROUP_PHASE_N };
#undef PODGROUP_ENUM

struct podgroup_condition {
    const char *type, *status, *reason, *message;
    int64_t at_ms;
};
struct task_minimum {
    const char *key;
    int32_t value;
};

struct podgroup_spec {
    int32_t min_member;
    struct {
        struct task_minimum *items;
        size_t count;
    } min_task_member;
    const char *queue, *priority_class;
    struct str_map min_resources;
    bool has_min_resources;
    json_t *network_topology, *sub_group_policy; /* topology and policy of sub-groups; NULL: none */
};
struct podgroup_status {
    enum podgroup_phase phase;
    int32_t running, succeeded, failed;
    struct {
        struct podgroup_condition *items;
        size_t count;
    } conditions;
};

const char *podgroup_phase_text(enum podgroup_phase phase);

/** Returns the decoded spec and status, borrowed from the object's blobs. The status is zeroed when
 * the object has none. */
const struct podgroup_spec *podgroup_spec_of(const struct object *group);
const struct podgroup_status *podgroup_status_of(const struct object *group);

/** Returns the message of the last condition when it is Unschedulable; otherwise NULL. Borrowed. */
const char *podgroup_waits_for(const struct object *group);

/** Writes a body with this spec. The blob is interned, marked as admitted and has a decoded copy
 * attached, so that it is not parsed again. Owned by the caller. */
struct blob *podgroup_spec_blob(const struct podgroup_spec *spec);
/** Writes a status with a decoded copy attached. Owned by the caller. */
struct blob *podgroup_status_blob(const struct podgroup_status *status);

/** Field table of a NetworkTopologySpec. */
extern const struct schema network_topology_schema;
/** V3, V11: checks that a NetworkTopologySpec (or NULL) names its highest tier by number or by
 * name, not both. */
void network_topology_check(const json_t *topology, const char *path, struct error_list *errors);
