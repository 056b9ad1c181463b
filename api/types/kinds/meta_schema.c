/*
 * Field tables of apimachinery: selectors, conditions. Metadata is in
 * api/types/object.
 *
 * Ref: k8s.io/apimachinery meta/v1.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const selector_operator_values[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};
static const char *const condition_status_values[] = {"True", "False", "Unknown", NULL};

static const struct field label_selector_requirement_fields[] = {
    {"key",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "Label key the requirement is about."},
    {"operator", FIELD_STR,      FIELD_PASS, .required = true, .one_of = selector_operator_values,
     .doc = "How the label's value relates to the values."},
    {"values",   FIELD_STR_LIST, FIELD_PASS, .doc = "Values of In and NotIn."},
    {0},
};
static const struct schema label_selector_requirement_schema = {
    "LabelSelectorRequirement", label_selector_requirement_fields};

static const struct field label_selector_fields[] = {
    {"matchLabels",      FIELD_STR_MAP, FIELD_PASS, .doc = "Labels that must be equal."},
    {"matchExpressions", FIELD_LIST,    FIELD_PASS, &label_selector_requirement_schema,
     .doc = "Requirements that must hold besides."},
    {0},
};
const struct schema label_selector_schema = {"LabelSelector", label_selector_fields};

static const struct field condition_fields[] = {
    {"type",               FIELD_STR,  FIELD_PASS, .required = true, .doc = "Kind of the condition, unique in its list."},
    {"status",             FIELD_STR,  FIELD_PASS, .required = true, .one_of = condition_status_values,
     .doc = "True, False or Unknown."},
    {"observedGeneration", FIELD_I64,  FIELD_PASS, .doc = "Generation of the spec the condition is about."},
    {"lastTransitionTime", FIELD_TIME, FIELD_PASS, .doc = "When the condition last changed."},
    {"reason",             FIELD_STR,  FIELD_PASS, .doc = "One word for why, in CamelCase."},
    {"message",            FIELD_STR,  FIELD_PASS, .doc = "The same for people."},
    {0},
};
const struct schema condition_schema = {"Condition", condition_fields};
/* clang-format on */
