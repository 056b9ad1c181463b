#pragma once
/*
 * Looks whether Volcano's controllers for flows are at work in a cluster.
 *
 *   Deployments of all namespaces ─► of Volcano's namespace ─► Lease ─► verdict
 *            the right is missing ───┘       none is found ────┘
 *
 * A Lease of Volcano's controller manager that changes within LOOK_LEASE_MS shows that it is at
 * work, and not with which controllers. Ref: spec/cluster.md 1.3.
 */
#include "api/client/remote.h"
#include "cli/controller/volcano.h"

enum { LOOK_LEASE_MS = 20000, LOOK_LEASE_EVERY_MS = 2000 };

struct volcano_look {
    /* The owner sets the members from here to the comment "private". */
    struct remote *remote;
    const char *ns; /* Volcano's namespace */
    const struct volcano_rivals *rivals;
    bool only_there; /* deployments of other namespaces are not looked at */
    /** `conflict` says why this process must not run; NULL: it may. UNAVAILABLE: nothing was found
     * out. */
    void (*done)(struct volcano_look *look, const struct error *conflict);
    /* private */
    struct remote_call call;
    struct timer timer;
    struct buf path;
    char *record; /* content of the Lease when it was first seen */
    int64_t since_ns;
    int step;
};

void volcano_look_start(struct volcano_look *look);
/** Stops looking. No callback follows. A zeroed struct is ignored. */
void volcano_look_stop(struct volcano_look *look);
