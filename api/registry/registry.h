#pragma once
/*
 * API semantics over the store: what create, update, patch and delete mean.
 *
 * Admission, names and uids, generation, resourceVersion preconditions, status as its own
 * subresource, finalizers, deletion marks and pod grace periods, propagation policies and garbage
 * collection by owner uid. Both the API server and the embedded cluster stand on it, so a
 * controller and kubectl meet the same rules.
 */
#include "api/store/store.h"
#include "api/types/admission.h"

struct registry;

/* L-11, L-20, L-21; 0 = the default, which carries flows of a million steps (DC-05). */
struct registry_limits {
    size_t objects;              /* 4,000,000 */
    size_t objects_in_namespace; /* 3,500,000 */
    size_t kind_in_namespace;    /* 1,100,000 */
    size_t object_bytes;         /* 128 MiB */
    size_t store_bytes;          /* 8 GiB, of all objects together */
};

/* What may be done with flows. With --jobflow-compat=upstream the first two count nothing. */
struct registry_flow_rules {
    bool deletion_protection; /* DC-02; default on */
    bool reject_updates;      /* DC-02; default on */
    int64_t steps;            /* L-17, --max-flow-steps; 0 = the default */
};

struct registry_options {
    bool upstream_compat; /* --jobflow-compat=upstream */
    bool virtual_runtime; /* --runtime sim */
    struct registry_flow_rules flows;
    struct registry_limits limits;
    const struct plugin_rules *plugins; /* of jobs; NULL: any */
    bool strict_plugin_arguments;       /* --strict-plugin-arguments */
    bool no_key_arguments;              /* SEC-29 */
    bool cluster_objects; /* also what clients look for in a cluster: kube-system, accounts */
};

/** Starts the garbage gc; makes the objects every cluster has (namespace default, queues
 * root and default). Borrows the store. */
struct registry *registry_new(struct loop *loop, struct store *store,
                              const struct registry_options *options);
void registry_free(struct registry *registry);
/** Other rules from now on. */
void registry_rule_flows(struct registry *registry, const struct registry_flow_rules *rules);
struct store *registry_store(const struct registry *registry);

/*
 * Every write is applied to the head at once; `*out` (may be NULL) is borrowed until the caller
 * returns to the loop. False with every finding in `errors`. Findings about the object's content
 * have code INVALID and a field; the others are one error whose message is the whole text of the
 * answer. STORAGE while the disk is full, except for deletes (D-08).
 */
enum registry_dry_run { REGISTRY_APPLY, REGISTRY_DRY_RUN };
struct registry_write {
    enum registry_dry_run dry_run;
    enum schema_unknown unknown; /* for documents from users */
    struct error_list *warnings; /* may be NULL */
    const char *manager;         /* whose fields they become; NULL: nobody keeps account */
};

/** Whether `made`, which another registry of these options created from `doc`, says nothing that
 * `stored` does not say already. */
bool registry_says_nothing_new(const struct object *stored, const struct object *made,
                               const json_t *doc);

bool registry_create(struct registry *r, json_t *doc, const struct registry_write *how,
                     const struct object **out, struct error_list *errors);
bool registry_create_object(struct registry *r, struct object *draft, const struct object **out,
                            struct error_list *errors);

enum registry_subresource { REGISTRY_MAIN, REGISTRY_STATUS };
/** Replace from a document: resourceVersion and uid in it are preconditions when present. */
bool registry_update(struct registry *r, json_t *doc, enum registry_subresource sub,
                     const struct registry_write *how, const struct object **out,
                     struct error_list *errors);
bool registry_update_object(struct registry *r, struct object *object, const struct object **out,
                            struct error_list *errors);
bool registry_update_status(struct registry *r, const struct object *object, struct blob *status,
                            const struct object **out, struct error_list *errors);

/** True when replacing `stored` by the document would change nothing: its body as admitted is the
 * stored one, its labels and annotations are there. `doc` is borrowed and changed (defaults). A
 * quick way to leave out the merge; false says nothing. */
bool registry_unchanged(struct registry *r, json_t *doc, const struct object *stored);

enum registry_patch { REGISTRY_PATCH_JSON, REGISTRY_PATCH_MERGE, REGISTRY_PATCH_STRATEGIC };
bool registry_patch(struct registry *r, const struct kind *kind, const char *ns, const char *name,
                    enum registry_patch type, const json_t *patch, enum registry_subresource sub,
                    const struct registry_write *how, const struct object **out,
                    struct error_list *errors);

/**
 * Server-side apply: `config` is what `how->manager` wants of the object, and all it wants. It is
 * created when it is not there (*out_created). Fields of others that would change are CONFLICTs,
 * one error for each, unless `force`.
 */
bool registry_apply(struct registry *r, const struct kind *kind, const char *ns, const char *name,
                    json_t *config, enum registry_subresource sub, bool force,
                    const struct registry_write *how, const struct object **out, bool *out_created,
                    struct error_list *errors);

enum registry_propagation { REGISTRY_BACKGROUND, REGISTRY_FOREGROUND, REGISTRY_ORPHAN };
struct registry_delete {
    const char *uid;  /* precondition; NULL = any */
    int64_t revision; /* precondition; 0 = any */
    int64_t grace_s;  /* -1 = the object's own; 0 also passes deletion protection (--force) */
    enum registry_propagation propagation;
    bool internal; /* a controller or the collector: no deletion protection */
    enum registry_dry_run dry_run;
};
/** `*out` is the object with its deletion mark, or NULL when it is gone. */
bool registry_delete(struct registry *r, const struct kind *kind, const char *ns, const char *name,
                     const struct registry_delete *how, const struct object **out,
                     struct error_list *errors);
