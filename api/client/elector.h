#pragma once
/*
 * Leader election: of several processes that could do the same work, one does, as long as it renews
 * a Lease (coordination.k8s.io) on the API server.
 *
 * Clocks of others are not believed: a lease counts as held for its duration since it was last seen
 * to change here. The leader stops before that time can have passed for the others: at the end of
 * the renew deadline, counted from when it sent the last renewal that succeeded.
 *
 * For controllers at a server that others may work at, too. No command runs such controllers today
 * (docs/deviations.md), so only tests use this.
 *
 * Ref: spec/kube-api.md 16.6; k8s.io/client-go tools/leaderelection.
 */
#include <jansson.h>

#include "api/client/remote.h"

struct elector {
    /* set by the owner */
    struct remote *remote;
    const char *ns, *name;                   /* of the lease */
    const char *identity;                    /* of this candidate: host_uuid */
    int64_t lease_ms, deadline_ms, retry_ms; /* lease > deadline > 1.2 × retry; 0: 15, 10, 2 s */
    void (*leads)(struct elector *elector);
    /** Stop at once: somebody else may lead soon. Tries go on by themselves. */
    void (*lost)(struct elector *elector, const char *why);
    void (*released)(struct elector *elector); /* the answer to elector_release */
    /* private */
    struct remote_call call;
    struct timer timer;    /* the next try */
    struct timer deadline; /* of the leader */
    struct buf path, body;
    json_t *lease;       /* as the server has it; NULL: to be read */
    char *record;        /* of the lease when it was last seen to change */
    int64_t observed_ns; /* when that was */
    int64_t sent_ns;     /* the write under way */
    int64_t leads_until_ns;
    bool started, leading;
};

void elector_start(struct elector *elector);
/** Whether this process may act as leader right now: to be asked before each batch of writes. */
bool elector_leads(const struct elector *elector);
/** Give the lease to whoever wants it, as far as the server can be told; `released` when it was. */
void elector_release(struct elector *elector);
/** No callback follows. The lease runs out by itself. */
void elector_stop(struct elector *elector);
