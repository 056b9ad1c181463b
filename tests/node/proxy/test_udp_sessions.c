/*
 * Tests node/proxy/udp_sessions: how long UDP sessions are kept, and how many.
 */
#include "tests/unit.h"

#include "node/proxy/udp_sessions.h"

#define SECOND INT64_C(1000000000)

struct bench {
    struct udp_sessions all;
    struct udp_session items[UDP_SESSIONS_MAX + 1];
};

static struct bench *set_up(void)
{
    struct bench *b = mem_alloc(sizeof *b);

    udp_sessions_init(&b->all);
    return b;
}

static void add(struct bench *b, uint32_t i, int64_t now_s)
{
    const struct udp_session_key key = {1, 0x7f000001, i};

    udp_sessions_add(&b->all, &b->items[i], &key, now_s * SECOND);
}

/* Returns the index of a session; -1 for NULL. */
static int number_of(const struct bench *b, const struct udp_session *session)
{
    return session ? (int)(session - b->items) : -1;
}

static int expired(const struct bench *b, int64_t now_s)
{
    return number_of(b, udp_sessions_expired(&b->all, now_s * SECOND));
}

static void a_session_is_found_by_its_listener_and_sender(void **state)
{
    struct bench *b = set_up();
    const struct udp_session_key key = {1, 0x7f000001, 7}, other_listener = {2, 0x7f000001, 7};

    add(b, 7, 0);
    check_int("its own", number_of(b, udp_sessions_find(&b->all, &key)), 7);
    check_int("another listener's", number_of(b, udp_sessions_find(&b->all, &other_listener)), -1);
    udp_sessions_remove(&b->all, &b->items[7]);
    check_int("removed", number_of(b, udp_sessions_find(&b->all, &key)), -1);
    mem_free(b);
}

static void a_session_expires_after_half_a_minute_or_two_minutes_if_answered(void **state)
{
    struct bench *b = set_up();

    check_int("no session is due", udp_sessions_due_ns(&b->all, 0), -1);
    add(b, 0, 0);
    add(b, 1, 1);
    udp_sessions_used(&b->all, &b->items[0], UDP_FROM_TARGET, 2 * SECOND);
    check_int("the first due is not the first that came", udp_sessions_due_ns(&b->all, 2 * SECOND),
              29 * SECOND);
    check_int("not yet", expired(b, 30), -1);
    check_int("unanswered", expired(b, 31), 1);
    check_int("late", udp_sessions_due_ns(&b->all, 40 * SECOND), 0);
    udp_sessions_used(&b->all, &b->items[1], UDP_FROM_CLIENT, 31 * SECOND);
    check_int("asked again in time", expired(b, 60), -1);
    check_int("and no more", expired(b, 61), 1);
    udp_sessions_remove(&b->all, &b->items[1]);
    check_int("answered", expired(b, 121), -1);
    udp_sessions_used(&b->all, &b->items[0], UDP_FROM_CLIENT, 121 * SECOND);
    check_int("a further question needs no answer", expired(b, 240), -1);
    check_int("two minutes later", expired(b, 241), 0);
    udp_sessions_remove(&b->all, &b->items[0]);
    mem_free(b);
}

/* A flood of requests ends no answered session. */
static void when_the_table_is_full_the_longest_resting_session_is_removed(void **state)
{
    struct bench *b = set_up();

    for (uint32_t i = 0; i < UDP_SESSIONS_MAX; i++) {
        check_int("the table has room", number_of(b, udp_sessions_oldest_if_full(&b->all)), -1);
        add(b, i, i);
    }
    check_int("the oldest", number_of(b, udp_sessions_oldest_if_full(&b->all)), 0);
    udp_sessions_used(&b->all, &b->items[0], UDP_FROM_TARGET, UDP_SESSIONS_MAX * SECOND);
    check_int("was answered: the next", number_of(b, udp_sessions_oldest_if_full(&b->all)), 1);
    udp_sessions_used(&b->all, &b->items[1], UDP_FROM_CLIENT, UDP_SESSIONS_MAX * SECOND);
    check_int("has asked again: the next", number_of(b, udp_sessions_oldest_if_full(&b->all)), 2);
    for (uint32_t i = 1; i < UDP_SESSIONS_MAX; i++)
        udp_sessions_used(&b->all, &b->items[i], UDP_FROM_TARGET, (UDP_SESSIONS_MAX + i) * SECOND);
    check_int("all were answered", number_of(b, udp_sessions_oldest_if_full(&b->all)), 0);
    for (uint32_t i = 0; i < UDP_SESSIONS_MAX; i++)
        udp_sessions_remove(&b->all, &b->items[i]);
    mem_free(b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_found_by_its_listener_and_sender),
        cmocka_unit_test(a_session_expires_after_half_a_minute_or_two_minutes_if_answered),
        cmocka_unit_test(when_the_table_is_full_the_longest_resting_session_is_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
