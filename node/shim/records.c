/*
 * Appends records to the record file of a shim, rewrites the file, and reads it up to the first
 * damaged record.
 */
#include "node/shim/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/file.h"
#include "node/wire/message.h"

enum {
    BLOCK_HEAD = sizeof(uint32_t) + sizeof(uint64_t),
    COMPACT_BYTES = 8 << 20, /* growth of the file after which a rewrite pays */
    FILE_MAX = 1 << 30,
    RECORDS_BEGIN = 200, /* frame type in the first block of the file; no message has this number */
};
static const char file_name[] = "records", new_name[] = "records.new";

void boot_id_read(char out[BOOT_ID_MAX])
{
    static char known[BOOT_ID_MAX]; /* read once; forked shims inherit it */
    scoped(buf) struct buf text = {0};

    if (!*known && file_read("/proc/sys/kernel/random/boot_id", BOOT_ID_MAX, &text, NULL) &&
        text.len)
        snprintf(known, sizeof known, "%.*s", (int)strcspn(text.data, "\n"), text.data);
    memcpy(out, known, sizeof known);
}

void records_put_block(struct buf *out, const struct buf *frames)
{
    uint32_t length = (uint32_t)frames->len;
    uint64_t checksum = hash_stable(frames->data, frames->len);

    buf_add(out, &length, sizeof length);
    buf_add(out, &checksum, sizeof checksum);
    buf_add(out, frames->data, frames->len);
}

static void put_first_block(struct buf *out)
{
    scoped(buf) struct buf frames = {0};
    char boot_id[BOOT_ID_MAX];
    size_t begun = frame_begin(&frames, RECORDS_BEGIN);

    boot_id_read(boot_id);
    frame_put_u32(&frames, SHIM_VERSION);
    frame_put_text(&frames, boot_id);
    frame_end(&frames, begun);
    records_put_block(out, &frames);
}

/* Creates the file `name` with the first block and `frames`. Returns its descriptor, or -1. */
static int write_new(struct records *records, const char *name, const struct buf *frames,
                     struct error *err)
{
    scoped(buf) struct buf bytes = {0};
    int fd =
        openat(records->dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600);

    put_first_block(&bytes);
    if (frames->len)
        records_put_block(&bytes, frames);
    if (fd < 0 || !file_write_all(fd, bytes.data, bytes.len)) {
        error_errno(err, errno, "record file");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    records->size = (int64_t)bytes.len;
    records->compact_at = 2 * records->size + COMPACT_BYTES;
    return fd;
}

bool records_rewrite(struct records *records, const struct buf *frames, struct error *err)
{
    int fd = write_new(records, new_name, frames, err);

    if (fd < 0)
        return false;
    if (renameat(records->dir_fd, new_name, records->dir_fd, file_name)) {
        error_errno(err, errno, "record file");
        close(fd);
        return false;
    }
    close(records->fd);
    records->fd = fd;
    return true;
}

bool records_create(struct records *records, int dir_fd, struct error *err)
{
    *records = (struct records){.dir_fd = dir_fd, .fd = -1};
    records->fd = write_new(records, file_name, &(struct buf){0}, err);
    return records->fd >= 0;
}

void records_release(struct records *records)
{
    close(records->fd);
    buf_release(&records->pending);
    buf_release(&records->block);
}

bool records_flush(struct records *records, struct error *err)
{
    struct buf *block = &records->block;

    if (!records->pending.len)
        return true;
    buf_clear(block);
    records_put_block(block, &records->pending);
    if (!file_write_all(records->fd, block->data, block->len)) {
        error_errno(err, errno, "record file");
        if (ftruncate(records->fd, records->size)) /* an incomplete block would hide later ones */
            error_prefix(err, "cannot cut off what was written: ");
        return false;
    }
    records->size += (int64_t)block->len;
    buf_clear(&records->pending);
    return true;
}

bool records_bloated(const struct records *records)
{
    return records->size > records->compact_at;
}

void records_sync(struct records *records)
{
    if (fdatasync(records->fd) == 0)
        fsync(records->dir_fd);
}

static bool next_block(const char **at, const char *end, const char **out, uint32_t *out_len)
{
    uint64_t checksum;

    if (end - *at < BLOCK_HEAD)
        return false;
    memcpy(out_len, *at, sizeof *out_len);
    memcpy(&checksum, *at + sizeof *out_len, sizeof checksum);
    if ((size_t)(end - *at - BLOCK_HEAD) < *out_len)
        return false;
    *out = *at + BLOCK_HEAD;
    *at = *out + *out_len;
    return hash_stable(*out, *out_len) == checksum;
}

static void scan_frames(const char *at, size_t len, char boot_id[BOOT_ID_MAX],
                        records_visit_fn visit, void *ctx)
{
    for (struct frame frame; frame_next(at, len, &frame) == FRAME_WHOLE;) {
        if (frame.type == RECORDS_BEGIN) {
            frame_get_u32(&frame.fields);
            snprintf(boot_id, BOOT_ID_MAX, "%s", frame_get_required_text(&frame.fields));
        } else {
            visit(ctx, &frame, at);
        }
        at += frame.size;
        len -= frame.size;
    }
}

void records_scan(const char *bytes, size_t len, char boot_id[BOOT_ID_MAX], records_visit_fn visit,
                  void *ctx)
{
    const char *block;
    uint32_t block_len;

    boot_id[0] = 0;
    for (const char *at = bytes, *end = bytes + len; next_block(&at, end, &block, &block_len);)
        scan_frames(block, block_len, boot_id, visit, ctx);
}

bool records_read(int dir_fd, char boot_id[BOOT_ID_MAX], records_visit_fn visit, void *ctx,
                  struct error *err)
{
    scoped(buf) struct buf bytes = {0};
    int fd = openat(dir_fd, file_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok;

    boot_id[0] = 0;
    if (fd < 0)
        return errno == ENOENT ? error_set(err, ERR_NOT_FOUND, "", "no record file")
                               : error_errno(err, errno, "record file");
    ok = file_read_fd(fd, "record file", FILE_MAX, &bytes, err);
    close(fd);
    if (ok)
        records_scan(bytes.data, bytes.len, boot_id, visit, ctx);
    return ok;
}
