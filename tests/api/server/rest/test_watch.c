/* Tests that watches from every revision of one history receive exactly the changes after it. */
#include "tests/unit.h"

#include "api/server/rest/traffic.h"
#include "base/mem.h"
#include "tests/support/api.h"
#include "tests/support/http_fixture.h"

enum { OBJECTS = 5, CHANGES = 60, WATCHES = 200, STALLED = 40 };

struct history {
    char *lines[CHANGES * 3]; /* the changes in order, as "TYPE name revision" */
    size_t n;
};

static void note(struct history *history, const char *type, const char *name, const char *revision)
{
    history->lines[history->n++] = mem_printf("%s %s %s", type, name, revision);
}

static void history_release(struct history *history)
{
    for (size_t i = 0; i < history->n; i++)
        mem_free(history->lines[i]);
}

/* Makes the n-th change. Objects are created, changed twice and deleted, five at a time. */
static void change(struct api_fixture *fixture, int n, struct history *history)
{
    static const char *const methods[] = {"POST", "PUT", "PUT", "DELETE"};
    static const char *const types[] = {"ADDED", "MODIFIED", "MODIFIED", "DELETED"};
    int what = n / OBJECTS % 4;
    scoped(capture) struct api_capture capture = {0};
    scoped_str name = mem_printf("c%d", n % OBJECTS);
    scoped_str revision = NULL;
    scoped_str path = what == 0 ? mem_strdup(CM) : mem_printf("%s/%s", CM, name);
    scoped_str body =
        mem_printf("{\"metadata\":{\"name\":\"%s\"},\"data\":{\"n\":\"%d\"}}", name, n);

    check_int("change",
              api_send(fixture, &capture, methods[what], path, .body = what == 3 ? "" : body),
              what == 0 ? 201 : 200);
    if (what == 3)
        revision = mem_printf("%lld", (long long)store_revision(fixture->store));
    else
        revision = api_capture_at(&capture, "metadata.resourceVersion");
    note(history, types[what], name, revision);
}

static int64_t revision_of(const char *line)
{
    return strtoll(strrchr(line, ' ') + 1, NULL, 10);
}

/* Checks that the watch received the history after `since` and nothing else. */
static void check_events(const struct api_capture *capture, const struct history *history,
                         int64_t since)
{
    size_t n = 0;

    for (size_t i = 0; i < history->n; i++) {
        scoped_str named = NULL;
        scoped_str numbered = NULL;
        scoped_str line = NULL;

        if (revision_of(history->lines[i]) <= since)
            continue;
        named = api_capture_event(capture, n, "metadata.name");
        numbered = api_capture_event(capture, n++, "metadata.resourceVersion");
        check("told", named && numbered);
        line = mem_printf("%s%s", named, strchr(numbered, ' '));
        check_str("event", line, history->lines[i]);
    }
    check_int("no more", api_capture_lines(capture), n);
}

static void open_watch(struct api_fixture *fixture, struct api_capture *capture, int64_t since)
{
    scoped_str target = mem_printf("%s?watch=1&resourceVersion=%lld", CM, (long long)since);

    check_int("watch", api_send(fixture, capture, "GET", target), 200);
}

/* covers: reliability.md INV-S5 FT-19 P-04 L-27 */
static void a_watch_receives_every_change_after_its_revision(void **state)
{
    struct api_capture *taps = mem_array(WATCHES, sizeof *taps);
    struct history history = {0};
    struct api_fixture fixture;
    int64_t first, since[WATCHES];

    api_fixture_start(&fixture, NULL);
    first = store_revision(fixture.store);
    for (int n = 0; n < CHANGES; n++)
        change(&fixture, n, &history);
    for (int i = 0; i < WATCHES; i++) {
        since[i] = first + i % (CHANGES + 1);
        open_watch(&fixture, &taps[i], since[i]);
        /* Watches that are open already receive this change; later ones begin behind it. */
        if (i % 10 == 0 && history.n < (size_t)CHANGES * 2)
            change(&fixture, CHANGES + i / 10, &history);
    }
    for (int i = 0; i < STALLED; i++)
        taps[i].backlog = 5 << 20;
    change(&fixture, CHANGES + WATCHES / 10, &history);
    for (int i = 0; i < STALLED; i++) {
        scoped_str last = api_capture_event(&taps[i], api_capture_lines(&taps[i]) - 1, "code");

        check("a reader that stalls is ended", taps[i].ended);
        check_str("and lists again", last, "ERROR 410");
    }
    for (int i = STALLED; i < WATCHES; i++) {
        check("goes on", !taps[i].ended);
        check_events(&taps[i], &history, since[i]);
    }
    for (int i = 0; i < WATCHES; i++)
        api_capture_release(&taps[i]);
    mem_free(taps);
    history_release(&history);
    api_fixture_stop(&fixture);
}

/* covers: reliability.md L-27 P-13 */
static void the_furthest_behind_end_when_all_leave_too_much_unread(void **state)
{
    enum { OPEN = 6, MIB = 1 << 20 };
    static const size_t unread_mib[OPEN] = {1, 3, 0, 2, 3, 1};
    struct api_capture taps[OPEN] = {0};
    struct history history = {0};
    struct api_fixture fixture;
    int64_t since;

    api_fixture_start(&fixture, NULL);
    since = store_revision(fixture.store);
    api_set_limits(fixture.api, &(const struct traffic_limits){.unread_bytes = 8 * MIB});
    for (int i = 0; i < OPEN; i++)
        open_watch(&fixture, &taps[i], since);
    change(&fixture, 0, &history);
    for (int i = 0; i < OPEN; i++)
        taps[i].backlog = unread_mib[i] * MIB;
    change(&fixture, 1, &history);
    for (int i = 0; i < OPEN; i++)
        check("only the furthest behind end", taps[i].aborted == (unread_mib[i] == 3));
    change(&fixture, 2, &history);
    for (int i = 0; i < OPEN; i++) {
        if (unread_mib[i] != 3)
            check_events(&taps[i], &history, since);
        api_capture_release(&taps[i]);
    }
    history_release(&history);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_receives_every_change_after_its_revision),
        cmocka_unit_test(the_furthest_behind_end_when_all_leave_too_much_unread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
