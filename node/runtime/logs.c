/*
 * Reads the logs that shims write (shim/logfile.h): finds the files of a run, selects the requested
 * part, and prints its lines.
 *
 * A position (`offset`) is the number of a run and a byte count over all records the run ever
 * wrote, so it stays valid when files are rotated; records that were rotated away are skipped. A
 * new reader begins with the latest run. A reader that continues gets the rest of its run, then the
 * later runs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "node/runtime/internal.h"
#include "node/shim/logfile.h"

enum {
    FILES_MAX = 1024,
    FILE_BYTES_MAX = 1 << 30,
    MARK_BYTES = 10 /* length of the text " stdout F " in a record */
};

struct log_file {
    char name[LOG_NAME_MAX];
    struct log_header header;
};
struct log_files {
    struct log_file *items;
    size_t count, cap;
};

static void files_release(struct log_files *files)
{
    mem_free(files->items);
}
SCOPED_DEFINE(log_files, struct log_files, files_release)

static int open_log(int logs_fd, const char *name)
{
    return openat(logs_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* Reads up to `size` bytes from the start of a file; fewer when the file is shorter. */
static size_t read_start(int fd, char *out, size_t size)
{
    size_t len = 0;
    ssize_t n = 1;

    while (len < size && n != 0) {
        n = read(fd, out + len, size - len);
        if (n < 0 && errno != EINTR)
            return 0;
        len += n > 0 ? (size_t)n : 0;
    }
    return len;
}

static void files_try(struct log_files *files, int logs_fd, const char *name)
{
    char head[LOG_HEADER_MAX];
    struct log_header header;
    int fd = files->count < FILES_MAX ? open_log(logs_fd, name) : -1;
    size_t len;

    if (fd < 0)
        return;
    len = read_start(fd, head, sizeof head);
    close(fd);
    if (!len || !log_header_parse(head, len, &header))
        return;
    mem_grow(files->items, files->count, files->cap);
    snprintf(files->items[files->count].name, LOG_NAME_MAX, "%s", name);
    files->items[files->count++].header = header;
}

static void files_of_pod(struct log_files *files, int logs_fd, const char *uid)
{
    char name[LOG_NAME_MAX];
    int fd = openat(logs_fd, uid, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (unsigned i = 0; i < LOG_FILES_KEPT; i++) {
        log_name(name, uid, true, 0, 0, i);
        files_try(files, logs_fd, name);
    }
    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof name, "%s/%s", uid, entry->d_name) < (int)sizeof name)
            files_try(files, logs_fd, name);
    if (dir)
        closedir(dir);
}

static int by_position(const void *a, const void *b)
{
    const struct log_file *x = a, *y = b;

    return (x->header.from > y->header.from) - (x->header.from < y->header.from);
}

/* Returns the container named in the request or, when it names none, the container of the first
 * file. */
static const char *container_of_files(const struct log_files *files, const char *named)
{
    if (named && *named)
        return named;
    return files->count ? files->items[0].header.container : "";
}

/* Returns the latest run of the container that has a log. */
static unsigned last_run(const struct log_files *files, const char *container)
{
    unsigned last = 0;

    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].header.container, container) == 0 &&
            files->items[i].header.run > last)
            last = files->items[i].header.run;
    return last;
}

/* Selects the files of one run, in order. Returns false when the run has none. */
static bool files_select(const struct log_files *files, const char *container, unsigned run,
                         struct log_files *out)
{
    out->count = 0;
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].header.container, container) == 0 &&
            files->items[i].header.run == run) {
            mem_grow(out->items, out->count, out->cap);
            out->items[out->count++] = files->items[i];
        }
    if (out->count)
        qsort(out->items, out->count, sizeof out->items[0], by_position);
    return out->count > 0;
}

/* Reads a file from position `*at` on, and advances `*at` past records that were rotated away. */
static void read_records(int logs_fd, const struct log_file *file, int64_t *at, struct buf *out)
{
    int fd = open_log(logs_fd, file->name);

    buf_clear(out);
    if (fd < 0)
        return;
    if (*at < file->header.from)
        *at = file->header.from;
    lseek(fd, (off_t)file->header.size + (*at - file->header.from), SEEK_SET);
    if (!file_read_fd(fd, file->name, FILE_BYTES_MAX, out, NULL))
        buf_clear(out);
    close(fd);
}

struct record {
    const char *stamp, *text;
    size_t stamp_len, text_len, size;
    bool whole;
};

/* Finds the record at `at`. Returns false when it is incomplete. */
static bool record_at(const char *at, const char *end, struct record *out)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *space = newline ? memchr(at, ' ', (size_t)(newline - at)) : NULL;

    if (!newline)
        return false;
    *out = (struct record){at, newline, 0, 0, (size_t)(newline - at) + 1, true};
    if (!space || newline - space < MARK_BYTES)
        return true; /* a line that is no log record is shown as an empty line */
    out->stamp_len = (size_t)(space - at);
    out->whole = space[MARK_BYTES - 2] == 'F';
    out->text = space + MARK_BYTES;
    out->text_len = (size_t)(newline - out->text);
    return true;
}

/* Returns the position of the last `lines` lines. Walks the files from the newest to older ones. */
static int64_t tail_position(int logs_fd, const struct log_files *files, int64_t lines)
{
    scoped(buf) struct buf bytes = {0};

    if (!lines) {
        const struct log_file *last = &files->items[files->count - 1];
        int64_t at = last->header.from;

        read_records(logs_fd, last, &at, &bytes);
        return at + (int64_t)bytes.len;
    }
    for (size_t i = files->count; i-- > 0;) {
        int64_t at = files->items[i].header.from, ends = 0;
        struct record record;

        read_records(logs_fd, &files->items[i], &at, &bytes);

        const char *p = bytes.data, *end = bytes.data + bytes.len;
        bool whole = true;

        for (; p < end && record_at(p, end, &record); p += record.size) {
            whole = record.whole;
            ends += whole;
        }
        ends += !whole; /* an unfinished line counts as a line */
        if (ends < lines && i > 0) {
            lines -= ends;
            continue;
        }
        for (p = bytes.data; ends > lines && record_at(p, end, &record); p += record.size)
            ends -= record.whole;
        return at + (p - bytes.data);
    }
    return 0;
}

struct show {
    const struct log_query *options;
    struct buf *out;
    char since[TIME_TEXT_MAX]; /* time stamps are compared as text */
    size_t begun;
    bool inside; /* the last record shown was only a part of a line */
};

static bool show_full(const struct show *show)
{
    return show->options->limit_bytes >= 0 &&
           show->out->len - show->begun >= (size_t)show->options->limit_bytes;
}

static void show_record(struct show *show, const struct record *record)
{
    if (show->since[0] && strncmp(record->stamp, show->since, record->stamp_len) < 0)
        return;
    if (show->options->timestamps && !show->inside) {
        buf_add(show->out, record->stamp, record->stamp_len);
        buf_char(show->out, ' ');
    }
    buf_add(show->out, record->text, record->text_len);
    if (record->whole)
        buf_char(show->out, '\n');
    show->inside = !record->whole;
    if (show_full(show)) {
        show->out->len = show->begun + (size_t)show->options->limit_bytes;
        show->out->data[show->out->len] = 0;
    }
}

/* Prints one run from position `at` on and returns the position of its end. */
static int64_t show_run(struct show *show, int logs_fd, const struct log_files *files, int64_t at)
{
    scoped(buf) struct buf bytes = {0};

    for (size_t i = 0; i < files->count && !show_full(show); i++) {
        struct record record;

        if (i + 1 < files->count && at >= files->items[i + 1].header.from)
            continue;
        read_records(logs_fd, &files->items[i], &at, &bytes);
        for (const char *p = bytes.data, *end = p + bytes.len;
             p < end && !show_full(show) && record_at(p, end, &record); p += record.size) {
            show_record(show, &record);
            at += (int64_t)record.size;
        }
    }
    return at;
}

bool logs_read(int logs_fd, const char *uid, const struct log_query *options, int64_t *offset,
               struct buf *out, struct error *err)
{
    scoped(log_files) struct log_files files = {0}, of_run = {0};
    struct show show = {.options = options, .out = out, .begun = out->len};
    int64_t at = *offset & (((int64_t)1 << LOG_POSITION_BITS) - 1);
    unsigned run = (unsigned)(*offset >> LOG_POSITION_BITS), last;
    const char *container;

    if (!shim_uid_ok(uid))
        return error_set(err, ERR_NOT_FOUND, "", "no pod has the uid \"%s\"", uid);
    files_of_pod(&files, logs_fd, uid);
    container = container_of_files(&files, options->container);
    last = last_run(&files, container);
    if (options->previous && (!last || !files_select(&files, container, last - 1, &of_run)))
        return error_set(err, ERR_NOT_FOUND, "", "no earlier run of container \"%s\" has a log",
                         options->container ? options->container : "");
    last -= options->previous;
    if (options->since_ms > 0)
        time_format_nano(options->since_ms * 1000000, show.since);
    if (!*offset) {
        run = last;
        if (options->tail_lines >= 0 && files_select(&files, container, run, &of_run))
            at = tail_position(logs_fd, &of_run, options->tail_lines);
    }
    for (;; run++, at = 0) { /* a follower gets the end of its run, then the next run */
        if (files_select(&files, container, run, &of_run))
            at = show_run(&show, logs_fd, &of_run, at);
        if (run >= last || show_full(&show))
            break;
    }
    *offset = (int64_t)run << LOG_POSITION_BITS | at;
    return true;
}

static int64_t bytes_at(int at_fd, const char *name)
{
    struct stat st;

    return fstatat(at_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) ? st.st_size
                                                                                      : 0;
}

int64_t logs_bytes(int logs_fd, const char *uid)
{
    char name[LOG_NAME_MAX];
    int64_t bytes = 0;
    int fd = shim_uid_ok(uid)
                 ? openat(logs_fd, uid, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                 : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (unsigned i = 0; shim_uid_ok(uid) && i < LOG_FILES_KEPT; i++) {
        log_name(name, uid, true, 0, 0, i);
        bytes += bytes_at(logs_fd, name);
    }
    for (struct dirent *entry; dir && (entry = readdir(dir));) /* NOLINT(concurrency-mt-unsafe) */
        bytes += bytes_at(fd, entry->d_name);
    if (dir)
        closedir(dir);
    return bytes;
}

void logs_remove(int logs_fd, const char *uid)
{
    char name[LOG_NAME_MAX];

    for (unsigned i = 0; i < LOG_FILES_KEPT; i++) {
        log_name(name, uid, true, 0, 0, i);
        if (unlinkat(logs_fd, name, 0) && i == 0 && errno != ENOENT)
            break;
    }
    file_remove_tree(logs_fd, uid, NULL);
}

bool runtime_log_read(const char *directory, const char *uid, const struct log_query *options,
                      int64_t *offset, struct buf *out, struct error *err)
{
    scoped_str path = mem_printf("%s/node/logs", directory);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok;

    if (fd < 0) /* no pod ran here, or only simulated ones */
        return !options->previous ||
               error_set(err, ERR_NOT_FOUND, "", "there are no logs in %s", path);
    ok = logs_read(fd, uid, options, offset, out, err);
    close(fd);
    return ok;
}
