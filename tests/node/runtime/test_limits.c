/*
 * Tests sandboxed pods that exceed their limits of memory, processes or disk.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/sandbox/cgroup/cgroup.h"
#include "tests/support/sandboxed_pods.h"

/* A program of a pod that forks as many processes as it can. All of them wait. */
static int bomb_mode(char **args)
{
    int forked = 0;

    for (pid_t pid; forked < 3000 && (pid = fork()) >= 0; forked++)
        if (pid == 0)
            for (;;)
                pause();
    dprintf(STDOUT_FILENO, "forked=%d\n", forked);
    sleep(60);
    return 0;
}

/* A program of a pod that touches as many MiB as args[0] says, 200 by default, and then waits. */
static int eat_mode(char **args)
{
    enum { PAGE = 4096 };
    size_t eaten = (size_t)(args[0] ? atoi(args[0]) : 200) << 20;
    volatile char *food = malloc(eaten); /* without volatile the compiler leaves the writes out */

    for (size_t i = 0; food && i < eaten; i += PAGE)
        food[i] = 1;
    sleep(60);
    free((char *)food);
    return 0;
}

/* covers: local-runtime.md LRT-42 */
static void too_much_memory_is_reported_as_oom_killed(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct test_pod pod = {"hog", WITH_TEST_HOSTS,
                           .main = {{.argv = {self, "eat"}, .memory_limit = "60Mi"}}};
    const struct pod_status *status;

    self[n > 0 ? n : 0] = 0;
    pods_start(fixture, &pod);
    status = pods_final(fixture, "hog", LIMIT_MS);
    check("ends", status);
    check_int("code", status->containers.items[0].exit_code, 137);
    check_str("reason", status->containers.items[0].reason, "OOMKilled");
    check("what it had is known", status->containers.items[0].memory_peak_bytes > 30 << 20);
    release("hog");
}

/* Each container is within its own limit, which is that of the pod. */
static void containers_that_have_too_much_together_are_oom_killed(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct test_pod pod = {"hog-pod", WITH_TEST_HOSTS, .memory_limit = "150Mi",
                           .main = {{.argv = {self, "eat", "100"}},
                                    {.argv = {self, "eat", "90"}, .memory_limit = "140Mi"}}};
    const struct pod_status *status;
    unsigned killed = 0;

    self[n > 0 ? n : 0] = 0;
    pods_start(fixture, &pod);
    for (int waited_ms = 0; !killed && waited_ms < LIMIT_MS; waited_ms += 50) {
        status = pods_phase(fixture, "hog-pod", POD_RUNNING, LIMIT_MS);
        check("runs", status);
        for (size_t i = 0; i < status->containers.count; i++)
            killed += status->containers.items[i].state == CONTAINER_TERMINATED &&
                      status->containers.items[i].exit_code == 137 &&
                      strcmp(status->containers.items[i].reason, "OOMKilled") == 0;
        pods_run(fixture, 50);
    }
    check_int("one of the two is killed", killed, 1);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "hog-pod", 0);
    check("ends", pods_final(fixture, "hog-pod", LIMIT_MS));
    release("hog-pod");
}

/* covers: see 6.3 */
static void usage_of_a_killed_program_is_reported(void **state)
{
    struct test_pod pod = {
        "killed", WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c",
                           "trap '' TERM; (trap '' TERM; i=0; while [ $i -lt 300000 ]; do "
                           "i=$((i+1)); done; echo worked; while :; do sleep 1; done) & wait; "
                           "while :; do sleep 1; done"}}}};
    const struct pod_status *status;
    bool worked = false;

    pods_start(fixture, &pod);
    for (int waited_ms = 0; !worked && waited_ms < LIMIT_MS; waited_ms += 20) {
        scoped_str log = pods_log(fixture, "killed", NULL);

        worked = log && strstr(log, "worked");
        pods_run(fixture, 20);
    }
    check("worked", worked);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "killed", 10);
    status = pods_final(fixture, "killed", LIMIT_MS);
    check("ends", status);
    check_int("code", status->containers.items[0].exit_code, 137);
    check_int("signal", status->containers.items[0].signal, SIGKILL);
    check("its child's time counts", status->containers.items[0].cpu_ms > 20);
    release("killed");
}

static bool limits_processes(void)
{
    bool memory, cpu, processes;

    cgroup_check_limits(&memory, &cpu, &processes);
    return processes;
}

/* Returns how many threads of this user run. RLIMIT_NPROC counts them all, so a pod gets the places of
 * those that end while it runs, such as programs of tests that run beside this one. */
static long threads_of_this_user(void)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    long n = 0;

    while (dir && (entry = readdir(dir))) {
        char path[sizeof entry->d_name + sizeof "/proc//task"];
        struct stat st;

        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        if (stat(path, &st) == 0 && st.st_uid == geteuid())
            n += (long)st.st_nlink - 2;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* covers: local-runtime.md LRT-43 */
static void processes_without_end_are_bounded_by_the_pods_share(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct test_pod bomb = {"bomb", WITH_TEST_HOSTS,
                            .main = {{.argv = {self, "bomb"}, .memory_limit = "1Gi"}}};
    struct test_pod good = {"neighbour", WITH_TEST_VOLUMES,
                            .main = {{.argv = {"/bin/sh", "-c", "for i in 1 2 3; do true; done"}}}};
    long forked, others = geteuid() ? threads_of_this_user() : 0;

    if (!geteuid() && !limits_processes()) {
        print_message("skipped: root's processes are bounded by control groups only\n");
        return;
    }
    self[n > 0 ? n : 0] = 0;
    pods_start(fixture, &bomb);
    check("runs", pods_phase(fixture, "bomb", POD_RUNNING, LIMIT_MS));
    check_int("a neighbour is unharmed", run(&good, NULL), 0);
    release("neighbour");
    forked = number_in_log("bomb", "forked");
    check("it got some", forked > 100);
    check("and no more", forked <= 1024 + others);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "bomb", 0);
    check("ends", pods_final(fixture, "bomb", LIMIT_MS));
    release("bomb");
}

static void a_volume_that_outgrows_its_limit_ends_the_pod(void **state)
{
    static const struct runtime_volume small[] = {
        {.name = "small", .kind = VOLUME_EMPTY_DIR, .size_bytes = 1 << 20},
        {.name = "fast", .kind = VOLUME_EMPTY_DIR, .memory = true, .size_bytes = 1 << 20}};
    struct test_pod pod = {
        "glutton",
        .volumes = small,
        .n_volumes = countof(small),
        .main = {{.argv = {"/bin/sh", "-c",
                           "cd $VC_MOUNT_ROOT/; head -c 3000000 /dev/zero > fast/x && echo fits;"
                           "mkdir small/deep; head -c 3000000 /dev/zero > small/deep/x; sleep 300"},
                  .mounts = {{"small", "/small", NULL, false}, {"fast", "/fast", NULL, false}}}},
    };
    const struct pod_status *status;
    scoped_str log = NULL;

    pods_start(fixture, &pod);
    status = pods_final(fixture, "glutton", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_str("reason", status->reason, "Evicted");
    check_has("which", status->message, "EmptyDir volume \"small\" exceeds the limit");
    log = pods_log(fixture, "glutton", NULL);
    check_int("memory is bounded by the kernel", strstr(log, "fits") != NULL, is_plain());
    release("glutton");
}

static void a_program_that_closes_its_output_goes_on(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "mute", WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c", "echo before; exec >&- 2>&-; sleep 0.2; exit 6"}}}};

    check_int("its own end", run(&pod, &log), 6);
    check_str("log", log, "before\n");
    release("mute");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_much_memory_is_reported_as_oom_killed),
        cmocka_unit_test(containers_that_have_too_much_together_are_oom_killed),
        cmocka_unit_test(usage_of_a_killed_program_is_reported),
        cmocka_unit_test(processes_without_end_are_bounded_by_the_pods_share),
        cmocka_unit_test(a_volume_that_outgrows_its_limit_ends_the_pod),
        cmocka_unit_test(a_program_that_closes_its_output_goes_on),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };
    static const struct pod_program modes[] = {{"bomb", bomb_mode}, {"eat", eat_mode}, {0}};

    return sandboxed_pods_main(argc, argv, tests, countof(tests), modes);
}
