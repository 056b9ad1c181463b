/*
 * FZ-14: any bytes on the socket of a shim, in its record file or in a log are read without memory
 * errors. A message that is accepted can be written and reads back the same.
 *
 * The first byte selects the format: frames, a record file, or a log header.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "node/shim/logfile.h"
#include "node/shim/records.h"
#include "node/wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_status(const struct frame *frame, struct arena *arena)
{
    scoped(buf) struct buf first = {0}, second = {0};
    struct frame_reader fields = frame->fields;
    struct shim_status status;
    struct frame again;

    if (!shim_get_status(&fields, arena, &status))
        return;
    shim_put_status(&first, &status);
    assert(frame_next(first.data, first.len, &again) == FRAME_WHOLE);
    assert(shim_get_status(&again.fields, arena, &status));
    shim_put_status(&second, &status);
    assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
}

static void check_start(const struct frame *frame, struct arena *arena)
{
    scoped(buf) struct buf first = {0}, second = {0};
    struct frame_reader fields = frame->fields;
    struct frame again;
    struct shim_pod pod;

    if (!shim_get_start(&fields, arena, &pod))
        return;
    shim_put_start(&first, &pod);
    assert(frame_next(first.data, first.len, &again) == FRAME_WHOLE);
    assert(shim_get_start(&again.fields, arena, &pod));
    shim_put_start(&second, &pod);
    assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
}

static void check_frame(void *ctx, struct frame *frame, const char *bytes)
{
    struct arena *arena = arena_new(0);
    struct frame_reader fields;
    struct shim_config config;
    struct shim_hello hello;
    struct shim_command order;

    check_status(frame, arena);
    check_start(frame, arena);
    fields = frame->fields;
    shim_get_config(&fields, arena, &config);
    fields = frame->fields;
    shim_get_hello(&fields, &hello);
    for (enum shim_message type = SHIM_STOP; type <= SHIM_HOSTS; type++) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 1;
    char boot_id[BOOT_ID_MAX];
    struct log_header header;

    if (!size)
        return 0;
    if (data[0] % 3 == 0)
        frames(bytes, size - 1);
    else if (data[0] % 3 == 1)
        records_scan(bytes, size - 1, boot_id, check_frame, NULL);
    else if (size > 1)
        log_header_parse(bytes, size - 1, &header);
    return 0;
}
