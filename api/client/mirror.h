#pragma once
/*
 * A copy of a kind's objects on a remote API server, with change callbacks.
 *
 * A reflector feeds it. An object deleted while no watch ran is reported as deleted with its last
 * known state; one that was deleted and created again, as deleted and added. A known version is not
 * reported again.
 */
#include "api/client/reflector.h"
#include "api/types/object.h"

enum mirror_change { MIRROR_ADDED, MIRROR_MODIFIED, MIRROR_DELETED };

struct mirror_entry;

struct mirror {
    /* The owner sets the members from here to the comment "private". */
    const struct kind *kind;
    const char *ns;     /* namespace that is followed; NULL: all */
    const char *labels; /* a selector, or NULL */
    size_t event_bytes_max;
    /** Called for each change. `old` is NULL on ADDED; on DELETED `object` is the last state.
     * Borrowed. */
    void (*changed)(struct mirror *mirror, enum mirror_change change, const struct object *old,
                    const struct object *object);
    void (*synced)(struct mirror *mirror); /* a list is complete; may be NULL */
    /* Called when a list or watch has failed; may be NULL. */
    void (*failed)(struct mirror *mirror, const struct error *err);
    /* private */
    struct reflector reflector;
    struct mirror_entry *entries; /* hash table by key */
    unsigned round;               /* number of the current list */
};

void mirror_start(struct mirror *mirror, struct remote *remote);
/** Stops without further callbacks and frees the objects. */
void mirror_stop(struct mirror *mirror);

/** Returns whether a list was completed. */
bool mirror_is_synced(const struct mirror *mirror);
