/*
 * The messages by which a shim starts a pod or changes it, made from the kubelet's form of the pod;
 * and the choice between a plain and a sandboxed pod (DC-19): a pod pays only for what it asks for.
 */
#include <string.h>

#include "api/types/text/quantity.h"
#include "node/runtime/handler.h"
#include "node/runtime/internal.h"
#include "node/sandbox/hostkey.h"
#include "node/sandbox/pod_sandbox.h"

enum { GRACE_DEFAULT_S = 30, MS_PER_S = 1000 };

static bool asks_volumes(const struct runtime_pod *pod)
{
    return pod->n_volumes > 0;
}

static bool asks_hosts(const struct runtime_pod *pod)
{
    return pod->hosts != NULL;
}

static bool asks_hostname(const struct runtime_pod *pod)
{
    return pod->spec->hostname && *pod->spec->hostname;
}

static bool any_container(const struct runtime_pod *pod, bool (*asks)(const struct pod_container *))
{
    for (size_t i = 0; i < pod->n_init; i++)
        if (asks(pod->init[i].spec))
            return true;
    for (size_t i = 0; i < pod->n_containers; i++)
        if (asks(pod->containers[i].spec))
            return true;
    return false;
}

static bool has_port(const struct pod_container *container)
{
    return container->ports.count > 0;
}

static bool has_limit(const struct pod_container *container)
{
    return container->limits.count > 0;
}

static bool mentions(const struct str_list *words, const char *path)
{
    for (size_t i = 0; i < words->count; i++)
        if (strstr(words->items[i], path))
            return true;
    return false;
}

/* Returns whether the container asked for a termination message. Admission sets the default path
 * for every container, so that path counts only if the command mentions it: a plain process would
 * write to the host's /dev. Any other path was asked for. */
static bool has_message(const struct pod_container *container)
{
    static const char usual[] = "/dev/termination-log";
    const char *path = container->termination_message_path;

    return (path && *path && strcmp(path, usual) != 0) || mentions(&container->command, usual) ||
           mentions(&container->args, usual);
}

static bool asks_handlers(const struct runtime_pod *pod)
{
    return any_container(pod, container_has_handlers);
}

static bool asks_message(const struct runtime_pod *pod)
{
    return any_container(pod, has_message);
}

static bool asks_ports(const struct runtime_pod *pod)
{
    return pod->n_ports || any_container(pod, has_port);
}

static bool asks_limits(const struct runtime_pod *pod)
{
    return pod->spec->limits.count || any_container(pod, has_limit);
}

static bool (*const sandbox_reasons[])(const struct runtime_pod *) = {
    asks_volumes, asks_hosts, asks_hostname, asks_ports, asks_limits, asks_message, asks_handlers,
};

enum shim_pod_kind runtime_choose_way(const struct runtime_pod *pod, bool isolate_all)
{
    if (isolate_all)
        return SHIM_POD_SANDBOXED;
    for (size_t i = 0; i < countof(sandbox_reasons); i++)
        if (sandbox_reasons[i](pod))
            return SHIM_POD_SANDBOXED;
    return SHIM_POD_PLAIN;
}

static enum shim_restart restart_of(const char *policy)
{
    static const struct {
        const char *text;
        enum shim_restart restart;
    } rows[] = {{"Never", RESTART_NEVER}, {"OnFailure", RESTART_ON_FAILURE}};

    for (size_t i = 0; policy && i < countof(rows); i++)
        if (strcmp(policy, rows[i].text) == 0)
            return rows[i].restart;
    return RESTART_ALWAYS;
}

/* Returns the limits `own`. Limits that are missing there are taken from `of_pod`. */
static struct shim_limits limits_of(const struct str_map *own, const struct str_map *of_pod)
{
    int64_t memory = quantity_whole(pod_amount(own, "memory"));
    int64_t cpu = quantity_milli(pod_amount(own, "cpu"));

    return (struct shim_limits){
        .memory_bytes = memory ? memory : quantity_whole(pod_amount(of_pod, "memory")),
        .cpu_milli = cpu ? cpu : quantity_milli(pod_amount(of_pod, "cpu")),
    };
}

static uint32_t volume_index(const struct runtime_pod *pod, const char *name)
{
    uint32_t i = 0;

    while (i < pod->n_volumes && strcmp(pod->volumes[i].name, name) != 0)
        i++;
    return i;
}

static char **env_of(struct arena *arena, const struct runtime_pod *pod,
                     const struct runtime_container *from, uint32_t *out_count)
{
    bool named = pod->hostname && *pod->hostname;
    char **env = arena_array(arena, from->n_env + 2, sizeof *env);
    uint32_t n = 0;

    if (named)
        env[n++] = arena_printf(arena, "HOSTNAME=%s", pod->hostname);
    for (size_t i = 0; i < from->n_env; i++)
        env[n++] = arena_printf(arena, "%s=%s", from->env[i].name,
                                from->env[i].value ? from->env[i].value : "");
    *out_count = n;
    return env;
}

static void fill_hook(struct arena *arena, const struct pod_container *spec, enum handler_use use,
                      struct shim_action *out)
{
    static const enum shim_act acts[] = {[HANDLER_EXEC] = ACT_EXEC,
                                         [HANDLER_HTTP] = ACT_HTTP,
                                         [HANDLER_TCP] = ACT_NONE,
                                         [HANDLER_GRPC] = ACT_NONE,
                                         [HANDLER_SLEEP] = ACT_SLEEP};
    struct handler handler;

    if (!handler_read(spec, handler_doc(spec, use), arena, &handler, NULL))
        return; /* the kubelet refuses such pods */
    *out = (struct shim_action){
        .act = acts[handler.kind],
        .argv = (char **)handler.argv, /* the message only reads it */
        .n_argv = (uint32_t)handler.n_argv,
        .path = handler.http.path ? handler.http.path : "/",
        .port = (uint32_t)handler.port,
        .sleep_ms = handler.sleep_s * MS_PER_S,
    };
}

/* At level full, and in every confined pod, programs are filtered unless the pod asks not to be; of
 * a confined pod the kubelet refuses that. At other levels a pod may ask for it. */
static bool is_filtered(const struct runtime_pod *pod, const struct pod_container *spec,
                        struct runtime_isolation isolation)
{
    enum seccomp_profile profile = pod_seccomp_profile(pod->spec, spec);

    if (profile == SECCOMP_UNSET)
        return pod->confined || isolation.level == ISOLATION_FULL;
    return profile == SECCOMP_RUNTIME_DEFAULT;
}

static void fill_container(struct arena *arena, const struct runtime_pod *pod,
                           const struct runtime_container *from, bool init,
                           struct runtime_isolation isolation, struct shim_container *out)
{
    const struct pod_container *spec = from->spec;

    out->name = spec->name;
    out->sidecar = init && spec->restart_policy && strcmp(spec->restart_policy, "Always") == 0;
    out->has_startup_probe = out->sidecar && spec->startup;
    out->filtered = is_filtered(pod, spec, isolation);
    out->argv = (char **)from->argv; /* the message only reads it */
    out->n_argv = (uint32_t)from->n_argv;
    out->env = env_of(arena, pod, from, &out->n_env);
    out->cwd = spec->working_dir && *spec->working_dir ? spec->working_dir : NULL;
    out->termination_path = spec->termination_message_path;
    out->log_message = spec->termination_message_policy &&
                       strcmp(spec->termination_message_policy, "FallbackToLogsOnError") == 0;
    out->mounts = arena_array(arena, spec->mounts.count, sizeof *out->mounts);
    out->n_mounts = (uint32_t)spec->mounts.count;
    for (uint32_t i = 0; i < out->n_mounts; i++)
        out->mounts[i] = (struct shim_mount){
            .volume = volume_index(pod, spec->mounts.items[i].name),
            .path = spec->mounts.items[i].mount_path,
            .sub_path = from->sub_paths ? from->sub_paths[i] : spec->mounts.items[i].sub_path,
            .read_only = spec->mounts.items[i].read_only,
        };
    out->limits = limits_of(&spec->limits, &pod->spec->limits);
    if (spec->lifecycle) {
        fill_hook(arena, spec, POST_START_HOOK, &out->post_start);
        fill_hook(arena, spec, PRE_STOP_HOOK, &out->pre_stop);
    }
}

static void fill_volume(struct arena *arena, const struct runtime_volume *from,
                        struct shim_volume *out)
{
    static const enum shim_volume_kind kinds[] = {
        [VOLUME_EMPTY_DIR] = SHIM_EMPTY_DIR,
        [VOLUME_FILES] = SHIM_FILES_VOLUME,
        [VOLUME_HOST_PATH] = SHIM_HOST_PATH,
        [VOLUME_CLAIM] = SHIM_HOST_PATH,
    };

    *out = (struct shim_volume){
        .name = from->name,
        .kind = kinds[from->kind],
        .memory = from->memory,
        .read_only = from->read_only,
        .host_ids = from->kind == VOLUME_HOST_PATH,
        .size_bytes = from->size_bytes,
        .host_path = from->host_path,
        .host_base = from->host_base,
        .host_keep = from->host_keep,
        .host_type = from->host_type,
        .host_private = from->kind == VOLUME_CLAIM,
        .files = arena_array(arena, from->n_files, sizeof *out->files),
        .n_files = (uint32_t)from->n_files,
    };
    for (size_t i = 0; i < from->n_files; i++)
        out->files[i] = (struct shim_file){from->files[i].path, from->files[i].bytes,
                                           from->files[i].len, (uint32_t)from->files[i].mode};
}

void runtime_put_files(struct buf *out, const char *uid, size_t index,
                       const struct runtime_volume *volume)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct shim_files files = {.uid = uid, .index = (uint32_t)index};

    fill_volume(arena, volume, &files.volume);
    shim_put_files(out, &files);
}

void runtime_put_program(struct buf *out, const struct runtime_pod *pod, uint32_t index,
                         const struct runtime_container *container)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct shim_program program = {
        .uid = pod->uid,
        .container = index,
        .argv = (char **)container->argv, /* the message only reads it */
        .n_argv = (uint32_t)container->n_argv,
    };

    program.env = env_of(arena, pod, container, &program.n_env);
    shim_put_program(out, &program);
}

/* Adds the ports of a container: those it declares and those of its probes and hooks. */
static void add_ports(struct arena *arena, const struct pod_container *spec, struct shim_pod *out)
{
    struct handler handler;

    for (size_t p = 0; p < spec->ports.count; p++)
        out->ports[out->n_ports++] = (uint32_t)spec->ports.items[p].port;
    for (enum handler_use use = 0; use < HANDLER_USE_N && container_has_handlers(spec); use++)
        if (handler_read(spec, handler_doc(spec, use), arena, &handler, NULL) && handler.port)
            out->ports[out->n_ports++] = (uint32_t)handler.port;
}

static void fill_ports(struct arena *arena, const struct runtime_pod *pod, struct shim_pod *out)
{
    size_t count = pod->n_ports;

    for (size_t i = 0; i < pod->n_init; i++)
        count += pod->init[i].spec->ports.count + HANDLER_USE_N;
    for (size_t i = 0; i < pod->n_containers; i++)
        count += pod->containers[i].spec->ports.count + HANDLER_USE_N;
    out->ports = arena_array(arena, count, sizeof *out->ports);
    for (size_t i = 0; i < pod->n_init; i++)
        add_ports(arena, pod->init[i].spec, out);
    for (size_t i = 0; i < pod->n_containers; i++)
        add_ports(arena, pod->containers[i].spec, out);
    for (size_t i = 0; i < pod->n_ports; i++)
        out->ports[out->n_ports++] = pod->ports[i];
}

/* Adds a host key for sshd, because pods without the real root cannot read the machine's. Without a
 * key (libcrypto failed) sshd reports the error itself. */
static void add_host_key(struct shim_pod *out, struct buf *private, struct buf *public)
{
    if (!hostkey_make(private, public, NULL))
        return;
    out->host_key = private->data;
    out->host_public = public->data;
}

void runtime_put_start(struct buf *out, const struct runtime_pod *pod, enum shim_pod_kind kind,
                       struct runtime_isolation isolation, int64_t now_ms)
{
    scoped(buf) struct buf private = {0}, public = {0};
    struct arena *arena = arena_new(0);
    const struct pod_spec *spec = pod->spec;
    struct shim_pod start = {
        .uid = pod->uid,
        .kind = kind,
        .restart = restart_of(spec->restart_policy),
        .start_ms = now_ms,
        .deadline_ms = spec->active_deadline_s.set ? spec->active_deadline_s.value * MS_PER_S : 0,
        .grace_ms = (spec->grace_s.set ? spec->grace_s.value : GRACE_DEFAULT_S) * MS_PER_S,
        .n_init = (uint32_t)pod->n_init,
        .n_main = (uint32_t)pod->n_containers,
        .hostname = pod->hostname,
        .ip = pod->pod_ip && *pod->pod_ip ? pod->pod_ip : NULL,
        .hosts = pod->hosts,
        .ids = isolation.ids,
        .confined = pod->confined,
        .n_volumes = (uint32_t)pod->n_volumes,
        .limits = limits_of(&spec->limits, &spec->limits),
    };

    start.limits.cpu_request_milli = pod_spec_requests(spec).cpu_milli;
    start.containers =
        arena_array(arena, pod->n_init + pod->n_containers, sizeof *start.containers);
    for (size_t i = 0; i < pod->n_init; i++)
        fill_container(arena, pod, &pod->init[i], true, isolation, &start.containers[i]);
    for (size_t i = 0; i < pod->n_containers; i++)
        fill_container(arena, pod, &pod->containers[i], false, isolation,
                       &start.containers[pod->n_init + i]);
    start.volumes = arena_array(arena, pod->n_volumes, sizeof *start.volumes);
    for (size_t i = 0; i < pod->n_volumes; i++)
        fill_volume(arena, &pod->volumes[i], &start.volumes[i]);
    if (kind == SHIM_POD_SANDBOXED)
        fill_ports(arena, pod, &start);
    if (kind == SHIM_POD_SANDBOXED && isolation.level >= ISOLATION_USER &&
        pod_sandbox_serves_ssh(&start))
        add_host_key(&start, &private, &public);
    shim_put_start(out, &start);
    if (private.data)
        explicit_bzero(private.data, private.len);
    arena_free(arena);
}
