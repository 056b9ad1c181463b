#pragma once
/*
 * Leader election: of several processes that could do the same work, one is the leader as long as
 * it renews a Lease (coordination.k8s.io) on the API server.
 *
 * Clocks of other machines are not trusted: a lease counts as held for its duration, starting when
 * this process last saw it change. The leader stops before the lease can expire for the others: at
 * the renew deadline, counted from the start of its last successful renewal.
 *
 * It is meant for controllers on a server that has other controllers too. No command runs such
 * controllers today (docs/deviations.md); only tests use it.
 *
 * Ref: spec/kube-api.md 16.6; k8s.io/client-go tools/leaderelection.
 */
#include <jansson.h>

#include "api/client/remote.h"

struct elector {
    /* The owner sets the members from here to the next comment. */
    struct remote *remote;
    const char *ns, *name;                   /* namespace and name of the Lease */
    const char *identity;                    /* name of this candidate: host_uuid */
    int64_t lease_ms, deadline_ms, retry_ms; /* lease > deadline > 1.2 × retry; 0: 15, 10, 2 s */
    void (*leads)(struct elector *elector);
    /** The leader must stop at once: another process may become leader soon. Attempts continue. */
    void (*lost)(struct elector *elector, const char *why);
    void (*released)(struct elector *elector); /* reports the end of elector_release */
    /* The members from here on are private. */
    struct remote_call call;
    struct timer timer;    /* when the next attempt is made */
    struct timer deadline; /* the leader's renew deadline */
    struct buf path, body;
    json_t *lease;       /* the Lease as the server has it; NULL: it must be read */
    char *record;        /* content of the lease when it last changed */
    int64_t observed_ns; /* time of that observation */
    int64_t sent_ns;     /* start of the current write */
    int64_t leads_until_ns;
    bool started, leading;
};

void elector_start(struct elector *elector);
/** Returns whether this process is the leader now. The caller checks it before each batch of
 * writes. */
bool elector_leads(const struct elector *elector);
/** Releases the lease so that another candidate can take it at once. Calls `released` at the end,
 * also when the server could not be reached. */
void elector_release(struct elector *elector);
/** Stops without further callbacks. The lease expires by itself. */
void elector_stop(struct elector *elector);
