#pragma once
/*
 * Log files: the output of programs on disk, written by the shim and read by the node.
 *
 *   <uid>.log                  the first run of the first main container: most pods have no other
 *   <uid>/<index>.<run>.log    every other container and run; index in the order of the spec
 *   … .1, .2                   the same, rotated, older with each number
 *
 *   file   = "#jobflow-log 1 <container> <run> <from>\n" record…
 *   record = <RFC 3339, nanoseconds> stdout F|P <text>\n
 *
 * `from` counts the bytes of records in earlier, rotated files of the run, so that a position stays
 * valid over rotations. F ends a line, P says that the line continues in the next record. A file is
 * made with the first output. Both streams of a program share one pipe, which keeps their order, so
 * all records say stdout.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    LOG_FILES_KEPT = 3,   /* number of log files kept of one run, including the current one (rule
                           * L-38) */
    LOG_NAME_MAX = 128,   /* size of a buffer for a file name below the log directory */
    LOG_HEADER_MAX = 512, /* largest size of a log file's first line */
    LOG_CONTAINER_MAX = 253,
    LOG_POSITION_BITS = 44, /* a reader's position is a run and a count of bytes in one int64_t */
};
#define LOG_FROM_MAX ((INT64_C(1) << LOG_POSITION_BITS) - 1)
#define LOG_RUN_MAX  ((INT64_C(1) << (63 - LOG_POSITION_BITS)) - 1)

struct log_header {
    char container[LOG_CONTAINER_MAX + 1];
    unsigned run;
    int64_t from;
    size_t size; /* number of bytes of the header itself */
};

/** Composes the file name of a run's log. `rotated` 0 is the current file. `flat` says that the run
 * is the first one of the first main container. */
void log_name(char out[LOG_NAME_MAX], const char *uid, bool flat, unsigned index, unsigned run,
              unsigned rotated);
/** Reads the first line of a log file. Returns false for any other text, and for a run or a position
 * that a reader's position cannot hold. */
bool log_header_parse(const char *text, size_t len, struct log_header *out);

struct log_writer {
    int dir_fd;                  /* descriptor of the log directory; borrowed */
    const char *uid, *container; /* uid of the pod and name of the container; borrowed */
    bool flat;
    unsigned index, run;
    int64_t max_bytes;

    int fd;           /* descriptor of the current file; -1 until the first output */
    int64_t from;     /* position of the current file's first record in the whole log of the run */
    int64_t size;     /* number of bytes of the current file's records */
    int64_t lost;     /* bytes of text the disk has refused since the last record */
    bool inside_line; /* the last record was a P, so the next one continues its line */
};

void log_writer_init(struct log_writer *log);
void log_writer_release(struct log_writer *log);
/** Writes output of a program to its log. It never fails for the caller: bytes that the disk
 * refuses are counted, and the log says how many once the disk accepts writes again. `scratch` is
 * memory for the call. */
void log_write(struct log_writer *log, const char *bytes, size_t len, struct buf *scratch);
