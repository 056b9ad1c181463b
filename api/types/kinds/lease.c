/*
 * Lease (coordination.k8s.io/v1): leader election of outside controllers.
 *
 * Ref: k8s.io/api coordination/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const struct field lease_spec_fields[] = {
    {"holderIdentity",       FIELD_STR,     FIELD_PASS,
     .doc = "Contains the identity of the holder of a current lease."},
    {"leaseDurationSeconds", FIELD_OPT_I32, FIELD_PASS, BOUNDS(1, INT32_MAX),
     .doc = "A duration that candidates for a lease need to wait to force acquire it."},
    {"acquireTime",          FIELD_TIME,    FIELD_PASS, .doc = "A time when the current lease was acquired."},
    {"renewTime",            FIELD_TIME,    FIELD_PASS,
     .doc = "A time when the current holder of a lease has last updated the lease."},
    {"leaseTransitions",     FIELD_OPT_I32, FIELD_PASS, BOUNDS(0, INT32_MAX),
     .doc = "The number of transitions of a lease between holders."},
    {0},
};
static const struct schema lease_spec_schema = {"LeaseSpec", lease_spec_fields};

static const struct field lease_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &lease_spec_schema, .doc = "Who holds the lease, and until when."},
    {0},
};
static const struct schema lease_schema = {"Lease", lease_fields, .doc = "A lock with an end, for leader election."};
/* clang-format on */

const struct kind kind_lease = {
    .id = KIND_LEASE,
    .group = "coordination.k8s.io",
    .version = "v1",
    .name = "Lease",
    .plural = "leases",
    .singular = "lease",
    .namespaced = true,
    .no_generation = true,
    .schema = &lease_schema,
};
