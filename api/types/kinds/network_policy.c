/*
 * NetworkPolicy (networking.k8s.io/v1): stored for the svc plugin; the local node does not enforce
 * it.
 *
 * Ref: k8s.io/api networking/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const protocol_values[] = {"TCP", "UDP", "SCTP", "", NULL};
static const char *const policy_type_values[] = {"Ingress", "Egress", NULL};

static const struct field network_policy_port_fields[] = {
    {"protocol", FIELD_STR,        FIELD_PASS, .one_of = protocol_values,
     .doc = "Represents the protocol (TCP, UDP, or SCTP) which traffic must match."},
    {"port",     FIELD_INT_OR_STR, FIELD_PASS, .doc = "Represents the port on the given protocol."},
    {"endPort",  FIELD_OPT_I32,    FIELD_PASS,
     .doc = "Indicates that the range of ports from port to endPort if set, inclusive, should be allowed by the "
            "policy."},
    {0},
};
static const struct schema network_policy_port_schema = {"NetworkPolicyPort", network_policy_port_fields};

static const struct field ip_block_fields[] = {
    {"cidr",   FIELD_STR,      FIELD_PASS, .required = true,
     .doc = "A string representing the IPBlock Valid examples are \"192.168.1.0/24\" or \"2001:db8::/64\"."},
    {"except", FIELD_STR_LIST, FIELD_PASS,
     .doc = "A slice of CIDRs that should not be included within an IPBlock Valid examples are \"192.168.1.0/24\" or "
            "\"2001:db8::/64\" Except values will be rejected if they are outside the cidr range."},
    {0},
};
static const struct schema ip_block_schema = {"IPBlock", ip_block_fields};

static const struct field network_policy_peer_fields[] = {
    {"podSelector",       FIELD_OBJECT, FIELD_PASS, &label_selector_schema,
     .doc = "A label selector which selects pods."},
    {"namespaceSelector", FIELD_OBJECT, FIELD_PASS, &label_selector_schema,
     .doc = "NamespaceSelector selects namespaces using cluster-scoped labels."},
    {"ipBlock",           FIELD_OBJECT, FIELD_PASS, &ip_block_schema,
     .doc = "Defines policy on a particular IPBlock."},
    {0},
};
static const struct schema network_policy_peer_schema = {"NetworkPolicyPeer", network_policy_peer_fields};

static const struct field network_policy_ingress_rule_fields[] = {
    {"ports", FIELD_LIST, FIELD_PASS, &network_policy_port_schema,
     .doc = "A list of ports which should be made accessible on the pods selected for this rule."},
    {"from",  FIELD_LIST, FIELD_PASS, &network_policy_peer_schema,
     .doc = "A list of sources which should be able to access the pods selected for this rule."},
    {0},
};
static const struct schema network_policy_ingress_rule_schema = {
    "NetworkPolicyIngressRule", network_policy_ingress_rule_fields};

static const struct field network_policy_egress_rule_fields[] = {
    {"ports", FIELD_LIST, FIELD_PASS, &network_policy_port_schema,
     .doc = "A list of destination ports for outgoing traffic."},
    {"to",    FIELD_LIST, FIELD_PASS, &network_policy_peer_schema,
     .doc = "A list of destinations for outgoing traffic of pods selected for this rule."},
    {0},
};
static const struct schema network_policy_egress_rule_schema = {
    "NetworkPolicyEgressRule", network_policy_egress_rule_fields};

static const struct field network_policy_spec_fields[] = {
    {"podSelector", FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .required = true,
     .doc = "PodSelector selects the pods to which this NetworkPolicy object applies."},
    {"ingress",     FIELD_LIST,     FIELD_PASS, &network_policy_ingress_rule_schema,
     .doc = "A list of ingress rules to be applied to the selected pods."},
    {"egress",      FIELD_LIST,     FIELD_PASS, &network_policy_egress_rule_schema,
     .doc = "A list of egress rules to be applied to the selected pods."},
    {"policyTypes", FIELD_STR_LIST, FIELD_PASS, .one_of = policy_type_values,
     .doc = "A list of rule types that the NetworkPolicy relates to."},
    {0},
};
static const struct schema network_policy_spec_schema = {"NetworkPolicySpec", network_policy_spec_fields};

static const struct field network_policy_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &network_policy_spec_schema, .doc = "Which pods may talk to which."},
    {0},
};
static const struct schema network_policy_schema = {"NetworkPolicy", network_policy_fields, .doc = "Who may talk to pods; kept for tools, not enforced on this machine."};
/* clang-format on */

static void complete(json_t *body)
{
    json_t *spec = json_object_get(body, "spec");
    bool leaves = json_array_size(json_object_get(spec, "egress")) > 0;

    if (json_is_object(spec))
        core_set_default(spec, "policyTypes",
                         json_pack("[s,s*]", "Ingress", leaves ? "Egress" : NULL));
}

static const char *const short_names[] = {"netpol", NULL};

const struct kind kind_network_policy = {
    .id = KIND_NETWORK_POLICY,
    .group = "networking.k8s.io",
    .version = "v1",
    .name = "NetworkPolicy",
    .plural = "networkpolicies",
    .singular = "networkpolicy",
    .short_names = short_names,
    .namespaced = true,
    .schema = &network_policy_schema,
    .normalize = complete,
};
