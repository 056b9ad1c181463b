#pragma once
/*
 * Reads a write-ahead log of SQLite of which frames or the header may be damaged, to save what is
 * whole behind the first broken frame. Ref: SQLite, "Database File Format", 4.1 WAL File Format.
 *
 *   header ──► frame 1 ──► frame 2 ──► frame 3 ──► …      each frame: a page, and a checksum over
 *                                                         the page and the checksum before it
 *
 * SQLite ends at the first frame whose checksum is wrong, because a log that was restarted has
 * frames of an earlier generation behind its end. What tells the two apart:
 *
 *   - A frame belongs to the generation of the header if it has its salts. It is whole if its
 *     checksum follows from the one that stands in the frame before it.
 *   - Within a generation, frames of a commit that failed may lie behind the end. Every commit
 *     counts `state.commits` up, so a commit behind a broken frame counts only with a higher number
 *     than those before it.
 *   - A broken frame whose page was written again later is not missed. The page of another one is
 *     unknown as it was at the end; its number is told by the frame unless that is damaged, too.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct wal_frame {
    size_t at;           /* where the page stands in the log */
    uint32_t page;       /* number of the page, from 1; 0: the frame is broken and does not tell */
    uint32_t other_page; /* number of the page if the one in the frame is damaged; 0: it is not */
    uint32_t pages_in_file; /* size of the file in pages, in a frame that ends a commit; else 0 */
    bool whole;
};

struct wal {
    struct buf bytes;
    uint32_t page_size;
    struct wal_frame *frames; /* up to the last commit that counts, [n] */
    size_t n;
    size_t n_read;          /* number of leading frames that SQLite reads as well */
    uint32_t *last_of_page; /* number, from 1, of the last frame of a page, by the page's number:
                             * [pages_max + 1]; 0: none */
    bool unknown_page;      /* the page of some broken frame is unknown */
    bool has_header;        /* the header is whole */
    uint32_t salts[2];      /* two numbers that all frames of a generation have */
    uint32_t pages_max;     /* no page of the store has a higher number */
    bool big_endian;        /* how checksums take the words of a page */
};

/** Reads the log at `path`, which belongs to the file `database`. A log that is absent or too short
 * for a frame gives no frames. */
void wal_read(const char *path, const char *database, struct wal *out);
void wal_release(struct wal *wal);

/** Whether whole commits stand behind the frames that SQLite reads. */
bool wal_has_more(const struct wal *wal);

/* What an image has of broken frames, and in place of the pages whose last frame is broken. */
enum wal_gap {
    WAL_GAP_OTHER, /* such frames as have one are whole, of their other page; else as below */
    WAL_GAP_LOG,   /* the last whole frame of the page, or what stands in the file */
    WAL_GAP_FILE,  /* what stands in the file: the frame may have been moved there already */
    WAL_GAP_ZEROS, /* nothing; SQLite takes such a page for a damaged one */
    WAL_GAPS
};
/** Writes a database without a log to `to`: the file `database` with the pages of the log. False
 * with INTERNAL. */
bool wal_write_image(const struct wal *wal, const char *database, const char *to, enum wal_gap gap,
                     struct error *err);
