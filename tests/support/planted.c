/*
 * Runs the walks of each bug in a child and judges its end.
 */
#include "tests/support/planted.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

enum { FOUND = 0, NOT_FOUND = 1 };

static bool is_found(const struct planted_bugs *bugs, size_t bug)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        bool found = freopen("/dev/null", "w", stderr) && bugs->find(bug);

        fflush(stdout);
        _exit(found ? FOUND : NOT_FOUND);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) == FOUND;
}

void planted_bugs_are_found(const struct planted_bugs *bugs)
{
    check("nothing is found where no bug is planted", !is_found(bugs, 0));
    for (size_t bug = 1; bug < bugs->count; bug++)
        if (!is_found(bugs, bug))
            check_fail("not found: %s", bugs->texts[bug]);
}
