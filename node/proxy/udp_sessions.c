/*
 * The table of UDP sessions has two lists. All sessions of a list expire after the same rest, so
 * each list is in the order of expiry.
 */
#include "node/proxy/udp_sessions.h"

#include "base/compiler.h"

static int64_t expiry_ns(const struct udp_session *session)
{
    return session->used_ns +
           (session->answered ? UDP_SESSION_ANSWERED_NS : UDP_SESSION_UNANSWERED_NS);
}

void udp_sessions_init(struct udp_sessions *sessions)
{
    sessions->by_key = NULL;
    for (size_t i = 0; i < countof(sessions->lists); i++)
        TAILQ_INIT(&sessions->lists[i]);
}

struct udp_session *udp_sessions_find(const struct udp_sessions *sessions,
                                      const struct udp_session_key *key)
{
    struct udp_session *session;

    HASH_FIND(hh, sessions->by_key, key, sizeof *key, session);
    return session;
}

struct udp_session *udp_sessions_oldest_if_full(const struct udp_sessions *sessions)
{
    if (HASH_CNT(hh, sessions->by_key) < UDP_SESSIONS_MAX)
        return NULL;
    return TAILQ_EMPTY(&sessions->lists[false]) ? TAILQ_FIRST(&sessions->lists[true])
                                                : TAILQ_FIRST(&sessions->lists[false]);
}

void udp_sessions_add(struct udp_sessions *sessions, struct udp_session *session,
                      const struct udp_session_key *key, int64_t now_ns)
{
    session->key = *key;
    session->used_ns = now_ns;
    session->answered = false;
    HASH_ADD(hh, sessions->by_key, key, sizeof session->key, session);
    TAILQ_INSERT_TAIL(&sessions->lists[false], session, resting);
}

void udp_sessions_used(struct udp_sessions *sessions, struct udp_session *session,
                       enum udp_sender from, int64_t now_ns)
{
    TAILQ_REMOVE(&sessions->lists[session->answered], session, resting);
    session->answered = session->answered || from == UDP_FROM_TARGET;
    session->used_ns = now_ns;
    TAILQ_INSERT_TAIL(&sessions->lists[session->answered], session, resting);
}

struct udp_session *udp_sessions_expired(const struct udp_sessions *sessions, int64_t now_ns)
{
    for (size_t i = 0; i < countof(sessions->lists); i++) {
        struct udp_session *first = TAILQ_FIRST(&sessions->lists[i]);

        if (first && expiry_ns(first) <= now_ns)
            return first;
    }
    return NULL;
}

int64_t udp_sessions_due_ns(const struct udp_sessions *sessions, int64_t now_ns)
{
    int64_t due_ns = -1;

    for (size_t i = 0; i < countof(sessions->lists); i++) {
        const struct udp_session *first = TAILQ_FIRST(&sessions->lists[i]);
        int64_t left_ns = first ? expiry_ns(first) - now_ns : 0;

        if (first && (due_ns < 0 || left_ns < due_ns))
            due_ns = left_ns < 0 ? 0 : left_ns;
    }
    return due_ns;
}

void udp_sessions_remove(struct udp_sessions *sessions, struct udp_session *session)
{
    HASH_DELETE(hh, sessions->by_key, session);
    TAILQ_REMOVE(&sessions->lists[session->answered], session, resting);
}
