/*
 * Field tables of the rules for a pod's place: affinity, tolerations and topology spread.
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
    {"key",      FIELD_STR,      FIELD_PASS, .pb = 1, .required = true, .doc = "Key of the label."},
    {"operator", FIELD_STR,      FIELD_PASS, .pb = 2, .required = true, .one_of = node_selector_operator_values,
     .doc = "Relation of the label's value to the values."},
    {"values",   FIELD_STR_LIST, FIELD_PASS, .pb = 3, .doc = "Values that the operator compares with."},
    {0},
};
static const struct schema node_selector_requirement_schema = {
    "NodeSelectorRequirement", node_selector_requirement_fields};

static const struct field node_selector_term_fields[] = {
    {"matchExpressions", FIELD_LIST, FIELD_PASS, &node_selector_requirement_schema, .pb = 1,
     .doc = "Requirements on the node's labels."},
    {"matchFields",      FIELD_LIST, FIELD_PASS, &node_selector_requirement_schema, .pb = 2,
     .doc = "Requirements on the node's fields."},
    {0},
};
static const struct schema node_selector_term_schema = {"NodeSelectorTerm", node_selector_term_fields};

static const struct field node_selector_fields[] = {
    {"nodeSelectorTerms", FIELD_LIST, FIELD_PASS, &node_selector_term_schema, .pb = 1, .required = true, .doc = "Key of the taint."},
    {0},
};
static const struct schema node_selector_schema = {"NodeSelector", node_selector_fields};

static const struct field preferred_scheduling_term_fields[] = {
    {"weight",     FIELD_I32,    FIELD_PASS, .pb = 1, .required = true, NOT_NEGATIVE,
     .doc = "Weight of the preference, from 1 to 100."},
    {"preference", FIELD_OBJECT, FIELD_PASS, &node_selector_term_schema, .pb = 2, .required = true,
     .doc = "Nodes that are preferred."},
    {0},
};
static const struct schema preferred_scheduling_term_schema = {
    "PreferredSchedulingTerm", preferred_scheduling_term_fields};

static const struct field node_affinity_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_OBJECT, FIELD_PASS, &node_selector_schema, .pb = 1,
     .doc = "Requirements that a node must meet when the pod is placed."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST,   FIELD_PASS, &preferred_scheduling_term_schema, .pb = 2,
     .doc = "Preferences by which the scheduler chooses among nodes."},
    {0},
};
static const struct schema node_affinity_schema = {"NodeAffinity", node_affinity_fields};

static const struct field pod_affinity_term_fields[] = {
    {"labelSelector",     FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .pb = 1,
     .doc = "Labels of the pods that the term refers to."},
    {"namespaces",        FIELD_STR_LIST, FIELD_PASS, .pb = 2,
     .doc = "Namespaces of the pods that the term refers to."},
    {"topologyKey",       FIELD_STR,      FIELD_PASS, .pb = 3, .required = true,
     .doc = "Node label that tells places apart. Nodes with the same value of the label are one place."},
    {"namespaceSelector", FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .pb = 4,
     .doc = "Labels of the namespaces of the pods that the term refers to."},
    {"matchLabelKeys",    FIELD_STR_LIST, FIELD_PASS, .pb = 5,
     .doc = "Labels whose values must equal those of the placed pod."},
    {"mismatchLabelKeys", FIELD_STR_LIST, FIELD_PASS, .pb = 6,
     .doc = "Labels whose values must equal those of the placed pod."},
    {0},
};
static const struct schema pod_affinity_term_schema = {"PodAffinityTerm", pod_affinity_term_fields};

static const struct field weighted_pod_affinity_term_fields[] = {
    {"weight",          FIELD_I32,    FIELD_PASS, .pb = 1, .required = true, NOT_NEGATIVE,
     .doc = "Weight of the preference, from 1 to 100."},
    {"podAffinityTerm", FIELD_OBJECT, FIELD_PASS, &pod_affinity_term_schema, .pb = 2, .required = true, .doc = "Key of the taint."},
    {0},
};
static const struct schema weighted_pod_affinity_term_schema = {
    "WeightedPodAffinityTerm", weighted_pod_affinity_term_fields};

static const struct field pod_affinity_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_LIST, FIELD_PASS, &pod_affinity_term_schema, .pb = 1,
     .doc = "Requirements that a node must meet when the pod is placed."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST, FIELD_PASS, &weighted_pod_affinity_term_schema, .pb = 2,
     .doc = "Preferences by which the scheduler chooses among nodes."},
    {0},
};
static const struct schema pod_affinity_schema = {"PodAffinity", pod_affinity_fields};

static const struct field pod_anti_affinity_fields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution",  FIELD_LIST, FIELD_PASS, &pod_affinity_term_schema, .pb = 1,
     .doc = "Pods that must not run in the same place when the pod is placed."},
    {"preferredDuringSchedulingIgnoredDuringExecution", FIELD_LIST, FIELD_PASS, &weighted_pod_affinity_term_schema, .pb = 2,
     .doc = "Pods that should not run in the same place."},
    {0},
};
static const struct schema pod_anti_affinity_schema = {"PodAntiAffinity", pod_anti_affinity_fields};

static const struct field affinity_fields[] = {
    {"nodeAffinity",    FIELD_OBJECT, FIELD_PASS, &node_affinity_schema, .pb = 1,
     .doc = "Rules for the nodes that the pod may run on."},
    {"podAffinity",     FIELD_OBJECT, FIELD_PASS, &pod_affinity_schema, .pb = 2,
     .doc = "Rules for pods that this pod runs close to."},
    {"podAntiAffinity", FIELD_OBJECT, FIELD_PASS, &pod_anti_affinity_schema, .pb = 3,
     .doc = "Rules for pods that this pod keeps away from."},
    {0},
};
const struct schema affinity_schema = {"Affinity", affinity_fields};

static const struct field toleration_fields[] = {
    {"key",               FIELD_STR,     FIELD_PASS, .pb = 1, .doc = "Key of the tolerated taint; all keys when absent."},
    {"operator",          FIELD_STR,     FIELD_PASS, .pb = 2, .one_of = toleration_operator_values,
     .doc = "Says whether the taint's value must be equal (Equal, the default) or may be anything (Exists)."},
    {"value",             FIELD_STR,     FIELD_PASS, .pb = 3, .doc = "Value of the tolerated taint."},
    {"effect",            FIELD_STR,     FIELD_PASS, .pb = 4, .one_of = taint_effect_values,
     .doc = "Effect of the tolerated taint; all effects when absent."},
    {"tolerationSeconds", FIELD_OPT_I64, FIELD_PASS, .pb = 5,
     .doc = "Seconds for which a taint with effect NoExecute is tolerated; without end when absent."},
    {0},
};
const struct schema toleration_schema = {"Toleration", toleration_fields};

static const struct field topology_spread_constraint_fields[] = {
    {"maxSkew",            FIELD_I32,      FIELD_PASS, .pb = 1, .required = true, NOT_NEGATIVE,
     .doc = "Largest difference in the number of pods between two places."},
    {"topologyKey",        FIELD_STR,      FIELD_PASS, .pb = 2, .required = true, .doc = "Node label that tells places apart."},
    {"whenUnsatisfiable",  FIELD_STR,      FIELD_PASS, .pb = 3, .required = true,
     .one_of = unsatisfiable_constraint_action_values,
     .doc = "Says whether a pod that breaks the constraint waits or is placed all the same."},
    {"labelSelector",      FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .pb = 4, .doc = "Labels of the pods that are counted."},
    {"minDomains",         FIELD_OPT_I32,  FIELD_PASS, .pb = 5, .doc = "Smallest number of places that must be eligible."},
    {"nodeAffinityPolicy", FIELD_STR,      FIELD_PASS, .pb = 6, .keeps_zero = true, .one_of = node_inclusion_policy_values,
     .doc = "Says whether nodes that the pod's affinity excludes are counted."},
    {"nodeTaintsPolicy",   FIELD_STR,      FIELD_PASS, .pb = 7, .keeps_zero = true, .one_of = node_inclusion_policy_values,
     .doc = "Says whether nodes with taints are counted."},
    {"matchLabelKeys",     FIELD_STR_LIST, FIELD_PASS, .pb = 8,
     .doc = "Labels whose values must equal those of the placed pod for a pod to be counted."},
    {0},
};
const struct schema topology_spread_constraint_schema = {
    "TopologySpreadConstraint", topology_spread_constraint_fields};
/* clang-format on */
