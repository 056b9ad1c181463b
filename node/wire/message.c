/*
 * Writing and reading messages, from one list of fields each.
 *
 * A list has a row X(KIND, member, …) for each field, in the order of its bytes. The list is
 * expanded twice: with X = PUT it becomes the function that writes the struct `m` to `out`, with
 * X = GET the one that reads it from `r`. So the two cannot disagree on order or types. Rows:
 *
 *   TEXT REQUIRED UID        text that may be absent; that may not; that is a uid (shim_uid_ok)
 *   BYTES(member, length)    bytes with a length
 *   BOOL U32 I32 I64 U64     numbers; a bool is a byte
 *   ENUM(member, type, n)    a byte below n
 *   FLAGS2(a, b) FLAGS4(a, b, c, d)   bools in the bits of one byte, from the lowest
 *   STRINGS(member, count)   a count and as many texts; in memory NULL follows the last
 *   ARRAY(member, count, part, bytes)   a count and as many parts of at least so many bytes each
 *   ITEMS(member, n, part, bytes)       the same without the count, where earlier fields say it
 *   STRUCT(member, part)     a member that is a struct with a list of its own
 *   SECTION(part)            further fields of the same struct, in a list of their own
 *   WHEN(condition, KIND, …) a row that is there only if earlier fields say so
 *   CHECK(condition)         no bytes: the message is refused if it does not hold
 */
#include "node/wire/message.h"

#include <string.h>

/* The least number of bytes that a text, a container and a container's status take in a message.
 * They bound how many items a message can claim to hold. */
enum { UID_MAX = 63, TEXT_BYTES = 4, CONTAINER_BYTES = 32, STATUS_BYTES = 24 };

bool shim_uid_ok(const char *uid)
{
    size_t len = strspn(uid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

    return len > 0 && len <= UID_MAX && !uid[len];
}

static void put_strings(struct buf *out, char *const *items, uint32_t count)
{
    frame_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        frame_put_text(out, items[i]);
}

static char **get_strings(struct frame_reader *r, struct arena *arena, uint32_t *out_count)
{
    uint32_t count = frame_get_count(r, TEXT_BYTES);
    char **items = arena_array(arena, (size_t)count + 1, sizeof *items);

    for (uint32_t i = 0; i < count; i++)
        items[i] = (char *)frame_get_required_text(r); /* execve does not write to it */
    *out_count = count;
    return items;
}

static uint8_t get_enum(struct frame_reader *r, unsigned n)
{
    uint8_t value = frame_get_u8(r);

    if (value < n)
        return value;
    r->bad = true;
    return 0;
}

static const char *get_uid(struct frame_reader *r)
{
    const char *uid = frame_get_required_text(r);

    if (!shim_uid_ok(uid))
        r->bad = true;
    return uid;
}

/* Allocates an array of `n` items in the arena. `n` becomes 0 when the rest of the frame cannot
 * hold that many items of at least `bytes_each` bytes. */
static void *new_items(struct frame_reader *r, struct arena *arena, uint32_t *n, size_t item_size,
                       size_t bytes_each)
{
    if (!r->bad && (size_t)(r->end - r->at) / bytes_each < *n)
        r->bad = true;
    if (r->bad)
        *n = 0;
    return arena_array(arena, *n, item_size);
}

/* clang-format off */
#define PUT(kind, ...) PUT_##kind(__VA_ARGS__);
#define GET(kind, ...) GET_##kind(__VA_ARGS__);

#define PUT_TEXT(x)                   frame_put_text(out, m->x)
#define GET_TEXT(x)                   m->x = frame_get_text(r)
#define PUT_REQUIRED(x)               frame_put_text(out, m->x)
#define GET_REQUIRED(x)               m->x = frame_get_required_text(r)
#define PUT_UID(x)                    frame_put_text(out, m->x)
#define GET_UID(x)                    m->x = get_uid(r)
#define PUT_BYTES(x, length)          frame_put_bytes(out, m->x, m->length)
#define GET_BYTES(x, length)          m->x = frame_get_bytes(r, &m->length)
#define PUT_BOOL(x)                   frame_put_u8(out, m->x)
#define GET_BOOL(x)                   m->x = frame_get_u8(r)
#define PUT_U32(x)                    frame_put_u32(out, m->x)
#define GET_U32(x)                    m->x = frame_get_u32(r)
#define PUT_I32(x)                    frame_put_u32(out, (uint32_t)m->x)
#define GET_I32(x)                    m->x = (int32_t)frame_get_u32(r)
#define PUT_I64(x)                    frame_put_i64(out, m->x)
#define GET_I64(x)                    m->x = frame_get_i64(r)
#define PUT_U64(x)                    frame_put_i64(out, (int64_t)m->x)
#define GET_U64(x)                    m->x = (uint64_t)frame_get_i64(r)
#define PUT_ENUM(x, type, n)          frame_put_u8(out, (uint8_t)m->x)
#define GET_ENUM(x, type, n)          m->x = (type)get_enum(r, n)
#define PUT_FLAGS2(a, b)              frame_put_u8(out, (uint8_t)(m->a | m->b << 1))
#define GET_FLAGS2(a, b)              { uint8_t f = frame_get_u8(r); m->a = f & 1; m->b = f & 2; }
#define PUT_FLAGS4(a, b, c, d)        frame_put_u8(out, (uint8_t)(m->a | m->b << 1 | m->c << 2 | \
                                                                  m->d << 3))
#define GET_FLAGS4(a, b, c, d)        { uint8_t f = frame_get_u8(r); \
                                        m->a = f & 1; m->b = f & 2; m->c = f & 4; m->d = f & 8; }
#define PUT_STRINGS(x, count)         put_strings(out, m->x, m->count)
#define GET_STRINGS(x, count)         m->x = get_strings(r, arena, &m->count)
#define PUT_ITEMS(x, n, part, bytes)  for (uint32_t i = 0; i < (n); i++) put_##part(out, &m->x[i])
#define GET_ITEMS(x, n, part, bytes)  { uint32_t items = (n); \
                                        m->x = new_items(r, arena, &items, sizeof *m->x, bytes); \
                                        for (uint32_t i = 0; i < items; i++) \
                                            get_##part(r, arena, &m->x[i]); }
#define PUT_ARRAY(x, count, part, bytes) { frame_put_u32(out, m->count); \
                                        PUT_ITEMS(x, m->count, part, bytes); }
#define GET_ARRAY(x, count, part, bytes) { m->count = frame_get_count(r, bytes); \
                                        GET_ITEMS(x, m->count, part, bytes) }
#define PUT_STRUCT(x, part)           put_##part(out, &m->x)
#define GET_STRUCT(x, part)           get_##part(r, arena, &m->x)
#define PUT_SECTION(part)             put_##part(out, m)
#define GET_SECTION(part)             get_##part(r, arena, m)
#define PUT_WHEN(condition, kind, ...) if (condition) PUT_##kind(__VA_ARGS__)
#define GET_WHEN(condition, kind, ...) if (condition) GET_##kind(__VA_ARGS__)
#define PUT_CHECK(condition)
#define GET_CHECK(condition)          if (!r->bad && !(condition)) r->bad = true

/* Defines put_NAME and get_NAME, which write and read the fields of one struct inside a frame. */
#define PART(name, type, FIELDS)                                                                  \
    static void put_##name(struct buf *out, const type *m) { FIELDS(PUT) }                        \
    static void get_##name(struct frame_reader *r, struct arena *arena, type *m) { FIELDS(GET) }

/* Defines shim_put_NAME and shim_get_NAME, which write and read a whole frame. */
#define MESSAGE_PUT(name, TYPE, type)                                                             \
    void shim_put_##name(struct buf *out, const type *m)                                          \
    {                                                                                             \
        size_t begun = frame_begin(out, TYPE);                                                    \
                                                                                                  \
        put_##name(out, m);                                                                       \
        frame_end(out, begun);                                                                    \
    }
#define MESSAGE(name, TYPE, type, FIELDS)                                                         \
    PART(name, type, FIELDS)                                                                      \
    MESSAGE_PUT(name, TYPE, type)                                                                 \
    bool shim_get_##name(struct frame_reader *r, struct arena *arena, type *m)                    \
    {                                                                                             \
        *m = (type){0};                                                                           \
        get_##name(r, arena, m);                                                                  \
        return !r->bad;                                                                           \
    }
#define MESSAGE_WITHOUT_ARRAYS(name, TYPE, type, FIELDS)                                          \
    PART(name, type, FIELDS)                                                                      \
    MESSAGE_PUT(name, TYPE, type)                                                                 \
    bool shim_get_##name(struct frame_reader *r, type *m)                                         \
    {                                                                                             \
        *m = (type){0};                                                                           \
        get_##name(r, NULL, m);                                                                   \
        return !r->bad;                                                                           \
    }

#define HELLO_FIELDS(X) \
    X(U32, version)     \
    X(I64, pid)
MESSAGE_WITHOUT_ARRAYS(hello, SHIM_HELLO, struct shim_hello, HELLO_FIELDS)

#define CONFIG_FIELDS(X)        \
    X(REQUIRED, cwd)            \
    X(STRINGS, env, n_env)      \
    X(I64, backoff_ms)          \
    X(I64, log_max_bytes)       \
    X(U32, level)               \
    X(BOOL, hosts_as_addresses) \
    X(BOOL, private_tmp)        \
    X(U32, sockaddr_method)     \
    X(BOOL, private_network)    \
    X(I64, scratch_bytes)
MESSAGE(config, SHIM_CONFIG, struct shim_config, CONFIG_FIELDS)

#define ACTION_FIELDS(X)                                    \
    X(ENUM, act, enum shim_act, SHIM_ACT_N)                 \
    X(WHEN, m->act == ACT_EXEC, STRINGS, argv, n_argv)      \
    X(WHEN, m->act == ACT_HTTP, REQUIRED, path)             \
    X(WHEN, m->act == ACT_HTTP, U32, port)                  \
    X(WHEN, m->act == ACT_SLEEP, I64, sleep_ms)             \
    X(CHECK, m->act != ACT_EXEC || m->n_argv)
PART(action, struct shim_action, ACTION_FIELDS)

#define MOUNT_FIELDS(X) \
    X(U32, volume)      \
    X(REQUIRED, path)   \
    X(TEXT, sub_path)   \
    X(BOOL, read_only)
PART(mount, struct shim_mount, MOUNT_FIELDS)

#define CONTAINER_FIELDS(X)                           \
    X(REQUIRED, name)                                 \
    X(FLAGS2, sidecar, has_startup_probe)             \
    X(BOOL, filtered)                                 \
    X(STRINGS, argv, n_argv)                          \
    X(STRINGS, env, n_env)                            \
    X(TEXT, cwd)                                      \
    X(TEXT, termination_path)                         \
    X(BOOL, log_message)                              \
    X(ARRAY, mounts, n_mounts, mount, 2 * TEXT_BYTES) \
    X(I64, limits.memory_bytes)                       \
    X(I64, limits.cpu_milli)                          \
    X(STRUCT, post_start, action)                     \
    X(STRUCT, pre_stop, action)                       \
    X(CHECK, m->n_argv > 0)
PART(container, struct shim_container, CONTAINER_FIELDS)

#define FILE_FIELDS(X)   \
    X(REQUIRED, path)    \
    X(BYTES, bytes, len) \
    X(U32, mode)
PART(file, struct shim_file, FILE_FIELDS)

#define VOLUME_FIELDS(X)                                     \
    X(REQUIRED, name)                                        \
    X(ENUM, kind, enum shim_volume_kind, SHIM_VOLUME_KIND_N) \
    X(BOOL, memory)                                          \
    X(BOOL, read_only)                                       \
    X(BOOL, host_ids)                                        \
    X(I64, size_bytes)                                       \
    X(TEXT, host_path)                                       \
    X(TEXT, host_base)                                       \
    X(TEXT, host_keep)                                       \
    X(TEXT, host_type)                                       \
    X(BOOL, host_private)                                    \
    X(ARRAY, files, n_files, file, 2 * TEXT_BYTES)           \
    X(CHECK, m->kind != SHIM_HOST_PATH || m->host_path)
PART(volume, struct shim_volume, VOLUME_FIELDS)

#define FILES_FIELDS(X)       \
    X(UID, uid)               \
    X(U32, index)             \
    X(STRUCT, volume, volume) \
    X(CHECK, m->volume.kind == SHIM_FILES_VOLUME)
MESSAGE(files, SHIM_FILES, struct shim_files, FILES_FIELDS)

static void put_port(struct buf *out, const uint32_t *port)
{
    frame_put_u32(out, *port);
}

static void get_port(struct frame_reader *r, struct arena *arena, uint32_t *port)
{
    *port = frame_get_u32(r);
}

#define SANDBOX_FIELDS(X)                            \
    X(TEXT, hostname)                                \
    X(TEXT, ip)                                      \
    X(TEXT, hosts)                                   \
    X(ARRAY, ports, n_ports, port, sizeof(uint32_t)) \
    X(U32, ids)                                      \
    X(BOOL, confined)                                \
    X(TEXT, host_key)                                \
    X(TEXT, host_public)                             \
    X(ARRAY, volumes, n_volumes, volume, 4 * TEXT_BYTES) \
    X(I64, limits.memory_bytes)                      \
    X(I64, limits.cpu_milli)                         \
    X(I64, limits.cpu_request_milli)
PART(sandbox, struct shim_pod, SANDBOX_FIELDS)

static bool container_counts_ok(const struct shim_pod *pod)
{
    return pod->n_main && pod->n_main <= SHIM_CONTAINERS_MAX &&
           pod->n_init <= SHIM_CONTAINERS_MAX &&
           pod->n_init + pod->n_main <= SHIM_CONTAINERS_MAX;
}

static bool mounts_ok(const struct shim_pod *pod)
{
    for (uint32_t i = 0; i < pod->n_init + pod->n_main; i++)
        for (uint32_t j = 0; j < pod->containers[i].n_mounts; j++)
            if (pod->containers[i].mounts[j].volume >= pod->n_volumes)
                return false;
    return true;
}

#define START_FIELDS(X)                                                      \
    X(UID, uid)                                                              \
    X(ENUM, kind, enum shim_pod_kind, SHIM_POD_KIND_N)                       \
    X(ENUM, restart, enum shim_restart, SHIM_RESTART_N)                      \
    X(I64, start_ms)                                                         \
    X(I64, deadline_ms)                                                      \
    X(I64, grace_ms)                                                         \
    X(U32, n_init)                                                           \
    X(U32, n_main)                                                           \
    X(CHECK, container_counts_ok(m))                                         \
    X(ITEMS, containers, m->n_init + m->n_main, container, CONTAINER_BYTES)  \
    X(WHEN, m->kind == SHIM_POD_SANDBOXED, SECTION, sandbox)                 \
    X(CHECK, mounts_ok(m))
MESSAGE(start, SHIM_START, struct shim_pod, START_FIELDS)

#define COMMAND_FIELDS(X)                                             \
    X(UID, uid)                                                       \
    X(WHEN, type == SHIM_STOP || type == SHIM_KILL, I64, grace_ms)    \
    X(WHEN, type == SHIM_HOSTS, REQUIRED, hosts)                      \
    X(WHEN, type == SHIM_KILL || type == SHIM_PASSED, U32, container) \
    X(WHEN, type == SHIM_KILL, TEXT, why)                             \
    X(WHEN, type == SHIM_DEADLINE, I64, deadline_ms)

#define CONTAINER_STATUS_FIELDS(X)                            \
    X(REQUIRED, name)                                         \
    X(ENUM, state, enum container_state, CONTAINER_STATE_N)   \
    X(TEXT, reason)                                           \
    X(TEXT, message)                                          \
    X(I32, exit_code)                                         \
    X(I32, signal)                                            \
    X(I64, started_ms)                                        \
    X(I64, finished_ms)                                       \
    X(I64, cpu_ms)                                            \
    X(I64, memory_peak_bytes)                                 \
    X(I32, restart_count)                                     \
    X(FLAGS2, ready, has_last)                                \
    X(WHEN, m->has_last, I32, last_exit_code)                 \
    X(WHEN, m->has_last, I32, last_signal)                    \
    X(WHEN, m->has_last, TEXT, last_reason)
PART(container_status, struct container_status, CONTAINER_STATUS_FIELDS)
/* clang-format on */

/* Writes the number of init containers and of main containers, and then the statuses of both, which
 * are one array in memory. */
static void put_container_statuses(struct buf *out, const struct shim_status *m)
{
    const struct pod_status *status = &m->status;

    frame_put_u32(out, (uint32_t)status->init_containers.count);
    frame_put_u32(out, (uint32_t)status->containers.count);
    for (size_t i = 0; i < status->init_containers.count; i++)
        put_container_status(out, &status->init_containers.items[i]);
    for (size_t i = 0; i < status->containers.count; i++)
        put_container_status(out, &status->containers.items[i]);
}

static void get_container_statuses(struct frame_reader *r, struct arena *arena,
                                   struct shim_status *m)
{
    struct pod_status *status = &m->status;
    uint32_t n_init = frame_get_u32(r), n_main = frame_get_u32(r), n;
    struct container_status *items;

    if (n_init > SHIM_CONTAINERS_MAX || n_main > SHIM_CONTAINERS_MAX)
        r->bad = true;
    n = n_init + n_main;
    items = new_items(r, arena, &n, sizeof *items, STATUS_BYTES);
    for (uint32_t i = 0; i < n; i++)
        get_container_status(r, arena, &items[i]);
    status->init_containers.items = items;
    status->init_containers.count = n_init;
    status->containers.items = items + n_init;
    status->containers.count = n_main;
}

/* clang-format off */
#define STATUS_FIELDS(X)                                  \
    X(UID, uid)                                           \
    X(FLAGS4, final, status.initialized, status.ready, stopped) \
    X(ENUM, status.phase, enum pod_phase, POD_PHASE_N)    \
    X(TEXT, status.reason)                                \
    X(TEXT, status.message)                               \
    X(I64, status.start_ms)                               \
    X(I64, status.ready_ms)                               \
    X(SECTION, container_statuses)
MESSAGE(status, SHIM_STATUS, struct shim_status, STATUS_FIELDS)

#define PROGRAM_FIELDS(X)    \
    X(UID, uid)              \
    X(U32, container)        \
    X(STRINGS, argv, n_argv) \
    X(STRINGS, env, n_env)   \
    X(CHECK, m->n_argv > 0)
MESSAGE(program, SHIM_PROGRAM, struct shim_program, PROGRAM_FIELDS)

#define EXEC_FIELDS(X) \
    X(UID, uid)        \
    X(U32, container)  \
    X(U64, id)         \
    X(I64, limit_ms)   \
    X(STRUCT, action, action)
MESSAGE(exec, SHIM_EXEC, struct shim_exec, EXEC_FIELDS)

#define EXECUTED_FIELDS(X) \
    X(UID, uid)            \
    X(U64, id)             \
    X(I32, code)           \
    X(TEXT, text)
MESSAGE_WITHOUT_ARRAYS(executed, SHIM_EXECUTED, struct shim_executed, EXECUTED_FIELDS)
/* clang-format on */

void shim_put_command(struct buf *out, enum shim_message type, const struct shim_command *m)
{
    size_t begun = frame_begin(out, (uint8_t)type);

    COMMAND_FIELDS(PUT)
    frame_end(out, begun);
}

bool shim_get_command(struct frame_reader *r, enum shim_message type, struct shim_command *m)
{
    *m = (struct shim_command){0};
    COMMAND_FIELDS(GET)
    return !r->bad;
}

void shim_put_plain(struct buf *out, enum shim_message type)
{
    frame_end(out, frame_begin(out, (uint8_t)type));
}
