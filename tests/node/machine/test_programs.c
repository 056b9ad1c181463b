/*
 * Tests which needs of pods this machine meets. The programs are scripts of the test, so the result
 * does not depend on what is installed.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/machine/programs.h"

static char directory[4096];

static void program(const char *name, const char *text, mode_t mode)
{
    scoped_str path = mem_printf("%s/%s", directory, name);
    FILE *file = fopen(path, "w");

    check(name, file != NULL);
    fputs(text, file);
    fclose(file);
    check(name, chmod(path, mode) == 0);
}

/* Writes compilers that know the header have.h, and an interpreter that knows the module have. */
static int prepare(void **state)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(directory, sizeof directory, "%s/programs-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(directory))
        return -1;
    program("mpicc", "#!/bin/sh\ngrep -qx '#include <have.h>'\n", 0755);
    program("c++", "#!/bin/sh\n[ \"$2\" = c++ ] && grep -qx '#include <have.h>'\n", 0755);
    program("python3.11", "#!/bin/sh\n[ \"$1\" = -c ] && [ \"$3\" = have ]\n", 0755);
    program("tool", "#!/bin/sh\nexit 1\n", 0755); /* this program is never run */
    program("data", "no program\n", 0644);
    return 0;
}

static const struct {
    const char *need;
    const char *error; /* part of the expected message; NULL = the need is met */
} needs[] = {
    {"tool", NULL},
    {"data", "data is not installed"},
    {"nothing", "nothing is not installed"},
    {"/bin/sh", NULL},
    {"/bin", "/bin is not installed"},
    {"/nothing/tool", "/nothing/tool is not installed"},
    {"mpicc:have.h", NULL},
    {"mpicc:lack.h", "mpicc is installed, but finds no header lack.h"},
    {"c++:have.h", NULL},
    {"python3.11:have", NULL},
    {"python3.11:lack", "python3.11 is installed, but finds no module lack"},
    {"nocc:have.h", "nocc is not installed"},
    {"tool:have", "PROGRAM:PART is a compiler and a header"},
    {"mpicc:", "PROGRAM:PART is a compiler and a header"},
    {"mpicc:a>b", "PROGRAM:PART is a compiler and a header"},
    {"python3.11:-x", "PROGRAM:PART is a compiler and a header"},
};

static void needs_are_met_or_named(void **state)
{
    scoped_str path = mem_printf("/nowhere::%s", directory);

    for (size_t i = 0; i < countof(needs); i++) {
        struct error err = {0};
        bool met = programs_have(path, needs[i].need, &err);

        check(needs[i].need, met == !needs[i].error);
        if (needs[i].error)
            check_has(needs[i].need, err.message, needs[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(needs_are_met_or_named)};

    return cmocka_run_group_tests(tests, prepare, NULL);
}
