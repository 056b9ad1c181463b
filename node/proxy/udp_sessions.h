#pragma once
/*
 * Sessions: who has sent datagrams to a Service, as long as somebody may still answer.
 *
 * As conntrack counts them: one that nobody has answered rests for SESSION_ASKED_NS, one that was
 * answered for SESSION_ANSWERED_NS. There are SESSIONS_MAX at most: a new one takes the place of
 * the one that rests longest, of those without an answer while there are any, so that a flood of
 * questions does not end talks. A session is a struct inside of its owner's; everything is O(1).
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash.h"

enum { SESSIONS_MAX = 1024 };
#define SESSION_ASKED_NS    (30 * INT64_C(1000000000))
#define SESSION_ANSWERED_NS (120 * INT64_C(1000000000))

/* No gaps: it is hashed as it lies there. */
struct session_key {
    uint32_t door;
    in_addr_t ip;
    uint32_t port; /* network order, as ip */
};

struct session {
    UT_hash_handle hh; /* by key */
    struct session_key key;
    TAILQ_ENTRY(session) resting;
    int64_t used_ns;
    bool answered;
};

struct sessions {
    struct session *by_key;
    TAILQ_HEAD(session_list, session) lists[2]; /* [answered], who rests longest first */
};

void sessions_init(struct sessions *sessions);
struct session *sessions_find(const struct sessions *sessions, const struct session_key *key);
/** Before the next one is added: who must be removed first; NULL = nobody. */
struct session *sessions_in_the_way(const struct sessions *sessions);
void sessions_add(struct sessions *sessions, struct session *session, const struct session_key *key,
                  int64_t now_ns);
void sessions_used(struct sessions *sessions, struct session *session, bool answer, int64_t now_ns);
/** One whose time is up; NULL = none. */
struct session *sessions_expired(const struct sessions *sessions, int64_t now_ns);
/** When the first one's time is up, from now; -1 = there are none. */
int64_t sessions_due_ns(const struct sessions *sessions, int64_t now_ns);
void sessions_remove(struct sessions *sessions, struct session *session);
