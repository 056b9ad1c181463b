#pragma once
/*
 * Leader election: of several processes that could do the same work, one is the leader as long as
 * it renews a Lease (coordination.k8s.io) on the API server.
 *
 * Clocks of other machines are not trusted: a lease counts as held for its duration, starting when
 * this process last saw it change. The leader stops before the lease can expire for the others: at
 * the renew deadline, counted from the start of its last successful renewal.
 *
 * A watch of the Lease only says when to try: at once when the lease is released or gone, and at the
 * moment in which it expires. Without a working watch the lease is polled.
 *
 * Ref: spec/kube-api.md 16.6; k8s.io/client-go tools/leaderelection.
 */
#include <jansson.h>

#include "api/client/reflector.h"
#include "api/client/remote.h"

struct elector {
    /* The owner sets the members from here to the next comment. */
    struct remote *remote;
    const char *ns, *name; /* namespace and name of the Lease */
    const char *identity;  /* name of this candidate: host_uuid */
    const char *mode;      /* annotation jobflow.dev/mode of the Lease that is held; NULL: none */
    int64_t lease_ms, deadline_ms, retry_ms; /* lease > deadline > 1.2 × retry; 0: 15, 10, 2 s */
    void (*leads)(struct elector *elector);
    /** Called when leadership is lost. The caller must stop leading at once, because another
     * process may become leader soon. Attempts continue. */
    void (*lost)(struct elector *elector, const char *why);
    void (*released)(struct elector *elector); /* called when elector_release has ended */
    /** An attempt has failed for another reason than a race; the next follows. May be NULL. */
    void (*failed)(struct elector *elector, const struct error *err);
    /* The members from here on are private. */
    struct remote_call call;
    struct reflector watch;
    struct timer timer;    /* fires when the next attempt is due */
    struct timer deadline; /* the leader's renew deadline */
    struct buf path, body;
    json_t *lease;       /* the Lease as the server has it; NULL: it must be read */
    char *record;        /* content of the lease when it last changed */
    int64_t observed_ns; /* time of that observation */
    int64_t sent_ns;     /* start of the current write */
    int64_t leads_until_ns;
    bool started, leading;
    bool asking;    /* `call` is under way */
    bool releasing; /* the lease was read again in order to release it */
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
