#include "tests/unit.h"

#include "api/store/place.h"
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

/* covers: reliability.md D-06 */
static void a_directory_has_one_owner(void **state)
{
    scoped_str path = test_path("one");
    struct place first, second;
    struct error err = {0};

    check_ok("first", place_open(&first, path, &err), err);
    check_error("second", place_open(&second, path, &err), err, ERR_CONFLICT);
    check_has("who", err.message, "in use by process");
    place_release(&first);
    check_ok("then", place_open(&second, path, &err), err);
    place_release(&second);
}

/* The owner dies; a child of it, not yet at its own program, goes on a little. */
static void die_and_leave_a_child(const char *path, int go_on_ms)
{
    struct place place;
    struct error err = {0};

    if (!place_open(&place, path, &err))
        _exit(1);
    if (fork() == 0)
        poll(NULL, 0, go_on_ms);
    _exit(0);
}

static void what_a_killed_owner_leaves_behind_is_waited_for(void **state)
{
    enum { GO_ON_MS = 100 };
    scoped_str path = test_path("killed");
    struct error err = {0};
    struct place place;
    int status = -1;
    pid_t owner = fork();

    if (owner == 0)
        die_and_leave_a_child(path, GO_ON_MS);
    check_int("over", waitpid(owner, &status, 0), owner);
    check_int("it had the directory", status, 0);
    check_ok("taken", place_open(&place, path, &err), err);
    place_release(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_has_one_owner),
        cmocka_unit_test(what_a_killed_owner_leaves_behind_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
