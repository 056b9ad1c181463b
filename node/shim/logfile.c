/*
 * Writes the log of one run of one container, with rotation by size and a time stamp for each line.
 */
#include "node/shim/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/timefmt.h"

static const char magic[] = "#jobflow-log 1 ";

void log_name(char out[LOG_NAME_MAX], const char *uid, bool flat, unsigned index, unsigned run,
              unsigned rotated)
{
    int n = flat ? snprintf(out, LOG_NAME_MAX, "%s.log", uid)
                 : snprintf(out, LOG_NAME_MAX, "%s/%u.%u.log", uid, index, run);

    if (rotated)
        snprintf(out + n, LOG_NAME_MAX - (size_t)n, ".%u", rotated);
}

/* Reads a number and the byte `end` behind it from `*at`, and moves `*at` behind both. */
static bool take_number(char **at, char end, int64_t *out)
{
    char *behind;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoll(*at, &behind, 10);
    if (errno || *behind != end)
        return false;
    *at = behind + 1;
    return true;
}

bool log_header_parse(const char *text, size_t len, struct log_header *out)
{
    const char *end = memchr(text, '\n', len < LOG_HEADER_MAX ? len : LOG_HEADER_MAX);
    char line[LOG_HEADER_MAX], *at = line + sizeof magic - 1;
    int64_t run;

    if (!end || (size_t)(end - text) < sizeof magic - 1 ||
        strncmp(text, magic, sizeof magic - 1) != 0)
        return false;
    memcpy(line, text, (size_t)(end - text));
    line[end - text] = 0;
    *out = (struct log_header){.size = (size_t)(end - text) + 1};

    size_t name_len = strcspn(at, " ");

    if (!name_len || name_len > LOG_CONTAINER_MAX || !at[name_len])
        return false;
    memcpy(out->container, at, name_len);
    at += name_len + 1;
    if (!take_number(&at, ' ', &run) || run > LOG_RUN_MAX || !take_number(&at, 0, &out->from) ||
        out->from > LOG_FROM_MAX)
        return false;
    out->run = (unsigned)run;
    return true;
}

void log_writer_init(struct log_writer *log)
{
    log->fd = -1;
    log->from = log->size = log->lost = 0;
    log->inside_line = false;
}

void log_writer_release(struct log_writer *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

static bool open_file(struct log_writer *log)
{
    char name[LOG_NAME_MAX], header[LOG_HEADER_MAX];
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;

    log_name(name, log->uid, log->flat, log->index, log->run, 0);
    log->fd = openat(log->dir_fd, name, flags, 0600);
    if (log->fd < 0 && errno == ENOENT && !log->flat) {
        mkdirat(log->dir_fd, log->uid, 0700);
        log->fd = openat(log->dir_fd, name, flags, 0600);
    }
    if (log->fd < 0)
        return false;

    int n = snprintf(header, sizeof header, "%s%s %u %ld\n", magic, log->container, log->run,
                     (long)log->from);

    if (file_write_all(log->fd, header, (size_t)n))
        return true;
    unlinkat(log->dir_fd, name, 0); /* a file without its first line could not be read */
    log_writer_release(log);
    return false;
}

static void rotate(struct log_writer *log)
{
    char from[LOG_NAME_MAX], to[LOG_NAME_MAX];

    log_writer_release(log);
    for (unsigned i = LOG_FILES_KEPT - 1; i > 0; i--) {
        log_name(from, log->uid, log->flat, log->index, log->run, i - 1);
        log_name(to, log->uid, log->flat, log->index, log->run, i);
        renameat(log->dir_fd, from, log->dir_fd, to); /* replaces the oldest rotated file */
    }
    log->from += log->size;
    log->size = 0;
}

static void put_record(struct buf *out, const char *stamp, const char *text, size_t len, bool whole)
{
    buf_str(out, stamp);
    buf_add(out, whole ? " stdout F " : " stdout P ", 10);
    buf_add(out, text, len);
    buf_char(out, '\n');
}

/* Writes all records or none, so that a file always ends with a whole record. */
static bool append(struct log_writer *log, const struct buf *records)
{
    size_t done = 0;

    while (done < records->len) {
        ssize_t n = write(log->fd, records->data + done, records->len - done);

        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    if (done && done < records->len) {
        off_t end = lseek(log->fd, 0, SEEK_END);

        if (end >= (off_t)done && ftruncate(log->fd, end - (off_t)done) == 0)
            return false;
    }
    log->size += (int64_t)done;
    return done == records->len;
}

static void put_loss(struct log_writer *log, const char *stamp, struct buf *out)
{
    char text[96];

    if (log->inside_line)
        put_record(out, stamp, "", 0, true);
    snprintf(text, sizeof text, "[%ld bytes of output lost: no space for the log]",
             (long)log->lost);
    put_record(out, stamp, text, strlen(text), true);
    log->inside_line = false;
}

/* Writes records to the open log file, or to a new one. */
static void write_part(struct log_writer *log, const char *bytes, size_t len, struct buf *scratch)
{
    char stamp[TIME_TEXT_MAX];
    bool inside = bytes[len - 1] != '\n';

    if (log->fd < 0 && !open_file(log)) {
        log->lost += (int64_t)len;
        return;
    }
    time_format_nano(clock_wall_ns(clock_real()), stamp);
    buf_clear(scratch);
    if (log->lost)
        put_loss(log, stamp, scratch);
    for (size_t at = 0; at < len;) {
        const char *newline = memchr(bytes + at, '\n', len - at);
        size_t n = newline ? (size_t)(newline - bytes) - at : len - at;

        put_record(scratch, stamp, bytes + at, n, newline);
        at += n + (newline != NULL);
    }
    if (append(log, scratch)) {
        log->lost = 0;
        log->inside_line = inside;
    } else {
        log->lost += (int64_t)len;
    }
}

/* Writes output of a program to its log. A full file still gets the rest of its last line. A line
 * is split only when it is as long as a whole file. */
void log_write(struct log_writer *log, const char *bytes, size_t len, struct buf *scratch)
{
    const char *newline =
        log->size >= log->max_bytes && log->inside_line ? memchr(bytes, '\n', len) : NULL;
    size_t rest = newline ? (size_t)(newline - bytes) + 1 : 0;

    if (rest)
        write_part(log, bytes, rest, scratch);
    if (rest == len)
        return;
    if (log->size >= log->max_bytes * (1 + log->inside_line))
        rotate(log);
    write_part(log, bytes + rest, len - rest, scratch);
}
