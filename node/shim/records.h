#pragma once
/*
 * The record file of a shim: the last known state of its pods, for the time after its end.
 *
 *   file  = block…       the first block holds the boot id of the machine and the version
 *   block = u32 length | u64 checksum | frames (message.h: STATUS, RELEASE)
 *
 * Blocks are appended once per turn, before anything in them is reported or started: everything
 * that the node or a program has seen is in the file. The file is not synced for each pod. When a
 * shim dies, the kernel still has its writes; after a power loss the boot id and the checksums tell
 * how far the file is valid (D-10). For each pod the last STATUS counts.
 */
#include "base/buf.h"
#include "base/error.h"
#include "node/wire/frame.h"

enum { BOOT_ID_MAX = 40 };

struct records {
    int dir_fd, fd;
    struct buf pending; /* frames that are to be appended */
    struct buf block;
    int64_t size, compact_at;
};

/** Starts a new record file in the directory `dir_fd`, which is borrowed. */
bool records_create(struct records *records, int dir_fd, struct error *err);
void records_release(struct records *records);
/** Appends the pending frames to the file. Returns false when the disk refuses: the frames stay
 * pending, and the file is as it was. */
bool records_flush(struct records *records, struct error *err);
/** Returns whether the file has grown so much that a rewrite pays. */
bool records_bloated(const struct records *records);
/** Replaces the file by one that holds `frames` alone. */
bool records_rewrite(struct records *records, const struct buf *frames, struct error *err);
void records_sync(struct records *records);

/** Receives one frame. `bytes` are the frame->size bytes of the whole frame. Both are borrowed for
 * the call. */
typedef void (*records_visit_fn)(void *ctx, struct frame *frame, const char *bytes);

/** Visits all frames of the record file in a directory up to the first damage. `boot_id` becomes
 * that of the machine when the file was written, "" when even that is damaged. Returns false with
 * NOT_FOUND when there is no file. */
bool records_read(int dir_fd, char boot_id[BOOT_ID_MAX], records_visit_fn visit, void *ctx,
                  struct error *err);
/** Visits frames as records_read does, but reads them from memory. */
void records_scan(const char *bytes, size_t len, char boot_id[BOOT_ID_MAX], records_visit_fn visit,
                  void *ctx);

/** Appends a block that holds `frames` to `out`. */
void records_put_block(struct buf *out, const struct buf *frames);

/** Reads the boot id of the running machine; "" when the kernel does not say. */
void boot_id_read(char out[BOOT_ID_MAX]);
