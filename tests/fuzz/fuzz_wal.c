/*
 * FZ-13: the write-ahead log of a store as repair reads it. The input changes the files of a small
 * store (tests/support/small_store.h).
 *
 * A frame that counts as whole has the page that was written, under its number. An image of the log
 * has the size that its last commit says. The numbers of a frame follow from the checksums around it
 * and from its page: where one of these is changed as well as the numbers, wrong numbers may be
 * possible ones, and the checksums of the rows decide.
 */
/* covers: reliability.md FZ-13 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/store/db/wal.h"
#include "base/mem.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/small_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_log(struct wal *out)
{
    scoped_str log = mem_printf("%s/store.db-wal", scratch_dir());
    scoped_str database = mem_printf("%s/store.db", scratch_dir());

    wal_read(log, database, out);
}

/* Returns the log without changes. */
static const struct wal *original(void)
{
    static struct wal wal;

    if (!wal.n) {
        small_store_put(NULL, 0);
        read_log(&wal);
        require(wal.n && wal.n == wal.n_read && !wal.unknown_page);
    }
    return &wal;
}

/* Whether the bytes of frame `i` differ, in `len` bytes from an offset to the frame's page. */
static bool differs(const struct wal *x, const struct wal *y, size_t i, long from, size_t len)
{
    return memcmp(x->bytes.data + x->frames[i].at + from, y->bytes.data + y->frames[i].at + from,
                  len) != 0;
}

/* Where the parts of a frame's head lie before its page. The checksum of the frame before lies at the
 * same place before that frame's page. */
enum { NUMBERS = -24, NUMBERS_BYTES = 8, CHECKSUM = -8, CHECKSUM_BYTES = 8 };

static bool is_changed_twice(const struct wal *wal, const struct wal *before, size_t i)
{
    return differs(wal, before, i, NUMBERS, NUMBERS_BYTES) &&
           (differs(wal, before, i, 0, wal->page_size) ||
            differs(wal, before, i, CHECKSUM, CHECKSUM_BYTES) || i == 0 ||
            differs(wal, before, i - 1, CHECKSUM, CHECKSUM_BYTES));
}

static void check_frames(const struct wal *wal)
{
    const struct wal *before = original();

    require(wal->n >= wal->n_read);
    for (size_t i = 0; i < wal->n && i < before->n && wal->page_size == before->page_size; i++) {
        const struct wal_frame *frame = &wal->frames[i], *was = &before->frames[i];

        if (!frame->whole || is_changed_twice(wal, before, i))
            continue;
        require(frame->page == was->page && frame->pages_in_file == was->pages_in_file);
        require(!differs(wal, before, i, 0, wal->page_size));
    }
}

static void check_images(const struct wal *wal)
{
    scoped_str database = mem_printf("%s/store.db", scratch_dir());
    scoped_str image = mem_printf("%s/image", scratch_dir());
    struct stat info;

    for (int gap = 0; gap < WAL_GAPS; gap++) {
        require(wal_write_image(wal, database, image, (enum wal_gap)gap, NULL));
        require(stat(image, &info) == 0);
        require(info.st_size == (off_t)wal->frames[wal->n - 1].pages_in_file * wal->page_size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wal wal;

    original();
    small_store_put(data, size);
    read_log(&wal);
    check_frames(&wal);
    if (wal.n)
        check_images(&wal);
    wal_release(&wal);
    return 0;
}
