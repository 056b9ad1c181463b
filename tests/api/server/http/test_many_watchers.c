#include "tests/unit.h"

#include <unistd.h>

#include "tests/support/api.h"
#include "tests/support/cpu.h"

/* Tests a thousand watches inside one process; tests/system/crowd.py does so over sockets. */

#define CMS "/api/v1/namespaces/default/configmaps"

enum { WATCHERS = 1000, EVENTS = 100 };

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    char line[128], *resident; /* line of /proc/self/statm: total pages, resident pages, … */

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    resident = strchr(line, ' ');
    assert_non_null(resident);
    return strtoul(resident, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* covers: kube-api.md 90; see crowd.py for sockets */
static void a_thousand_watchers_get_every_event_at_little_cost(void **state)
{
    const char *mode = getenv("JOBFLOW_MODE");
    bool measures = !mode || strcmp(mode, "dev") == 0 || strcmp(mode, "release") == 0;
    struct api_capture *watchers = mem_array(WATCHERS, sizeof *watchers);
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;
    size_t before;

    api_fixture_start(&fixture, NULL);
    check_int("made",
              api_send(&fixture, &capture, "POST", CMS, .body = "{\"metadata\":{\"name\":\"c\"}}"),
              201);
    before = resident_bytes();
    for (size_t i = 0; i < WATCHERS; i++)
        check_int("watch", api_send(&fixture, &watchers[i], "GET", CMS "?watch=1"), 200);
    if (measures)
        check("50 KB a watcher", resident_bytes() - before < (size_t)50 << 20);
    for (int n = 0; n < EVENTS; n++) {
        scoped_str body = mem_printf("{\"metadata\":{\"name\":\"c\"},\"data\":{\"n\":\"%d\"}}", n);
        int64_t began = cpu_us();

        check_int("changed", api_send(&fixture, &capture, "PUT", CMS "/c", .body = body), 200);
        if (measures)
            check("an event to all within 250 ms", cpu_us() - began < 250000);
    }
    for (size_t i = 0; i < WATCHERS; i++) {
        scoped_str last = api_capture_event(&watchers[i], EVENTS, "data.n");

        check_int("events", api_capture_lines(&watchers[i]), 1 + EVENTS);
        check_str("last", last, "MODIFIED 99");
        api_capture_release(&watchers[i]);
    }
    mem_free(watchers);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_watchers_get_every_event_at_little_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
