#pragma once
/*
 * Sessions: who has sent datagrams to a Service, as long as somebody may still answer.
 *
 * As conntrack counts them: one that nobody has answered rests for UDP_SESSION_UNANSWERED_NS, one that was
 * answered for UDP_SESSION_ANSWERED_NS. There are UDP_SESSIONS_MAX at most: a new one takes the place of
 * the one that rests longest, of those without an answer while there are any, so that a flood of
 * questions does not end clients. A session is a struct inside of its owner's; everything is O(1).
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash.h"

enum { UDP_SESSIONS_MAX = 1024 };
#define UDP_SESSION_UNANSWERED_NS (30 * INT64_C(1000000000))
#define UDP_SESSION_ANSWERED_NS   (120 * INT64_C(1000000000))

/* No gaps: it is hashed as it lies there. */
struct udp_session_key {
    uint32_t listener;
    in_addr_t ip;
    uint32_t port; /* network order, as ip */
};

struct session {
    UT_hash_handle hh; /* by key */
    struct udp_session_key key;
    TAILQ_ENTRY(session) resting;
    int64_t used_ns;
    bool answered;
};

struct udp_sessions {
    struct session *by_key;
    TAILQ_HEAD(udp_session_list, session) lists[2]; /* [answered], who rests longest first */
};

void udp_sessions_init(struct udp_sessions *udp_sessions);
struct session *udp_sessions_find(const struct udp_sessions *udp_sessions,
                                  const struct udp_session_key *key);
/** Before the next one is added: who must be removed first; NULL = nobody. */
struct session *udp_sessions_oldest_if_full(const struct udp_sessions *udp_sessions);
void udp_sessions_add(struct udp_sessions *udp_sessions, struct session *session,
                      const struct udp_session_key *key, int64_t now_ns);
void udp_sessions_used(struct udp_sessions *udp_sessions, struct session *session, bool answer,
                       int64_t now_ns);
/** One whose time is up; NULL = none. */
struct session *udp_sessions_expired(const struct udp_sessions *udp_sessions, int64_t now_ns);
/** When the first one's time is up, from now; -1 = there are none. */
int64_t udp_sessions_due_ns(const struct udp_sessions *udp_sessions, int64_t now_ns);
void udp_sessions_remove(struct udp_sessions *udp_sessions, struct session *session);
