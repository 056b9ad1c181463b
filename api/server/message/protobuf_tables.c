/*
 * Messages that clients send as protobuf and that are no stored kinds: reviews, subresources,
 * DeleteOptions, and Event under its other group. Ref: k8s.io/api, generated.proto of each group.
 */
#include "api/server/message/protobuf_tables.h"

#include <string.h>

#include "api/types/kind.h"
#include "api/types/kinds/pod/core_schema.h"
#include "base/compiler.h"

#define MESSAGE(name, ...)                                                                         \
    static const struct field name##_fields[] = {__VA_ARGS__{0}};                                  \
    static const struct schema name = {#name, name##_fields};
#define METADATA                                                                                   \
    {                                                                                              \
        "metadata", FIELD_OBJECT, .of = &metadata_schema, .pb = 1                                  \
    }

/* clang-format off */
MESSAGE(preconditions,
    {"uid", FIELD_STR, .pb = 1, .keeps_zero = true}, {"resourceVersion", FIELD_STR, .pb = 2, .keeps_zero = true},
)
MESSAGE(delete_options,
    {"gracePeriodSeconds", FIELD_OPT_I64,  .pb = 1}, {"preconditions", FIELD_OBJECT, .of = &preconditions, .pb = 2},
    {"orphanDependents",   FIELD_OPT_BOOL, .pb = 3}, {"propagationPolicy", FIELD_STR, .pb = 4, .keeps_zero = true},
    {"dryRun",             FIELD_STR_LIST, .pb = 5},
)
MESSAGE(eviction,
    METADATA, {"deleteOptions", FIELD_OBJECT, .of = &delete_options, .pb = 2},
)
MESSAGE(binding,
    METADATA, {"target", FIELD_OBJECT, .of = &object_reference_schema, .pb = 2},
)
MESSAGE(scale_spec,
    {"replicas", FIELD_I32, .pb = 1},
)
MESSAGE(scale_status,
    {"replicas", FIELD_I32, .pb = 1, .keeps_zero = true}, {"selector", FIELD_STR, .pb = 2},
)
MESSAGE(scale,
    METADATA, {"spec", FIELD_OBJECT, .of = &scale_spec, .pb = 2}, {"status", FIELD_OBJECT, .of = &scale_status, .pb = 3},
)

MESSAGE(status_cause,
    {"reason", FIELD_STR, .pb = 1}, {"message", FIELD_STR, .pb = 2}, {"field", FIELD_STR, .pb = 3},
)
MESSAGE(status_details,
    {"name", FIELD_STR, .pb = 1}, {"group", FIELD_STR, .pb = 2}, {"kind", FIELD_STR, .pb = 3}, {"uid", FIELD_STR, .pb = 6},
    {"causes", FIELD_LIST, .of = &status_cause, .pb = 4}, {"retryAfterSeconds", FIELD_I32, .pb = 5},
)
MESSAGE(list_meta,
    {"selfLink", FIELD_STR, .pb = 1}, {"resourceVersion", FIELD_STR, .pb = 2}, {"continue", FIELD_STR, .pb = 3},
    {"remainingItemCount", FIELD_OPT_I64, .pb = 4},
)
MESSAGE(status,
    {"metadata", FIELD_OBJECT, .of = &list_meta, .pb = 1}, {"status", FIELD_STR, .pb = 2}, {"message", FIELD_STR, .pb = 3},
    {"reason", FIELD_STR, .pb = 4}, {"details", FIELD_OBJECT, .of = &status_details, .pb = 5}, {"code", FIELD_I32, .pb = 6},
)

MESSAGE(resource_attributes,
    {"namespace", FIELD_STR, .pb = 1}, {"verb",        FIELD_STR, .pb = 2}, {"group", FIELD_STR, .pb = 3}, {"version", FIELD_STR, .pb = 4},
    {"resource",  FIELD_STR, .pb = 5}, {"subresource", FIELD_STR, .pb = 6}, {"name",  FIELD_STR, .pb = 7},
)
MESSAGE(non_resource_attributes,
    {"path", FIELD_STR, .pb = 1}, {"verb", FIELD_STR, .pb = 2},
)
MESSAGE(access_spec,
    {"resourceAttributes", FIELD_OBJECT, .of = &resource_attributes, .pb = 1},
    {"nonResourceAttributes", FIELD_OBJECT, .of = &non_resource_attributes, .pb = 2},
)
MESSAGE(access_status,
    {"allowed", FIELD_BOOL, .pb = 1, .keeps_zero = true}, {"reason", FIELD_STR, .pb = 2}, {"evaluationError", FIELD_STR, .pb = 3},
    {"denied",  FIELD_BOOL, .pb = 4},
)
MESSAGE(access_review,
    METADATA, {"spec", FIELD_OBJECT, .of = &access_spec, .pb = 2}, {"status", FIELD_OBJECT, .of = &access_status, .pb = 3},
)
MESSAGE(resource_rule,
    {"verbs",     FIELD_STR_LIST, .pb = 1}, {"apiGroups",     FIELD_STR_LIST, .pb = 2},
    {"resources", FIELD_STR_LIST, .pb = 3}, {"resourceNames", FIELD_STR_LIST, .pb = 4},
)
MESSAGE(non_resource_rule,
    {"verbs", FIELD_STR_LIST, .pb = 1}, {"nonResourceURLs", FIELD_STR_LIST, .pb = 2},
)
MESSAGE(rules_spec,
    {"namespace", FIELD_STR, .pb = 1},
)
MESSAGE(rules_status,
    {"resourceRules",    FIELD_LIST, .of = &resource_rule, .pb = 1},
    {"nonResourceRules", FIELD_LIST, .of = &non_resource_rule, .pb = 2},
    {"incomplete",       FIELD_BOOL, .pb = 3, .keeps_zero = true}, {"evaluationError", FIELD_STR, .pb = 4},
)
MESSAGE(rules_review,
    METADATA, {"spec", FIELD_OBJECT, .of = &rules_spec, .pb = 2}, {"status", FIELD_OBJECT, .of = &rules_status, .pb = 3},
)
MESSAGE(user_info,
    {"username", FIELD_STR, .pb = 1}, {"uid", FIELD_STR, .pb = 2}, {"groups", FIELD_STR_LIST, .pb = 3},
)
MESSAGE(self_status,
    {"userInfo", FIELD_OBJECT, .of = &user_info, .pb = 1},
)
MESSAGE(self_review,
    METADATA, {"status", FIELD_OBJECT, .of = &self_status, .pb = 2},
)

MESSAGE(event_series,
    {"count", FIELD_I32, .pb = 1, .required = true}, {"lastObservedTime", FIELD_TIME, .pb = 2, .pb_as = PB_MICRO_TIME},
)
MESSAGE(event_source,
    {"component", FIELD_STR, .pb = 1}, {"host", FIELD_STR, .pb = 2},
)
MESSAGE(event,
    METADATA,
    {"eventTime",                FIELD_TIME,   .pb = 2, .pb_as = PB_MICRO_TIME},
    {"series",                   FIELD_OBJECT, .of = &event_series, .pb = 3},
    {"reportingController",      FIELD_STR,    .pb = 4},
    {"reportingInstance",        FIELD_STR,    .pb = 5},
    {"action",                   FIELD_STR,    .pb = 6},
    {"reason",                   FIELD_STR,    .pb = 7},
    {"regarding",                FIELD_OBJECT, .of = &object_reference_schema, .pb = 8},
    {"related",                  FIELD_OBJECT, .of = &object_reference_schema, .pb = 9},
    {"note",                     FIELD_STR,    .pb = 10},
    {"type",                     FIELD_STR,    .pb = 11},
    {"deprecatedSource",         FIELD_OBJECT, .of = &event_source, .pb = 12},
    {"deprecatedFirstTimestamp", FIELD_TIME,   .pb = 13},
    {"deprecatedLastTimestamp",  FIELD_TIME,   .pb = 14},
    {"deprecatedCount",          FIELD_I32,    .pb = 15},
)

const struct schema *const protobuf_list_meta = &list_meta;

/* An empty apiVersion stands for any: DeleteOptions belong to every group. */
static const struct {
    const char *api_version, *kind;
    const struct schema *schema;
} messages[] = {
    {"",                         "DeleteOptions",            &delete_options},
    {"v1",                       "Status",                   &status},
    {"policy/v1",                "Eviction",                 &eviction},
    {"v1",                       "Binding",                  &binding},
    {"autoscaling/v1",           "Scale",                    &scale},
    {"authorization.k8s.io/v1",  "SelfSubjectAccessReview",  &access_review},
    {"authorization.k8s.io/v1",  "SelfSubjectRulesReview",   &rules_review},
    {"authentication.k8s.io/v1", "SelfSubjectReview",        &self_review},
    {"events.k8s.io/v1",         "Event",                    &event},
};
/* clang-format on */

bool protobuf_has(const struct kind *kind)
{
    return !kind_is_custom(kind) && !kind->schema->preserve_unknown;
}

const struct schema *protobuf_schema_of(const char *api_version, const char *kind,
                                        const struct schema **out_metadata)
{
    const struct kind *stored = kind_by_gvk(api_version, kind);

    *out_metadata = NULL;
    if (stored && protobuf_has(stored)) {
        *out_metadata = &metadata_schema;
        return stored->schema;
    }
    for (size_t i = 0; i < countof(messages); i++)
        if (strcmp(messages[i].kind, kind) == 0 &&
            (!*messages[i].api_version || strcmp(messages[i].api_version, api_version) == 0))
            return messages[i].schema;
    return NULL;
}
