/*
 * Runs nodes in child processes, and kills and restarts them and their shims.
 */
#include "tests/support/node_restarts.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void node_run(const char *dir, void (*act)(struct pods_fixture *fixture))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        act(pods_new(dir, NULL));
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

char *node_directory(const char *name)
{
    char *dir = test_path(name);

    mkdir(dir, 0700);
    return dir;
}

pid_t shim_pid(const char *dir)
{
    int pids[4];

    check_int("one shim", shims_of(dir, pids, countof(pids)), 1);
    return pids[0];
}

void wait_for_shims_to_end(const char *dir)
{
    int pids[8];

    for (int i = 0; i < LIMIT_MS / POLL_MS && shims_of(dir, pids, countof(pids)); i++)
        usleep(POLL_MS * 1000);
    check_int("shims left", shims_of(dir, pids, countof(pids)), 0);
}

void node_finish(struct pods_fixture *fixture, const char *dir)
{
    pods_free(fixture);
    wait_for_shims_to_end(dir);
}

void wait_for_end(long pid)
{
    for (int i = 0; i < LIMIT_MS / POLL_MS && process_alive(pid); i++)
        usleep(POLL_MS * 1000);
    check("the process has ended", !process_alive(pid));
}

void kill_shim(const char *dir)
{
    pid_t shim = shim_pid(dir);

    kill(shim, SIGKILL);
    wait_for_end(shim);
}

void release_pod(struct pods_fixture *fixture, const char *uid)
{
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), uid);
}

void start_shell_pod(struct pods_fixture *fixture, const char *uid, const char *script)
{
    pods_start(fixture, &(struct test_pod){uid, .main = {{.argv = {"/bin/sh", "-c", script}}}});
}

void check_lost(struct pods_fixture *fixture, const char *uid)
{
    const struct pod_status *status = pods_final(fixture, uid, LIMIT_MS);

    check(uid, status);
    check_int(uid, status->phase, POD_FAILED);
    check_str(uid, status->reason, "SupervisorLost");
    check_int(uid, status->containers.items[0].exit_code, 137);
    check_str(uid, status->containers.items[0].reason, "ContainerStatusUnknown");
    release_pod(fixture, uid);
}

void start_long_pod(struct pods_fixture *fixture)
{
    start_shell_pod(fixture, "long", "exec sleep 300");
    check("runs", pods_phase(fixture, "long", POD_RUNNING, LIMIT_MS));
}
