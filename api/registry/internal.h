#pragma once
/*
 * The registry's data and internal functions, shared by registry.c, one file for each verb, gc.c
 * (garbage collection), event_ttl.c (age of Events) and settle.c (objects just created).
 */
#include "api/registry/registry.h"
#include "base/collections/hash.h"

struct gc;
struct event_ttl;
struct settle;

struct registry {
    struct loop *loop;
    struct store *store;
    struct registry_options options;
    struct limits flow_limits; /* limits on the content of flows */
    struct admission admission;
    struct gc *gc;
    struct settle *settle;
    struct event_ttl *events;  /* removes old Events; NULL for a read-only store */
    struct turn_hook turn_end; /* frees `kept` at the end of a turn */
    struct object **kept;      /* results of dry runs, [n_kept], borrowed until the turn ends */
    size_t n_kept, cap_kept;
};

/* Finalizers of propagation policies; the garbage collector removes them. */
#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN     "orphan"

/** Returns whether writes other than deletes are accepted. */
bool registry_may_write(const struct registry *r, struct error_list *errors);
/** Stores the object (consumed). With `dry_run` it is only kept until the turn ends. Returns it,
 * borrowed. */
const struct object *registry_put(struct registry *r, struct object *object,
                                  enum registry_dry_run dry_run);
/** Removes the object from the store and queues its dependents for garbage collection. */
void registry_remove(struct registry *r, const struct object *object);
/** Keeps the record of a flow that has ended and is about to be removed, and removes records beyond
 * the flow's limits. */
void registry_keep_record(struct registry *r, const struct object *flow);
/** Checks the limits L-11, L-20 and L-21 for `object` (new, or a new version). */
bool registry_has_room(const struct registry *r, const struct object *object, bool is_new,
                       struct error_list *errors);
/** Returns the admission of one write. Warnings go to `how->warnings`. */
struct admission registry_admission_for(const struct registry *r, const struct registry_write *how);

/* Defined in error_text.c. */

enum { RESOURCE_TEXT_MAX = 160 };
/** Writes the resource name: "jobflows.flow.volcano.sh"; for the core group "pods". */
const char *registry_resource(const struct kind *kind, char out[RESOURCE_TEXT_MAX]);
/** Writes the kind name: "JobFlow.flow.volcano.sh"; for the core group "Pod". */
const char *registry_kind_text(const struct kind *kind, char out[RESOURCE_TEXT_MAX]);
bool registry_not_found(const struct kind *kind, const char *name, struct error_list *errors);
/** Adds the NOT_FOUND error of a namespace. Returns false. */
bool registry_no_namespace(const char *name, struct error_list *errors);
bool registry_conflict(const struct kind *kind, const char *name, struct error_list *errors);
/** Sets the name of a draft that has only generate_name. False when 8 generated names were taken.
 */
bool registry_generate_name(struct registry *r, const struct kind *kind, const char *ns,
                            const char *prefix, char out[254]);

/* Defined in managed_fields.c. */

/** Returns the list of managed fields of a new object as JSON text (owned), or NULL for none.
 * `body` is its body as a document, or NULL. */
char *managed_fields_begin(struct registry *r, const struct object *born, const json_t *body,
                           const struct registry_write *how);
/** Returns the list after a write turned `current` into `next`. `asked` is metadata.managedFields
 * of the writer's document, or NULL. `subresource` is NULL for the object. */
char *managed_fields_update(struct registry *r, const struct object *current,
                            const struct object *next, const json_t *asked, const char *subresource,
                            const struct registry_write *how);
/** Returns `object` (consumed) with the list `managed` (consumed). */
struct object *managed_fields_put(struct object *object, char *managed);

/* Defined in update.c. */

/** Updates the object as registry_update does, with a list of managed fields that was computed
 * before, and frees the list. With NULL the list is computed here, or left alone when `how` names
 * no manager. */
bool update_from_document(struct registry *r, json_t *doc, enum registry_subresource sub,
                          const struct registry_write *how, char *managed,
                          const struct object **out, struct error_list *errors);

/* Defined in create.c. */

bool create_from_document(struct registry *r, json_t *doc, const struct registry_write *how,
                          char *managed, const struct object **out, struct error_list *errors);

/* Defined in builtins.c. */

void builtins_make(struct registry *r);
/** Creates the objects that every namespace has: the ServiceAccount "default". */
void builtins_of_namespace(struct registry *r, const struct object *ns_object);

/* Defined in deletion_protection.c. */

/** Returns whether a user may delete the object without force (DC-02). FORBIDDEN, with a remedy in
 * the message, when not. */
bool registry_may_delete(const struct registry *r, const struct object *object, struct error *err);

/* Defined in gc.c. */

struct gc *gc_new(struct registry *r);
void gc_free(struct gc *gc);
/** Tells the garbage collector that an object was created (`old` is NULL) or that its metadata
 * changed. The collector checks the owners that `old` names, and the object itself if an owner is
 * gone or waits for its dependents. */
void gc_owners_changed(struct gc *gc, const struct object *old, const struct object *object);
/** Reports that the object is marked as deleted. Its finalizers or its kind decide how its
 * dependents are handled. */
void gc_deleting(struct gc *gc, const struct object *object);
/** Reports that the object was removed from the store. */
void gc_removed(struct gc *gc, const struct object *object);

/* Defined in settle.c. */

struct settle *settle_new(struct registry *r);
void settle_free(struct settle *settle);
/** Begins the wait of an object that its creator may write again. */
void settle_created(struct settle *settle, const struct object *created);

/* Defined in event_ttl.c. */

struct event_ttl *event_ttl_new(struct registry *r);
void event_ttl_free(struct event_ttl *ttl);
void event_ttl_added(struct event_ttl *ttl, const struct object *event);
