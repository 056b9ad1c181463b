/*
 * The kind PriorityClass: field table, decoded form, and the rule that the value never changes.
 *
 * Ref: k8s.io/api scheduling/v1, release 1.30.
 */
#include "api/types/kinds/scheduling/priority_class.h"

#include <string.h>

#include "api/types/decoded.h"

struct priority_class {
    int32_t value;
    const char *preemption_policy;
};

/* clang-format off */
static const char *const preemption_policy_values[] = {"PreemptLowerPriority", "Never", NULL};

static const struct field priority_class_fields[] = {
    {"value",            FIELD_I32,  offsetof(struct priority_class, value), .pb = 2, .required = true, .immutable_doc = true,
     .doc = "Priority of the class. Pods with a higher value are placed first."},
    {"globalDefault",    FIELD_BOOL, FIELD_PASS, .pb = 3, .doc = "Makes the class the default of pods that name none."},
    {"description",      FIELD_STR,  FIELD_PASS, .pb = 4, .doc = "Text that says when to use the class."},
    {"preemptionPolicy", FIELD_STR,  offsetof(struct priority_class, preemption_policy), .pb = 5, .keeps_zero = true, .one_of = preemption_policy_values,
     .default_json = "\"PreemptLowerPriority\"", .doc = "Says whether pods of the class may evict pods of lower priority."},
    {0},
};
static const struct schema priority_class_schema = {"PriorityClass", priority_class_fields, sizeof(struct priority_class), .doc = "A named priority of pods."};
/* clang-format on */

static const struct decoded_type value_type = {.schema = &priority_class_schema};

int32_t priority_class_value_of(const struct object *priority_class)
{
    const struct priority_class *decoded = decoded_of(priority_class->body, &value_type);

    return decoded->value;
}

bool priority_class_preempts(const struct object *priority_class)
{
    const struct priority_class *decoded = decoded_of(priority_class->body, &value_type);

    return !decoded->preemption_policy || strcmp(decoded->preemption_policy, "Never") != 0;
}

static void check_value(const struct admission *adm, const struct object *old,
                        const struct object *priority_class, struct error_list *errors)
{
    if (old && priority_class_value_of(old) != priority_class_value_of(priority_class))
        error_list_add(errors, ERR_INVALID, "value", "Forbidden: may not be changed in an update.");
}

static const char *const short_names[] = {"pc", NULL};

const struct kind kind_priority_class = {
    .id = KIND_PRIORITY_CLASS,
    .group = "scheduling.k8s.io",
    .version = "v1",
    .name = "PriorityClass",
    .plural = "priorityclasses",
    .singular = "priorityclass",
    .short_names = short_names,
    .few = true,
    .schema = &priority_class_schema,
    .validate_in_context = check_value,
};
