/*
 * The kind Queue: field tables and decoded forms. Its admission is in queue_admission.c.
 * Ref: spec/job.md 2.5.
 */
#include "api/types/kinds/scheduling/queue.h"

#include "api/types/decoded.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/scheduling/internal.h"
#include "api/types/limits.h"

#define QUEUE(member) offsetof(struct queue_spec, member)

/* clang-format off */
static const char *const strategy_values[] = {"fifo", "traverse", "", NULL};

static const struct field guarantee_fields[] = {
    {"resource", FIELD_QUANTITY_MAP, 0, .doc = "Resources that no other queue may use."},
    {0},
};
static const struct schema guarantee_schema = {"Guarantee", guarantee_fields, sizeof(struct str_map)};

static const struct field cluster_fields[] = {
    {"name",     FIELD_STR,          0,          .doc = "Name of the other cluster."},
    {"weight",   FIELD_I32,          FIELD_PASS, .doc = "Share of the other cluster."},
    {"capacity", FIELD_QUANTITY_MAP, FIELD_PASS, .doc = "Resources of the other cluster."},
    {0},
};
static const struct schema cluster_schema = {"Cluster", cluster_fields, sizeof(const char *)};

static const struct field node_group_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_STR_LIST, FIELD_PASS, .doc = "Node groups that the rule requires."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_STR_LIST, FIELD_PASS, .doc = "Node groups that the rule prefers."},
    {0},
};
static const struct schema node_group_schema = {"NodeGroupAffinity", node_group_fields};

static const struct field affinity_fields[] = {
    {"nodeGroupAffinity",     FIELD_OBJECT, FIELD_PASS, &node_group_schema, .doc = "Node groups that the queue uses."},
    {"nodeGroupAntiAffinity", FIELD_OBJECT, FIELD_PASS, &node_group_schema, .doc = "Node groups that the queue avoids."},
    {0},
};
static const struct schema queue_affinity_schema = {"Affinity", affinity_fields};

static const struct field spec_fields[] = {
    {"weight",          FIELD_I32,          QUEUE(weight), BOUNDS(1, 65535), .default_json = "1", .zero_is_absent = true,
     .doc = "Share of the cluster in proportion to other queues; 0 becomes 1."},
    {"capability",      FIELD_QUANTITY_MAP, QUEUE(capability), .doc = "Largest amounts of resources that the queue may use."},
    {"deserved",        FIELD_QUANTITY_MAP, QUEUE(deserved), .doc = "Amounts of resources that the queue can reclaim from other queues."},
    {"guarantee",       FIELD_INLINE,       QUEUE(guarantee), &guarantee_schema, .doc = "Resources that are reserved for the queue."},
    {"reclaimable",     FIELD_OPT_BOOL,     QUEUE(reclaimable), .doc = "Says whether other queues may reclaim resources from this queue."},
    {"extendClusters",  FIELD_LIST,         QUEUE(clusters), &cluster_schema, .doc = "Clusters that jobs are forwarded to."},
    {"affinity",        FIELD_OBJECT,       FIELD_PASS, &queue_affinity_schema, .doc = "Node groups of the queue."},
    {"type",            FIELD_STR,          FIELD_PASS, .max_length = NAME_BYTES_MAX, .doc = "Text that classifies the queue; not used."},
    {"parent",          FIELD_STR,          QUEUE(parent), .max_length = NAME_BYTES_MAX, .check = name_is_empty_or_subdomain,
     .doc = "Queue above this one; root when absent."},
    {"priority",        FIELD_I32,          QUEUE(priority), NOT_NEGATIVE, .doc = "Priority among queues. Higher values go first."},
    {"dequeueStrategy", FIELD_STR,          QUEUE(dequeue_strategy), .one_of = strategy_values, .default_json = "\"traverse\"",
     .doc = "Says whether a job that does not fit blocks the jobs behind it (fifo) or not (traverse)."},
    {0},
};
static const struct schema spec_schema = {"QueueSpec", spec_fields, sizeof(struct queue_spec)};

static const struct field reservation_fields[] = {
    {"nodes",    FIELD_STR_LIST,     FIELD_PASS, .doc = "Nodes that are reserved for the queue."},
    {"resource", FIELD_QUANTITY_MAP, FIELD_PASS, .doc = "Resources that are reserved for the queue."},
    {0},
};
static const struct schema reservation_schema = {"Reservation", reservation_fields};

struct queue_status {
    const char *state;
    struct str_map allocated;
};
static const struct field status_fields[] = {
    {"state",       FIELD_STR,          offsetof(struct queue_status, state), .doc = "State of the queue: Open, Closed, Closing or Unknown."},
    {"unknown",     FIELD_I32,          FIELD_PASS, .doc = "Number of PodGroups in phase Unknown."},
    {"pending",     FIELD_I32,          FIELD_PASS, .doc = "Number of PodGroups in phase Pending."},
    {"running",     FIELD_I32,          FIELD_PASS, .doc = "Number of PodGroups in phase Running."},
    {"inqueue",     FIELD_I32,          FIELD_PASS, .doc = "Number of PodGroups in phase Inqueue."},
    {"completed",   FIELD_I32,          FIELD_PASS, .doc = "Number of PodGroups in phase Completed."},
    {"reservation", FIELD_OBJECT,       FIELD_PASS, &reservation_schema, .doc = "Nodes and resources that are reserved for the queue."},
    {"allocated",   FIELD_QUANTITY_MAP, offsetof(struct queue_status, allocated), .doc = "Resources that the queue's PodGroups use, including reservations."},
    {0},
};
static const struct schema status_schema = {"QueueStatus", status_fields, sizeof(struct queue_status)};

static const struct field queue_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &spec_schema, .doc = "Share and limits of the queue."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .doc = "State of the queue and the resources that it uses."},
    {0},
};
static const struct schema queue_schema = {"Queue", queue_fields, .doc = "A share of the cluster in which pod groups wait for capacity."};

static const struct column columns[] = {
    {"PARENT", "string", "spec.parent", 0, "Queue above this one."},
    {0},
};
/* clang-format on */

static const struct decoded_type spec_type = {.member = "spec", .schema = &spec_schema};
static const struct decoded_type status_type = {.schema = &status_schema};

const struct queue_spec *queue_spec_of(const struct object *queue)
{
    return decoded_of(queue->body, &spec_type);
}

const char *queue_state_of(const struct object *queue)
{
    const struct queue_status *status =
        queue->status ? decoded_of(queue->status, &status_type) : NULL;

    return status && status->state ? status->state : "";
}

const struct str_map *queue_allocated_of(const struct object *queue)
{
    static const struct str_map nothing;
    const struct queue_status *status =
        queue->status ? decoded_of(queue->status, &status_type) : NULL;

    return status ? &status->allocated : &nothing;
}

static const char *const short_names[] = {"q", "queue-v1beta1", NULL};

const struct kind kind_queue = {
    .id = KIND_QUEUE,
    .group = "scheduling.volcano.sh",
    .version = "v1beta1",
    .name = "Queue",
    .plural = "queues",
    .singular = "queue",
    .short_names = short_names,
    .has_status = true,
    .few = true,
    .schema = &queue_schema,
    .mutate = queue_mutate,
    .mutate_meta = queue_mutate_meta,
    .validate = queue_validate,
    .validate_in_context = queue_validate_in_context,
    .context_always = true,
    .validate_delete = queue_validate_delete,
    .columns = columns,
};
