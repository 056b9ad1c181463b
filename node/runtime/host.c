/*
 * The runtime that starts processes: its table of operations, and its construction. Most operations
 * are a command to the shim that has the pod; commands of one turn are sent together at its end.
 */
#include "node/runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/machine/programs.h"
#include "node/runtime/id_ranges.h"
#include "node/shim/entry.h"
#include "node/shim/records.h"

enum {
    BACKOFF_DEFAULT_MS = 10000,
    LOG_DEFAULT_BYTES = 10 << 20, /* default size of a log file (rule L-38) */
};

static struct host *host_of(struct runtime *rt)
{
    return container_of(rt, struct host, base);
}

/* Returns the buffer for commands about the pod: the pod's own until a shim has reported on it,
 * then the one of its link. Returns NULL when its shim is dead. */
static struct buf *commands_of(struct host_pod *pod)
{
    if (pod && pod->start.len)
        return &pod->commands;
    return pod && pod->link && pod->link->fd >= 0 ? &pod->link->out : NULL;
}

static void send_command(struct host_pod *pod, enum shim_message type,
                         const struct shim_command *command)
{
    struct buf *out = commands_of(pod);

    if (out)
        shim_put_command(out, type, command);
}

static void host_stop(struct runtime *rt, const char *uid, int64_t grace_ms)
{
    struct host *host = host_of(rt);
    struct host_pod *pod = host_pod_find(host, uid);

    if (!pod) {
        pod = host_pod_new(host, uid, NULL);
        host_fail_later(host, pod, "NotFound", "no such pod was ever started here");
        return;
    }
    if (!pod->final)
        send_command(pod, SHIM_STOP, &(struct shim_command){.uid = uid, .grace_ms = grace_ms});
}

static void host_release(struct runtime *rt, const char *uid)
{
    struct host *host = host_of(rt);
    struct host_pod *pod = host_pod_find(host, uid);

    if (!pod || !pod->final)
        return;
    send_command(pod, SHIM_RELEASE, &(struct shim_command){.uid = uid});
    host_pod_forget(host, pod);
}

static void host_set_hosts(struct runtime *rt, const char *uid, const char *hosts)
{
    struct host_pod *pod = host_pod_find(host_of(rt), uid);

    send_command(pod, SHIM_HOSTS, &(struct shim_command){.uid = uid, .hosts = hosts});
}

static void host_set_files(struct runtime *rt, const char *uid, size_t index,
                           const struct runtime_volume *volume)
{
    struct buf *out = commands_of(host_pod_find(host_of(rt), uid));

    if (out)
        runtime_put_files(out, uid, index, volume);
}

static void host_set_program(struct runtime *rt, const struct runtime_pod *pod, uint32_t index,
                             const struct runtime_container *container)
{
    struct buf *out = commands_of(host_pod_find(host_of(rt), pod->uid));

    if (out)
        runtime_put_program(out, pod, index, container);
}

static void host_set_deadline(struct runtime *rt, const char *uid, int64_t deadline_ms)
{
    send_command(host_pod_find(host_of(rt), uid), SHIM_DEADLINE,
                 &(struct shim_command){.uid = uid, .deadline_ms = deadline_ms});
}

static void host_startup_passed(struct runtime *rt, const char *uid, uint32_t index)
{
    send_command(host_pod_find(host_of(rt), uid), SHIM_PASSED,
                 &(struct shim_command){.uid = uid, .container = index});
}

static void host_exec(struct runtime *rt, const struct runtime_exec *exec)
{
    struct buf *out = commands_of(host_pod_find(host_of(rt), exec->uid));

    if (out)
        shim_put_exec(out, &(struct shim_exec){exec->uid,
                                               exec->container,
                                               exec->id,
                                               exec->limit_ms,
                                               {.act = ACT_EXEC,
                                                .argv = (char **)exec->argv, /* only read */
                                                .n_argv = (uint32_t)exec->n_argv}});
}

static void host_kill_container(struct runtime *rt, const char *uid, uint32_t container,
                                int64_t grace_ms, const char *why)
{
    send_command(host_pod_find(host_of(rt), uid), SHIM_KILL,
                 &(struct shim_command){
                     .uid = uid, .grace_ms = grace_ms, .container = container, .why = why});
}

static bool host_read_log(struct runtime *rt, const char *uid, const struct log_query *options,
                          int64_t *offset, struct buf *out, struct error *err)
{
    return logs_read(host_of(rt)->logs_fd, uid, options, offset, out, err);
}

static int64_t host_log_bytes(struct runtime *rt, const char *uid)
{
    return logs_bytes(host_of(rt)->logs_fd, uid);
}

static const char *host_describe(struct runtime *rt)
{
    struct host *host = host_of(rt);

    host_probe_capabilities(host, NULL);
    return host->description ? host->description : "unknown";
}

static const struct runtime_capabilities *host_capabilities(struct runtime *rt)
{
    struct host *host = host_of(rt);

    host_probe_capabilities(host, NULL);
    return &host->capabilities;
}

static void flush_links(struct turn_hook *hook)
{
    struct host *host = container_of(hook, struct host, flush);

    for (struct shim_link *link = host->links; link; link = link->next)
        if (link->out.len && !link->writing)
            shim_link_flush(link);
}

static void close_dirs(struct host *host)
{
    const int fds[] = {host->dir_fd, host->shims_fd, host->pods_fd, host->logs_fd};

    for (size_t i = 0; i < countof(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static void host_free(struct runtime *rt)
{
    struct host *host = host_of(rt);
    struct shim_link *next;

    for (struct shim_link *link = host->links; link; link = next) {
        next = link->next;
        if (link->fd >= 0) {
            shim_put_plain(&link->out, SHIM_BYE);
            shim_link_flush(link);
        }
    }
    while (host->pods) {
        host->pods->link = NULL;
        host_pod_forget(host, host->pods);
    }
    for (struct shim_link *link = host->links; link; link = next) {
        next = link->next;
        shim_link_free(link);
    }
    host_purge_detach(host);
    host_reap_detach(host);
    host_adoption_detach(host);
    loop_cancel(rt->loop, &host->reports);
    loop_off_turn_end(rt->loop, &host->flush);
    netns_holder_close(&host->holder);
    id_ranges_free(host->id_ranges);
    close_dirs(host);
    for (uint32_t i = 0; i < host->config.n_env; i++)
        mem_free(host->config_env[i]);
    mem_free(host->config_env);
    mem_free((char *)host->config.cwd);
    mem_free(host->description);
    mem_free(host->isolation);
    mem_free(host->directory);
    mem_free(host);
}

static int host_socket_to(struct runtime *rt, const struct sockaddr *to, int type)
{
    struct host *host = host_of(rt);

    return host->config.private_network && network_has(to) ? host_network_socket(host, type) : -1;
}

static void host_connect_holder(struct runtime *rt, struct netns_holder *out)
{
    struct host *host = host_of(rt);

    *out = host->config.private_network ? host_network_connect_holder(host) : NETNS_HOLDER_NONE;
}

static bool host_confine(struct runtime *rt, struct error *err)
{
    return host_can_confine(host_of(rt), err);
}

static const struct runtime_ops ops = {
    .adopt = host_adopt,
    .start = host_start,
    .stop = host_stop,
    .release = host_release,
    .purge = host_purge,
    .set_hosts = host_set_hosts,
    .set_files = host_set_files,
    .set_program = host_set_program,
    .set_deadline = host_set_deadline,
    .startup_passed = host_startup_passed,
    .exec = host_exec,
    .kill_container = host_kill_container,
    .read_log = host_read_log,
    .log_bytes = host_log_bytes,
    .sweep_logs = host_sweep_logs,
    .socket_to = host_socket_to,
    .connect_holder = host_connect_holder,
    .describe = host_describe,
    .capabilities = host_capabilities,
    .confine = host_confine,
    .free = host_free,
};

static void build_config(struct host *host, const struct runtime_host_options *options)
{
    const struct passwd *user = getpwuid(geteuid()); /* NOLINT(concurrency-mt-unsafe): at start */
    char cwd[4096];

    host->config_env = mem_array(4, sizeof *host->config_env);
    /* Programs inherit no variable but PATH from this process. */
    host->config_env[0] = mem_printf("PATH=%s", programs_path());
    host->config_env[1] = mem_printf("HOME=%s", user ? user->pw_dir : "/root");
    host->config_env[2] = mem_strdup("LANG=C.UTF-8");
    host->config = (struct shim_config){
        .cwd = mem_strdup(getcwd(cwd, sizeof cwd) ? cwd : "/"),
        .env = host->config_env,
        .n_env = 3,
        .backoff_ms =
            options->restart_backoff_ms > 0 ? options->restart_backoff_ms : BACKOFF_DEFAULT_MS,
        .log_max_bytes = options->log_max_bytes > 0 ? options->log_max_bytes : LOG_DEFAULT_BYTES,
        .hosts_as_addresses = options->hosts_as_addresses,
        .private_tmp = options->isolate_all,
        .scratch_bytes = options->scratch_bytes,
        .private_network = options->network && strcmp(options->network, "private") == 0,
    };
}

static int open_dir(int at, const char *path, struct error *err)
{
    int fd;

    if (mkdirat(at, path, 0700) && errno != EEXIST) {
        error_errno(err, errno, "cannot create %s", path);
        return -1;
    }
    fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        error_errno(err, errno, "cannot open %s", path);
    return fd;
}

static bool open_dirs(struct host *host, const char *path, struct error *err)
{
    host->shims_fd = host->pods_fd = host->logs_fd = -1;
    host->dir_fd = open_dir(AT_FDCWD, path, err);
    return host->dir_fd >= 0 && (host->shims_fd = open_dir(host->dir_fd, "shims", err)) >= 0 &&
           (host->pods_fd = open_dir(host->dir_fd, PODS_DIRECTORY, err)) >= 0 &&
           (host->logs_fd = open_dir(host->dir_fd, "logs", err)) >= 0;
}

struct runtime *runtime_host_new(struct loop *loop, const struct runtime_host_options *options,
                                 runtime_report_fn report_fn, void *ctx, struct error *err)
{
    char cwd[4096] = "";
    bool relative = options->directory[0] != '/' && getcwd(cwd, sizeof cwd);
    scoped_str path = mem_printf("%s%s%s/node", cwd, relative ? "/" : "", options->directory);
    struct host *host;

    if (!file_mkdirs(path, 0700, err))
        return NULL;
    host = mem_alloc(sizeof *host);
    if (!open_dirs(host, path, err)) {
        close_dirs(host);
        mem_free(host);
        return NULL;
    }
    host->base = (struct runtime){.ops = &ops, .loop = loop, .report = report_fn, .ctx = ctx};
    host->isolate_all = options->isolate_all;
    host->own_keyrings = options->own_keyrings;
    host->reports.run = host_send_reports;
    host->flush.end = flush_links;
    boot_id_read(host->boot_id);
    build_config(host, options);
    host->directory = take(path);
    host->isolation =
        mem_strdup(options->isolation && *options->isolation ? options->isolation : "auto");
    loop_on_turn_end(loop, &host->flush);
    host->holder = NETNS_HOLDER_NONE;
    if (!host_require_isolation(host, err)) {
        host_free(&host->base);
        return NULL;
    }
    return &host->base;
}
