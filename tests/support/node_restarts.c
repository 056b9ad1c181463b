/*
 * Lives of a node. See node_restarts.h.
 */
#include "tests/support/node_restarts.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void life(const char *dir, void (*act)(struct bed *bed))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        act(bed_new(dir, NULL));
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

char *life_directory(const char *name)
{
    char *dir = test_path(name);

    mkdir(dir, 0700);
    return dir;
}

pid_t life_shim(const char *dir)
{
    int pids[4];

    check_int("one shim", bed_shims(dir, pids, countof(pids)), 1);
    return pids[0];
}

void life_shims_leave(const char *dir)
{
    int pids[8];

    for (int i = 0; i < LIMIT_MS / POLL_MS && bed_shims(dir, pids, countof(pids)); i++)
        usleep(POLL_MS * 1000);
    check_int("shims left", bed_shims(dir, pids, countof(pids)), 0);
}

void life_finish(struct bed *bed, const char *dir)
{
    bed_free(bed);
    life_shims_leave(dir);
}

void life_wait_for_end(long pid)
{
    for (int i = 0; i < LIMIT_MS / POLL_MS && bed_alive(pid); i++)
        usleep(POLL_MS * 1000);
    check("the process has ended", !bed_alive(pid));
}

void life_kill_shim(const char *dir)
{
    pid_t shim = life_shim(dir);

    kill(shim, SIGKILL);
    life_wait_for_end(shim);
}

void life_release(struct bed *bed, const char *uid)
{
    bed_runtime(bed)->ops->release(bed_runtime(bed), uid);
}

void life_start(struct bed *bed, const char *uid, const char *script)
{
    bed_start(bed, &(struct bed_pod){uid, .main = {{.argv = {"/bin/sh", "-c", script}}}});
}

void life_check_lost(struct bed *bed, const char *uid)
{
    const struct pod_status *status = bed_final(bed, uid, LIMIT_MS);

    check(uid, status);
    check_int(uid, status->phase, POD_FAILED);
    check_str(uid, status->reason, "SupervisorLost");
    check_int(uid, status->containers.items[0].exit_code, 137);
    check_str(uid, status->containers.items[0].reason, "ContainerStatusUnknown");
    life_release(bed, uid);
}

void life_start_long(struct bed *bed)
{
    life_start(bed, "long", "exec sleep 300");
    check("runs", bed_phase(bed, "long", POD_RUNNING, LIMIT_MS));
}
