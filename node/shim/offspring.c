/*
 * Shims of boxed pods. The shared shim forks them: it is small, so a fork is cheap, and no program
 * has to be loaded. Each has a place of its own, under the pod's uid, and from its first moment on
 * nothing to do with the one it came from, except that that one waits for its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/sandbox/cgroup_find.h"
#include "node/shim/place.h"
#include "node/shim/shim.h"

struct offspring {
    pid_t pid;
    UT_hash_handle by_pid;
    char uid[64];
};

static void tell_moved(struct shim *shim, const char *uid)
{
    if (shim->node.source.fd >= 0)
        shim_put_order(&shim->node.out, SHIM_MOVED, &(struct shim_order){.uid = uid});
}

enum { KEPT_FDS = 5 + HOOK_FDS };

/* Descriptors to their numbers; none of them may be in another's way meanwhile. */
static void renumber(int *fds[KEPT_FDS], const int as[KEPT_FDS])
{
    for (size_t i = 0; i < KEPT_FDS; i++)
        if (*fds[i] >= 0)
            *fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, SHIM_FD_REST);
    for (int at = SHIM_FD_N; at < SHIM_FD_REST; at++)
        close(at);
    for (size_t i = 0; i < KEPT_FDS; i++)
        *fds[i] = *fds[i] < 0 ? -1 : dup3(*fds[i], as[i], O_CLOEXEC);
    close_range(SHIM_FD_REST, ~0U, 0);
}

NORETURN static void live(struct shim *parent, struct place *place, const struct wire_frame *start)
{
    struct holder holder = parent->holder;
    struct hook hook = parent->hook;
    int *fds[KEPT_FDS] = {&place->listen_fd, &place->dir_fd, &holder.fd, &holder.network.net_fd,
                          &holder.network.user_fd};
    int as[KEPT_FDS] = {SHIM_FD_LISTEN, SHIM_FD_DIR, SHIM_FD_HOLDER, SHIM_FD_NET, SHIM_FD_NET_USER};

    for (int i = 0; i < HOOK_FDS; i++) {
        fds[KEPT_FDS - HOOK_FDS + i] = &hook.fds[i];
        as[KEPT_FDS - HOOK_FDS + i] = SHIM_FD_HOOK + i;
    }
    setsid();
    prctl(PR_SET_NAME, "jobflow-pod", 0, 0, 0);
    renumber(fds, as);
    _exit(shim_run(
        &(struct shim){
            .config = parent->config, .files = parent->files, .holder = holder, .hook = hook},
        start));
}

/* Before the first pod that is in it. A pod whose network cannot be had says so itself. */
static void open_network(struct shim *shim, int shims_fd)
{
    struct error err = {0};
    int place_fd;

    if (!shim->config.private_network || holder_alive(&shim->holder))
        return;
    holder_close(&shim->holder);
    place_fd = openat(shims_fd, "../net", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place_fd < 0 || !holder_connect(place_fd, &shim->holder, &err))
        log_error("no private network", kv_str("why", err.message));
    if (place_fd >= 0)
        close(place_fd);
}

void offspring_start(struct shim *shim, const char *uid, const struct wire_frame *start)
{
    struct offspring *offspring;
    struct place place;
    struct error err = {0};
    int shims_fd = openat(SHIM_FD_DIR, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool made = place_make(shims_fd, uid, &place, &err);
    pid_t pid;

    open_network(shim, shims_fd);
    cgroup_find(); /* they would all have to look, */
    rewrite_low_ports_move();
    if (shim->config.rewrite == REWRITE_BY_KERNEL && !hook_is_open(&shim->hook))
        hook_open(&shim->hook, NULL); /* and to load; without them, programs ask */
    pid = made ? fork() : -1;

    if (pid == 0)
        live(shim, &place, start);
    if (made && pid < 0)
        error_errno(&err, errno, "cannot fork");
    close(shims_fd);
    if (made)
        place_close(&place);
    if (pid < 0 && err.code != ERR_EXISTS)
        log_error("cannot start the shim of a pod", kv_str("pod", uid), kv_str("why", err.message));
    if (pid > 0) {
        offspring = mem_alloc(sizeof *offspring);
        offspring->pid = pid;
        snprintf(offspring->uid, sizeof offspring->uid, "%s", uid);
        HASH_ADD(by_pid, shim->offspring, pid, sizeof offspring->pid, offspring);
    }
    tell_moved(shim, uid); /* the node looks at the place, and finds out */
}

bool offspring_known(const struct shim *shim, pid_t pid)
{
    struct offspring *offspring;

    HASH_FIND(by_pid, shim->offspring, &pid, sizeof pid, offspring);
    return offspring != NULL;
}

void offspring_ended(struct shim *shim, pid_t pid)
{
    struct offspring *offspring;

    HASH_FIND(by_pid, shim->offspring, &pid, sizeof pid, offspring);
    if (!offspring)
        return;
    HASH_DELETE(by_pid, shim->offspring, offspring);
    mem_free(offspring);
}

void offspring_list(struct shim *shim)
{
    for (struct offspring *o = shim->offspring; o; o = o->by_pid.next)
        tell_moved(shim, o->uid);
}

void offspring_forget(struct shim *shim)
{
    for (struct offspring *o = shim->offspring, *next; o; o = next) {
        next = o->by_pid.next;
        HASH_DELETE(by_pid, shim->offspring, o);
        mem_free(o);
    }
}
