#pragma once
/*
 * The table of kinds: one row says everything generic code needs to know about a kind.
 *
 * Adding a kind: a constant `struct kind` in its own file of this folder, one line in KINDS below.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

struct schema;
struct object;
struct column;

/* C name, constant. The order is the order of `get all` and of recovery. */
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
    X(JOB_TEMPLATE,    kind_job_template)         \
    X(JOB_FLOW,        kind_job_flow)             \
    X(JOB,             kind_job)                  \
    X(COMMAND,         kind_command)              \
    X(POD_GROUP,       kind_pod_group)            \
    X(POD,             kind_pod)                  \
    X(LEASE,           kind_lease)                \
    X(EVENT,           kind_event)                \
    X(CRD,             kind_crd)
/* clang-format on */

#define KIND_ENUM(name, constant) KIND_##name,
enum kind_id { KINDS(KIND_ENUM) KIND_N };
#undef KIND_ENUM

struct admission; /* what validation may look up: see api/types/admission.h */

struct kind {
    enum kind_id id;
    const char *group; /* "" for the core group */
    const char *version;
    const char *name; /* JobFlow */
    const char *plural;
    const char *singular;
    const char *const *short_names; /* NULL-terminated, or NULL */
    bool namespaced;
    bool has_status; /* status subresource: a write to the object leaves the status alone and vice
                        versa */
    bool built_in;   /* made from our tables when asked for: nobody writes it, the store has none */
    bool no_generation; /* metadata.generation is not kept (core kinds such as ConfigMap, Event) */
    bool few;           /* people make them, or there are but a few for each of those: no part of a
                           flow's steps (the store keeps them together) */
    const struct schema *schema; /* of the whole object but apiVersion, kind, metadata */
    /** What every write goes through after schema defaulting, on create and update, before
     * `mutate`: a Secret's stringData becomes data. On the document of the body's members. May be
     * NULL. */
    void (*normalize)(json_t *body);
    /** Mutating admission on create, on the document of the body's members, after schema
     * defaulting. May be NULL. */
    void (*mutate)(const struct admission *adm, json_t *body, const struct object *draft);
    /** Whether what `mutate` makes of this draft is decided by more than its body (metadata, other
     * objects), so that it holds for this object only and not for every equal body. NULL: never. */
    bool (*mutates_in_context)(const struct admission *adm, const struct object *draft);
    /** What creation makes of the metadata: owned, or NULL when it stays as it is. May be NULL. */
    struct meta *(*mutate_meta)(const struct meta *meta);
    /** Validating admission of what the body alone decides; skipped for a body already admitted as
     * this kind, so it may look at neither names nor `old`. Reports every finding. May be NULL. */
    void (*validate)(const struct admission *adm, const struct object *old,
                     const struct object *new_, struct error_list *errors);
    /** Checks that depend on metadata, on `old` (NULL on create) or on other objects, and must run
     * even when an equal body was admitted before. May be NULL. */
    void (*validate_in_context)(const struct admission *adm, const struct object *old,
                                const struct object *new_, struct error_list *errors);
    bool context_always; /* the same also after findings of `validate`: all problems at once */
    /** Whether the object may be deleted by a user; FORBIDDEN with the way out when not. May be
     * NULL. */
    bool (*validate_delete)(const struct admission *adm, const struct object *object,
                            struct error *err);
    const struct column
        *columns; /* printer columns after NAME; ends with a zero row; NULL: AGE only */
};

/* A printer column as CRDs and kubectl know them. */
struct column {
    const char *title;
    const char *type; /* string, integer, date */
    const char *path; /* dotted path into the object: status.state.phase */
    int priority;     /* 0 always, 1 with -o wide */
    const char *description;
};

#define KIND_DECLARE(name, constant) extern const struct kind constant;
KINDS(KIND_DECLARE)
#undef KIND_DECLARE

const struct kind *kind_by_id(enum kind_id id);
const struct kind *kind_by_gvk(const char *api_version, const char *kind); /* NULL if unknown */
/** By what people type: plural, singular, short name or kind, with or without ".group"; any letter
 * case. */
const struct kind *kind_by_word(const char *word);
/** By URL parts: group ("" core), version, plural. */
const struct kind *kind_by_resource(const char *group, const char *version, const char *plural);
const char *kind_api_version(const struct kind *kind); /* "group/version" or "version" */
/** True for the kinds that a Kubernetes cluster knows by a CustomResourceDefinition: those of the
 * volcano.sh groups. */
bool kind_is_custom(const struct kind *kind);
/** The best guess for a mistyped kind or apiVersion, for error texts; NULL if nothing is near. */
const struct kind *kind_nearest(const char *word);
