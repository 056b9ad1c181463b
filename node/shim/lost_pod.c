/*
 * Reports the pods of a shim that died, and kills their processes that are still alive.
 */
#include "node/shim/lost_pod.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/shim/pod_mark.h"

enum { EXIT_UNKNOWN = 137, ROUNDS_MAX = 8 };

void lost_pod_status(struct shim_status *status, const char *reason, const char *message)
{
    struct pod_status *pod = &status->status;

    status->final = true;
    pod->phase = POD_FAILED;
    pod->reason = reason;
    pod->message = message;
    pod->ready = false;
    for (size_t i = 0; i < pod->init_containers.count + pod->containers.count; i++) {
        /* The statuses of init and main containers are one array. */
        struct container_status *c = &pod->init_containers.items[i];

        c->ready = false;
        if (c->state == CONTAINER_TERMINATED)
            continue;
        c->state = CONTAINER_TERMINATED;
        c->reason = "ContainerStatusUnknown";
        c->message = message;
        c->exit_code = EXIT_UNKNOWN;
    }
}

struct victims {
    const char *const *uids;
    size_t count;
    char *env; /* memory to read an environment into */
};

static bool is_victim(pid_t pid, const struct victims *victims)
{
    rlim_t number = pod_mark_of(pid);
    size_t len;

    for (size_t i = 0; number && i < victims->count; i++)
        if (pod_mark_number(victims->uids[i]) == number)
            return true;
    len = pod_mark_read_environ(pid, victims->env);
    for (const char *uid = NULL; (uid = pod_mark_next_uid(victims->env, len, uid));)
        for (size_t i = 0; i < victims->count; i++)
            if (strcmp(uid, victims->uids[i]) == 0)
                return true;
    return false;
}

/* Kills a process that has the mark of one of the pods. The mark is read once more when the pidfd
 * is open, because by then the pid may name another process. */
static bool kill_victim(pid_t pid, const struct victims *victims)
{
    bool killed;
    int pidfd;

    if (!is_victim(pid, victims) || (pidfd = pidfd_open(pid, 0)) < 0)
        return false;
    killed = is_victim(pid, victims) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0;
    close(pidfd);
    return killed;
}

void lost_pods_kill(const char *const *uids, size_t count)
{
    const struct victims victims = {uids, count, mem_alloc(POD_MARK_ENVIRON_MAX + 1)};
    bool again = true;

    for (int round = 0; again && round < ROUNDS_MAX; round++) { /* victims may fork meanwhile */
        DIR *proc = opendir("/proc");

        again = false;
        for (struct dirent *entry;
             proc && (entry = readdir(proc));) { /* NOLINT(concurrency-mt-unsafe) */
            char *end;
            long pid = strtol(entry->d_name, &end, 10);

            if (!*end && pid > 0 && kill_victim((pid_t)pid, &victims))
                again = true;
        }
        if (proc)
            closedir(proc);
    }
    mem_free(victims.env);
}
