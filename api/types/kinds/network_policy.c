/*
 * The kind NetworkPolicy (networking.k8s.io/v1). The svc plugin creates them; the local node does
 * not enforce them.
 *
 * Ref: k8s.io/api networking/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const char *const protocol_values[] = {"TCP", "UDP", "SCTP", "", NULL};
static const char *const policy_type_values[] = {"Ingress", "Egress", NULL};

static const struct field network_policy_port_fields[] = {
    {"protocol", FIELD_STR,        FIELD_PASS, .pb = 1, .keeps_zero = true, .one_of = protocol_values,
     .doc = "Protocol of the traffic: TCP, UDP or SCTP."},
    {"port",     FIELD_INT_OR_STR, FIELD_PASS, .pb = 2, .keeps_zero = true, .doc = "Number or name of the port."},
    {"endPort",  FIELD_OPT_I32,    FIELD_PASS, .pb = 3,
     .doc = "Last port of a range that begins with port."},
    {0},
};
static const struct schema network_policy_port_schema = {"NetworkPolicyPort", network_policy_port_fields};

static const struct field ip_block_fields[] = {
    {"cidr",   FIELD_STR,      FIELD_PASS, .pb = 1, .required = true,
     .doc = "Range of addresses, for example 192.168.1.0/24 or 2001:db8::/64."},
    {"except", FIELD_STR_LIST, FIELD_PASS, .pb = 2,
     .doc = "Ranges within cidr that are excluded."},
    {0},
};
static const struct schema ip_block_schema = {"IPBlock", ip_block_fields};

static const struct field network_policy_peer_fields[] = {
    {"podSelector",       FIELD_OBJECT, FIELD_PASS, &label_selector_schema, .pb = 1,
     .doc = "Labels of the pods."},
    {"namespaceSelector", FIELD_OBJECT, FIELD_PASS, &label_selector_schema, .pb = 2,
     .doc = "Labels of the namespaces."},
    {"ipBlock",           FIELD_OBJECT, FIELD_PASS, &ip_block_schema, .pb = 3,
     .doc = "Range of addresses. It excludes the selectors."},
    {0},
};
static const struct schema network_policy_peer_schema = {"NetworkPolicyPeer", network_policy_peer_fields};

static const struct field network_policy_ingress_rule_fields[] = {
    {"ports", FIELD_LIST, FIELD_PASS, &network_policy_port_schema, .pb = 1,
     .doc = "Ports of the selected pods that may be reached."},
    {"from",  FIELD_LIST, FIELD_PASS, &network_policy_peer_schema, .pb = 2,
     .doc = "Sources that may reach the selected pods."},
    {0},
};
static const struct schema network_policy_ingress_rule_schema = {
    "NetworkPolicyIngressRule", network_policy_ingress_rule_fields};

static const struct field network_policy_egress_rule_fields[] = {
    {"ports", FIELD_LIST, FIELD_PASS, &network_policy_port_schema, .pb = 1,
     .doc = "Destination ports that the selected pods may reach."},
    {"to",    FIELD_LIST, FIELD_PASS, &network_policy_peer_schema, .pb = 2,
     .doc = "Destinations that the selected pods may reach."},
    {0},
};
static const struct schema network_policy_egress_rule_schema = {
    "NetworkPolicyEgressRule", network_policy_egress_rule_fields};

static const struct field network_policy_spec_fields[] = {
    {"podSelector", FIELD_OBJECT,   FIELD_PASS, &label_selector_schema, .pb = 1, .required = true,
     .doc = "Labels of the pods that the policy applies to."},
    {"ingress",     FIELD_LIST,     FIELD_PASS, &network_policy_ingress_rule_schema, .pb = 2,
     .doc = "Rules for traffic to the selected pods."},
    {"egress",      FIELD_LIST,     FIELD_PASS, &network_policy_egress_rule_schema, .pb = 3,
     .doc = "Rules for traffic from the selected pods."},
    {"policyTypes", FIELD_STR_LIST, FIELD_PASS, .pb = 4, .one_of = policy_type_values,
     .doc = "Directions that the policy restricts: Ingress and Egress."},
    {0},
};
static const struct schema network_policy_spec_schema = {"NetworkPolicySpec", network_policy_spec_fields};

static const struct field network_policy_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &network_policy_spec_schema, .pb = 2, .doc = "Traffic that the policy allows."},
    {0},
};
static const struct schema network_policy_schema = {"NetworkPolicy", network_policy_fields, .doc = "Rules for the traffic of pods. They are kept for other tools and not enforced on this machine."};
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
