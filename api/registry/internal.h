#pragma once
/*
 * The registry's parts, shared by registry.c (its life), one file for each verb, gc.c (garbage
 * collection) and event_ttl.c (age of Events).
 */
#include "api/registry/registry.h"
#include "base/hash.h"

struct gc;
struct event_ttl;

struct registry {
    struct loop *loop;
    struct store *store;
    struct registry_options options;
    struct limits flow_limits; /* those of content */
    struct admission admission;
    struct gc *gc;
    struct event_ttl *events;  /* NULL while nothing may be written */
    struct turn_hook turn_end; /* drops `kept` */
    struct object **kept;      /* [n_kept]: results of dry runs, borrowed until the turn ends */
    size_t n_kept, cap_kept;
};

/* Finalizers of deletion policies; the collector takes them out. */
#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN     "orphan"

/* ---- write.c ---- */

/** Writes other than deletes may go on. */
bool registry_may_write(const struct registry *r, struct error_list *errors);
/** Store it (consumed), or with `dry_run` only keep it for the turn. */
const struct object *registry_put(struct registry *r, struct object *object,
                                  enum registry_dry_run dry_run);
/** Remove from the store, and everything that follows from it. `out` gets the last state. */
void registry_remove(struct registry *r, const struct object *object);
/** L-11, L-20, L-21: is there room for `object` (new, or a new version)? */
bool registry_has_room(const struct registry *r, const struct object *object, bool is_new,
                       struct error_list *errors);
/** The admission of one write: warnings go to `how`'s list. */
struct admission registry_admission_for(const struct registry *r, const struct registry_write *how);

/* ---- error_text.c: words of errors ---- */

enum { RESOURCE_TEXT_MAX = 160 };
/** "jobflows.flow.volcano.sh"; core: "pods". */
const char *registry_resource(const struct kind *kind, char out[RESOURCE_TEXT_MAX]);
/** "JobFlow.flow.volcano.sh"; core: "Pod". */
const char *registry_kind_text(const struct kind *kind, char out[RESOURCE_TEXT_MAX]);
bool registry_not_found(const struct kind *kind, const char *name, struct error_list *errors);
/** The same of the namespace something was to be made in. */
bool registry_no_namespace(const char *name, struct error_list *errors);
bool registry_conflict(const struct kind *kind, const char *name, struct error_list *errors);
/** Fill in the name of a draft that only has generate_name; false: 8 tries found no free one. */
bool registry_generate_name(struct registry *r, const struct kind *kind, const char *ns,
                            const char *prefix, char out[254]);

/* ---- managed_fields.c: who owns which fields ---- */

/** The list of managed fields after a write made `next` of `current` (NULL: it is new), as JSON
 * text (owned); NULL: none. `asked` is what the writer's document says of it, NULL: nothing. */
/** … of an object made from nothing; `body` is what its body says, NULL when nobody has it at hand.
 */
char *managed_fields_begin(struct registry *r, const struct object *born, const json_t *body,
                           const struct registry_write *how);
char *managed_fields_update(struct registry *r, const struct object *current,
                            const struct object *next, const json_t *asked, const char *subresource,
                            const struct registry_write *how);
/** `object` (consumed) with that list (consumed). */
struct object *managed_fields_put(struct object *object, char *managed);

/* ---- update.c ---- */

/** As registry_update, with a list of managed fields worked out before (consumed; NULL: account is
 * kept here, or not at all when nobody is named in `how`). */
bool update_from_document(struct registry *r, json_t *doc, enum registry_subresource sub,
                          const struct registry_write *how, char *managed,
                          const struct object **out, struct error_list *errors);
/* ---- create.c ---- */
bool create_from_document(struct registry *r, json_t *doc, const struct registry_write *how,
                          char *managed, const struct object **out, struct error_list *errors);

/* ---- builtins.c ---- */

void builtins_make(struct registry *r);
/** What a namespace has from the beginning. */
void builtins_of_namespace(struct registry *r, const struct object *ns_object);

/* ---- deletion_protection.c ---- */

/** DC-02: may a user delete it without force? FORBIDDEN with the way out when not. */
bool registry_may_delete(const struct registry *r, const struct object *object, struct error *err);

/* ---- gc.c: owners, dependents and namespaces ---- */

struct gc *gc_new(struct registry *r);
void gc_free(struct gc *gc);
/** A new object (`old` NULL), or one whose metadata, perhaps its owners, changed. */
void gc_owners_changed(struct gc *gc, const struct object *old, const struct object *object);
/** It got its deletion mark; its finalizers or kind say what is to happen with its dependents. */
void gc_deleting(struct gc *gc, const struct object *object);
/** It is gone. */
void gc_removed(struct gc *gc, const struct object *object);

/* ---- event_ttl.c: how long Events are kept ---- */

struct event_ttl *event_ttl_new(struct registry *r);
void event_ttl_free(struct event_ttl *ttl);
void event_ttl_added(struct event_ttl *ttl, const struct object *event);
