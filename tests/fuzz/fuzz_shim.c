/*
 * FZ-14: any bytes on the socket of a shim, in either direction, in its record file, in a log or in
 * the environment of a process are read without memory errors. A message that is accepted can be
 * written and reads back the same.
 *
 * The first byte selects the format: frames, a record file, a log header, or an environment.
 */
/* covers: reliability.md FZ-14 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "node/shim/logfile.h"
#include "node/shim/pod_mark.h"
#include "node/shim/records.h"
#include "node/wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks of one type of message: NAME reads it, writes it, and compares what it reads and writes
 * then. `get` and `put` are the calls, with `r`, `out` and `it`. */
#define CHECK_MESSAGE(name, type, get, put)                                                        \
    static void name(const struct frame *frame, struct arena *arena)                               \
    {                                                                                              \
        scoped(buf) struct buf first = {0}, second = {0};                                          \
        struct frame_reader fields = frame->fields, *r = &fields;                                  \
        struct buf *out = &first;                                                                  \
        struct frame again;                                                                        \
        type it;                                                                                   \
                                                                                                   \
        if (!(get))                                                                                \
            return;                                                                                \
        put;                                                                                       \
        assert(frame_next(first.data, first.len, &again) == FRAME_WHOLE);                          \
        r = &again.fields;                                                                         \
        assert(get);                                                                               \
        out = &second;                                                                             \
        put;                                                                                       \
        assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);        \
    }

/* clang-format off */
CHECK_MESSAGE(check_status,   struct shim_status,   shim_get_status(r, arena, &it),  shim_put_status(out, &it))
CHECK_MESSAGE(check_start,    struct shim_pod,      shim_get_start(r, arena, &it),   shim_put_start(out, &it))
CHECK_MESSAGE(check_config,   struct shim_config,   shim_get_config(r, arena, &it),  shim_put_config(out, &it))
CHECK_MESSAGE(check_files,    struct shim_files,    shim_get_files(r, arena, &it),   shim_put_files(out, &it))
CHECK_MESSAGE(check_program,  struct shim_program,  shim_get_program(r, arena, &it), shim_put_program(out, &it))
CHECK_MESSAGE(check_exec,     struct shim_exec,     shim_get_exec(r, arena, &it),    shim_put_exec(out, &it))
CHECK_MESSAGE(check_executed, struct shim_executed, shim_get_executed(r, &it),       shim_put_executed(out, &it))
CHECK_MESSAGE(check_hello,    struct shim_hello,    shim_get_hello(r, &it),          shim_put_hello(out, &it))

static void (*const checks[])(const struct frame *frame, struct arena *arena) = {
    check_status,  check_start, check_config,   check_files,
    check_program, check_exec,  check_executed, check_hello,
};
/* clang-format on */

static void check_frame(void *ctx, struct frame *frame, const char *bytes)
{
    struct arena *arena = arena_new(0);
    struct frame_reader fields;
    struct shim_command order;

    for (size_t i = 0; i < countof(checks); i++)
        checks[i](frame, arena);
    for (enum shim_message type = SHIM_STOP; type < SHIM_MESSAGE_N; type++) {
        fields = frame->fields;
        shim_get_command(&fields, type, &order);
    }
    arena_free(arena);
}

static void frames(const char *bytes, size_t len)
{
    for (struct frame frame; frame_next(bytes, len, &frame) == FRAME_WHOLE;) {
        check_frame(NULL, &frame, bytes);
        bytes += frame.size;
        len -= frame.size;
    }
}

static void environment(const char *bytes, size_t len)
{
    scoped_str copy = mem_alloc(len + 1);
    const char *before = NULL;

    memcpy(copy, bytes, len);
    for (const char *uid = NULL; (uid = pod_mark_next_uid(copy, len, uid)); before = uid)
        assert(uid >= copy && uid <= copy + len && uid > before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 1;
    char boot_id[BOOT_ID_MAX];
    struct log_header header;

    if (!size)
        return 0;
    if (data[0] % 4 == 0)
        frames(bytes, size - 1);
    else if (data[0] % 4 == 1)
        records_scan(bytes, size - 1, boot_id, check_frame, NULL);
    else if (data[0] % 4 == 2 && size > 1)
        log_header_parse(bytes, size - 1, &header);
    else if (size > 1)
        environment(bytes, size - 1);
    return 0;
}
