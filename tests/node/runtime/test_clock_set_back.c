/*
 * Tests times of programs when the clock of the machine is set back while they run.
 */
/* wraps: clock_wall_ms */
#include "tests/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "node/shim/entry.h"
#include "tests/support/pods.h"

enum { LIMIT_MS = 60000, HOUR_MS = 3600000 };

int64_t __real_clock_wall_ms(const struct clock *clock);
int64_t __wrap_clock_wall_ms(const struct clock *clock);

/* The clock is an hour behind while the file exists: for this program, and for the supervisor, which
 * is the same program. */
int64_t __wrap_clock_wall_ms(const struct clock *clock)
{
    scoped_str set_back = test_path("set-back");

    return __real_clock_wall_ms(clock) - (access(set_back, F_OK) == 0 ? HOUR_MS : 0);
}

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    check("file", fd >= 0);
    close(fd);
}

/* covers: reliability.md D-12 */
static void an_end_never_lies_before_its_start(void **state)
{
    scoped_str dir = test_path("node");
    scoped_str set_back = test_path("set-back");
    scoped_str go = test_path("go");
    scoped_str script = mem_printf("until [ -e %s ]; do sleep 0.02; done", go);
    struct pods_fixture *fixture = pods_new(dir, NULL);
    const struct pod_status *status;
    const struct container_status *container;

    pods_start(fixture, &(struct test_pod){"late", .main = {{.argv = {"sh", "-c", script}}}});
    check("runs", pods_phase(fixture, "late", POD_RUNNING, LIMIT_MS));
    make_file(set_back);
    make_file(go);
    status = pods_final(fixture, "late", LIMIT_MS);
    check("ends", status);
    container = &status->containers.items[0];
    check("began", container->started_ms > 0);
    check_int("ends when it began", container->finished_ms, container->started_ms);
    pods_free(fixture);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_end_never_lies_before_its_start)};
    int code = shim_main(argc, argv);

    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
