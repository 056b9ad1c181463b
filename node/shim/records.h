#pragma once
/*
 * The record file of a shim: what it knew about its pods, for when it is gone.
 *
 *   file  = block…       the first one holds the boot id of the machine and the version
 *   block = u32 length | u64 checksum | frames (message.h: STATUS, RELEASE)
 *
 * Appended once per turn, before anything of it is told or started, so that what the node or a
 * program has seen is in the file. It is not synced for each pod: a shim that dies leaves it to the
 * kernel, and after a power loss the boot id and the checksums say what can be believed (D-10). For
 * each pod the last STATUS counts.
 */
#include "base/buf.h"
#include "base/error.h"
#include "node/wire/frame.h"

enum { BOOT_ID_MAX = 40 };

struct records {
    int dir_fd, fd;
    struct buf pending; /* frames to append */
    struct buf block;
    int64_t size, compact_at;
};

/** Start a new record file in the directory (borrowed). */
bool records_create(struct records *records, int dir_fd, struct error *err);
void records_release(struct records *records);
/** Append what is pending. False when the disk refuses: it stays pending, the file is unharmed. */
bool records_flush(struct records *records, struct error *err);
/** Has the file grown so much that it is worth writing it anew? */
bool records_bloated(const struct records *records);
/** Replace the file by one that holds `frames` alone. */
bool records_rewrite(struct records *records, const struct buf *frames, struct error *err);
void records_sync(struct records *records);

typedef void (*records_visit_fn)(void *ctx, struct frame *frame, const char *bytes);

/** Visit all frames of the record file in a directory up to the first damage; `boot_id` is the
 * machine's when it was written, "" when even that is damaged. False with NOT_FOUND when there is
 * no file. The bytes given are borrowed for the visit. */
bool records_read(int dir_fd, char boot_id[BOOT_ID_MAX], records_visit_fn visit, void *ctx,
                  struct error *err);
/** The same over bytes in memory (read_records without a file; fuzzing). */
void records_scan(const char *bytes, size_t len, char boot_id[BOOT_ID_MAX], records_visit_fn visit,
                  void *ctx);

/** Append a block around `frames`. */
void records_put_block(struct buf *out, const struct buf *frames);

/** The boot id of the running machine, "" when the kernel does not say. */
void boot_id_read(char out[BOOT_ID_MAX]);
