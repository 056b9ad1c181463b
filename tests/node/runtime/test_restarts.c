/*
 * Tests sandboxed pods when another process dies: their node, the shim of another pod, or the
 * shared shim.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/shim/entry.h"
#include "tests/support/sandboxed_pods.h"

static void life_with(void (*act)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        sandboxed_pods_begin(NULL);
        act();
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
}

static void start_some(void)
{
    for (int i = 0; i < 8; i++) {
        scoped_str uid = mem_printf("some-%d", i);
        scoped_str script = mem_printf("echo %d; sleep 1; exit %d", i, i);
        struct test_pod pod = {uid, WITH_TEST_VOLUMES, WITH_TEST_HOSTS,
                               .main = {{.argv = {"/bin/sh", "-c", script}}}};

        pods_start(fixture, &pod);
    }
    check("runs", pods_phase(fixture, "some-7", POD_RUNNING, LIMIT_MS));
}

/* covers: local-runtime.md LRT-30 LRT-31; reliability.md P-08 */
static void sandboxed_pods_outlive_the_node(void **state)
{
    sandboxed_pods_end(NULL);
    life_with(start_some);
    sandboxed_pods_begin(NULL);
    for (int i = 0; i < 8; i++) {
        scoped_str uid = mem_printf("some-%d", i);
        const struct pod_status *status;

        check(uid, pods_found(fixture, uid));
        status = pods_final(fixture, uid, LIMIT_MS);
        check(uid, status);
        check_int(uid, status->containers.items[0].exit_code, i);
        check_int(uid, pods_finals(fixture, uid), 1);
        release(uid);
    }
}

static void wait_until_silent(const char *look)
{
    scoped_str left = mem_strdup("not looked yet");

    for (int i = 0; i < LIMIT_MS / 10 && *left; i++) {
        pods_run(fixture, 10);
        mem_free(left);
        left = host_shell(look);
    }
    check_str(look, left, "");
}

/* Returns the shim of a pod: the first ancestor of the process printed by `look` that is no
 * init. */
static pid_t shim_above(const char *look)
{
    scoped_str found = host_shell(look);
    pid_t pid = (pid_t)strtol(found, NULL, 10);

    for (int i = 0; i < 8 && pid > 1; i++) {
        scoped_str script = mem_printf("cut -d' ' -f4 /proc/%d/stat; readlink /proc/%d/fd/%d", pid,
                                       pid, SHIM_FD_PODS);
        scoped_str told = host_shell(script);

        if (strstr(told, "/" PODS_DIRECTORY "\n"))
            return pid;
        pid = (pid_t)strtol(told, NULL, 10);
    }
    fail_msg("no shim above %s", found);
    return -1;
}

/* covers: local-runtime.md LRT-32; reliability.md P-09 INV-N3 */
static void a_killed_shim_takes_its_pod_with_it_and_no_other(void **state)
{
    scoped_str script = mem_printf("setsid sleep 8%07d & sleep 8%07d", getpid(), getpid());
    scoped_str look = mem_printf("pgrep -f '[s]leep 8%07d'", getpid());
    struct test_pod pod = {"victim", WITH_TEST_HOSTS,
                           .main = {{.argv = {"/bin/sh", "-c", script}}}};
    struct test_pod other = {"other", WITH_TEST_HOSTS,
                             .main = {{.argv = {"/bin/sh", "-c", "sleep 1.5; exit 6"}}}};
    const struct pod_status *status;

    pods_start(fixture, &other);
    pods_start(fixture, &pod);
    check("runs", pods_phase(fixture, "victim", POD_RUNNING, LIMIT_MS));
    kill(shim_above(look), SIGKILL);
    status = pods_final(fixture, "victim", LIMIT_MS);
    check("told", status);
    check_str("reason", status->reason, "SupervisorLost");
    check_int("code", status->containers.items[0].exit_code, 137);
    wait_until_silent(look);
    release("victim");
    check_int("the other", pods_final(fixture, "other", LIMIT_MS)->containers.items[0].exit_code,
              6);
    release("other");
}

static pid_t shared_shim(void)
{
    int pids[64];
    size_t n = shims_of(data_dir, pids, countof(pids));

    for (size_t i = 0; i < n; i++) {
        scoped_str script = mem_printf("readlink /proc/%d/fd/%d", pids[i], SHIM_FD_DIR);
        scoped_str told = host_shell(script);

        if (strstr(told, "/shims/"))
            return pids[i];
    }
    fail_msg("no shared shim");
    return -1;
}

/* A pod whose final status was recorded keeps it; the others are lost.
 * covers: local-runtime.md LRT-32 LRT-44; reliability.md P-09 INV-N3; see P-10 */
static void a_killed_shared_shim_loses_its_pods_and_leaves_nothing_behind(void **state)
{
    enum { PODS = 6 };
    scoped_str script =
        mem_printf("setsid sleep 9%07d & echo begun; sleep 9%07d", getpid(), getpid());
    scoped_str processes = mem_printf("pgrep -f '[s]leep 9%07d'", getpid());
    scoped_str files =
        mem_printf("ls %s/node/pods; find /sys/fs/cgroup -name 'jobflow-flock-*'", data_dir);
    struct test_pod before = {"flock-done", WITH_TEST_HOSTS,
                              .main = {{.argv = {"sh", "-c", "exit 5"}}}};

    check_int("before", run(&before, NULL), 5);
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("flock-%d", i);
        struct test_pod pod = {uid, WITH_TEST_VOLUMES, WITH_TEST_HOSTS,
                               .main = {{.argv = {"/bin/sh", "-c", script}}}};

        pods_start(fixture, &pod);
    }
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("flock-%d", i);

        check(uid, pods_printed(fixture, uid, "begun", LIMIT_MS));
        check(uid, pods_phase(fixture, uid, POD_RUNNING, LIMIT_MS));
    }
    kill(shared_shim(), SIGKILL);
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("flock-%d", i);
        const struct pod_status *status = pods_final(fixture, uid, LIMIT_MS);

        check(uid, status);
        check_str(uid, status->reason, "SupervisorLost");
        check_int(uid, status->containers.items[0].exit_code, 137);
        check_str(uid, status->containers.items[0].reason, "ContainerStatusUnknown");
        check_int(uid, pods_finals(fixture, uid), 1);
        release(uid);
    }
    check_int("who had ended has", pods_finals(fixture, "flock-done"), 1);
    release("flock-done");
    wait_until_silent(processes);
    wait_until_silent(files);
    before.uid = "flock-next";
    check_int("the next pod gets a new one", run(&before, NULL), 5);
    release("flock-next");
}

/* A command that arrives while the shim ends comes too late and does no harm.
 * covers: see local-runtime.md LRT-32 */
static void files_of_a_killed_shim_are_removed_before_its_pod_is_reported_lost(void **state)
{
    scoped_str script =
        mem_printf("echo x > $VC_MOUNT_ROOT/data/x/kept && echo begun; sleep 7%07d", getpid());
    scoped_str look = mem_printf("pgrep -f '[s]leep 7%07d'", getpid());
    scoped_str files =
        mem_printf("ls %s/node/pods; find /sys/fs/cgroup -name 'jobflow-swept-*'", data_dir);
    struct test_pod pod = {"swept", WITH_TEST_VOLUMES, WITH_TEST_HOSTS,
                           .main = {{.argv = {"/bin/sh", "-c", script},
                                     .mounts = {{"data", "/data/x", NULL, false}}}}};
    scoped_str left = NULL;

    pods_start(fixture, &pod);
    check("begun", pods_printed(fixture, "swept", "begun", LIMIT_MS));
    check("runs", pods_phase(fixture, "swept", POD_RUNNING, LIMIT_MS));
    kill(shim_above(look), SIGKILL);
    check_str("told", pods_final(fixture, "swept", LIMIT_MS)->reason, "SupervisorLost");
    left = host_shell(files);
    check_str("left", left, "");
    release("swept");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sandboxed_pods_outlive_the_node),
        cmocka_unit_test(a_killed_shim_takes_its_pod_with_it_and_no_other),
        cmocka_unit_test(a_killed_shared_shim_loses_its_pods_and_leaves_nothing_behind),
        cmocka_unit_test(files_of_a_killed_shim_are_removed_before_its_pod_is_reported_lost),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return sandboxed_pods_main(argc, argv, tests, countof(tests), NULL);
}
