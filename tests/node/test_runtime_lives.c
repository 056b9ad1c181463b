/*
 * Boxed pods when somebody else dies: the node they belong to, a shim beside theirs.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/shim/entry.h"
#include "tests/support/boxes.h"

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

/* covers: local-runtime.md LRT-32; reliability.md P-09 INV-N3 */
static void a_killed_shim_takes_its_pod_with_it_and_no_other(void **state)
{
    scoped_str script = mem_printf("setsid sleep 8%07d & sleep 8%07d", getpid(), getpid());
    scoped_str look = mem_printf("pgrep -f '[s]leep 8%07d'", getpid());
    struct bed_pod pod = {"victim", THE_HOSTS, .main = {{.argv = {"/bin/sh", "-c", script}}}};
    struct bed_pod other = {"other", THE_HOSTS,
                            .main = {{.argv = {"/bin/sh", "-c", "sleep 1.5; exit 6"}}}};
    scoped_str place = mem_printf("%s/node/shims/victim", data_dir);
    scoped_str left = mem_strdup("not looked yet");
    const struct pod_status *status;
    int pids[64];
    size_t n;

    bed_start(bed, &other);
    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "victim", POD_RUNNING, LIMIT_MS));
    n = bed_shims(data_dir, pids, countof(pids));
    for (size_t i = 0; i < n; i++) {
        scoped_str fd = mem_printf("/proc/%d/fd/%d", pids[i], SHIM_FD_DIR);
        char target[512];
        ssize_t len = readlink(fd, target, sizeof target - 1);

        target[len > 0 ? len : 0] = 0;
        if (!strcmp(target, place))
            kill(pids[i], SIGKILL);
    }
    status = bed_final(bed, "victim", LIMIT_MS);
    check("told", status);
    check_str("reason", status->reason, "SupervisorLost");
    check_int("code", status->containers.items[0].exit_code, 137);
    for (int i = 0; i < LIMIT_MS / 10 && *left; i++) {
        bed_run(bed, 10);
        mem_free(left);
        left = bed_host(look);
    }
    check_str("processes", left, "");
    release("victim");
    check_int("the other", bed_final(bed, "other", LIMIT_MS)->containers.items[0].exit_code, 6);
    release("other");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxed_pods_outlive_the_node),
        cmocka_unit_test(a_killed_shim_takes_its_pod_with_it_and_no_other),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return boxes_main(argc, argv, tests, countof(tests), NULL);
}
