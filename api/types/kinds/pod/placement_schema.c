/*
 * Field tables that say where a pod may run: affinity, tolerations, spreading.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const node_selector_operator_values[] = {
    "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", NULL};
static const char *const toleration_operator_values[] = {"Exists", "Equal", "", NULL};
static const char *const taint_effect_values[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", "", NULL};
static const char *const unsatisfiable_constraint_action_values[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
static const char *const node_inclusion_policy_values[] = {"Ignore", "Honor", NULL};

static const struct field node_selector_requirement_fields[] = {
    {"key",      FIELD_STR,      FIELD_PASS, .required = true, .doc = "The label key that the selector applies to."},
    {"operator", FIELD_STR,      FIELD_PASS, .required = true, .one_of = node_selector_operator_values,
     .doc = "Represents a key's relationship to a set of values."},
    {"values",   FIELD_STR_LIST, FIELD_PASS, .doc = "An array of string values."},
    {0},
};
static const struct schema node_selector_requirement_schema = {
    "NodeSelectorRequirement", node_selector_requirement_fields};

static const struct field node_selector_term_fields[] = {
    {"matchExpressions", FIELD_LIST, FIELD_PASS, &node_selector_requirement_schema,
     .doc = "A list of node selector requirements by node's labels."},
    {"matchFields",      FIELD_LIST, FIELD_PASS, &node_selector_requirement_schema,
     .doc = "A list of node selector requirements by node's fields."},
    {0},
};
static const struct schema node_selector_term_schema = {"NodeSelectorTerm", node_selector_term_fields};

static const struct field node_selector_fields[] = {
    {"nodeSelectorTerms", FIELD_LIST, FIELD_PASS, &node_selector_term_schema, .required = true, .doc = "Required."},
    {0},
};
static const struct schema node_selector_schema = {"NodeSelector", node_selector_fields};

static const struct field preferred_scheduling_term_fields[] = {
    {"weight",     FIELD_I32,    FIELD_PASS, .required = true, NOT_NEGATIVE,
     .doc = "Weight associated with matching the corresponding nodeSelectorTerm, in the range 1-100."},
    {"preference", FIELD_OBJECT, FIELD_PASS, &node_selector_term_schema, .required = true,
     .doc = "A node selector term, associated with the corresponding weight."},
    {0},
};
static const struct schema preferred_scheduling_term_schema = {
    "PreferredSchedulingTerm", preferred_scheduling_term_fields};

static const struct field node_affinity_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_OBJECT, FIELD_PASS, &node_selector_schema,
     .doc = "If the affinity requirements specified by this field are not met at scheduling time, the pod will not be "
            "scheduled onto the node."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST,   FIELD_PASS, &preferred_scheduling_term_schema,
     .doc = "The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by "
            "this field, but it may choose a node that violates one or more of the expressions."},
    {0},
};
static const struct schema node_affinity_schema = {"NodeAffinity", node_affinity_fields};

static const struct field pod_affinity_term_fields[] = {
    {"labelSelector",     FIELD_OBJECT,   FIELD_PASS, &label_selector_schema,
     .doc = "A label query over a set of resources, in this case pods."},
    {"namespaces",        FIELD_STR_LIST, FIELD_PASS,
     .doc = "Specifies a static list of namespace names that the term applies to."},
    {"topologyKey",       FIELD_STR,      FIELD_PASS, .required = true,
     .doc = "This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the "
            "labelSelector in the specified namespaces, where co-located is defined as running on a node whose value "
            "of the label with key topologyKey matches that of any node on which any of the selected pods is running."},
    {"namespaceSelector", FIELD_OBJECT,   FIELD_PASS, &label_selector_schema,
     .doc = "A label query over the set of namespaces that the term applies to."},
    {"matchLabelKeys",    FIELD_STR_LIST, FIELD_PASS,
     .doc = "A set of pod label keys to select which pods will be taken into consideration."},
    {"mismatchLabelKeys", FIELD_STR_LIST, FIELD_PASS,
     .doc = "A set of pod label keys to select which pods will be taken into consideration."},
    {0},
};
static const struct schema pod_affinity_term_schema = {"PodAffinityTerm", pod_affinity_term_fields};

static const struct field weighted_pod_affinity_term_fields[] = {
    {"weight",          FIELD_I32,    FIELD_PASS, .required = true, NOT_NEGATIVE,
     .doc = "Weight associated with matching the corresponding podAffinityTerm, in the range 1-100."},
    {"podAffinityTerm", FIELD_OBJECT, FIELD_PASS, &pod_affinity_term_schema, .required = true, .doc = "Required."},
    {0},
};
static const struct schema weighted_pod_affinity_term_schema = {
    "WeightedPodAffinityTerm", weighted_pod_affinity_term_fields};

static const struct field pod_affinity_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_LIST, FIELD_PASS, &pod_affinity_term_schema,
     .doc = "If the affinity requirements specified by this field are not met at scheduling time, the pod will not be "
            "scheduled onto the node."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST, FIELD_PASS, &weighted_pod_affinity_term_schema,
     .doc = "The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by "
            "this field, but it may choose a node that violates one or more of the expressions."},
    {0},
};
static const struct schema pod_affinity_schema = {"PodAffinity", pod_affinity_fields};

static const struct field pod_anti_affinity_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_LIST, FIELD_PASS, &pod_affinity_term_schema,
     .doc = "If the anti-affinity requirements specified by this field are not met at scheduling time, the pod will "
            "not be scheduled onto the node."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST, FIELD_PASS, &weighted_pod_affinity_term_schema,
     .doc = "The scheduler will prefer to schedule pods to nodes that satisfy the anti-affinity expressions specified "
            "by this field, but it may choose a node that violates one or more of the expressions."},
    {0},
};
static const struct schema pod_anti_affinity_schema = {"PodAntiAffinity", pod_anti_affinity_fields};

static const struct field affinity_fields[] = {
    {"nodeAffinity",    FIELD_OBJECT, FIELD_PASS, &node_affinity_schema,
     .doc = "Describes node affinity scheduling rules for the pod."},
    {"podAffinity",     FIELD_OBJECT, FIELD_PASS, &pod_affinity_schema,
     .doc = "Describes pod affinity scheduling rules (e.g. co-locate this pod in the same node, zone, etc. as some "
            "other pod(s))."},
    {"podAntiAffinity", FIELD_OBJECT, FIELD_PASS, &pod_anti_affinity_schema,
     .doc = "Describes pod anti-affinity scheduling rules (e.g. avoid putting this pod in the same node, zone, etc. "
            "as some other pod(s))."},
    {0},
};
const struct schema affinity_schema = {"Affinity", affinity_fields};

static const struct field toleration_fields[] = {
    {"key",               FIELD_STR,     FIELD_PASS, .doc = "The taint key that the toleration applies to."},
    {"operator",          FIELD_STR,     FIELD_PASS, .one_of = toleration_operator_values,
     .doc = "Represents a key's relationship to the value."},
    {"value",             FIELD_STR,     FIELD_PASS, .doc = "The taint value the toleration matches to."},
    {"effect",            FIELD_STR,     FIELD_PASS, .one_of = taint_effect_values,
     .doc = "Indicates the taint effect to match."},
    {"tolerationSeconds", FIELD_OPT_I64, FIELD_PASS,
     .doc = "Represents the period of time the toleration (which must be of effect NoExecute, otherwise this field is "
            "ignored) tolerates the taint."},
    {0},
};
const struct schema toleration_schema = {"Toleration", toleration_fields};

static const struct field topology_spread_constraint_fields[] = {
    {"maxSkew",            FIELD_I32,      FIELD_PASS, .required = true, NOT_NEGATIVE,
     .doc = "MaxSkew describes the degree to which pods may be unevenly distributed."},
    {"topologyKey",        FIELD_STR,      FIELD_PASS, .required = true, .doc = "The key of node labels."},
    {"whenUnsatisfiable",  FIELD_STR,      FIELD_PASS, .required = true,
     .one_of = unsatisfiable_constraint_action_values,
     .doc = "Indicates how to deal with a pod if it doesn't satisfy the spread constraint."},
    {"labelSelector",      FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .doc = "Used to find matching pods."},
    {"minDomains",         FIELD_OPT_I32,  FIELD_PASS, .doc = "Indicates a minimum number of eligible domains."},
    {"nodeAffinityPolicy", FIELD_STR,      FIELD_PASS, .one_of = node_inclusion_policy_values,
     .doc = "Indicates how we will treat Pod's nodeAffinity/nodeSelector when calculating pod topology spread skew."},
    {"nodeTaintsPolicy",   FIELD_STR,      FIELD_PASS, .one_of = node_inclusion_policy_values,
     .doc = "Indicates how we will treat node taints when calculating pod topology spread skew."},
    {"matchLabelKeys",     FIELD_STR_LIST, FIELD_PASS,
     .doc = "A set of pod label keys to select the pods over which spreading will be calculated."},
    {0},
};
const struct schema topology_spread_constraint_schema = {
    "TopologySpreadConstraint", topology_spread_constraint_fields};
/* clang-format on */
