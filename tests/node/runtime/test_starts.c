/*
 * Tests programs that cannot be started: the status of their pod names the reason.
 */
#include "tests/unit.h"

#include "base/file.h"
#include "node/shim/entry.h"
#include "tests/support/pods.h"

enum { LIMIT_MS = 60000 };

static void write_program(const char *path, const char *text)
{
    check("program", file_write_atomic(path, text, strlen(text), 0700, NULL));
}

/* covers: local-runtime.md LRT-22 */
static void what_cannot_be_started_is_told_by_its_name(bool in_sandbox)
{
    scoped_str stray = test_path("stray-interpreter");
    scoped_str no_program = test_path("no-program");
    const struct {
        const char *name, *program, *cwd;
        int code;
        const char *says;
    } cases[] = {
        {"no-directory", "true", "/no/such/dir", 128,
         "working directory \"/no/such/dir\": No such file or directory"},
        {"no-file", "/no/such/program", NULL, 127,
         "exec: \"/no/such/program\": No such file or directory"},
        {"not-in-path", "no-such-program", NULL, 127,
         "exec: \"no-such-program\": executable file not found in $PATH"},
        {"no-interpreter", stray, NULL, 127, "names to run it is not there"},
        {"not-executable", "/etc/passwd", NULL, 126, "exec: \"/etc/passwd\": Permission denied"},
        {"directory", "/etc", NULL, 126, "exec: \"/etc\": Permission denied"},
        {"no-program", no_program, NULL, 126, "Exec format error"},
    };

    scoped_str dir = test_path(in_sandbox ? "sandboxed" : "plain");
    struct pods_fixture *fixture = pods_new(dir, NULL);

    write_program(stray, "#!/no/such/interpreter\n");
    write_program(no_program, "echo text without a first line\n");
    for (size_t i = 0; i < countof(cases); i++) {
        struct test_pod pod = {cases[i].name, .hostname = in_sandbox ? "sandboxed" : NULL,
                               .main = {{.argv = {cases[i].program}, .cwd = cases[i].cwd}}};
        const struct pod_status *status;

        pods_start(fixture, &pod);
        status = pods_final(fixture, cases[i].name, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->containers.items[0].exit_code, cases[i].code);
        check_str(cases[i].name, status->containers.items[0].reason, "ContainerCannotRun");
        check_has(cases[i].name, status->containers.items[0].message, cases[i].says);
        pods_runtime(fixture)->ops->release(pods_runtime(fixture), cases[i].name);
    }
    pods_free(fixture);
}

static void plain_pods_report_programs_that_cannot_be_started(void **state)
{
    what_cannot_be_started_is_told_by_its_name(false);
}

static void sandboxed_pods_report_programs_that_cannot_be_started(void **state)
{
    what_cannot_be_started_is_told_by_its_name(true);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_pods_report_programs_that_cannot_be_started),
        cmocka_unit_test(sandboxed_pods_report_programs_that_cannot_be_started),
    };
    int code = shim_main(argc, argv);

    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
