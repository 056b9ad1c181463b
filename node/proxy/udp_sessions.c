/*
 * Sessions of datagrams. See udp_sessions.h.
 *
 * All of a list rest for the same time, so it is in the order in which their times are up.
 */
#include "node/proxy/udp_sessions.h"

#include "base/compiler.h"

static int64_t up_ns(const struct session *session)
{
    return session->used_ns +
           (session->answered ? UDP_SESSION_ANSWERED_NS : UDP_SESSION_UNANSWERED_NS);
}

void udp_sessions_init(struct udp_sessions *udp_sessions)
{
    udp_sessions->by_key = NULL;
    for (size_t i = 0; i < countof(udp_sessions->lists); i++)
        TAILQ_INIT(&udp_sessions->lists[i]);
}

struct session *udp_sessions_find(const struct udp_sessions *udp_sessions,
                                  const struct udp_session_key *key)
{
    struct session *session;

    HASH_FIND(hh, udp_sessions->by_key, key, sizeof *key, session);
    return session;
}

struct session *udp_sessions_oldest_if_full(const struct udp_sessions *udp_sessions)
{
    if (HASH_CNT(hh, udp_sessions->by_key) < UDP_SESSIONS_MAX)
        return NULL;
    return TAILQ_EMPTY(&udp_sessions->lists[false]) ? TAILQ_FIRST(&udp_sessions->lists[true])
                                                    : TAILQ_FIRST(&udp_sessions->lists[false]);
}

void udp_sessions_add(struct udp_sessions *udp_sessions, struct session *session,
                      const struct udp_session_key *key, int64_t now_ns)
{
    session->key = *key;
    session->used_ns = now_ns;
    session->answered = false;
    HASH_ADD(hh, udp_sessions->by_key, key, sizeof session->key, session);
    TAILQ_INSERT_TAIL(&udp_sessions->lists[false], session, resting);
}

void udp_sessions_used(struct udp_sessions *udp_sessions, struct session *session, bool answer,
                       int64_t now_ns)
{
    TAILQ_REMOVE(&udp_sessions->lists[session->answered], session, resting);
    session->answered = session->answered || answer;
    session->used_ns = now_ns;
    TAILQ_INSERT_TAIL(&udp_sessions->lists[session->answered], session, resting);
}

struct session *udp_sessions_expired(const struct udp_sessions *udp_sessions, int64_t now_ns)
{
    for (size_t i = 0; i < countof(udp_sessions->lists); i++) {
        struct session *first = TAILQ_FIRST(&udp_sessions->lists[i]);

        if (first && up_ns(first) <= now_ns)
            return first;
    }
    return NULL;
}

int64_t udp_sessions_due_ns(const struct udp_sessions *udp_sessions, int64_t now_ns)
{
    int64_t due_ns = -1;

    for (size_t i = 0; i < countof(udp_sessions->lists); i++) {
        const struct session *first = TAILQ_FIRST(&udp_sessions->lists[i]);
        int64_t left_ns = first ? up_ns(first) - now_ns : 0;

        if (first && (due_ns < 0 || left_ns < due_ns))
            due_ns = left_ns < 0 ? 0 : left_ns;
    }
    return due_ns;
}

void udp_sessions_remove(struct udp_sessions *udp_sessions, struct session *session)
{
    HASH_DELETE(hh, udp_sessions->by_key, session);
    TAILQ_REMOVE(&udp_sessions->lists[session->answered], session, resting);
}
