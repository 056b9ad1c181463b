/*
 * The file of id ranges: read once, then only appended to.
 *
 * A last line without a newline was being written when the machine lost its power. No program got
 * that range, so the line is cut off before the next one is written.
 */
#include "node/runtime/id_ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/sandbox/namespaces.h"

#define FILE_NAME "ids"

enum { RANGES = ID_RANGES_END - ID_RANGES_FIRST, FILE_MAX = 64 << 20 };

struct range {
    UT_hash_handle hh; /* links the ranges in a hash table by namespace */
    uint32_t number;
    char ns[];
};

struct id_ranges {
    int fd;
    off_t size; /* number of bytes of the complete lines */
    bool torn;  /* the file may continue behind the complete lines */
    struct range *ranges;
    uint64_t taken[RANGES / 64 + 1];
    uint32_t next;
};

static bool is_taken(const struct id_ranges *r, uint32_t number)
{
    return r->taken[number / 64] >> (number % 64) & 1;
}

static void add_range(struct id_ranges *r, uint32_t number, const char *ns)
{
    struct range *range = mem_alloc(sizeof *range + strlen(ns) + 1);

    range->number = number;
    memcpy(range->ns, ns, strlen(ns) + 1);
    HASH_ADD_KEYPTR(hh, r->ranges, range->ns, strlen(range->ns), range);
    r->taken[number / 64] |= (uint64_t)1 << (number % 64);
}

static struct range *range_of(const struct id_ranges *r, const char *ns)
{
    struct range *range;

    HASH_FIND(hh, r->ranges, ns, strlen(ns), range);
    return range;
}

/* Reads a complete line of the file. An invalid line is skipped. */
static void read_line(struct id_ranges *r, const char *line)
{
    char *ns;
    unsigned long number = strtoul(line, &ns, 10);

    if (ns == line || *ns++ != ' ' || !*ns || number >= RANGES || is_taken(r, (uint32_t)number) ||
        range_of(r, ns))
        return;
    add_range(r, (uint32_t)number, ns);
}

static void read_all(struct id_ranges *r, char *text)
{
    char *end;

    for (char *line = text; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        r->torn = !end;
        if (!end)
            return;
        *end = 0;
        r->size = end + 1 - text;
        read_line(r, line);
    }
}

struct id_ranges *id_ranges_open(int dir_fd, uint64_t seed, struct error *err)
{
    scoped(buf) struct buf text = {0};
    struct id_ranges *r = mem_alloc(sizeof *r);

    r->next = (uint32_t)(seed % RANGES);
    r->fd = openat(dir_fd, FILE_NAME, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (r->fd < 0 || fsync(dir_fd))
        error_errno(err, errno, "cannot open the list of id ranges");
    else if (file_read_fd(r->fd, FILE_NAME, FILE_MAX, &text, err)) {
        read_all(r, text.data);
        return r;
    }
    id_ranges_free(r);
    return NULL;
}

void id_ranges_free(struct id_ranges *r)
{
    struct range *range, *next;

    if (!r)
        return;
    HASH_ITER(hh, r->ranges, range, next)
    {
        HASH_DELETE(hh, r->ranges, range);
        mem_free(range);
    }
    if (r->fd >= 0)
        close(r->fd);
    mem_free(r);
}

/* Returns the number of a range that is free, or RANGES when all are taken. */
static uint32_t free_number(struct id_ranges *r)
{
    for (uint32_t tries = 0; tries < RANGES; tries++) {
        uint32_t number = r->next;

        r->next = (r->next + 1) % RANGES;
        if (!is_taken(r, number))
            return number;
    }
    return RANGES;
}

static bool write_line(struct id_ranges *r, uint32_t number, const char *ns, struct error *err)
{
    scoped_str line = mem_printf("%u %s\n", number, ns);

    if ((r->torn && ftruncate(r->fd, r->size)) || !file_write_all(r->fd, line, strlen(line)) ||
        fdatasync(r->fd)) {
        r->torn = true;
        return error_errno(err, errno, "cannot write the range of ids of namespace %s", ns);
    }
    r->torn = false;
    r->size += (off_t)strlen(line);
    return true;
}

uint32_t id_ranges_of(struct id_ranges *r, const char *ns, struct error *err)
{
    const struct range *known = range_of(r, ns);
    uint32_t number = known ? known->number : free_number(r);

    if (number == RANGES) {
        error_set(err, ERR_UNAVAILABLE, "isolation",
                  "all %d ranges of ids have been given to namespaces: remove the file node/ids of "
                  "the data directory while no pod runs",
                  RANGES);
        return 0;
    }
    if (!known && !write_line(r, number, ns, err))
        return 0;
    if (!known)
        add_range(r, number, ns);
    return (ID_RANGES_FIRST + number) * USER_RANGE_IDS;
}
