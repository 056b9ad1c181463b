/*
 * Finds the whole frames of a log, the commits that count, and what a broken frame hides.
 *
 * The checksum is a sum of 32-bit words in which each step can be undone. So the eight bytes at the
 * head of a frame that it covers, the numbers of the page and of the pages in the file, follow from
 * the checksum when these bytes alone are damaged. A flipped bit of the page can give numbers that
 * are possible, too: then the frame is broken, and has two pages. A checksum that is damaged itself
 * follows from the frame behind it.
 */
#include "api/store/db/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/store/db/internal.h"
#include "base/file.h"
#include "base/mem.h"

enum {
    HEADER_BYTES = 32,
    FRAME_HEAD_BYTES = 24,
    COVERED_BYTES = 8, /* bytes of a frame's head that the checksum covers */
    PAGE_MIN = 512,
    PAGE_MAX = 65536,
    STATE_COLUMNS = 13,
    LEAF_OF_TABLE = 13, /* type of a page of a table, by the first byte */
    ID_PAGE_SIZE = 16,  /* offset of the page size in a database */
    ID_VERSIONS = 18,   /* offset of two bytes that say whether a database has a log */
};
#define LOG_MAX ((size_t)1 << 30)
#define MAGIC   0x377f0682u /* the lowest bit says that words are big-endian */

struct sum {
    uint32_t a, b;
};

static uint32_t be32(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t word(const struct wal *wal, const char *at)
{
    uint32_t value = be32(at);

    return wal->big_endian ? value : __builtin_bswap32(value);
}

static struct sum sum_at(const char *at)
{
    return (struct sum){be32(at), be32(at + 4)};
}

static bool same_sum(struct sum x, struct sum y)
{
    return x.a == y.a && x.b == y.b;
}

static struct sum sum_on(const struct wal *wal, struct sum sum, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        sum.a += word(wal, at + i) + sum.b;
        sum.b += word(wal, at + i + 4) + sum.a;
    }
    return sum;
}

/* Returns the checksum before these bytes, from the one behind them. */
static struct sum sum_back(const struct wal *wal, struct sum sum, const char *at, size_t len)
{
    for (size_t i = len; i > 0; i -= 8) {
        sum.b -= word(wal, at + i - 4) + sum.a;
        sum.a -= word(wal, at + i - 8) + sum.b;
    }
    return sum;
}

/* The numbers of a frame's head that lead from one checksum to the next over the given page. */
static void numbers_between(const struct wal *wal, struct sum before, struct sum after,
                            const char *page, struct wal_frame *out)
{
    struct sum head = sum_back(wal, after, page, wal->page_size);
    uint32_t first = head.a - before.a - before.b, second = head.b - before.b - head.a;

    out->page = wal->big_endian ? first : __builtin_bswap32(first);
    out->pages_in_file = wal->big_endian ? second : __builtin_bswap32(second);
}

static bool has_numbers(const struct wal *wal, const struct wal_frame *frame)
{
    return frame->page > 0 && frame->page <= wal->pages_max &&
           frame->pages_in_file <= wal->pages_max;
}

static const char *head_of(const struct wal *wal, size_t i)
{
    return wal->bytes.data + HEADER_BYTES + i * (FRAME_HEAD_BYTES + (size_t)wal->page_size);
}

static bool has_salts(const struct wal *wal, const char *head)
{
    return be32(head + 8) == wal->salts[0] && be32(head + 12) == wal->salts[1];
}

static struct sum sum_of_frame(const struct wal *wal, struct sum before, const char *head)
{
    return sum_on(wal, sum_on(wal, before, head, COVERED_BYTES), head + FRAME_HEAD_BYTES,
                  wal->page_size);
}

/* Judges frame `i` of `count`, whose predecessor has the checksum `*sum`, or ought to have it. Sets
 * `*sum` to the checksum of this frame. */
static struct wal_frame judge(const struct wal *wal, size_t i, size_t count, bool after_whole,
                              struct sum *sum)
{
    const char *head = head_of(wal, i), *page = head + FRAME_HEAD_BYTES;
    struct wal_frame frame = {.at = (size_t)(page - wal->bytes.data),
                              .page = be32(head),
                              .pages_in_file = be32(head + 4)};
    struct sum stored = sum_at(head + 16), computed = sum_of_frame(wal, *sum, head);
    bool salted = has_salts(wal, head);
    struct wal_frame solved = frame;

    numbers_between(wal, *sum, stored, page, &solved);
    if (same_sum(stored, computed)) {
        frame.whole = (after_whole || salted) && has_numbers(wal, &frame);
    } else if ((after_whole || salted) && has_numbers(wal, &solved) && !has_numbers(wal, &frame)) {
        frame = solved;
        frame.whole = true;
    } else if ((after_whole || salted) && has_numbers(wal, &frame) && i + 1 < count &&
               same_sum(sum_of_frame(wal, computed, head_of(wal, i + 1)),
                        sum_at(head_of(wal, i + 1) + 16))) {
        frame.whole = true;
        stored = computed;
    }
    if (!frame.whole && (!salted || !has_numbers(wal, &frame)))
        frame.page = frame.pages_in_file = 0;
    else if (!frame.whole && has_numbers(wal, &solved))
        frame.other_page = solved.page;
    *sum = stored;
    return frame;
}

/* Chapter: the commits. */

static bool take_varint(const char **at, const char *end, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < 8 && *at < end; i++) {
        unsigned char byte = (unsigned char)*(*at)++;

        *out = *out << 7 | (byte & 0x7f);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Takes an integer of a record: its serial type says its length. */
static bool take_int(uint64_t type, const char **at, const char *end, int64_t *out)
{
    static const size_t lengths[] = {0, 1, 2, 3, 4, 6, 8, 0, 0, 0};
    uint64_t value;

    if (type >= countof(lengths) || type == 7 || lengths[type] > (size_t)(end - *at))
        return false;
    value = lengths[type] && (**at & 0x80) ? UINT64_MAX : 0;
    for (size_t i = 0; i < lengths[type]; i++)
        value = value << 8 | (unsigned char)*(*at)++;
    *out = type == 9 ? 1 : (int64_t)value;
    return true;
}

/* Reads the number of commits from the page that has the row of the table `state`, the only row
 * there. Its checksum tells that it is this page. */
static bool commits_in(const struct wal *wal, const char *page, int64_t *out)
{
    const char *end = page + wal->page_size, *at, *values;
    uint64_t payload, row, head, type;
    struct row_sum sum = {0};
    int64_t value = 0;
    size_t cell;

    if (page[0] != LEAF_OF_TABLE || page[3] != 0 || page[4] != 1)
        return false;
    cell = (size_t)(unsigned char)page[8] << 8 | (unsigned char)page[9];
    if (cell >= wal->page_size)
        return false;
    at = page + cell;
    if (!take_varint(&at, end, &payload) || !take_varint(&at, end, &row) || row != 1 ||
        payload > (uint64_t)(end - at))
        return false;
    end = at + payload;
    values = at;
    if (!take_varint(&at, end, &head) || head > payload)
        return false;
    values += head;
    for (int i = 0; i < STATE_COLUMNS; i++) {
        if (at >= end || !take_varint(&at, end, &type) || !take_int(type, &values, end, &value))
            return false;
        if (i == 0)
            value = (int64_t)row;
        if (i == 2)
            *out = value;
        if (i < STATE_COLUMNS - 1)
            row_sum_int(&sum, value);
    }
    return value == row_sum(&sum);
}

/* Returns the number of frames up to the last commit that counts. The frames SQLite reads do. */
static size_t end_of_commits(const struct wal *wal, const struct wal_frame *frames, size_t count)
{
    int64_t last = -1, commits = -1, in_this = -1;
    size_t end = wal->n_read;

    for (size_t i = 0; i < count; i++) {
        if (frames[i].whole && commits_in(wal, wal->bytes.data + frames[i].at, &commits))
            in_this = commits;
        if (!frames[i].pages_in_file)
            continue;
        if (in_this > last) {
            last = in_this;
            if (frames[i].whole && i >= wal->n_read)
                end = i + 1;
        }
        in_this = -1;
    }
    return end;
}

/* Chapter: the log. */

static bool is_page_size(uint32_t size)
{
    return size >= PAGE_MIN && size <= PAGE_MAX && !(size & (size - 1));
}

/* What the file says of itself. */
struct database {
    uint32_t page_size; /* 0: the file does not say */
    off_t size;
};

static struct database look_at(const char *path)
{
    unsigned char head[ID_PAGE_SIZE + 2] = {0};
    struct database out = {0};
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return out;
    if (pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head)
        out.page_size = (uint32_t)head[ID_PAGE_SIZE] << 8 | head[ID_PAGE_SIZE + 1];
    if (out.page_size == 1)
        out.page_size = PAGE_MAX;
    if (fstat(fd, &info) == 0)
        out.size = info.st_size;
    close(fd);
    return out;
}

/* Reads the header, or supposes what a damaged one said: the page size of the database, and the
 * salts of the first frame. */
static void read_header(struct wal *wal, const struct database *database)
{
    const char *header = wal->bytes.data;
    const uint16_t one = 1;

    wal->big_endian = be32(header) & 1;
    wal->page_size = be32(header + 8);
    wal->has_header = (be32(header) & ~1u) == MAGIC && is_page_size(wal->page_size) &&
                      same_sum(sum_on(wal, (struct sum){0, 0}, header, HEADER_BYTES - 8),
                               sum_at(header + HEADER_BYTES - 8));
    wal->salts[0] = be32(header + 16);
    wal->salts[1] = be32(header + 20);
    if (wal->has_header)
        return;
    if ((be32(header) & ~1u) != MAGIC)
        wal->big_endian = !*(const char *)&one;
    wal->page_size = database->page_size;
    if (wal->bytes.len >= HEADER_BYTES + FRAME_HEAD_BYTES) {
        wal->salts[0] = be32(header + HEADER_BYTES + 8);
        wal->salts[1] = be32(header + HEADER_BYTES + 12);
    }
}

static void index_pages(struct wal *wal)
{
    wal->last_of_page = mem_array((size_t)wal->pages_max + 1, sizeof *wal->last_of_page);
    for (size_t i = 0; i < wal->n; i++) {
        wal->unknown_page |= !wal->frames[i].whole && !wal->frames[i].page;
        wal->last_of_page[wal->frames[i].page] = (uint32_t)i + 1;
    }
}

/* Whether no frame behind this one is of the page. */
static bool is_last(const struct wal *wal, size_t i, uint32_t page)
{
    return wal->last_of_page[page] <= i + 1;
}

/* Whether the last frame of the page is broken. */
static bool is_gap(const struct wal *wal, uint32_t page)
{
    uint32_t last = wal->last_of_page[page];

    return page && last && !wal->frames[last - 1].whole;
}

static void judge_all(struct wal *wal, size_t count)
{
    struct sum sum = sum_at(wal->bytes.data + HEADER_BYTES - 8);
    bool as_sqlite = wal->has_header, whole = true;
    size_t n = 0;

    wal->frames = mem_array(count, sizeof *wal->frames);
    for (size_t i = 0; i < count; i++) {
        const char *head = head_of(wal, i);
        bool exact = has_salts(wal, head) &&
                     same_sum(sum_of_frame(wal, sum, head), sum_at(head + 16)) && be32(head);

        wal->frames[i] = judge(wal, i, count, whole, &sum);
        whole = wal->frames[i].whole;
        as_sqlite = as_sqlite && exact;
        if (as_sqlite && wal->frames[i].pages_in_file)
            wal->n_read = i + 1;
        if (whole && wal->frames[i].pages_in_file)
            n = i + 1;
    }
    wal->n = end_of_commits(wal, wal->frames, n);
    index_pages(wal);
}

void wal_read(const char *path, const char *database, struct wal *out)
{
    const struct database file = look_at(database);
    size_t count;

    *out = (struct wal){0};
    if (!file_read(path, LOG_MAX, &out->bytes, NULL) || out->bytes.len < HEADER_BYTES)
        return;
    read_header(out, &file);
    if (!is_page_size(out->page_size))
        return;
    count = (out->bytes.len - HEADER_BYTES) / (FRAME_HEAD_BYTES + (size_t)out->page_size);
    out->pages_max = (uint32_t)((size_t)file.size / out->page_size + count);
    if (count)
        judge_all(out, count);
}

void wal_release(struct wal *wal)
{
    buf_release(&wal->bytes);
    mem_free(wal->frames);
    mem_free(wal->last_of_page);
    *wal = (struct wal){0};
}

bool wal_has_more(const struct wal *wal)
{
    return wal->n > wal->n_read;
}

/* Chapter: the image. */

static bool put_page(const struct wal *wal, int fd, uint32_t page, const char *bytes)
{
    return pwrite(fd, bytes, wal->page_size, (off_t)(page - 1) * wal->page_size) ==
           (ssize_t)wal->page_size;
}

/* Returns the page that the image has from a frame; 0: none. */
static uint32_t page_from(const struct wal *wal, const struct wal_frame *frame, enum wal_gap gap)
{
    if (!frame->whole)
        return gap == WAL_GAP_OTHER ? frame->other_page : 0;
    return gap <= WAL_GAP_LOG || !is_gap(wal, frame->page) ? frame->page : 0;
}

static bool put_zeros(const struct wal *wal, int fd)
{
    static const char zeros[PAGE_MAX];
    bool ok = true;

    for (size_t i = 0; ok && i < wal->n; i++) {
        const struct wal_frame *frame = &wal->frames[i];

        if (!frame->whole && frame->page && is_last(wal, i, frame->page))
            ok = put_page(wal, fd, frame->page, zeros);
        if (ok && frame->other_page && is_last(wal, i, frame->other_page))
            ok = put_page(wal, fd, frame->other_page, zeros);
    }
    return ok;
}

static bool put_pages(const struct wal *wal, int fd, enum wal_gap gap)
{
    bool ok = true;

    for (size_t i = 0; ok && i < wal->n; i++) {
        uint32_t page = page_from(wal, &wal->frames[i], gap);

        if (page)
            ok = put_page(wal, fd, page, wal->bytes.data + wal->frames[i].at);
    }
    return ok && (gap != WAL_GAP_ZEROS || put_zeros(wal, fd)) &&
           ftruncate(fd, (off_t)wal->frames[wal->n - 1].pages_in_file * wal->page_size) == 0;
}

static bool copy_file(const char *from, int to, struct error *err)
{
    enum { STEP = 1 << 20 };
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    scoped_str bytes = mem_alloc(STEP);
    ssize_t n = 0;

    if (fd < 0)
        return error_errno(err, errno, "%s", from);
    while ((n = read(fd, bytes, STEP)) > 0 && file_write_all(to, bytes, (size_t)n))
        continue;
    close(fd);
    return n == 0 || error_errno(err, errno, "cannot copy %s", from);
}

bool wal_write_image(const struct wal *wal, const char *database, const char *to, enum wal_gap gap,
                     struct error *err)
{
    static const char without_log[2] = {1, 1};
    int fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok;

    if (fd < 0)
        return error_errno(err, errno, "cannot create %s", to);
    ok = copy_file(database, fd, err) &&
         ((put_pages(wal, fd, gap) && pwrite(fd, without_log, sizeof without_log, ID_VERSIONS) ==
                                          (ssize_t)sizeof without_log) ||
          error_errno(err, errno, "cannot write %s", to));
    close(fd);
    return ok;
}
