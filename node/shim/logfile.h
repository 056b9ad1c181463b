#pragma once
/*
 * What a program printed, on disk: written by the shim, read by the node.
 *
 *   <uid>.log                  the first run of the first main container: most pods have no other
 *   <uid>/<index>.<run>.log    every other container and run; index in the order of the spec
 *   … .1, .2                   the same, rotated, older with each number
 *
 *   file   = "#jobflow-log 1 <container> <run> <from>\n" record…
 *   record = <RFC 3339, nanoseconds> stdout F|P <text>\n
 *
 * `from` is the position of the file's first record in all that the run ever printed, so a position
 * stays good over rotations. P says that the line goes on in the next record. A file exists only
 * once something was printed. Both streams of a program share one pipe, which keeps their order;
 * the records therefore all say stdout.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    LOG_FILES_KEPT = 3,   /* of one run, the current one included (L-38) */
    LOG_NAME_MAX = 128,   /* bytes of a file name below the log directory */
    LOG_HEADER_MAX = 512, /* bytes of the first line */
    LOG_CONTAINER_MAX = 253,
};

struct log_header {
    char container[LOG_CONTAINER_MAX + 1];
    unsigned run;
    int64_t from;
    size_t size; /* of the header itself */
};

/** File name of a run's log; `rotated` 0 is the current one. `flat` is the first main container's
 * first run. */
void log_name(char out[LOG_NAME_MAX], const char *uid, bool flat, unsigned index, unsigned run,
              unsigned rotated);
bool log_header_parse(const char *text, size_t len, struct log_header *out);

struct log_writer {
    int dir_fd;                  /* borrowed: the log directory */
    const char *uid, *container; /* borrowed */
    bool flat;
    unsigned index, run;
    int64_t max_bytes;

    int fd;           /* -1 until something was printed */
    int64_t from;     /* position of the current file's first record */
    int64_t size;     /* of its records */
    int64_t lost;     /* bytes of text the disk refused since the last record */
    bool inside_line; /* the last record was a P */
};

void log_writer_init(struct log_writer *log);
void log_writer_release(struct log_writer *log);
/** Take what a program printed. Never fails for the caller: what the disk refuses is counted and
 * told in the log once it takes bytes again. */
void log_write(struct log_writer *log, const char *bytes, size_t len, struct buf *scratch);
