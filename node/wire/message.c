/*
 * Messages: each put has its get below it, field by field in the same order.
 */
#include "node/wire/message.h"

#include <string.h>

enum { UID_MAX = 63 };
static const size_t text_bytes = 4; /* the least a text takes */
static const size_t container_bytes = 32, status_bytes = 24;

bool shim_uid_ok(const char *uid)
{
    size_t len = strspn(uid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

    return len > 0 && len <= UID_MAX && !uid[len];
}

void shim_put_list(struct buf *out, char *const *items, uint32_t count)
{
    frame_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        frame_put_text(out, items[i]);
}

char **shim_get_list(struct frame_reader *r, struct arena *arena, uint32_t *out_count)
{
    uint32_t count = frame_get_count(r, text_bytes);
    char **items = arena_array(arena, (size_t)count + 1, sizeof *items);

    for (uint32_t i = 0; i < count; i++)
        items[i] = (char *)frame_get_required_text(r); /* exec wants them so; nobody writes */
    *out_count = count;
    return items;
}

void shim_put_hello(struct buf *out, const struct shim_hello *hello)
{
    size_t begun = frame_begin(out, SHIM_HELLO);

    frame_put_u32(out, hello->version);
    frame_put_i64(out, hello->pid);
    frame_end(out, begun);
}

bool shim_get_hello(struct frame_reader *r, struct shim_hello *out)
{
    out->version = frame_get_u32(r);
    out->pid = frame_get_i64(r);
    return !r->bad;
}

void shim_put_config(struct buf *out, const struct shim_config *config)
{
    size_t begun = frame_begin(out, SHIM_CONFIG);

    frame_put_text(out, config->cwd);
    shim_put_list(out, config->env, config->n_env);
    frame_put_i64(out, config->backoff_ms);
    frame_put_i64(out, config->log_max_bytes);
    frame_put_u32(out, config->level);
    frame_put_u8(out, config->hosts_as_addresses);
    frame_put_u8(out, config->private_tmp);
    frame_put_u32(out, config->sockaddr_method);
    frame_put_u8(out, config->private_network);
    frame_end(out, begun);
}

bool shim_get_config(struct frame_reader *r, struct arena *arena, struct shim_config *out)
{
    out->cwd = frame_get_required_text(r);
    out->env = shim_get_list(r, arena, &out->n_env);
    out->backoff_ms = frame_get_i64(r);
    out->log_max_bytes = frame_get_i64(r);
    out->level = frame_get_u32(r);
    out->hosts_as_addresses = frame_get_u8(r);
    out->private_tmp = frame_get_u8(r);
    out->sockaddr_method = frame_get_u32(r);
    out->private_network = frame_get_u8(r);
    return !r->bad;
}

static void put_container(struct buf *out, const struct shim_container *c)
{
    frame_put_text(out, c->name);
    frame_put_u8(out, (uint8_t)(c->sidecar | c->awaited << 1));
    shim_put_list(out, c->argv, c->n_argv);
    shim_put_list(out, c->env, c->n_env);
    frame_put_text(out, c->cwd);
    frame_put_text(out, c->termination_path);
    frame_put_u8(out, c->log_message);
    frame_put_u32(out, c->n_mounts);
    for (uint32_t i = 0; i < c->n_mounts; i++) {
        frame_put_u32(out, c->mounts[i].volume);
        frame_put_text(out, c->mounts[i].path);
        frame_put_text(out, c->mounts[i].sub_path);
        frame_put_u8(out, c->mounts[i].read_only);
    }
    frame_put_i64(out, c->limits.memory_bytes);
    frame_put_i64(out, c->limits.cpu_milli);
    shim_put_action(out, &c->post_start);
    shim_put_action(out, &c->pre_stop);
}

static void get_container(struct frame_reader *r, struct arena *arena, struct shim_container *c)
{
    uint8_t flags;

    c->name = frame_get_required_text(r);
    flags = frame_get_u8(r);
    c->sidecar = flags & 1;
    c->awaited = flags & 2;
    c->argv = shim_get_list(r, arena, &c->n_argv);
    c->env = shim_get_list(r, arena, &c->n_env);
    c->cwd = frame_get_text(r);
    c->termination_path = frame_get_text(r);
    c->log_message = frame_get_u8(r);
    c->n_mounts = frame_get_count(r, 2 * text_bytes);
    c->mounts = arena_array(arena, c->n_mounts, sizeof *c->mounts);
    for (uint32_t i = 0; i < c->n_mounts; i++) {
        c->mounts[i].volume = frame_get_u32(r);
        c->mounts[i].path = frame_get_required_text(r);
        c->mounts[i].sub_path = frame_get_text(r);
        c->mounts[i].read_only = frame_get_u8(r);
    }
    c->limits.memory_bytes = frame_get_i64(r);
    c->limits.cpu_milli = frame_get_i64(r);
    shim_get_action(r, arena, &c->post_start);
    shim_get_action(r, arena, &c->pre_stop);
    if (!c->n_argv)
        r->bad = true;
}

static void put_volume(struct buf *out, const struct shim_volume *v)
{
    frame_put_text(out, v->name);
    frame_put_u8(out, (uint8_t)v->kind);
    frame_put_u8(out, v->memory);
    frame_put_u8(out, v->read_only);
    frame_put_u8(out, v->foreign);
    frame_put_i64(out, v->size_bytes);
    frame_put_text(out, v->host_path);
    frame_put_text(out, v->host_base);
    frame_put_text(out, v->host_keep);
    frame_put_text(out, v->host_type);
    frame_put_u8(out, v->host_private);
    frame_put_u32(out, v->n_files);
    for (uint32_t i = 0; i < v->n_files; i++) {
        frame_put_text(out, v->files[i].path);
        frame_put_bytes(out, v->files[i].bytes, v->files[i].len);
        frame_put_u32(out, v->files[i].mode);
    }
}

static void get_volume(struct frame_reader *r, struct arena *arena, struct shim_volume *v)
{
    uint8_t kind;

    v->name = frame_get_required_text(r);
    kind = frame_get_u8(r);
    v->kind = (enum shim_volume_kind)kind;
    v->memory = frame_get_u8(r);
    v->read_only = frame_get_u8(r);
    v->foreign = frame_get_u8(r);
    v->size_bytes = frame_get_i64(r);
    v->host_path = frame_get_text(r);
    v->host_base = frame_get_text(r);
    v->host_keep = frame_get_text(r);
    v->host_type = frame_get_text(r);
    v->host_private = frame_get_u8(r);
    v->n_files = frame_get_count(r, 2 * text_bytes);
    v->files = arena_array(arena, v->n_files, sizeof *v->files);
    for (uint32_t i = 0; i < v->n_files; i++) {
        v->files[i].path = frame_get_required_text(r);
        v->files[i].bytes = frame_get_bytes(r, &v->files[i].len);
        v->files[i].mode = frame_get_u32(r);
    }
    if (kind >= SHIM_VOLUME_KIND_N || (kind == SHIM_HOST_PATH && !v->host_path))
        r->bad = true;
}

void shim_put_files(struct buf *out, const struct shim_files *files)
{
    size_t begun = frame_begin(out, SHIM_FILES);

    frame_put_text(out, files->uid);
    frame_put_u32(out, files->index);
    put_volume(out, &files->volume);
    frame_end(out, begun);
}

bool shim_get_files(struct frame_reader *r, struct arena *arena, struct shim_files *out)
{
    out->uid = frame_get_required_text(r);
    out->index = frame_get_u32(r);
    get_volume(r, arena, &out->volume);
    return !r->bad && out->volume.kind == SHIM_FILES_VOLUME && shim_uid_ok(out->uid);
}

void shim_put_start(struct buf *out, const struct shim_pod *pod)
{
    size_t begun = frame_begin(out, SHIM_START);

    frame_put_text(out, pod->uid);
    frame_put_u8(out, (uint8_t)pod->kind);
    frame_put_u8(out, (uint8_t)pod->restart);
    frame_put_i64(out, pod->start_ms);
    frame_put_i64(out, pod->deadline_ms);
    frame_put_i64(out, pod->grace_ms);
    frame_put_u32(out, pod->n_init);
    frame_put_u32(out, pod->n_main);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        put_container(out, &pod->containers[i]);
    if (pod->kind == SHIM_POD_SANDBOXED) {
        frame_put_text(out, pod->hostname);
        frame_put_text(out, pod->ip);
        frame_put_text(out, pod->hosts);
        frame_put_u32(out, pod->n_ports);
        for (uint32_t i = 0; i < pod->n_ports; i++)
            frame_put_u32(out, pod->ports[i]);
        frame_put_u32(out, pod->ids);
        frame_put_text(out, pod->host_key);
        frame_put_text(out, pod->host_public);
        frame_put_u32(out, pod->n_volumes);
        for (uint32_t i = 0; i < pod->n_volumes; i++)
            put_volume(out, &pod->volumes[i]);
    }
    frame_end(out, begun);
}

static void get_box(struct frame_reader *r, struct arena *arena, struct shim_pod *pod)
{
    pod->hostname = frame_get_text(r);
    pod->ip = frame_get_text(r);
    pod->hosts = frame_get_text(r);
    pod->n_ports = frame_get_count(r, sizeof(uint32_t));
    pod->ports = arena_array(arena, pod->n_ports, sizeof *pod->ports);
    for (uint32_t i = 0; i < pod->n_ports; i++)
        pod->ports[i] = frame_get_u32(r);
    pod->ids = frame_get_u32(r);
    pod->host_key = frame_get_text(r);
    pod->host_public = frame_get_text(r);
    pod->n_volumes = frame_get_count(r, 4 * text_bytes);
    pod->volumes = arena_array(arena, pod->n_volumes, sizeof *pod->volumes);
    for (uint32_t i = 0; i < pod->n_volumes; i++)
        get_volume(r, arena, &pod->volumes[i]);
}

bool shim_get_start(struct frame_reader *r, struct arena *arena, struct shim_pod *pod)
{
    uint8_t kind, restart;

    *pod = (struct shim_pod){0};
    pod->uid = frame_get_required_text(r);
    kind = frame_get_u8(r);
    restart = frame_get_u8(r);
    pod->kind = (enum shim_pod_kind)kind;
    pod->restart = (enum shim_restart)restart;
    pod->start_ms = frame_get_i64(r);
    pod->deadline_ms = frame_get_i64(r);
    pod->grace_ms = frame_get_i64(r);
    pod->n_init = frame_get_u32(r);
    pod->n_main = frame_get_u32(r);
    if (r->bad || kind >= SHIM_POD_KIND_N || restart >= SHIM_RESTART_N || !shim_uid_ok(pod->uid) ||
        pod->n_init > SHIM_CONTAINERS_MAX || !pod->n_main || pod->n_main > SHIM_CONTAINERS_MAX ||
        pod->n_init + pod->n_main > SHIM_CONTAINERS_MAX ||
        (size_t)(r->end - r->at) / container_bytes < pod->n_init + pod->n_main)
        return false;

    pod->containers = arena_array(arena, pod->n_init + pod->n_main, sizeof *pod->containers);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        get_container(r, arena, &pod->containers[i]);
    if (kind == SHIM_POD_SANDBOXED)
        get_box(r, arena, pod);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        for (uint32_t m = 0; m < pod->containers[i].n_mounts; m++)
            if (pod->containers[i].mounts[m].volume >= pod->n_volumes)
                return false;
    return !r->bad;
}

void shim_put_command(struct buf *out, enum shim_message type, const struct shim_command *order)
{
    size_t begun = frame_begin(out, (uint8_t)type);

    frame_put_text(out, order->uid);
    if (type == SHIM_STOP || type == SHIM_KILL)
        frame_put_i64(out, order->grace_ms);
    if (type == SHIM_HOSTS)
        frame_put_text(out, order->hosts);
    if (type == SHIM_KILL || type == SHIM_PASSED)
        frame_put_u32(out, order->container);
    if (type == SHIM_KILL)
        frame_put_text(out, order->why);
    if (type == SHIM_DEADLINE)
        frame_put_i64(out, order->deadline_ms);
    frame_end(out, begun);
}

bool shim_get_command(struct frame_reader *r, enum shim_message type, struct shim_command *out)
{
    *out = (struct shim_command){.uid = frame_get_required_text(r)};
    if (type == SHIM_STOP || type == SHIM_KILL)
        out->grace_ms = frame_get_i64(r);
    if (type == SHIM_HOSTS)
        out->hosts = frame_get_required_text(r);
    if (type == SHIM_KILL || type == SHIM_PASSED)
        out->container = frame_get_u32(r);
    if (type == SHIM_KILL)
        out->why = frame_get_text(r);
    if (type == SHIM_DEADLINE)
        out->deadline_ms = frame_get_i64(r);
    return !r->bad && shim_uid_ok(out->uid);
}

void shim_put_plain(struct buf *out, enum shim_message type)
{
    frame_end(out, frame_begin(out, (uint8_t)type));
}

static void put_container_status(struct buf *out, const struct container_status *c)
{
    frame_put_text(out, c->name);
    frame_put_u8(out, (uint8_t)c->state);
    frame_put_text(out, c->reason);
    frame_put_text(out, c->message);
    frame_put_u32(out, (uint32_t)c->exit_code);
    frame_put_u32(out, (uint32_t)c->signal);
    frame_put_i64(out, c->started_ms);
    frame_put_i64(out, c->finished_ms);
    frame_put_i64(out, c->cpu_ms);
    frame_put_i64(out, c->memory_peak_bytes);
    frame_put_u32(out, (uint32_t)c->restart_count);
    frame_put_u8(out, (uint8_t)(c->ready | c->has_last << 1));
    if (c->has_last) {
        frame_put_u32(out, (uint32_t)c->last_exit_code);
        frame_put_u32(out, (uint32_t)c->last_signal);
        frame_put_text(out, c->last_reason);
    }
}

static void get_container_status(struct frame_reader *r, struct container_status *c)
{
    uint8_t state, flags;

    c->name = frame_get_required_text(r);
    state = frame_get_u8(r);
    c->state = (enum container_state)state;
    c->reason = frame_get_text(r);
    c->message = frame_get_text(r);
    c->exit_code = (int32_t)frame_get_u32(r);
    c->signal = (int32_t)frame_get_u32(r);
    c->started_ms = frame_get_i64(r);
    c->finished_ms = frame_get_i64(r);
    c->cpu_ms = frame_get_i64(r);
    c->memory_peak_bytes = frame_get_i64(r);
    c->restart_count = (int32_t)frame_get_u32(r);
    flags = frame_get_u8(r);
    c->ready = flags & 1;
    c->has_last = flags & 2;
    if (c->has_last) {
        c->last_exit_code = (int32_t)frame_get_u32(r);
        c->last_signal = (int32_t)frame_get_u32(r);
        c->last_reason = frame_get_text(r);
    }
    if (state >= CONTAINER_STATE_N)
        r->bad = true;
}

void shim_put_status(struct buf *out, const struct shim_status *s)
{
    const struct pod_status *status = &s->status;
    size_t begun = frame_begin(out, SHIM_STATUS);

    frame_put_text(out, s->uid);
    frame_put_u8(out, (uint8_t)((s->final ? SHIM_STATUS_FINAL : 0) | status->initialized << 1 |
                                status->ready << 2));
    frame_put_u8(out, (uint8_t)status->phase);
    frame_put_text(out, status->reason);
    frame_put_text(out, status->message);
    frame_put_i64(out, status->start_ms);
    frame_put_i64(out, status->ready_ms);
    frame_put_u32(out, (uint32_t)status->init_containers.count);
    frame_put_u32(out, (uint32_t)status->containers.count);
    for (size_t i = 0; i < status->init_containers.count; i++)
        put_container_status(out, &status->init_containers.items[i]);
    for (size_t i = 0; i < status->containers.count; i++)
        put_container_status(out, &status->containers.items[i]);
    frame_end(out, begun);
}

bool shim_get_status(struct frame_reader *r, struct arena *arena, struct shim_status *s)
{
    struct pod_status *status = &s->status;
    uint8_t flags, phase;
    uint32_t n_init, n_main;

    *s = (struct shim_status){.uid = frame_get_required_text(r)};
    flags = frame_get_u8(r);
    s->final = flags & SHIM_STATUS_FINAL;
    status->initialized = flags & 2;
    status->ready = flags & 4;
    phase = frame_get_u8(r);
    status->phase = (enum pod_phase)phase;
    status->reason = frame_get_text(r);
    status->message = frame_get_text(r);
    status->start_ms = frame_get_i64(r);
    status->ready_ms = frame_get_i64(r);
    n_init = frame_get_u32(r);
    n_main = frame_get_u32(r);
    if (r->bad || phase >= POD_PHASE_N || !shim_uid_ok(s->uid) || n_init > SHIM_CONTAINERS_MAX ||
        n_main > SHIM_CONTAINERS_MAX || (size_t)(r->end - r->at) / status_bytes < n_init + n_main)
        return false;

    struct container_status *items = arena_array(arena, n_init + n_main, sizeof *items);

    for (uint32_t i = 0; i < n_init + n_main; i++)
        get_container_status(r, &items[i]);
    status->init_containers.items = items;
    status->init_containers.count = n_init;
    status->containers.items = items + n_init;
    status->containers.count = n_main;
    return !r->bad;
}
