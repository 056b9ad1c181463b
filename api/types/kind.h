#pragma once
/*
 * The table of kinds. One row holds everything generic code needs to know about a kind.
 *
 * To add a kind, define a constant `struct kind` in its own file under kinds/ and add one line to
 * KINDS below.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

struct schema;
struct object;
struct column;

/* Columns: C name, constant. `get all` and recovery follow the order of this list. */
/* clang-format off */
#define KINDS(X)                                  \
    X(NAMESPACE,       kind_namespace)            \
    X(NODE,            kind_node)                 \
    X(PRIORITY_CLASS,  kind_priority_class)       \
    X(QUEUE,           kind_queue)                \
    X(CONFIG_MAP,      kind_config_map)           \
    X(SECRET,          kind_secret)               \
    X(SERVICE,         kind_service)              \
    X(ENDPOINTS,       kind_endpoints)            \
    X(ENDPOINT_SLICE,  kind_endpoint_slice)       \
    X(PVC,             kind_pvc)                  \
    X(SERVICE_ACCOUNT, kind_service_account)      \
    X(NETWORK_POLICY,  kind_network_policy)       \
    X(CACHE_ENTRY,     kind_cache_entry)          \
    X(JOB_TEMPLATE,    kind_job_template)         \
    X(JOB_FLOW,        kind_job_flow)             \
    X(FLOW_TRIGGER,    kind_flow_trigger)         \
    X(CRON_JOB,        kind_cron_job)             \
    X(JOB,             kind_job)                  \
    X(COMMAND,         kind_command)              \
    X(POD_GROUP,       kind_pod_group)            \
    X(POD,             kind_pod)                  \
    X(POD_LOG,         kind_pod_log)              \
    X(SUBMISSION,      kind_submission)           \
    X(LEASE,           kind_lease)                \
    X(EVENT,           kind_event)                \
    X(CRD,             kind_crd)

/* Kinds of other projects that only clusters have. They are written and followed there, and neither
 * served nor stored here: the functions below that find kinds do not know them. */
#define CLUSTER_KINDS(X)                          \
    X(COSCHEDULING_GROUP, kind_coscheduling_group) \
    X(WORKLOAD_GROUP,     kind_workload_group)    \
    X(WORKLOAD,           kind_workload)
/* clang-format on */

#define KIND_ENUM(name, constant) KIND_##name,
enum kind_id { KINDS(KIND_ENUM) KIND_N, CLUSTER_KINDS(KIND_ENUM) KIND_ALL_N };
#undef KIND_ENUM

struct admission; /* the context of validation, defined in api/types/admission.h */

struct kind {
    enum kind_id id;
    const char *group; /* API group; "" for the core group */
    const char *version;
    const char *name; /* name in manifests, such as "JobFlow" */
    const char *plural;
    const char *singular;
    const char *const *short_names; /* short names, ended by NULL; or NULL */
    bool namespaced;
    bool has_status;    /* status subresource: a write to the object leaves the status unchanged */
    bool built_in;      /* generated from built-in tables on request, never in the store */
    bool no_generation; /* metadata.generation is not kept (core kinds such as ConfigMap, Event) */
    bool few;           /* few objects, none per step of a flow: the store keeps them together */
    const struct schema *schema; /* table of the whole object except apiVersion, kind, metadata */
    /** Normalizes the members of the body on create and update, after schema defaulting and before
     * `mutate`: a Secret's stringData becomes data. May be NULL. */
    void (*normalize)(json_t *body);
    /** Mutating admission on create: changes the members of the body after schema defaulting. May
     * be NULL. */
    void (*mutate)(const struct admission *adm, json_t *body, const struct object *draft);
    /** Returns whether the result of `mutate` for this draft depends on more than its body
     * (metadata, other objects). Such a result is not reused for equal bodies. NULL: never. */
    bool (*mutates_in_context)(const struct admission *adm, const struct object *draft);
    /** Mutates the metadata on create. Returns new metadata (owned), or NULL when it stays
     * unchanged. May be NULL. */
    struct meta *(*mutate_meta)(const struct meta *meta);
    /** Validating admission of all that the body alone decides. It is skipped for a body already
     * admitted as this kind, so it must read neither names nor `old`. Reports every finding. May
     * be NULL. */
    void (*validate)(const struct admission *adm, const struct object *old,
                     const struct object *object, struct error_list *errors);
    /** Checks annotations and labels of which the kind has rules. `before` is the metadata before an
     * update, NULL on create. Values that the update does not change are not reported, so that an
     * object which an earlier version accepted can still be changed. May be NULL. */
    void (*validate_meta)(const struct admission *adm, const struct meta *before,
                          const struct meta *meta, struct error_list *errors);
    /** Checks that depend on metadata, on `old` (NULL on create) or on other objects. They run even
     * when an equal body was admitted before. May be NULL. */
    void (*validate_in_context)(const struct admission *adm, const struct object *old,
                                const struct object *object, struct error_list *errors);
    /** Run validate_in_context even after findings of `validate`, to report all errors at once. */
    bool context_always;
    /** Returns whether a user may delete the object. If not, the error is FORBIDDEN and says what
     * to do instead. May be NULL. */
    bool (*validate_delete)(const struct admission *adm, const struct object *object,
                            struct error *err);
    const struct column
        *columns; /* printer columns after NAME; ends with a zero row; NULL: AGE only */
};

/* A printer column, as in a CustomResourceDefinition. */
struct column {
    const char *title;
    const char *type; /* type of the cells: string, integer or date */
    const char *path; /* dotted path into the object: status.state.phase */
    int priority;     /* 0: always shown; 1: shown with -o wide */
    const char *description;
};

#define KIND_DECLARE(name, constant) extern const struct kind constant;
KINDS(KIND_DECLARE)
CLUSTER_KINDS(KIND_DECLARE)
#undef KIND_DECLARE

/** Returns the kind with this number, NULL if there is none. */
const struct kind *kind_by_id(enum kind_id id);
/** The same for all kinds, those of CLUSTER_KINDS included. */
const struct kind *kind_of_cluster_by_id(enum kind_id id);
/** Returns NULL for an unknown kind. */
const struct kind *kind_by_gvk(const char *api_version, const char *kind);
/** Finds a kind by the word a user types: plural, singular, short name or kind, with or without
 * ".group", in any letter case. Returns NULL if unknown. */
const struct kind *kind_by_word(const char *word);
/** Finds a kind by the parts of a URL: group ("" for core), version, plural. Returns NULL if
 * unknown. */
const struct kind *kind_by_resource(const char *group, const char *version, const char *plural);
const char *kind_api_version(const struct kind *kind); /* returns "group/version" or "version" */
/** Returns true for the kinds that a Kubernetes cluster knows by a CustomResourceDefinition: those
 * of the volcano.sh groups. */
bool kind_is_custom(const struct kind *kind);
/** Returns the most similar kind to a mistyped kind or apiVersion, for error texts; NULL if none is
 * similar. */
const struct kind *kind_nearest(const char *word);
