#pragma once
/*
 * A kind's objects on an API server of somebody else, kept here as they were last seen, and what
 * has changed.
 *
 * A reflector feeds it. An object that vanished while nobody looked (the server had forgotten what
 * happened since) is told as deleted in its last known state; one that was made anew meanwhile as
 * deleted and added. A version that is known already is not told again.
 */
#include "api/client/reflector.h"
#include "api/types/object.h"

enum mirror_change { MIRROR_ADDED, MIRROR_MODIFIED, MIRROR_DELETED };

struct mirror_entry;

struct mirror {
    /* set by the owner */
    const struct kind *kind;
    const char *ns;     /* NULL: all */
    const char *labels; /* a selector, or NULL */
    size_t event_bytes_max;
    /** `old` is NULL on ADDED; on DELETED `object` is the last state. Borrowed. */
    void (*changed)(struct mirror *mirror, enum mirror_change change, const struct object *old,
                    const struct object *object);
    void (*synced)(struct mirror *mirror); /* a list is complete; may be NULL */
    void (*failed)(struct mirror *mirror, const struct error *err); /* may be NULL */
    /* private */
    struct reflector reflector;
    struct mirror_entry *entries; /* by key */
    unsigned round;               /* of lists */
};

void mirror_start(struct mirror *mirror, struct remote *remote);
/** No callback follows; what is kept is dropped without a word. */
void mirror_stop(struct mirror *mirror);

/** Whether the whole has been seen once. */
bool mirror_is_synced(const struct mirror *mirror);
