/*
 * Finding pods of earlier lives.
 *
 * Each shim directory tells by its lock whether the shim lives. A living one is connected and asked
 * for its pods; a dead one is known by its records: what had come to its end is told as it was, the
 * rest is lost, and whatever of it still runs is killed (it carries our marker). Records of an
 * earlier boot of the machine kill nothing. A pod that is in neither was never started.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime_host.h"
#include "node/sandbox/box.h"
#include "node/sandbox/cgroup.h"
#include "node/shim/entry.h"
#include "node/shim/lost.h"
#include "node/shim/records.h"

enum { ENVIRON_MAX = 256 << 10 };

/* ---- processes that outlived their shim ---- */

struct hunt {
    const char *const *uids;
    size_t count;
};

static bool carries(const char *env, size_t len, const struct hunt *hunt)
{
    static const char marker[] = SHIM_MARKER "=";

    for (const char *at = env, *end = env + len; at < end; at += strlen(at) + 1) {
        if (strncmp(at, marker, sizeof marker - 1) != 0)
            continue;
        for (size_t i = 0; i < hunt->count; i++)
            if (!strcmp(at + sizeof marker - 1, hunt->uids[i]))
                return true;
    }
    return false;
}

static bool process_carries(pid_t pid, const struct hunt *hunt, char *env)
{
    char path[32];
    ssize_t len;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    len = read(fd, env, ENVIRON_MAX);
    close(fd);
    if (len <= 0)
        return false;
    env[len] = 0;
    return carries(env, (size_t)len, hunt);
}

/* The pidfd is taken before the second look: what is killed is what was looked at. */
static bool kill_if_ours(pid_t pid, const struct hunt *hunt, char *env)
{
    bool killed;
    int pidfd;

    if (!process_carries(pid, hunt, env) || (pidfd = pidfd_open(pid, 0)) < 0)
        return false;
    killed = process_carries(pid, hunt, env) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0;
    close(pidfd);
    return killed;
}

static void kill_leftovers(const struct hunt *hunt)
{
    char *env = mem_alloc(ENVIRON_MAX + 1);
    bool again = true;

    for (int round = 0; again && round < 8; round++) { /* they may have forked meanwhile */
        DIR *proc = opendir("/proc");

        again = false;
        for (struct dirent *entry;
             proc && (entry = readdir(proc));) { /* NOLINT(concurrency-mt-unsafe) */
            char *end;
            long pid = strtol(entry->d_name, &end, 10);

            if (!*end && pid > 0 && kill_if_ours((pid_t)pid, hunt, env))
                again = true;
        }
        if (proc)
            closedir(proc);
    }
    mem_free(env);
}

/* ---- records of a dead shim ---- */

struct recorded {
    UT_hash_handle by_uid;
    struct shim_status status;
};

struct reading {
    struct arena *arena;
    struct recorded *pods;
};

static void take_record(void *ctx, struct wire_frame *frame, const char *bytes)
{
    struct reading *reading = ctx;
    size_t len = (size_t)(frame->fields.end - frame->fields.at);
    char *copy = arena_alloc(reading->arena, len + 1);
    struct wire_reader fields = {copy, copy + len, false};
    struct recorded *known;
    struct shim_status status;
    struct shim_order order;

    memcpy(copy, frame->fields.at, len);
    if (frame->type == SHIM_STATUS && shim_get_status(&fields, reading->arena, &status)) {
        HASH_FIND(by_uid, reading->pods, status.uid, strlen(status.uid), known);
        if (!known) {
            known = arena_alloc(reading->arena, sizeof *known);
            known->status = status;
            HASH_ADD_KEYPTR(by_uid, reading->pods, status.uid, strlen(status.uid), known);
        } else {
            known->status = status;
        }
    } else if (frame->type == SHIM_RELEASE && shim_get_order(&fields, SHIM_RELEASE, &order)) {
        HASH_FIND(by_uid, reading->pods, order.uid, strlen(order.uid), known);
        if (known)
            HASH_DELETE(by_uid, reading->pods, known);
    }
}

void host_read_records(struct host *host, struct link *link)
{
    struct reading reading = {arena_new(0)};
    char boot_id[BOOT_ID_MAX];
    struct error err = {0};
    const char **lost;
    size_t n_lost = 0;
    bool restarted;

    if (!records_read(link->dir_fd, boot_id, take_record, &reading, &err) &&
        err.code != ERR_NOT_FOUND)
        log_error("cannot read records", kv_str("shim", link->id), kv_str("why", err.message));
    restarted = strcmp(boot_id, host->boot_id) != 0;
    lost = mem_array(HASH_CNT(by_uid, reading.pods) + 1, sizeof *lost);
    for (struct recorded *pod = reading.pods; pod; pod = pod->by_uid.next)
        if (!pod->status.final) {
            lose_pod(&pod->status, restarted ? "NodeRestarted" : "SupervisorLost",
                     restarted ? "the machine was restarted while the pod ran"
                               : "the supervisor of the pod ended before the pod did");
            lost[n_lost++] = pod->status.uid;
        }
    if (n_lost && !restarted)
        kill_leftovers(&(struct hunt){lost, n_lost});
    cgroup_sweep((const char *[]){link->id}, 1);
    if (n_lost)
        box_sweep(host->pods_fd, lost, n_lost);
    for (struct recorded *pod = reading.pods; pod; pod = pod->by_uid.next) {
        struct host_pod *known = host_pod_find(host, pod->status.uid);

        if (known && (known->final || known->link != link))
            continue;
        if (!known && host->found)
            known = host_pod_new(host, pod->status.uid, link);
        if (known) {
            known->found = host->found != NULL;
            host_tell_later(host, known, &pod->status);
        }
    }
    mem_free(lost);
    HASH_CLEAR(by_uid, reading.pods);
    arena_free(reading.arena);
}

void host_drop_link(struct host *host, struct link *link)
{
    struct error err = {0};

    if (!file_remove_tree(host->shims_fd, link->id, &err))
        log_warn("cannot remove a supervisor's directory", kv_str("why", err.message));
    link_free(link);
}

/* ---- adopting ---- */

/* The link to the shim in a place: alive, or (fd -1) dead. NULL when there is no such place. */
static struct link *link_to(struct host *host, const char *id)
{
    int dir_fd = openat(host->shims_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct error err = {0};
    struct link *link = NULL;

    if (dir_fd < 0)
        return NULL;
    if (flock(dir_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        link = link_connect(host, id, dir_fd, &err);
    if (!link)
        return link_dead(host, id, dir_fd);
    link->listing = host->found != NULL;
    host->listing += link->listing;
    return link;
}

static bool linked(const struct host *host, const char *id)
{
    for (const struct link *link = host->links; link; link = link->next)
        if (!strcmp(link->id, id))
            return true;
    return false;
}

static void adopt_one(struct host *host, const char *id)
{
    struct link *link = linked(host, id) ? NULL : link_to(host, id);

    if (link && link->fd < 0)
        host_link_died(host, link);
    else if (link && !host->pool && !shim_uid_ok(id))
        host->pool = link;
}

/* What pods have left on disk of which nobody knows: their shims were killed, and their records
 * released. */
static void remove_leftovers(struct host *host)
{
    int fd = fcntl(host->pods_fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe) */
        char uid[sizeof((struct host_pod *)0)->uid];
        size_t len = strcspn(entry->d_name, ".");

        if (!len || len >= sizeof uid)
            continue;
        memcpy(uid, entry->d_name, len);
        uid[len] = 0;
        if (!host_pod_find(host, uid))
            file_remove_tree(host->pods_fd, entry->d_name, NULL);
    }
    if (dir)
        closedir(dir);
}

static void tell_found(struct host *host)
{
    runtime_found_fn found = host->found;

    remove_leftovers(host);
    host->found = NULL;
    for (struct host_pod *pod = host->pods; pod; pod = pod->by_uid.next)
        if (pod->found)
            found(host->base.ctx, pod->uid);
    loop_post(host->base.loop, host->adopted);
    loop_post(host->base.loop, &host->tell);
    loop_unhold(host->base.loop);
}

void host_listed(struct host *host, struct link *link)
{
    if (!link->listing)
        return;
    link->listing = false;
    if (--host->listing == 0)
        tell_found(host);
}

/* Has the machine been restarted since a runtime last ran here? */
static bool machine_restarted(struct host *host)
{
    scoped_str path = mem_printf("/proc/self/fd/%d/boot", host->dir_fd);
    scoped(buf) struct buf before = {0};
    struct error err = {0};
    bool known = file_read(path, BOOT_ID_MAX, &before, &err);

    if (known && !strcmp(before.data, host->boot_id))
        return false;
    if (!file_write_atomic(path, host->boot_id, strlen(host->boot_id), 0600, &err))
        log_error("cannot note the boot id", kv_str("why", err.message));
    return known;
}

void host_adopt(struct runtime *rt, runtime_found_fn found, struct task *done)
{
    struct host *host = container_of(rt, struct host, base);
    int fd = fcntl(host->shims_fd, F_DUPFD_CLOEXEC, 0);
    DIR *shims = fd >= 0 ? fdopendir(fd) : NULL;

    host->found = found;
    host->adopted = done;
    host->listing = 1; /* until all are asked */
    loop_hold(rt->loop);
    rt->machine_restarted = machine_restarted(host);
    for (struct dirent *entry;
         shims && (entry = readdir(shims));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.')
            adopt_one(host, entry->d_name);
    if (shims)
        closedir(shims);
    if (--host->listing == 0)
        tell_found(host);
}
