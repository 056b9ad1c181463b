#pragma once
/*
 * The table of UDP sessions: which programs have sent datagrams to which Service, for as long as
 * answers may come.
 *
 * As in conntrack, an unanswered session expires after UDP_SESSION_UNANSWERED_NS without traffic,
 * an answered one after UDP_SESSION_ANSWERED_NS. There are at most UDP_SESSIONS_MAX: a new one
 * replaces the one that has rested longest, unanswered ones first, so that a flood of requests does
 * not end sessions in use. A session is a member of its owner's struct. All operations are O(1).
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/collections/hash.h"

enum { UDP_SESSIONS_MAX = 1024 };
#define UDP_SESSION_UNANSWERED_NS (30 * INT64_C(1000000000))
#define UDP_SESSION_ANSWERED_NS   (120 * INT64_C(1000000000))

/* The key of a session. It must have no padding, because its bytes are hashed. */
struct udp_session_key {
    uint32_t listener;
    in_addr_t ip;
    uint32_t port; /* port and address are in network order */
};

struct udp_session {
    UT_hash_handle hh; /* links the sessions in a hash table by key */
    struct udp_session_key key;
    TAILQ_ENTRY(udp_session) resting;
    int64_t used_ns;
    bool answered;
};

/* The side that sent a datagram. */
enum udp_sender { UDP_FROM_CLIENT, UDP_FROM_TARGET };

struct udp_sessions {
    struct udp_session *by_key;
    /* Lists of unanswered [0] and answered [1] sessions, those that rest longest first. */
    TAILQ_HEAD(udp_session_list, udp_session) lists[2];
};

void udp_sessions_init(struct udp_sessions *sessions);
struct udp_session *udp_sessions_find(const struct udp_sessions *sessions,
                                      const struct udp_session_key *key);
/** Returns the session to be removed before another is added; NULL = there is room. */
struct udp_session *udp_sessions_oldest_if_full(const struct udp_sessions *sessions);
void udp_sessions_add(struct udp_sessions *sessions, struct udp_session *session,
                      const struct udp_session_key *key, int64_t now_ns);
/** Notes that a datagram of this session was sent. */
void udp_sessions_used(struct udp_sessions *sessions, struct udp_session *session,
                       enum udp_sender from, int64_t now_ns);
/** Returns a session that has expired; NULL = none. */
struct udp_session *udp_sessions_expired(const struct udp_sessions *sessions, int64_t now_ns);
/** Returns the nanoseconds until the first session expires; -1 = there are no sessions. */
int64_t udp_sessions_due_ns(const struct udp_sessions *sessions, int64_t now_ns);
void udp_sessions_remove(struct udp_sessions *sessions, struct udp_session *session);
