/*
 * The protobuf messages of the built-in kinds, of reviews and of DeleteOptions. Ref: k8s.io/api,
 * generated.proto of each group.
 */
#include "api/server/message/protobuf_tables.h"

#include <string.h>

#include "base/compiler.h"

#define MESSAGE(name, ...)                                                                         \
    static const struct pb_field name##_fields[] = {__VA_ARGS__{0}};                               \
    static const struct pb_message name = {name##_fields};

/* clang-format off */

MESSAGE(owner_reference,
    {1, "kind", PB_STR}, {3, "name", PB_STR}, {4, "uid", PB_STR}, {5, "apiVersion", PB_STR},
    {6, "controller", PB_BOOL, .keeps_zero = true}, {7, "blockOwnerDeletion", PB_BOOL, .keeps_zero = true},
)
MESSAGE(managed_fields,
    {1, "manager", PB_STR}, {2, "operation", PB_STR}, {3, "apiVersion", PB_STR}, {4, "time", PB_TIME},
    {6, "fieldsType", PB_STR}, {7, "fieldsV1", PB_JSON}, {8, "subresource", PB_STR},
)
MESSAGE(object_meta,
    {1, "name", PB_STR}, {2, "generateName", PB_STR}, {3, "namespace", PB_STR}, {5, "uid", PB_STR},
    {6, "resourceVersion", PB_STR}, {7, "generation", PB_INT}, {8, "creationTimestamp", PB_TIME},
    {9, "deletionTimestamp", PB_TIME}, {10, "deletionGracePeriodSeconds", PB_INT, .keeps_zero = true},
    {11, "labels", PB_STR_MAP}, {12, "annotations", PB_STR_MAP},
    {13, "ownerReferences", PB_MESSAGE, &owner_reference, .repeated = true},
    {14, "finalizers", PB_STR, .repeated = true},
    {17, "managedFields", PB_MESSAGE, &managed_fields, .repeated = true},
)
MESSAGE(preconditions,
    {1, "uid", PB_STR}, {2, "resourceVersion", PB_STR},
)
MESSAGE(delete_options,
    {1, "gracePeriodSeconds", PB_INT, .keeps_zero = true}, {2, "preconditions", PB_MESSAGE, &preconditions},
    {3, "orphanDependents", PB_BOOL, .keeps_zero = true}, {4, "propagationPolicy", PB_STR},
    {5, "dryRun", PB_STR, .repeated = true},
)
MESSAGE(object_reference,
    {1, "kind", PB_STR}, {2, "namespace", PB_STR}, {3, "name", PB_STR}, {4, "uid", PB_STR},
    {5, "apiVersion", PB_STR}, {6, "resourceVersion", PB_STR}, {7, "fieldPath", PB_STR},
)
MESSAGE(local_reference,
    {1, "name", PB_STR},
)

MESSAGE(namespace_spec,
    {1, "finalizers", PB_STR, .repeated = true},
)
MESSAGE(namespace_condition,
    {1, "type", PB_STR}, {2, "status", PB_STR}, {4, "lastTransitionTime", PB_TIME}, {5, "reason", PB_STR},
    {6, "message", PB_STR},
)
MESSAGE(namespace_status,
    {1, "phase", PB_STR}, {2, "conditions", PB_MESSAGE, &namespace_condition, .repeated = true},
)
MESSAGE(namespace,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "spec", PB_MESSAGE, &namespace_spec},
    {3, "status", PB_MESSAGE, &namespace_status},
)
MESSAGE(config_map,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "data", PB_STR_MAP}, {3, "binaryData", PB_BYTES_MAP},
    {4, "immutable", PB_BOOL, .keeps_zero = true},
)
MESSAGE(secret,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "data", PB_BYTES_MAP}, {3, "type", PB_STR},
    {4, "stringData", PB_STR_MAP}, {5, "immutable", PB_BOOL, .keeps_zero = true},
)
MESSAGE(service_account,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "secrets", PB_MESSAGE, &object_reference, .repeated = true},
    {3, "imagePullSecrets", PB_MESSAGE, &local_reference, .repeated = true},
    {4, "automountServiceAccountToken", PB_BOOL, .keeps_zero = true},
)
MESSAGE(service_port,
    {1, "name", PB_STR}, {2, "protocol", PB_STR}, {3, "port", PB_INT}, {4, "targetPort", PB_INT_OR_STR},
    {5, "nodePort", PB_INT}, {6, "appProtocol", PB_STR, .keeps_zero = true},
)
MESSAGE(service_spec,
    {1, "ports", PB_MESSAGE, &service_port, .repeated = true}, {2, "selector", PB_STR_MAP}, {3, "clusterIP", PB_STR},
    {4, "type", PB_STR}, {5, "externalIPs", PB_STR, .repeated = true}, {7, "sessionAffinity", PB_STR},
    {8, "loadBalancerIP", PB_STR}, {10, "externalName", PB_STR}, {11, "externalTrafficPolicy", PB_STR},
    {13, "publishNotReadyAddresses", PB_BOOL}, {17, "ipFamilyPolicy", PB_STR},
    {18, "clusterIPs", PB_STR, .repeated = true}, {19, "ipFamilies", PB_STR, .repeated = true},
    {22, "internalTrafficPolicy", PB_STR},
)
MESSAGE(service,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "spec", PB_MESSAGE, &service_spec},
)
MESSAGE(event_source,
    {1, "component", PB_STR}, {2, "host", PB_STR},
)
MESSAGE(event_series,
    {1, "count", PB_INT}, {2, "lastObservedTime", PB_MICRO_TIME},
)
MESSAGE(event,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "involvedObject", PB_MESSAGE, &object_reference},
    {3, "reason", PB_STR}, {4, "message", PB_STR}, {5, "source", PB_MESSAGE, &event_source},
    {6, "firstTimestamp", PB_TIME}, {7, "lastTimestamp", PB_TIME}, {8, "count", PB_INT}, {9, "type", PB_STR},
    {10, "eventTime", PB_MICRO_TIME}, {11, "series", PB_MESSAGE, &event_series}, {12, "action", PB_STR},
    {13, "related", PB_MESSAGE, &object_reference}, {14, "reportingComponent", PB_STR},
    {15, "reportingInstance", PB_STR},
)

MESSAGE(lease_spec,
    {1, "holderIdentity", PB_STR, .keeps_zero = true}, {2, "leaseDurationSeconds", PB_INT, .keeps_zero = true},
    {3, "acquireTime", PB_MICRO_TIME}, {4, "renewTime", PB_MICRO_TIME},
    {5, "leaseTransitions", PB_INT, .keeps_zero = true},
)
MESSAGE(lease,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "spec", PB_MESSAGE, &lease_spec},
)
MESSAGE(priority_class,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "value", PB_INT, .keeps_zero = true},
    {3, "globalDefault", PB_BOOL}, {4, "description", PB_STR}, {5, "preemptionPolicy", PB_STR},
)
MESSAGE(resource_attributes,
    {1, "namespace", PB_STR}, {2, "verb", PB_STR}, {3, "group", PB_STR}, {4, "version", PB_STR},
    {5, "resource", PB_STR}, {6, "subresource", PB_STR}, {7, "name", PB_STR},
)
MESSAGE(non_resource_attributes,
    {1, "path", PB_STR}, {2, "verb", PB_STR},
)
MESSAGE(access_review_spec,
    {1, "resourceAttributes", PB_MESSAGE, &resource_attributes},
    {2, "nonResourceAttributes", PB_MESSAGE, &non_resource_attributes},
)
MESSAGE(access_review,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "spec", PB_MESSAGE, &access_review_spec},
)
MESSAGE(rules_review_spec,
    {1, "namespace", PB_STR},
)
MESSAGE(rules_review,
    {1, "metadata", PB_MESSAGE, &object_meta}, {2, "spec", PB_MESSAGE, &rules_review_spec},
)
MESSAGE(subject_review,
    {1, "metadata", PB_MESSAGE, &object_meta},
)

static const struct {
    const char *kind;
    const struct pb_message *message;
} messages[] = {
    {"Namespace",                &namespace},
    {"ConfigMap",                &config_map},
    {"Secret",                   &secret},
    {"ServiceAccount",           &service_account},
    {"Service",                  &service},
    {"Event",                    &event},
    {"Lease",                    &lease},
    {"PriorityClass",            &priority_class},
    {"SelfSubjectAccessReview",  &access_review},
    {"SelfSubjectRulesReview",   &rules_review},
    {"SelfSubjectReview",        &subject_review},
    {"DeleteOptions",            &delete_options},
};
/* clang-format on */

const struct pb_message *pb_message_of(const char *kind)
{
    for (size_t i = 0; i < countof(messages); i++)
        if (strcmp(messages[i].kind, kind) == 0)
            return messages[i].message;
    return NULL;
}
