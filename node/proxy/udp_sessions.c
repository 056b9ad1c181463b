/*
 * Sessions of datagrams. See udp_sessions.h.
 *
 * All of a list rest for the same time, so it is in the order in which their times are up.
 */
#include "node/proxy/udp_sessions.h"

#include "base/compiler.h"

static int64_t up_ns(const struct session *session)
{
    return session->used_ns + (session->answered ? SESSION_ANSWERED_NS : SESSION_ASKED_NS);
}

void sessions_init(struct sessions *sessions)
{
    sessions->by_key = NULL;
    for (size_t i = 0; i < countof(sessions->lists); i++)
        TAILQ_INIT(&sessions->lists[i]);
}

struct session *sessions_find(const struct sessions *sessions, const struct session_key *key)
{
    struct session *session;

    HASH_FIND(hh, sessions->by_key, key, sizeof *key, session);
    return session;
}

struct session *sessions_in_the_way(const struct sessions *sessions)
{
    if (HASH_CNT(hh, sessions->by_key) < SESSIONS_MAX)
        return NULL;
    return TAILQ_EMPTY(&sessions->lists[false]) ? TAILQ_FIRST(&sessions->lists[true])
                                                : TAILQ_FIRST(&sessions->lists[false]);
}

void sessions_add(struct sessions *sessions, struct session *session, const struct session_key *key,
                  int64_t now_ns)
{
    session->key = *key;
    session->used_ns = now_ns;
    session->answered = false;
    HASH_ADD(hh, sessions->by_key, key, sizeof session->key, session);
    TAILQ_INSERT_TAIL(&sessions->lists[false], session, resting);
}

void sessions_used(struct sessions *sessions, struct session *session, bool answer, int64_t now_ns)
{
    TAILQ_REMOVE(&sessions->lists[session->answered], session, resting);
    session->answered = session->answered || answer;
    session->used_ns = now_ns;
    TAILQ_INSERT_TAIL(&sessions->lists[session->answered], session, resting);
}

struct session *sessions_expired(const struct sessions *sessions, int64_t now_ns)
{
    for (size_t i = 0; i < countof(sessions->lists); i++) {
        struct session *first = TAILQ_FIRST(&sessions->lists[i]);

        if (first && up_ns(first) <= now_ns)
            return first;
    }
    return NULL;
}

int64_t sessions_due_ns(const struct sessions *sessions, int64_t now_ns)
{
    int64_t due_ns = -1;

    for (size_t i = 0; i < countof(sessions->lists); i++) {
        const struct session *first = TAILQ_FIRST(&sessions->lists[i]);
        int64_t left_ns = first ? up_ns(first) - now_ns : 0;

        if (first && (due_ns < 0 || left_ns < due_ns))
            due_ns = left_ns < 0 ? 0 : left_ns;
    }
    return due_ns;
}

void sessions_remove(struct sessions *sessions, struct session *session)
{
    HASH_DELETE(hh, sessions->by_key, session);
    TAILQ_REMOVE(&sessions->lists[session->answered], session, resting);
}
