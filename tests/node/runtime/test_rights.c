/*
 * Tests the rights of programs in a sandbox, at every level of isolation that works for the user
 * who runs the tests.
 */
#include <unistd.h>

#include "tests/support/sandboxed_pods.h"

enum { RANGES_FROM = 1 << 30 };

static bool is(const char *name)
{
    return strcmp(level, name) == 0;
}

static char *log_of(struct test_pod *pod)
{
    pods_start(fixture, pod);
    check("ends", pods_final(fixture, pod->uid, LIMIT_MS));
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), pod->uid);
    return pods_log(fixture, pod->uid, NULL);
}

#define SANDBOXED .hostname = "j-0", .hosts = "127.0.0.1 localhost\n"

/* covers: reliability.md SEC-24 */
static void a_program_without_real_root_has_no_capability_and_gets_none(void **state)
{
    struct test_pod pod = {
        "caps", SANDBOXED,
        .main = {{.argv = {"/bin/sh", "-c",
                           "sed -n 's/^CapEff:[[:space:]]*/e=/p; s/^CapBnd:[[:space:]]*/b=/p; "
                           "s/^NoNewPrivs:[[:space:]]*/n=/p' /proc/self/status"}}}};
    scoped_str log = NULL;

    if (is("plain") || is("mounts")) {
        print_message("skipped: programs have the rights of who runs them (DC-08)\n");
        return;
    }
    log = log_of(&pod);
    check_str("none", log, "e=0000000000000000\nb=0000000000000000\nn=1\n");
}

/* covers: reliability.md SEC-24 */
static void programs_that_serve_ssh_keep_three_capabilities(void **state)
{
    static const struct runtime_volume volume = {.name = "ssh", .kind = VOLUME_EMPTY_DIR};
    struct test_pod pod = {
        "ssh", SANDBOXED, .volumes = &volume, .n_volumes = 1,
        .main = {{.argv = {"/bin/sh", "-c", "sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status"},
                  .mounts = {{"ssh", "/root/.ssh", NULL, false}}}}};
    scoped_str log = NULL;

    if (is("plain") || is("mounts"))
        return;
    log = log_of(&pod);
    check_str("SETGID, SETUID, SYS_CHROOT", log, "00000000000400c0\n");
}

/* covers: reliability.md SEC-24 */
static void root_inside_is_nobody_outside(void **state)
{
    struct test_pod pod = {"ids", SANDBOXED,
                           .main = {{.argv = {"/bin/sh", "-c", "id -u; exec sleep 300"}}}};
    scoped_str found = NULL;
    scoped_str log = NULL;

    if (!is("full"))
        return;
    pods_start(fixture, &pod);
    check("runs", pods_phase(fixture, "ids", POD_RUNNING, LIMIT_MS));
    for (int i = 0; i < LIMIT_MS / 20 && (!found || !*found); i++) {
        mem_free(found);
        found = host_shell("for p in /proc/[0-9]*; do tr '\\0' '\\n' 2>/dev/null < $p/environ | "
                           "grep -qx JOBFLOW_POD_UID=ids && stat -c owner=%u $p; done | sort -u");
        pods_run(fixture, 20);
    }
    check("far from everybody's ids", number_in_text(found, "owner") >= RANGES_FROM);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "ids", 0);
    check("ends", pods_final(fixture, "ids", LIMIT_MS));
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), "ids");
    log = pods_log(fixture, "ids", NULL);
    check_str("root", log, "0\n");
}

/* covers: reliability.md SEC-24 */
static void files_that_only_root_may_read_or_change_stay_so(void **state)
{
    struct test_pod pod = {
        "secrets", SANDBOXED,
        .main = {
            {.argv = {"/bin/sh", "-c",
                      "cat /etc/shadow 2>/dev/null && echo read; "
                      "(echo x > /etc/jf-x) && echo private; "
                      "(echo x > /usr/jf-x) 2>/dev/null || echo refused; "
                      "echo y > ~/y && cat ~/y; echo 1 2>/dev/null > /proc/sys/kernel/panic || "
                      "echo kernel refused"},
             .env = {{"HOME", "/root"}}}}};
    scoped_str log = NULL;

    if (!is("full"))
        return;
    log = log_of(&pod);
    check_str("log", log, "private\nrefused\ny\nkernel refused\n");
    check_int("host", access("/etc/jf-x", F_OK) & access("/usr/jf-x", F_OK), -1);
}

/* Where programs see the /dev of the machine, all its devices are there. */
static void devices_that_a_program_may_open_are_there(void **state)
{
    struct test_pod pod = {
        "devices", SANDBOXED,
        .main = {
            {.argv = {"/bin/sh", "-c",
                      "for d in /dev/*; do "
                      "[ ! -c $d ] || [ -r $d ] || [ -w $d ] || echo \"$d is of no use\"; done; "
                      "for d in null zero full random urandom tty; do "
                      "[ -c /dev/$d ] || echo no $d; done; "
                      "echo to nowhere > /dev/null && head -c 3 /dev/zero | wc -c"}}}};
    scoped_str log = is("plain") ? NULL : log_of(&pod);

    if (log)
        check_str("log", log, "3\n");
}

/* covers: reliability.md SEC-25 */
static void a_program_has_three_descriptors_and_no_more(void **state)
{
    struct test_pod sandboxed = {"sandboxed", SANDBOXED,
                                 .main = {{.argv = {"/bin/ls", "/proc/self/fd"}}}};
    struct test_pod bare = {"bare", .main = {{.argv = {"/bin/ls", "/proc/self/fd"}}}};
    scoped_str in_sandbox = log_of(&sandboxed);
    scoped_str without = log_of(&bare);

    check_str("sandboxed; 3 is that of ls", in_sandbox, "0\n1\n2\n3\n");
    check_str("bare", without, "0\n1\n2\n3\n");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_without_real_root_has_no_capability_and_gets_none),
        cmocka_unit_test(programs_that_serve_ssh_keep_three_capabilities),
        cmocka_unit_test(root_inside_is_nobody_outside),
        cmocka_unit_test(files_that_only_root_may_read_or_change_stay_so),
        cmocka_unit_test(devices_that_a_program_may_open_are_there),
        cmocka_unit_test(a_program_has_three_descriptors_and_no_more),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return sandboxed_pods_main(argc, argv, tests, countof(tests), NULL);
}
