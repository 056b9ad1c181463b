/*
 * Tests that GET /backup sends a complete store, or aborts the response so that the client notices.
 */
/* wraps: read */
#include "tests/unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/api.h"

enum { MANY = 400 };

ssize_t __real_read(int fd, void *bytes, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len);

/* `well` reads succeed and then `failure` is returned, again and again. */
static int well, failure;

ssize_t __wrap_read(int fd, void *bytes, size_t len)
{
    static int reads;

    if (failure && ++reads % (well + 1) == 0) {
        errno = failure;
        return -1;
    }
    return __real_read(fd, bytes, len);
}

struct place {
    struct api_fixture fixture;
    char *directory;
};

static struct place a_store_on_disk(const char *name)
{
    struct place place = {.directory = test_path(name)};

    api_fixture_start(&place.fixture,
                      &(const struct api_fixture_options){.directory = place.directory});
    for (int i = 0; i < MANY; i++) {
        scoped(capture) struct api_capture capture = {0};
        scoped_str body =
            mem_printf("{\"metadata\":{\"name\":\"c%d\"},\"data\":{\"v\":\"%01000d\"}}", i, i);

        check_int("made",
                  api_send(&place.fixture, &capture, "POST",
                           "/api/v1/namespaces/default/configmaps", .body = body),
                  201);
    }
    api_enable_backups(place.fixture.api, place.directory);
    return place;
}

static void leave(struct place *place)
{
    failure = 0;
    api_fixture_stop(&place->fixture);
    mem_free(place->directory);
}

/* Returns the number of pages according to the SQLite header. */
static size_t pages_of(const struct buf *file)
{
    const unsigned char *bytes = (const unsigned char *)file->data;

    return (size_t)bytes[28] << 24 | (size_t)bytes[29] << 16 | (size_t)bytes[30] << 8 | bytes[31];
}

static void an_interrupted_read_does_not_harm_a_backup(void **state)
{
    struct place place = a_store_on_disk("interrupted");
    scoped(capture) struct api_capture capture = {0};

    well = 1;
    failure = EINTR;
    check_int("sent", api_send(&place.fixture, &capture, "GET", "/backup"), 200);
    check("ended", capture.ended && !capture.aborted);
    check("every object is in it", capture.body.len > (size_t)MANY * 1000);
    check_int("whole pages", (int)(capture.body.len % pages_of(&capture.body)), 0);
    leave(&place);
}

static void a_backup_that_cannot_be_read_is_aborted(void **state)
{
    struct place place = a_store_on_disk("unreadable");
    scoped(capture) struct api_capture capture = {0};

    well = 5;
    failure = EIO;
    check_int("begun", api_send(&place.fixture, &capture, "GET", "/backup"), 200);
    check("not ended as if it were whole", capture.aborted && !capture.ended);
    failure = 0;
    check_int("the next one", api_send(&place.fixture, &capture, "GET", "/backup"), 200);
    check("is whole", capture.ended);
    leave(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupted_read_does_not_harm_a_backup),
        cmocka_unit_test(a_backup_that_cannot_be_read_is_aborted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
