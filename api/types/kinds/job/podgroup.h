#pragma once
/*
 * PodGroup and Queue (scheduling.volcano.sh/v1beta1), PriorityClass. Ref: spec/job.md 2.4, 2.5, 15.
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
    json_t *network_topology, *sub_group_policy; /* or NULL */
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
const struct podgroup_spec *podgroup_spec_of(const struct object *group);
const struct podgroup_status *podgroup_status_of(const struct object *group);
/** What the group waits for, by its last condition; NULL when it does not. Borrowed. */
const char *podgroup_waits_for(const struct object *group);
struct blob *podgroup_spec_blob(
    const struct podgroup_spec *spec); /* a body, interned, decoded copy attached, admitted */
struct blob *podgroup_status_blob(const struct podgroup_status *status);

struct queue_spec {
    int32_t weight, priority;
    struct str_map capability, deserved, guarantee;
    int8_t reclaimable; /* -1 absent */
    const char *parent, *dequeue_strategy;
    struct {
        const char **items; /* names */
        size_t count;
    } clusters; /* extendClusters */
};
const struct queue_spec *queue_spec_of(const struct object *queue);
const char *queue_state_of(const struct object *queue); /* "Open", "Closed", …; "" without status */
int32_t priority_class_value_of(const struct object *priority_class);
/** Whether pods of the class may push out others: preemptionPolicy is not Never. */
bool priority_class_preempts(const struct object *priority_class);
