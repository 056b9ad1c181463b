/*
 * The kind PodGroup: field tables, decoded forms, writers and admission.
 *
 * It has no status subresource: one write may change spec and status. Ref: spec/job.md 2.4, 4.6.
 */
#include "api/types/kinds/scheduling/podgroup.h"

#include <assert.h>

#include "api/types/arenacopy.h"
#include "api/types/checks.h"
#include "api/types/decoded.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/scheduling/queue.h"
#include "api/types/limits.h"
#include "api/types/schema/enum_text.h"

#define SPEC(member)      offsetof(struct podgroup_spec, member)
#define STATUS(member)    offsetof(struct podgroup_status, member)
#define CONDITION(member) offsetof(struct podgroup_condition, member)

/* clang-format off */
static const char *const phase_texts[] = {PODGROUP_PHASES(ENUM_TEXT)};
static const char *const phase_values[] = {PODGROUP_PHASES(ENUM_TEXT) NULL};
static const char *const topology_mode_values[] = {"hard", "soft", NULL};

static const struct field network_topology_fields[] = {
    {"mode",               FIELD_STR,     FIELD_PASS, .one_of = topology_mode_values, .default_json = "\"hard\"",
     .doc = "Says whether pods must stay within the tier (hard) or should, when possible (soft)."},
    {"highestTierAllowed", FIELD_OPT_I32, FIELD_PASS, NOT_NEGATIVE,
     .doc = "Number of the highest network tier that pods may cross. It excludes highestTierName."},
    {"highestTierName",    FIELD_STR,     FIELD_PASS, .max_length = NAME_BYTES_MAX,
     .doc = "Name of the highest network tier that pods may cross. It excludes highestTierAllowed."},
    {0},
};
const struct schema network_topology_schema = {"NetworkTopologySpec", network_topology_fields};

static const struct field sub_group_fields[] = {
    {"name",            FIELD_STR,      FIELD_PASS, .max_length = NAME_BYTES_MAX, .doc = "Name of the subgroup."},
    {"networkTopology", FIELD_OBJECT,   FIELD_PASS, &network_topology_schema, .doc = "Network topology of each subgroup."},
    {"subGroupSize",    FIELD_I32,      FIELD_PASS, BOUNDS(1, INT32_MAX), .default_json = "1", .doc = "Number of pods in one subgroup."},
    {"minSubGroups",    FIELD_I32,      FIELD_PASS, NOT_NEGATIVE, .default_json = "0", .doc = "Number of subgroups that must be able to start together."},
    {"labelSelector",   FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .doc = "Labels of the pods that the policy divides."},
    {"matchLabelKeys",  FIELD_STR_LIST, FIELD_PASS, .doc = "Labels by whose values pods are assigned to subgroups."},
    {0},
};
static const struct schema sub_group_schema = {"SubGroupPolicySpec", sub_group_fields};

static const struct field spec_fields[] = {
    {"minMember",         FIELD_I32,          SPEC(min_member), NOT_NEGATIVE, .doc = "Number of pods that must be placed together."},
    {"minTaskMember",     FIELD_MAP,          SPEC(min_task_member), .doc = "Number of pods of each task that must be placed together."},
    {"queue",             FIELD_STR,          SPEC(queue), .max_length = NAME_BYTES_MAX, .check = name_is_empty_or_subdomain,
     .default_json = "\"default\"", .doc = "Queue of the group."},
    {"priorityClassName", FIELD_STR,          SPEC(priority_class), .max_length = NAME_BYTES_MAX,
     .doc = "Priority class of the group."},
    {"minResources",      FIELD_QUANTITY_MAP, SPEC(min_resources), .doc = "Resources that minMember pods need."},
    {"networkTopology",   FIELD_OBJECT,       SPEC(network_topology), &network_topology_schema, .as_json = true,
     .doc = "Network distance within which the pods must be placed."},
    {"subGroupPolicy",    FIELD_LIST,         SPEC(sub_group_policy), &sub_group_schema, .as_json = true,
     .doc = "Division of the group's pods into subgroups."},
    {0},
};
static const struct schema spec_schema = {"PodGroupSpec", spec_fields, sizeof(struct podgroup_spec)};

static const struct field condition_fields[] = {
    {"type",               FIELD_STR,  CONDITION(type), .doc = "Type of the condition: Unschedulable or Scheduled."},
    {"status",             FIELD_STR,  CONDITION(status), .doc = "Status of the condition: True, False or Unknown."},
    {"transitionID",       FIELD_STR,  FIELD_PASS, .doc = "Identifier of the scheduling cycle."},
    {"lastTransitionTime", FIELD_TIME, CONDITION(at_ms), .doc = "Time when the status last changed."},
    {"reason",             FIELD_STR,  CONDITION(reason), .doc = "One-word reason in CamelCase for the last change."},
    {"message",            FIELD_STR,  CONDITION(message), .doc = "Text that explains the last change."},
    {0},
};
static const struct schema podgroup_condition_schema = {
    "PodGroupCondition", condition_fields, sizeof(struct podgroup_condition)};

static const struct field status_fields[] = {
    {"phase",      FIELD_STR,  FIELD_PASS, .one_of = phase_values, .doc = "Phase of the group."},
    {"conditions", FIELD_LIST, STATUS(conditions), &podgroup_condition_schema, .doc = "Conditions that explain the phase."},
    {"running",    FIELD_I32,  STATUS(running), NOT_NEGATIVE, .doc = "Number of running pods."},
    {"succeeded",  FIELD_I32,  STATUS(succeeded), NOT_NEGATIVE, .doc = "Number of pods that succeeded."},
    {"failed",     FIELD_I32,  STATUS(failed), NOT_NEGATIVE, .doc = "Number of pods that failed."},
    {0},
};
static const struct schema status_schema = {"PodGroupStatus", status_fields, sizeof(struct podgroup_status)};

static const struct field podgroup_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &spec_schema, .doc = "Number of pods that are placed together, and their queue."},
    {"status", FIELD_OBJECT, FIELD_PASS, &status_schema, .doc = "Scheduling state of the group."},
    {0},
};
static const struct schema podgroup_schema = {"PodGroup", podgroup_fields, .doc = "Pods that are scheduled together or not at all."};

static const struct column columns[] = {
    {"STATUS",    "string",  "status.phase",               0, "Phase of the group."},
    {"minMember", "integer", "spec.minMember",             0, "Number of pods that must be placed together."},
    {"RUNNINGS",  "integer", "status.running",             0, "Number of running pods."},
    {"AGE",       "date",    "metadata.creationTimestamp", 0, "Time since the group was created."},
    {"QUEUE",     "string",  "spec.queue",                 1, "Queue of the group."},
    {"REASON",    "string",  "status.conditions",          1, "Reason why the group waits."},
    {0},
};
/* clang-format on */

const char *podgroup_phase_text(enum podgroup_phase phase)
{
    return phase_texts[phase];
}

static bool phase_parse(const char *text, enum podgroup_phase *out)
{
    int found;

    if (!enum_find(phase_texts, PODGROUP_PHASE_N, text, &found))
        return false;
    *out = (enum podgroup_phase)found;
    return true;
}

/* FIELD_MAP decodes a map of numbers as pairs of key and JSON value. finish_spec replaces the
 * values by numbers in the same memory. */
static_assert(sizeof(struct task_minimum) == sizeof(const char *) + sizeof(json_t *),
              "pairs are converted in place");

static void finish_spec(void *decoded, const json_t *doc, struct arena *arena)
{
    struct podgroup_spec *spec = decoded;
    const json_t *minimums = json_object_get(doc, "minTaskMember");

    for (size_t i = 0; i < spec->min_task_member.count; i++) {
        struct task_minimum *task = &spec->min_task_member.items[i];

        task->value = (int32_t)json_integer_value(json_object_get(minimums, task->key));
    }
    spec->has_min_resources = json_object_get(doc, "minResources") != NULL;
}

static const struct decoded_type spec_type = {
    .member = "spec",
    .schema = &spec_schema,
    .keep_document = true,
    .finish = finish_spec,
};

static void finish_status(void *decoded, const json_t *doc, struct arena *arena)
{
    struct podgroup_status *status = decoded;

    status->phase = PODGROUP_NONE;
    phase_parse(json_string_value(json_object_get(doc, "phase")), &status->phase);
}

static const struct decoded_type status_type = {.schema = &status_schema, .finish = finish_status};

const struct podgroup_spec *podgroup_spec_of(const struct object *group)
{
    return decoded_of(group->body, &spec_type);
}

const char *podgroup_waits_for(const struct object *group)
{
    const struct podgroup_status *status = podgroup_status_of(group);
    const struct podgroup_condition *last =
        status->conditions.count ? &status->conditions.items[status->conditions.count - 1] : NULL;

    if (!last || !last->type || strcmp(last->type, "Unschedulable") != 0)
        return NULL;
    return last->message;
}

const struct podgroup_status *podgroup_status_of(const struct object *group)
{
    static const struct podgroup_status no_status;

    return group->status ? decoded_of(group->status, &status_type) : &no_status;
}

static void write_json(struct jsonw *w, const char *member, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

    if (text)
        jsonw_member_raw(w, member, text, strlen(text));
    free(text);
}

static void write_spec(struct jsonw *w, const struct podgroup_spec *spec)
{
    jsonw_open(w);
    jsonw_member_open(w, "spec");
    jsonw_member_int_opt(w, "minMember", spec->min_member);
    if (spec->min_task_member.count) {
        jsonw_member_open(w, "minTaskMember");
        for (size_t i = 0; i < spec->min_task_member.count; i++)
            jsonw_member_int(w, spec->min_task_member.items[i].key,
                             spec->min_task_member.items[i].value);
        jsonw_close(w);
    }
    jsonw_member_str(w, "queue", spec->queue && *spec->queue ? spec->queue : "default");
    jsonw_member_str_opt(w, "priorityClassName", spec->priority_class);
    if (spec->has_min_resources) {
        jsonw_member_open(w, "minResources");
        for (size_t i = 0; i < spec->min_resources.count; i++)
            jsonw_member_str(w, spec->min_resources.items[i].key,
                             spec->min_resources.items[i].value);
        jsonw_close(w);
    }
    write_json(w, "networkTopology", spec->network_topology);
    write_json(w, "subGroupPolicy", spec->sub_group_policy);
    jsonw_close(w);
    jsonw_close(w);
}

static struct podgroup_spec *copy_spec(struct arena *arena, const struct podgroup_spec *from)
{
    struct podgroup_spec *to = arena_alloc(arena, sizeof *to);

    *to = *from;
    to->queue = arena_strdup(arena, from->queue && *from->queue ? from->queue : "default");
    to->priority_class = arena_copy_str(arena, from->priority_class);
    to->min_resources = arena_copy_map(arena, &from->min_resources);
    to->min_task_member.items =
        arena_copy(arena, from->min_task_member.items,
                   from->min_task_member.count * sizeof *from->min_task_member.items);
    for (size_t i = 0; i < to->min_task_member.count; i++)
        to->min_task_member.items[i].key =
            arena_copy_str(arena, from->min_task_member.items[i].key);
    return to;
}

struct blob *podgroup_spec_blob(const struct podgroup_spec *spec)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);
    struct blob *blob;

    write_spec(&w, spec);
    blob = blob_intern(text.data, text.len);
    if (blob->admitted_as)
        return blob;
    blob->admitted_as = &kind_pod_group;
    if (!spec->network_topology && !spec->sub_group_policy) { /* a copy would borrow these */
        struct arena *arena = arena_new(STATUS_ARENA_BYTES);

        decoded_attach(blob, &spec_type, arena, copy_spec(arena, spec));
    }
    return blob;
}

static void write_status(struct jsonw *w, const void *value)
{
    const struct podgroup_status *status = value;

    jsonw_open(w);
    jsonw_member_str_opt(w, "phase", podgroup_phase_text(status->phase));
    if (status->conditions.count) {
        jsonw_member_open_list(w, "conditions");
        for (size_t i = 0; i < status->conditions.count; i++) {
            const struct podgroup_condition *condition = &status->conditions.items[i];

            jsonw_open(w);
            jsonw_member_str_opt(w, "type", condition->type);
            jsonw_member_str_opt(w, "status", condition->status);
            jsonw_member_time_opt(w, "lastTransitionTime", condition->at_ms);
            jsonw_member_str_opt(w, "reason", condition->reason);
            jsonw_member_str_opt(w, "message", condition->message);
            jsonw_close(w);
        }
        jsonw_close_list(w);
    }
    jsonw_member_int_opt(w, "running", status->running);
    jsonw_member_int_opt(w, "succeeded", status->succeeded);
    jsonw_member_int_opt(w, "failed", status->failed);
    jsonw_close(w);
}

static void *copy_status(struct arena *arena, const void *value)
{
    const struct podgroup_status *from = value;
    struct podgroup_status *to = arena_alloc(arena, sizeof *to);

    *to = *from;
    to->conditions.items = arena_copy(arena, from->conditions.items,
                                      from->conditions.count * sizeof *from->conditions.items);
    for (size_t i = 0; i < to->conditions.count; i++) {
        struct podgroup_condition *condition = &to->conditions.items[i];

        condition->type = arena_copy_str(arena, condition->type);
        condition->status = arena_copy_str(arena, condition->status);
        condition->reason = arena_copy_str(arena, condition->reason);
        condition->message = arena_copy_str(arena, condition->message);
    }
    return to;
}

struct blob *podgroup_status_blob(const struct podgroup_status *status)
{
    return decoded_write(&status_type, status, write_status, copy_status);
}

#define ANNOTATION_NAMESPACE_QUEUE "scheduling.volcano.sh/queue-name"

/* Returns the queue that the annotation of the draft's namespace names, or NULL. */
static const char *queue_of_namespace(const struct admission *adm, const struct object *draft)
{
    const struct object *ns = lookup(adm, &kind_namespace, "", object_namespace(draft));

    return ns ? meta_annotation(ns->meta, ANNOTATION_NAMESPACE_QUEUE) : NULL;
}

static bool podgroup_mutates_in_context(const struct admission *adm, const struct object *draft)
{
    return queue_of_namespace(adm, draft) != NULL;
}

/* Replaces the queue default by the queue that the namespace names. */
static void podgroup_mutate(const struct admission *adm, json_t *body, const struct object *draft)
{
    json_t *spec = json_object_get(body, "spec");
    const char *queue = json_string_value(json_object_get(spec, "queue"));
    const char *other = queue_of_namespace(adm, draft);

    if (other && queue && strcmp(queue, "default") == 0)
        json_object_set_new(spec, "queue", json_string(other));
}

void network_topology_check(const json_t *topology, const char *path, struct error_list *errors)
{
    const char *name = json_string_value(json_object_get(topology, "highestTierName"));

    if (name && *name && json_object_get(topology, "highestTierAllowed"))
        FINDING(errors, ("%s", path),
                "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology "
                "simultaneously: pick one");
}

static void podgroup_validate(const struct admission *adm, const struct object *old,
                              const struct object *group, struct error_list *errors)
{
    const struct podgroup_spec *spec = podgroup_spec_of(group);
    const json_t *minimums =
                     json_object_get(decoded_document(group->body, &spec_type), "minTaskMember"),
                 *entry;
    json_t *value;
    const char *key;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)minimums, key, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0 ||
            json_integer_value(value) > INT32_MAX)
            FINDING(errors, ("spec.minTaskMember[%s]", key),
                    "Invalid value: must be a number of pods");
    }
    network_topology_check(spec->network_topology, "spec.networkTopology", errors);
    json_array_foreach(spec->sub_group_policy, i, entry)
    {
        scoped(buf) struct buf path = {0};

        buf_printf(&path, "spec.subGroupPolicy[%zu].networkTopology", i);
        network_topology_check(json_object_get(entry, "networkTopology"), path.data, errors);
    }
}

static void podgroup_validate_in_context(const struct admission *adm, const struct object *old,
                                         const struct object *group, struct error_list *errors)
{
    const char *name = podgroup_spec_of(group)->queue;
    const struct object *queue;

    if (old || !adm->get || !name || !*name)
        return;
    queue = lookup(adm, &kind_queue, "", name);
    if (!queue)
        FINDING(errors, ("spec.queue"), "unable to find queue: queue \"%s\" does not exist", name);
    else if (strcmp(queue_state_of(queue), "Open") != 0)
        FINDING(errors, ("spec.queue"),
                "can only submit PodGroup to queue with state `Open`, queue `%s` status is `%s`",
                name, queue_state_of(queue));
}

static const char *const short_names[] = {"pg", "podgroup-v1beta1", NULL};

const struct kind kind_pod_group = {
    .id = KIND_POD_GROUP,
    .group = "scheduling.volcano.sh",
    .version = "v1beta1",
    .name = "PodGroup",
    .plural = "podgroups",
    .singular = "podgroup",
    .short_names = short_names,
    .namespaced = true,
    .schema = &podgroup_schema,
    .mutate = podgroup_mutate,
    .mutates_in_context = podgroup_mutates_in_context,
    .validate = podgroup_validate,
    .validate_in_context = podgroup_validate_in_context,
    .context_always = true,
    .columns = columns,
};
