/*
 * The kind Lease (coordination.k8s.io/v1): a lock with a time limit, by which external controllers
 * elect a leader.
 *
 * Ref: k8s.io/api coordination/v1, release 1.30.
 */
#include "api/types/kinds/pod/core_schema.h"

/* clang-format off */
static const struct field lease_spec_fields[] = {
    {"holderIdentity",       FIELD_STR,     FIELD_PASS, .pb = 1, .keeps_zero = true,
     .doc = "Identity of the holder of the lease."},
    {"leaseDurationSeconds", FIELD_OPT_I32, FIELD_PASS, .pb = 2, BOUNDS(1, INT32_MAX),
     .doc = "Seconds after the last renewal when other candidates may take the lease."},
    {"acquireTime",          FIELD_TIME,    FIELD_PASS, .pb = 3, .pb_as = PB_MICRO_TIME, .doc = "Time when the holder acquired the lease."},
    {"renewTime",            FIELD_TIME,    FIELD_PASS, .pb = 4, .pb_as = PB_MICRO_TIME,
     .doc = "Time when the holder last renewed the lease."},
    {"leaseTransitions",     FIELD_OPT_I32, FIELD_PASS, .pb = 5, BOUNDS(0, INT32_MAX),
     .doc = "Number of times that the lease has changed its holder."},
    {0},
};
static const struct schema lease_spec_schema = {"LeaseSpec", lease_spec_fields};

static const struct field lease_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &lease_spec_schema, .pb = 2, .doc = "Holder and duration of the lease."},
    {0},
};
static const struct schema lease_schema = {"Lease", lease_fields, .doc = "A lock with a time limit, used for leader election."};
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
