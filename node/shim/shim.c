/*
 * The shim process: its start, its work at the end of each turn, and its end.
 */
#include "node/shim/shim.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "node/sandbox/capability_check.h"
#include "node/sandbox/keyring.h"
#include "node/sandbox/pod_sandbox.h"
#include "node/shim/shim_dir.h"

enum {
    NS_PER_MS = 1000000,
    IDLE_MS = 5000,  /* time without a node after which a shim without pods ends */
    RETRY_MS = 1000, /* pause before records that a full disk refused are written again */
};

static void write_records(struct shim *shim)
{
    struct error err = {0};

    if (!records_flush(&shim->records, &err) && !alarm_is_set(&shim->records_retry)) {
        log_error("cannot write records", kv_str("why", err.message));
        alarm_set(&shim->reactor, &shim->records_retry, RETRY_MS * (int64_t)NS_PER_MS);
    }
}

static void retry_records(struct alarm *alarm)
{
    /* The end of this turn writes the records. */
}

/* Starts a pod whose START is on record. A sandboxed pod gets a shim of its own, unless it was
 * stopped before it began. */
static void admit(struct shim *shim, struct pod *pod)
{
    if (pod->spec.kind == SHIM_POD_PLAIN || pod->life != LIFE_ACTIVE)
        pod_wake(pod);
    else if (!pod_shim_start(shim, pod))
        pod_refuse(pod, "StartError", "not started: there is no process for its supervisor");
}

/* Starts the pods that were taken this turn, once the records of their STARTs are on disk. */
static void admit_unrecorded(struct shim *shim)
{
    struct error err = {0};
    bool written;

    if (!shim->unrecorded)
        return;
    written = records_flush(&shim->records, &err);
    if (!written)
        log_error("cannot write records", kv_str("why", err.message));
    while (shim->unrecorded) {
        struct pod *pod = shim->unrecorded;

        shim->unrecorded = pod->next_due;
        pod_listing_set(&pod->listing, LISTED_NOWHERE);
        if (written)
            admit(shim, pod);
        else
            pod_refuse(pod, "StartError", "not started: the disk refuses the record of its start");
    }
}

static void step_due(struct shim *shim)
{
    while (shim->due) {
        struct pod *pod = shim->due;

        shim->due = pod->next_due;
        pod_listing_set(&pod->listing, LISTED_NOWHERE);
        pod_step(pod);
        if (pod->status_changed) {
            struct shim_status status = pod_status_now(pod);

            pod->status_changed = false;
            node_link_put_status(shim, &status);
        }
    }
}

static void rewrite_records(struct shim *shim)
{
    scoped(buf) struct buf frames = {0};
    struct error err = {0};

    for (struct pod *pod = shim->pods; pod; pod = pod->by_uid.next) {
        struct shim_status status = pod_status_now(pod);

        shim_put_status(&frames, &status);
    }
    pod_shim_put_statuses(shim, &frames);
    if (!records_rewrite(&shim->records, &frames, &err))
        log_warn("cannot rewrite records", kv_str("why", err.message));
}

/* Returns whether the shim has nothing left to do. Pods that are final do not count: their status
 * is in the records. */
static bool nothing_to_do(const struct shim *shim)
{
    return !shim->n_unfinished && !shim->pod_shims_by_pid && shim->node.source.fd < 0;
}

static void settle_shared(struct reactor *reactor)
{
    struct shim *shim = container_of(reactor, struct shim, reactor);

    admit_unrecorded(shim);
    step_due(shim);
    write_records(shim);
    if (records_bloated(&shim->records))
        rewrite_records(shim);
    node_link_flush(shim);
    if (nothing_to_do(shim) && shim->node_left && !shim->pods && !shim->pod_shims)
        reactor->stopped = true;
    else if (shim->node.source.fd < 0 && !alarm_is_set(&shim->idle))
        alarm_set(reactor, &shim->idle, (int64_t)IDLE_MS * NS_PER_MS);
}

/* Ends a pod's shim with its pod, when the last status of the pod has been sent. */
static void settle_pod(struct reactor *reactor)
{
    struct shim *shim = container_of(reactor, struct shim, reactor);

    step_due(shim);
    node_link_flush(shim);
    reactor->stopped = !shim->n_unfinished && !shim->node.out.len;
}

/* Returns whether the directory of this shim has been removed. The node finds shims by their
 * directories, so it never asks a shim without one for its pods. */
static bool directory_removed(const struct shim *shim)
{
    struct stat info;

    return fstat(SHIM_FD_DIR, &info) == 0 && info.st_nlink == 0;
}

static void idle_passed(struct alarm *alarm)
{
    struct shim *shim = container_of(alarm, struct shim, idle);

    if (shim->node.source.fd >= 0)
        return;
    if (directory_removed(shim)) {
        for (struct pod *pod = shim->pods; pod; pod = pod->by_uid.next)
            pod_stop(pod, pod->spec.grace_ms);
        pod_shim_stop_all(shim);
    }
    shim->reactor.stopped = nothing_to_do(shim);
}

/* Resets the signal state that this process has inherited, for itself and the programs it
 * starts. */
static void reset_signals(void)
{
    static const char to_default[64]; /* a struct sigaction of the kernel, all zero */
    sigset_t all;

    for (int i = 1; i < NSIG; i++) /* libc refuses to change two signals, which it uses itself */
        syscall(SYS_rt_sigaction, i, to_default, NULL, sizeof(uint64_t));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void raise_files_limit(struct shim *shim)
{
    struct rlimit ours;

    getrlimit(RLIMIT_NOFILE, &shim->nofile_limit);
    ours = (struct rlimit){shim->nofile_limit.rlim_max, shim->nofile_limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &ours);
}

static bool shim_start(struct shim *shim, struct error *err)
{
    shim->reactor.settle = shim->shared ? settle_shared : settle_pod;
    shim->idle.ring = idle_passed;
    shim->records_retry.ring = retry_records;
    shim->read_buffer = mem_resize(NULL, OUTPUT_CHUNK); /* zeroing the buffer would map 16 pages */
    return reactor_init(&shim->reactor) &&
           (!shim->shared || records_create(&shim->records, SHIM_FD_DIR, err)) &&
           reap_start(shim, err) && node_link_start(shim, err);
}

static void shared_end(struct shim *shim)
{
    bool empty = !shim->pods && !shim->pod_shims; /* true: the node has released every pod */
    struct pod *next;

    if (!empty)
        records_sync(&shim->records);
    pids_limit_release(shim);
    for (struct pod *pod = shim->pods; pod; pod = next) {
        next = pod->by_uid.next;
        HASH_DELETE(by_uid, shim->pods, pod);
        pod_free(pod);
    }
    pod_shim_free_all(shim);
    if (empty)
        shim_dir_remove(SHIM_FD_DIR);
    netns_holder_close(&shim->netns_holder);
    sockaddr_bpf_close(&shim->sockaddr_bpf);
    node_link_stop(shim); /* from now on the node reads what this shim has left */
    reap_stop(shim);
    records_release(&shim->records);
    reactor_release(&shim->reactor);
    arena_free(shim->config_arena);
    buf_release(&shim->scratch);
    buf_release(&shim->children);
    mem_free(shim->pods_dir);
    mem_free(shim->env);
    mem_free(shim->read_buffer);
}

int shim_run(struct shim *shim, struct pod *pod)
{
    struct error err = {0};

    if (!shim_start(shim, &err)) {
        log_error("shim cannot start", kv_str("why", err.message));
        return 1;
    }
    if (pod) {
        pod_adopt(pod, shim);
        shim->reactor.settle(&shim->reactor);
    }
    reactor_run(&shim->reactor);
    if (shim->shared) {
        shared_end(shim);
    } else { /* The process ends, so the kernel frees the rest. */
        pod_sandbox_free(shim->sandbox);
        pids_limit_release(shim);
    }
    return 0;
}

int shim_main(int argc, char **argv)
{
    struct shim shim = {
        .shared = true,
        .netns_holder = NETNS_HOLDER_NONE,
        .sockaddr_bpf = SOCKADDR_BPF_NONE,
        .config = {.cwd = "/", .backoff_ms = 10000, .log_max_bytes = 10 << 20},
    };

    bool is_holder = argc > 0 && strcmp(argv[0], NETNS_HOLDER_NAME) == 0;

    if (argc < 1 || (!is_holder && strcmp(argv[0], SHIM_NAME) != 0))
        return capability_check_main(argc, argv);
    /* Without this the process would be named after its executable. */
    prctl(PR_SET_NAME, argv[0], 0, 0, 0);
    reset_signals();
    umask(077);
    for (int fd = SHIM_FD_LISTEN; fd < SHIM_FD_N; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    close_range(SHIM_FD_N, ~0U, 0);
    if (is_holder)
        return chdir("/") ? 1 : netns_holder_main(argc, argv);
    shim.own_keyrings = argc > 1 && strcmp(argv[1], SHIM_OWN_KEYRINGS) == 0;
    if (shim.own_keyrings)
        keyring_leave();
    raise_files_limit(&shim);
    pod_shim_reserve_fds();
    return chdir("/") ? 1 : shim_run(&shim, NULL);
}
