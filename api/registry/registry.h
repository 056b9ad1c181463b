#pragma once
/*
 * API semantics over the store: the meaning of create, update, patch, apply and delete.
 *
 * The registry handles admission, names and uids, generation, resourceVersion preconditions, the
 * status subresource, finalizers, deletion timestamps and pod grace periods, propagation policies,
 * and garbage collection by owner uid. Both the API server and the embedded cluster use it, so
 * controllers and kubectl meet the same rules.
 */
#include "api/store/store.h"
#include "api/types/admission.h"

struct registry;

/* Limits L-11, L-20 and L-21. 0 = the default, which fits flows of a million steps (DC-05). */
struct registry_limits {
    size_t objects;              /* objects of the store; default 4,000,000 */
    size_t objects_in_namespace; /* objects of one namespace; default 3,500,000 */
    size_t kind_in_namespace;    /* objects of one kind in a namespace; default 1,100,000 */
    size_t object_bytes;         /* bytes of one object; default 128 MiB */
    size_t store_bytes;          /* limit of all objects together; default 8 GiB */
};

/* Options for flows. With --jobflow-compat=upstream the first two have no effect. */
struct registry_flow_rules {
    bool deletion_protection; /* a flow in use cannot be deleted; default on (DC-02) */
    bool reject_updates;      /* the spec of a flow cannot be changed; default on (DC-02) */
    int64_t steps;            /* L-17, --max-flow-steps; 0 = the default */
};

struct registry_options {
    bool upstream_compat; /* setting --jobflow-compat=upstream */
    bool virtual_runtime; /* setting --runtime sim */
    struct registry_flow_rules flows;
    struct registry_limits limits;
    const struct plugin_rules *plugins; /* allowed job plugins; NULL: any */
    bool strict_plugin_arguments;       /* setting --strict-plugin-arguments */
    bool no_key_arguments; /* private keys in arguments of plugins are refused (SEC-29) */
    bool no_low_ports;     /* warn of jobs whose sshd would listen below 1024 */
    bool cluster_objects;  /* also create the objects that clients expect of a cluster:
                           * kube-system, service accounts */
};

/** Creates the registry, starts the garbage collector, and creates the objects that every cluster
 * has (namespace default, queues root and default). Borrows the store. */
struct registry *registry_new(struct loop *loop, struct store *store,
                              const struct registry_options *options);
void registry_free(struct registry *registry);
/** Replaces the options for flows. */
void registry_rule_flows(struct registry *registry, const struct registry_flow_rules *rules);
struct store *registry_store(const struct registry *registry);

/*
 * Every write is accepted at once. `*out` (may be NULL) is borrowed until the caller returns to the
 * loop. A function returns false with every finding in `errors`: findings about the content have
 * code INVALID and a field; any other failure is one error whose message is the text of the answer.
 * STORAGE while the disk is full, except for deletes (D-08).
 */
enum registry_dry_run { REGISTRY_APPLY, REGISTRY_DRY_RUN };
struct registry_write {
    enum registry_dry_run dry_run;
    enum schema_unknown unknown; /* unknown fields in documents from users */
    struct error_list *warnings; /* receives warnings of admission; may be NULL */
    const char *manager;         /* field manager; NULL: managed fields are not maintained */
    bool settles; /* create: the client may write the object again before controllers see it */
};

/** Returns whether `made` adds nothing to `stored`. Another registry with the same options created
 * `made` from `doc`. */
bool registry_says_nothing_new(const struct object *stored, const struct object *made,
                               const json_t *doc);

bool registry_create(struct registry *r, json_t *doc, const struct registry_write *how,
                     const struct object **out, struct error_list *errors);
bool registry_create_object(struct registry *r, struct object *draft, const struct object **out,
                            struct error_list *errors);

/* A job or a flow whose create says so is settling for a moment after it became durable. The
 * cluster holds it back from controllers meanwhile. */
struct settle_listener {
    void (*settled)(struct settle_listener *listener, const struct object *object);
};
/** Sets the only listener; NULL for none. Without one, nothing settles. */
void registry_on_settled(struct registry *r, struct settle_listener *listener);
bool registry_settling(const struct registry *r, const struct object *object);
/** Ends the wait without telling the listener. */
void registry_settle_now(struct registry *r, const struct object *object);

enum registry_subresource { REGISTRY_MAIN, REGISTRY_STATUS };
/** Replaces the object by a document. resourceVersion and uid in it are preconditions when present.
 */
bool registry_update(struct registry *r, json_t *doc, enum registry_subresource sub,
                     const struct registry_write *how, const struct object **out,
                     struct error_list *errors);
bool registry_update_object(struct registry *r, struct object *object, const struct object **out,
                            struct error_list *errors);
bool registry_update_status(struct registry *r, const struct object *object, struct blob *status,
                            const struct object **out, struct error_list *errors);

/** Returns true when replacing `stored` by the document would change nothing: the body after
 * admission is the stored one, and labels and annotations are present. `doc` is borrowed and gets
 * defaults. A fast check before the full update; false proves nothing. */
bool registry_unchanged(struct registry *r, json_t *doc, const struct object *stored);

/* The object that a patch, an apply or a delete is about. */
struct registry_target {
    const struct kind *kind;
    const char *ns, *name; /* ns "" for a cluster-scoped kind */
};
static inline struct registry_target registry_target_of(const struct object *object)
{
    return (struct registry_target){object->kind, object_namespace(object), object_name(object)};
}

enum registry_patch_type { REGISTRY_PATCH_JSON, REGISTRY_PATCH_MERGE, REGISTRY_PATCH_STRATEGIC };
struct registry_patch {
    enum registry_patch_type type;
    const json_t *doc;
    enum registry_subresource sub;
};
bool registry_patch(struct registry *r, struct registry_target at,
                    const struct registry_patch *patch, const struct registry_write *how,
                    const struct object **out, struct error_list *errors);

struct registry_apply {
    json_t *config; /* all fields that the manager wants to own */
    enum registry_subresource sub;
    bool force;        /* take fields that other managers own; otherwise each is a CONFLICT */
    bool *out_created; /* whether the object did not exist and was created */
};
/** Applies a document for the manager `how->manager` (server-side apply). */
bool registry_apply(struct registry *r, struct registry_target at,
                    const struct registry_apply *apply, const struct registry_write *how,
                    const struct object **out, struct error_list *errors);

enum registry_propagation { REGISTRY_BACKGROUND, REGISTRY_FOREGROUND, REGISTRY_ORPHAN };
struct registry_delete {
    const char *uid;  /* precondition; NULL = any */
    int64_t revision; /* precondition; 0 = any */
    int64_t grace_s;  /* grace period; -1 = the object's own; 0 also passes deletion protection
                       * (--force) */
    enum registry_propagation propagation;
    bool keep_record; /* a flow that has ended stays as the record of an earlier run */
    bool internal; /* the caller is a controller or the garbage collector: no deletion protection */
    enum registry_dry_run dry_run;
};
/** Deletes an object. `*out` is the object with its deletion timestamp, or NULL when it was
 * removed. */
bool registry_delete(struct registry *r, struct registry_target at,
                     const struct registry_delete *how, const struct object **out,
                     struct error_list *errors);
