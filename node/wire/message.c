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
    wire_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        wire_put_text(out, items[i]);
}

char **shim_get_list(struct wire_reader *r, struct arena *arena, uint32_t *out_count)
{
    uint32_t count = wire_count(r, text_bytes);
    char **items = arena_array(arena, (size_t)count + 1, sizeof *items);

    for (uint32_t i = 0; i < count; i++)
        items[i] = (char *)wire_must_text(r); /* exec wants them so; nobody writes */
    *out_count = count;
    return items;
}

void shim_put_hello(struct buf *out, const struct shim_hello *hello)
{
    size_t begun = wire_begin(out, SHIM_HELLO);

    wire_put_u32(out, hello->version);
    wire_put_i64(out, hello->pid);
    wire_end(out, begun);
}

bool shim_get_hello(struct wire_reader *r, struct shim_hello *out)
{
    out->version = wire_u32(r);
    out->pid = wire_i64(r);
    return !r->bad;
}

void shim_put_config(struct buf *out, const struct shim_config *config)
{
    size_t begun = wire_begin(out, SHIM_CONFIG);

    wire_put_text(out, config->cwd);
    shim_put_list(out, config->env, config->n_env);
    wire_put_i64(out, config->backoff_ms);
    wire_put_i64(out, config->log_max_bytes);
    wire_put_u32(out, config->level);
    wire_put_u8(out, config->tell_addresses);
    wire_put_u8(out, config->private_tmp);
    wire_put_u32(out, config->rewrite);
    wire_put_u8(out, config->private_network);
    wire_end(out, begun);
}

bool shim_get_config(struct wire_reader *r, struct arena *arena, struct shim_config *out)
{
    out->cwd = wire_must_text(r);
    out->env = shim_get_list(r, arena, &out->n_env);
    out->backoff_ms = wire_i64(r);
    out->log_max_bytes = wire_i64(r);
    out->level = wire_u32(r);
    out->tell_addresses = wire_u8(r);
    out->private_tmp = wire_u8(r);
    out->rewrite = wire_u32(r);
    out->private_network = wire_u8(r);
    return !r->bad;
}

static void put_container(struct buf *out, const struct shim_container *c)
{
    wire_put_text(out, c->name);
    wire_put_u8(out, (uint8_t)(c->sidecar | c->awaited << 1));
    shim_put_list(out, c->argv, c->n_argv);
    shim_put_list(out, c->env, c->n_env);
    wire_put_text(out, c->cwd);
    wire_put_text(out, c->termination_path);
    wire_put_u8(out, c->log_message);
    wire_put_u32(out, c->n_mounts);
    for (uint32_t i = 0; i < c->n_mounts; i++) {
        wire_put_u32(out, c->mounts[i].volume);
        wire_put_text(out, c->mounts[i].path);
        wire_put_text(out, c->mounts[i].sub_path);
        wire_put_u8(out, c->mounts[i].read_only);
    }
    wire_put_i64(out, c->limits.memory_bytes);
    wire_put_i64(out, c->limits.cpu_milli);
    shim_put_action(out, &c->post_start);
    shim_put_action(out, &c->pre_stop);
}

static void get_container(struct wire_reader *r, struct arena *arena, struct shim_container *c)
{
    uint8_t flags;

    c->name = wire_must_text(r);
    flags = wire_u8(r);
    c->sidecar = flags & 1;
    c->awaited = flags & 2;
    c->argv = shim_get_list(r, arena, &c->n_argv);
    c->env = shim_get_list(r, arena, &c->n_env);
    c->cwd = wire_text(r);
    c->termination_path = wire_text(r);
    c->log_message = wire_u8(r);
    c->n_mounts = wire_count(r, 2 * text_bytes);
    c->mounts = arena_array(arena, c->n_mounts, sizeof *c->mounts);
    for (uint32_t i = 0; i < c->n_mounts; i++) {
        c->mounts[i].volume = wire_u32(r);
        c->mounts[i].path = wire_must_text(r);
        c->mounts[i].sub_path = wire_text(r);
        c->mounts[i].read_only = wire_u8(r);
    }
    c->limits.memory_bytes = wire_i64(r);
    c->limits.cpu_milli = wire_i64(r);
    shim_get_action(r, arena, &c->post_start);
    shim_get_action(r, arena, &c->pre_stop);
    if (!c->n_argv)
        r->bad = true;
}

static void put_volume(struct buf *out, const struct shim_volume *v)
{
    wire_put_text(out, v->name);
    wire_put_u8(out, (uint8_t)v->kind);
    wire_put_u8(out, v->memory);
    wire_put_u8(out, v->read_only);
    wire_put_u8(out, v->foreign);
    wire_put_i64(out, v->size_bytes);
    wire_put_text(out, v->host_path);
    wire_put_text(out, v->host_base);
    wire_put_text(out, v->host_keep);
    wire_put_text(out, v->host_type);
    wire_put_u8(out, v->host_private);
    wire_put_u32(out, v->n_files);
    for (uint32_t i = 0; i < v->n_files; i++) {
        wire_put_text(out, v->files[i].path);
        wire_put_bytes(out, v->files[i].bytes, v->files[i].len);
        wire_put_u32(out, v->files[i].mode);
    }
}

static void get_volume(struct wire_reader *r, struct arena *arena, struct shim_volume *v)
{
    uint8_t kind;

    v->name = wire_must_text(r);
    kind = wire_u8(r);
    v->kind = (enum shim_volume_kind)kind;
    v->memory = wire_u8(r);
    v->read_only = wire_u8(r);
    v->foreign = wire_u8(r);
    v->size_bytes = wire_i64(r);
    v->host_path = wire_text(r);
    v->host_base = wire_text(r);
    v->host_keep = wire_text(r);
    v->host_type = wire_text(r);
    v->host_private = wire_u8(r);
    v->n_files = wire_count(r, 2 * text_bytes);
    v->files = arena_array(arena, v->n_files, sizeof *v->files);
    for (uint32_t i = 0; i < v->n_files; i++) {
        v->files[i].path = wire_must_text(r);
        v->files[i].bytes = wire_bytes(r, &v->files[i].len);
        v->files[i].mode = wire_u32(r);
    }
    if (kind >= SHIM_VOLUME_KIND_N || (kind == SHIM_HOST_PATH && !v->host_path))
        r->bad = true;
}

void shim_put_files(struct buf *out, const struct shim_files *files)
{
    size_t begun = wire_begin(out, SHIM_FILES);

    wire_put_text(out, files->uid);
    wire_put_u32(out, files->index);
    put_volume(out, &files->volume);
    wire_end(out, begun);
}

bool shim_get_files(struct wire_reader *r, struct arena *arena, struct shim_files *out)
{
    out->uid = wire_must_text(r);
    out->index = wire_u32(r);
    get_volume(r, arena, &out->volume);
    return !r->bad && out->volume.kind == SHIM_FILES_VOLUME && shim_uid_ok(out->uid);
}

void shim_put_start(struct buf *out, const struct shim_pod *pod)
{
    size_t begun = wire_begin(out, SHIM_START);

    wire_put_text(out, pod->uid);
    wire_put_u8(out, (uint8_t)pod->way);
    wire_put_u8(out, (uint8_t)pod->restart);
    wire_put_i64(out, pod->start_ms);
    wire_put_i64(out, pod->deadline_ms);
    wire_put_i64(out, pod->grace_ms);
    wire_put_u32(out, pod->n_init);
    wire_put_u32(out, pod->n_main);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        put_container(out, &pod->containers[i]);
    if (pod->way == WAY_BOXED) {
        wire_put_text(out, pod->hostname);
        wire_put_text(out, pod->ip);
        wire_put_text(out, pod->hosts);
        wire_put_u32(out, pod->n_ports);
        for (uint32_t i = 0; i < pod->n_ports; i++)
            wire_put_u32(out, pod->ports[i]);
        wire_put_u32(out, pod->ids);
        wire_put_text(out, pod->host_key);
        wire_put_text(out, pod->host_public);
        wire_put_u32(out, pod->n_volumes);
        for (uint32_t i = 0; i < pod->n_volumes; i++)
            put_volume(out, &pod->volumes[i]);
    }
    wire_end(out, begun);
}

static void get_box(struct wire_reader *r, struct arena *arena, struct shim_pod *pod)
{
    pod->hostname = wire_text(r);
    pod->ip = wire_text(r);
    pod->hosts = wire_text(r);
    pod->n_ports = wire_count(r, sizeof(uint32_t));
    pod->ports = arena_array(arena, pod->n_ports, sizeof *pod->ports);
    for (uint32_t i = 0; i < pod->n_ports; i++)
        pod->ports[i] = wire_u32(r);
    pod->ids = wire_u32(r);
    pod->host_key = wire_text(r);
    pod->host_public = wire_text(r);
    pod->n_volumes = wire_count(r, 4 * text_bytes);
    pod->volumes = arena_array(arena, pod->n_volumes, sizeof *pod->volumes);
    for (uint32_t i = 0; i < pod->n_volumes; i++)
        get_volume(r, arena, &pod->volumes[i]);
}

bool shim_get_start(struct wire_reader *r, struct arena *arena, struct shim_pod *pod)
{
    uint8_t way, restart;

    *pod = (struct shim_pod){0};
    pod->uid = wire_must_text(r);
    way = wire_u8(r);
    restart = wire_u8(r);
    pod->way = (enum shim_way)way;
    pod->restart = (enum shim_restart)restart;
    pod->start_ms = wire_i64(r);
    pod->deadline_ms = wire_i64(r);
    pod->grace_ms = wire_i64(r);
    pod->n_init = wire_u32(r);
    pod->n_main = wire_u32(r);
    if (r->bad || way >= SHIM_WAY_N || restart >= SHIM_RESTART_N || !shim_uid_ok(pod->uid) ||
        pod->n_init > SHIM_CONTAINERS_MAX || !pod->n_main || pod->n_main > SHIM_CONTAINERS_MAX ||
        pod->n_init + pod->n_main > SHIM_CONTAINERS_MAX ||
        (size_t)(r->end - r->at) / container_bytes < pod->n_init + pod->n_main)
        return false;

    pod->containers = arena_array(arena, pod->n_init + pod->n_main, sizeof *pod->containers);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        get_container(r, arena, &pod->containers[i]);
    if (way == WAY_BOXED)
        get_box(r, arena, pod);
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        for (uint32_t m = 0; m < pod->containers[i].n_mounts; m++)
            if (pod->containers[i].mounts[m].volume >= pod->n_volumes)
                return false;
    return !r->bad;
}

void shim_put_order(struct buf *out, enum shim_message type, const struct shim_order *order)
{
    size_t begun = wire_begin(out, (uint8_t)type);

    wire_put_text(out, order->uid);
    if (type == SHIM_STOP || type == SHIM_KILL)
        wire_put_i64(out, order->grace_ms);
    if (type == SHIM_HOSTS)
        wire_put_text(out, order->hosts);
    if (type == SHIM_KILL || type == SHIM_PASSED)
        wire_put_u32(out, order->container);
    if (type == SHIM_KILL)
        wire_put_text(out, order->why);
    if (type == SHIM_DEADLINE)
        wire_put_i64(out, order->deadline_ms);
    wire_end(out, begun);
}

bool shim_get_order(struct wire_reader *r, enum shim_message type, struct shim_order *out)
{
    *out = (struct shim_order){.uid = wire_must_text(r)};
    if (type == SHIM_STOP || type == SHIM_KILL)
        out->grace_ms = wire_i64(r);
    if (type == SHIM_HOSTS)
        out->hosts = wire_must_text(r);
    if (type == SHIM_KILL || type == SHIM_PASSED)
        out->container = wire_u32(r);
    if (type == SHIM_KILL)
        out->why = wire_text(r);
    if (type == SHIM_DEADLINE)
        out->deadline_ms = wire_i64(r);
    return !r->bad && shim_uid_ok(out->uid);
}

void shim_put_plain(struct buf *out, enum shim_message type)
{
    wire_end(out, wire_begin(out, (uint8_t)type));
}

static void put_container_status(struct buf *out, const struct container_status *c)
{
    wire_put_text(out, c->name);
    wire_put_u8(out, (uint8_t)c->state);
    wire_put_text(out, c->reason);
    wire_put_text(out, c->message);
    wire_put_u32(out, (uint32_t)c->exit_code);
    wire_put_u32(out, (uint32_t)c->signal);
    wire_put_i64(out, c->started_ms);
    wire_put_i64(out, c->finished_ms);
    wire_put_i64(out, c->cpu_ms);
    wire_put_i64(out, c->memory_peak_bytes);
    wire_put_u32(out, (uint32_t)c->restart_count);
    wire_put_u8(out, (uint8_t)(c->ready | c->has_last << 1));
    if (c->has_last) {
        wire_put_u32(out, (uint32_t)c->last_exit_code);
        wire_put_u32(out, (uint32_t)c->last_signal);
        wire_put_text(out, c->last_reason);
    }
}

static void get_container_status(struct wire_reader *r, struct container_status *c)
{
    uint8_t state, flags;

    c->name = wire_must_text(r);
    state = wire_u8(r);
    c->state = (enum container_state)state;
    c->reason = wire_text(r);
    c->message = wire_text(r);
    c->exit_code = (int32_t)wire_u32(r);
    c->signal = (int32_t)wire_u32(r);
    c->started_ms = wire_i64(r);
    c->finished_ms = wire_i64(r);
    c->cpu_ms = wire_i64(r);
    c->memory_peak_bytes = wire_i64(r);
    c->restart_count = (int32_t)wire_u32(r);
    flags = wire_u8(r);
    c->ready = flags & 1;
    c->has_last = flags & 2;
    if (c->has_last) {
        c->last_exit_code = (int32_t)wire_u32(r);
        c->last_signal = (int32_t)wire_u32(r);
        c->last_reason = wire_text(r);
    }
    if (state >= CONTAINER_STATE_N)
        r->bad = true;
}

void shim_put_status(struct buf *out, const struct shim_status *s)
{
    const struct pod_status *status = &s->status;
    size_t begun = wire_begin(out, SHIM_STATUS);

    wire_put_text(out, s->uid);
    wire_put_u8(out, (uint8_t)((s->final ? SHIM_STATUS_FINAL : 0) | status->initialized << 1 |
                               status->ready << 2));
    wire_put_u8(out, (uint8_t)status->phase);
    wire_put_text(out, status->reason);
    wire_put_text(out, status->message);
    wire_put_i64(out, status->start_ms);
    wire_put_i64(out, status->ready_ms);
    wire_put_u32(out, (uint32_t)status->init_containers.count);
    wire_put_u32(out, (uint32_t)status->containers.count);
    for (size_t i = 0; i < status->init_containers.count; i++)
        put_container_status(out, &status->init_containers.items[i]);
    for (size_t i = 0; i < status->containers.count; i++)
        put_container_status(out, &status->containers.items[i]);
    wire_end(out, begun);
}

bool shim_get_status(struct wire_reader *r, struct arena *arena, struct shim_status *s)
{
    struct pod_status *status = &s->status;
    uint8_t flags, phase;
    uint32_t n_init, n_main;

    *s = (struct shim_status){.uid = wire_must_text(r)};
    flags = wire_u8(r);
    s->final = flags & SHIM_STATUS_FINAL;
    status->initialized = flags & 2;
    status->ready = flags & 4;
    phase = wire_u8(r);
    status->phase = (enum pod_phase)phase;
    status->reason = wire_text(r);
    status->message = wire_text(r);
    status->start_ms = wire_i64(r);
    status->ready_ms = wire_i64(r);
    n_init = wire_u32(r);
    n_main = wire_u32(r);
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
