/*
 * GET /backup: sends a copy of the store while the store stays in use.
 *
 *   request ─(everything accepted is durable)─► copying, on the store thread ─► sent in pieces
 *
 * The copy is a file in the data directory, which is unlinked before it is sent.
 */
#include "api/server/rest/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { PIECE_BYTES = 256 << 10 };

struct backup {
    struct api_stream stream;
    int fd; /* descriptor of the copy; -1 until the copy is complete */
    bool copying;
};

static struct backup *backup_of(struct api_stream *stream)
{
    return container_of(stream, struct backup, stream);
}

static void release(struct api_stream *stream)
{
    struct backup *backup = backup_of(stream);

    if (backup->copying)
        store_copy_cancel(stream->api->store);
    if (backup->fd >= 0)
        close(backup->fd);
    mem_free(backup);
}

static void fail(struct backup *backup, const struct error *err)
{
    struct api_response *response = backup->stream.response;
    scoped(buf) struct buf text = {0};

    status_write_error(err, &(struct status_subject){0}, &text);
    response->head(response, error_http_status(err->code), "application/json", NULL, 0);
    response->data(response, text.data, text.len);
    stream_end(&backup->stream);
}

static void on_copied(void *ctx, const struct error *err)
{
    struct backup *backup = ctx;
    const char *path = backup->stream.api->backup_path;
    struct error why = {0};

    backup->copying = false;
    if (err) {
        fail(backup, err);
        return;
    }
    backup->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (backup->fd < 0) {
        error_errno(&why, errno, "cannot open %s", path);
        fail(backup, &why);
        return;
    }
    unlink(path);
    backup->stream.response->head(backup->stream.response, 200, "application/vnd.sqlite3", NULL, 0);
    stream_continue(&backup->stream);
}

static ssize_t read_some(int fd, char *out, size_t size)
{
    ssize_t n;

    do
        n = read(fd, out, size);
    while (n < 0 && errno == EINTR);
    return n;
}

static void run(struct api_stream *stream)
{
    struct backup *backup = backup_of(stream);
    char piece[16 << 10];
    size_t sent = 0;
    ssize_t n = 1;
    struct error err = {0};

    if (backup->fd < 0) {
        backup->copying =
            store_copy(stream->api->store, stream->api->backup_path, on_copied, backup, &err);
        if (!backup->copying)
            fail(backup, &err);
        return;
    }
    while (sent < PIECE_BYTES && (n = read_some(backup->fd, piece, sizeof piece)) > 0) {
        stream->response->data(stream->response, piece, (size_t)n);
        sent += (size_t)n;
    }
    if (n > 0) {
        stream_continue(stream);
    } else if (n == 0) {
        stream_end(stream);
    } else {
        log_error("backup aborted", kv_str("why", strerrordesc_np(errno)));
        stream_abort(stream);
    }
}

static const struct stream_ops ops = {run, release};

struct api_stream *page_backup(const struct api_call *call)
{
    struct backup *backup;

    if (call->request->method != API_GET || call->target.n_segments != 1 ||
        strcmp(call->target.segments[0], "backup") != 0 || !call->api->backup_path)
        return NULL;
    backup = mem_alloc(sizeof *backup);
    backup->fd = -1;
    stream_start(&backup->stream, call, &ops, STREAM_DURABLE);
    return &backup->stream;
}

void api_enable_backups(struct api *api, const char *directory)
{
    api->backup_path = mem_printf("%s/backup.tmp", directory);
}
