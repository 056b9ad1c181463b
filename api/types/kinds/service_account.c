/*
 * The kind ServiceAccount: a name that pods run under. Accounts have no tokens.
 *
 * Ref: k8s.io/api core/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const struct field service_account_fields[] = {
    {"secrets",                      FIELD_LIST,     FIELD_PASS, &object_reference_schema, .pb = 2, .merge_key = "name",
     .doc = "Secrets that pods of the account may use."},
    {"imagePullSecrets",             FIELD_LIST,     FIELD_PASS, &local_object_reference_schema, .pb = 3,
     .doc = "Secrets for pulling images; kept but not used, because local pods pull no images."},
    {"automountServiceAccountToken", FIELD_OPT_BOOL, FIELD_PASS, .pb = 4, .doc = "Kept but not used, because accounts have no tokens."},
    {0},
};
static const struct schema service_account_schema = {
    "ServiceAccount", service_account_fields, .doc = "A name that pods run under."};
/* clang-format on */

static const char *const short_names[] = {"sa", NULL};

const struct kind kind_service_account = {
    .id = KIND_SERVICE_ACCOUNT,
    .group = "",
    .version = "v1",
    .name = "ServiceAccount",
    .plural = "serviceaccounts",
    .singular = "serviceaccount",
    .short_names = short_names,
    .namespaced = true,
    .no_generation = true,
    .schema = &service_account_schema,
};
