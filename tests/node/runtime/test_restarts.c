/*
 * Boxed pods when somebody else dies: the node they belong to, a shim beside theirs or the shared
 * one above it.
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
        boxes_begin(NULL);
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
        struct bed_pod pod = {uid, THE_VOLUMES, THE_HOSTS,
                              .main = {{.argv = {"/bin/sh", "-c", script}}}};

        bed_start(bed, &pod);
    }
    check("runs", bed_phase(bed, "some-7", POD_RUNNING, LIMIT_MS));
}

/* covers: local-runtime.md LRT-30 LRT-31; reliability.md P-08 */
static void boxed_pods_outlive_the_node(void **state)
{
    boxes_end(NULL);
    life_with(start_some);
    boxes_begin(NULL);
    for (int i = 0; i < 8; i++) {
        scoped_str uid = mem_printf("some-%d", i);
        const struct pod_status *status;

        check(uid, bed_found(bed, uid));
        status = bed_final(bed, uid, LIMIT_MS);
        check(uid, status);
        check_int(uid, status->containers.items[0].exit_code, i);
        check_int(uid, bed_finals(bed, uid), 1);
        release(uid);
    }
}

static void wait_until_silent(const char *look)
{
    scoped_str left = mem_strdup("not looked yet");

    for (int i = 0; i < LIMIT_MS / 10 && *left; i++) {
        bed_run(bed, 10);
        mem_free(left);
        left = bed_host(look);
    }
    check_str(look, left, "");
}

/* The first process above one that `look` prints which is nobody's init: a pod's own shim. */
static pid_t shim_above(const char *look)
{
    scoped_str found = bed_host(look);
    pid_t pid = (pid_t)strtol(found, NULL, 10);

    for (int i = 0; i < 8 && pid > 1; i++) {
        scoped_str script = mem_printf("cut -d' ' -f4 /proc/%d/stat; readlink /proc/%d/fd/%d", pid,
                                       pid, SHIM_FD_PODS);
        scoped_str told = bed_host(script);

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
    struct bed_pod pod = {"victim", THE_HOSTS, .main = {{.argv = {"/bin/sh", "-c", script}}}};
    struct bed_pod other = {"other", THE_HOSTS,
                            .main = {{.argv = {"/bin/sh", "-c", "sleep 1.5; exit 6"}}}};
    const struct pod_status *status;

    bed_start(bed, &other);
    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "victim", POD_RUNNING, LIMIT_MS));
    kill(shim_above(look), SIGKILL);
    status = bed_final(bed, "victim", LIMIT_MS);
    check("told", status);
    check_str("reason", status->reason, "SupervisorLost");
    check_int("code", status->containers.items[0].exit_code, 137);
    wait_until_silent(look);
    release("victim");
    check_int("the other", bed_final(bed, "other", LIMIT_MS)->containers.items[0].exit_code, 6);
    release("other");
}

static pid_t shared_shim(void)
{
    int pids[64];
    size_t n = bed_shims(data_dir, pids, countof(pids));

    for (size_t i = 0; i < n; i++) {
        scoped_str script = mem_printf("readlink /proc/%d/fd/%d", pids[i], SHIM_FD_DIR);
        scoped_str told = bed_host(script);

        if (strstr(told, "/shims/"))
            return pids[i];
    }
    fail_msg("no shared shim");
    return -1;
}

/* What one has said before counts; of the others nobody knows how they would have ended.
 * covers: local-runtime.md LRT-32 LRT-44; reliability.md P-09 INV-N3; see P-10 */
static void a_killed_shared_shim_loses_each_pod_truthfully_and_leaves_nothing(void **state)
{
    enum { PODS = 6 };
    scoped_str script =
        mem_printf("setsid sleep 9%07d & echo begun; sleep 9%07d", getpid(), getpid());
    scoped_str processes = mem_printf("pgrep -f '[s]leep 9%07d'", getpid());
    scoped_str files =
        mem_printf("ls %s/node/pods; find /sys/fs/cgroup -name 'jobflow-flock-*'", data_dir);
    struct bed_pod before = {"flock-done", THE_HOSTS, .main = {{.argv = {"sh", "-c", "exit 5"}}}};

    check_int("before", run(&before, NULL), 5);
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("flock-%d", i);
        struct bed_pod pod = {uid, THE_VOLUMES, THE_HOSTS,
                              .main = {{.argv = {"/bin/sh", "-c", script}}}};

        bed_start(bed, &pod);
    }
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("flock-%d", i);

        check(uid, bed_printed(bed, uid, "begun", LIMIT_MS));
        check(uid, bed_phase(bed, uid, POD_RUNNING, LIMIT_MS));
    }
    kill(shared_shim(), SIGKILL);
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("flock-%d", i);
        const struct pod_status *status = bed_final(bed, uid, LIMIT_MS);

        check(uid, status);
        check_str(uid, status->reason, "SupervisorLost");
        check_int(uid, status->containers.items[0].exit_code, 137);
        check_str(uid, status->containers.items[0].reason, "ContainerStatusUnknown");
        check_int(uid, bed_finals(bed, uid), 1);
        release(uid);
    }
    check_int("who had ended has", bed_finals(bed, "flock-done"), 1);
    release("flock-done");
    wait_until_silent(processes);
    wait_until_silent(files);
    before.uid = "flock-next";
    check_int("the next pod gets a new one", run(&before, NULL), 5);
    release("flock-next");
}

/* What it was told while it ended came too late, and is no harm.
 * covers: see local-runtime.md LRT-32 */
static void what_a_killed_shim_left_is_removed_before_its_pod_is_told_lost(void **state)
{
    scoped_str script =
        mem_printf("echo x > $VC_MOUNT_ROOT/data/x/kept && echo begun; sleep 7%07d", getpid());
    scoped_str look = mem_printf("pgrep -f '[s]leep 7%07d'", getpid());
    scoped_str files =
        mem_printf("ls %s/node/pods; find /sys/fs/cgroup -name 'jobflow-swept-*'", data_dir);
    struct bed_pod pod = {"swept", THE_VOLUMES, THE_HOSTS,
                          .main = {{.argv = {"/bin/sh", "-c", script},
                                    .mounts = {{"data", "/data/x", NULL, false}}}}};
    scoped_str left = NULL;

    bed_start(bed, &pod);
    check("begun", bed_printed(bed, "swept", "begun", LIMIT_MS));
    check("runs", bed_phase(bed, "swept", POD_RUNNING, LIMIT_MS));
    kill(shim_above(look), SIGKILL);
    check_str("told", bed_final(bed, "swept", LIMIT_MS)->reason, "SupervisorLost");
    left = bed_host(files);
    check_str("left", left, "");
    release("swept");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxed_pods_outlive_the_node),
        cmocka_unit_test(a_killed_shim_takes_its_pod_with_it_and_no_other),
        cmocka_unit_test(a_killed_shared_shim_loses_each_pod_truthfully_and_leaves_nothing),
        cmocka_unit_test(what_a_killed_shim_left_is_removed_before_its_pod_is_told_lost),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return boxes_main(argc, argv, tests, countof(tests), NULL);
}
