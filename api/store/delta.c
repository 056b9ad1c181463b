/*
 * Blocks of the old text are found again in the new one by a rolling hash, wherever they have moved
 * to, and a match is then extended both ways. JSON repeats itself: of blocks that occur more than
 * once none says where it belongs, so only those that are there once are looked for.
 */
#include "api/store/delta.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum {
    BLOCK = 32,
    SLOTS_PER_BLOCK = 4,
    VARINT_BITS = 7,
    VARINT_BYTES_MAX = 10,
};

/* ---- numbers ---- */

static void put_number(struct buf *out, uint64_t value)
{
    while (value >= 1u << VARINT_BITS) {
        buf_char(out, (char)(value | 1u << VARINT_BITS));
        value >>= VARINT_BITS;
    }
    buf_char(out, (char)value);
}

static void put_signed(struct buf *out, int64_t value)
{
    put_number(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static bool take_number(struct delta_text *from, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_BYTES_MAX && from->len; i++) {
        unsigned char byte = (unsigned char)*from->bytes++;

        from->len--;
        value |= (uint64_t)(byte & ((1u << VARINT_BITS) - 1)) << (i * VARINT_BITS);
        if (byte < 1u << VARINT_BITS) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_signed(struct delta_text *from, int64_t *out)
{
    uint64_t value;

    if (!take_number(from, &value))
        return false;
    *out = (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
    return true;
}

/* ---- blocks of the old text ---- */

/* Sums of bytes times powers of an odd factor, modulo 2^64. */
static const uint64_t factor = 0x9e3779b97f4a7c15;

struct slot {
    uint64_t hash;
    uint32_t place; /* of the block + 1; 0 = free */
    bool repeated;
};

struct blocks {
    struct slot *slots;
    unsigned shift;   /* of a hash, to the number of its slot */
    uint64_t leaving; /* factor to the power of BLOCK - 1 */
};

static uint64_t hash_block(const char *at)
{
    uint64_t hash = 0;

    for (int i = 0; i < BLOCK; i++)
        hash = hash * factor + (unsigned char)at[i];
    return hash;
}

static uint64_t roll(const struct blocks *blocks, uint64_t hash, const char *at)
{
    hash -= (unsigned char)at[0] * blocks->leaving;
    return hash * factor + (unsigned char)at[BLOCK];
}

static struct slot *slot_of(const struct blocks *blocks, uint64_t hash)
{
    return &blocks->slots[hash * factor >> blocks->shift];
}

/* One block a slot: where two different ones meet, the first stays. */
static void blocks_init(struct blocks *blocks, struct delta_text text)
{
    unsigned bits = 4;

    while (((size_t)1 << bits) < text.len / BLOCK * SLOTS_PER_BLOCK)
        bits++;
    blocks->shift = 64 - bits;
    blocks->slots = mem_array((size_t)1 << bits, sizeof *blocks->slots);
    blocks->leaving = 1;
    for (int i = 1; i < BLOCK; i++)
        blocks->leaving *= factor;
    for (size_t at = 0; at + BLOCK <= text.len; at += BLOCK) {
        uint64_t hash = hash_block(text.bytes + at);
        struct slot *slot = slot_of(blocks, hash);

        if (!slot->place)
            *slot = (struct slot){hash, (uint32_t)at + 1, false};
        else if (slot->hash == hash)
            slot->repeated = true;
    }
}

/* The only block of the old text that reads as what begins at `at`, or NULL. */
static const char *find_block(const struct blocks *blocks, struct delta_text base, uint64_t hash,
                              const char *at)
{
    const struct slot *slot = slot_of(blocks, hash);
    const char *found;

    if (!slot->place || slot->hash != hash || slot->repeated)
        return NULL;
    found = base.bytes + slot->place - 1;
    return memcmp(found, at, BLOCK) == 0 ? found : NULL;
}

/* ---- making ---- */

struct making {
    struct delta_text base, next;
    const char *copied; /* end of the last copy in the old text */
    const char *told;   /* as far as the new text is in `out` */
    struct buf *out;
};

static size_t common_ahead(const char *a, const char *a_end, const char *b, const char *b_end)
{
    size_t len = 0, room = (size_t)(a_end - a < b_end - b ? a_end - a : b_end - b);

    while (len < room && a[len] == b[len])
        len++;
    return len;
}

/* Copy `len` bytes of the old text, then add what the new one has up to `until`. */
static void tell(struct making *m, const char *from, size_t len, const char *until)
{
    put_signed(m->out, from - m->copied);
    put_number(m->out, len);
    m->copied = from + len;
    m->told += len;
    put_number(m->out, (uint64_t)(until - m->told));
    buf_add(m->out, m->told, (size_t)(until - m->told));
    m->told = until;
}

/* A copy that has been found and not been told yet: what is new behind it is not known. */
struct copy {
    const char *from;
    size_t len;
};

/* `at` reads as `found` does: the longest copy around it. */
static struct copy extend(const struct making *m, const char *found, const char **at,
                          const char *floor)
{
    struct copy copy = {.from = found};

    while (*at > floor && copy.from > m->base.bytes && (*at)[-1] == copy.from[-1]) {
        --*at;
        copy.from--;
    }
    copy.len =
        common_ahead(copy.from, m->base.bytes + m->base.len, *at, m->next.bytes + m->next.len);
    return copy;
}

void delta_make(struct delta_text base, struct delta_text next, struct buf *out)
{
    struct making m = {base, next, base.bytes, next.bytes, out};
    const char *end = next.bytes + next.len, *at;
    struct copy copy = {base.bytes,
                        common_ahead(base.bytes, base.bytes + base.len, next.bytes, end)};
    struct blocks blocks;
    uint64_t hash = 0;
    bool hashed = false;

    put_number(out, next.len);
    blocks_init(&blocks, base);
    at = next.bytes + copy.len;
    while (end - at >= BLOCK) {
        const char *found;

        hash = hashed ? hash : hash_block(at);
        found = find_block(&blocks, base, hash, at);
        hashed = !found && end - at > BLOCK;
        if (found) {
            struct copy next_copy = extend(&m, found, &at, m.told + copy.len);

            tell(&m, copy.from, copy.len, at);
            copy = next_copy;
            at += copy.len;
        } else {
            hash = hashed ? roll(&blocks, hash, at) : hash;
            at++;
        }
    }
    tell(&m, copy.from, copy.len, end);
    mem_free(blocks.slots);
}

/* ---- applying ---- */

bool delta_apply(struct delta_text base, struct delta_text delta, struct buf *out)
{
    uint64_t total, copied, added, at = 0;
    size_t before = out->len;
    int64_t gap;

    if (!take_number(&delta, &total))
        return false;
    while (delta.len) {
        if (!take_signed(&delta, &gap) || !take_number(&delta, &copied) ||
            !take_number(&delta, &added))
            return false;
        at += (uint64_t)gap;
        if (at > base.len || copied > base.len - at || added > delta.len ||
            copied + added > total - (out->len - before))
            return false;
        buf_add(out, base.bytes + at, copied);
        buf_add(out, delta.bytes, added);
        at += copied;
        delta.bytes += added;
        delta.len -= added;
    }
    return out->len - before == total;
}
