/*
 * A pool of addresses is a bitmap of a /16 and the position at which the next search begins.
 */
#include "node/machine/address_pool.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_taken(const struct address_pool *pool, uint32_t address)
{
    return pool->taken[address / 64] >> (address % 64) & 1;
}

static void mark(struct address_pool *pool, uint32_t address)
{
    pool->taken[address / 64] |= (uint64_t)1 << (address % 64);
}

/* One kind of pool: the first two bytes that all its addresses share. */
struct range {
    uint8_t bytes[2];
};

static struct range range_of(const struct address_pool *pool)
{
    uint8_t second = pool->second ? pool->second : 10;

    return pool->private_network ? (struct range){{10, 127}}
                                 : (struct range){{127, pool->services ? second + 1 : second}};
}

static uint32_t first_of(const struct address_pool *pool)
{
    return pool->private_network && pool->services ? ADDRESS_FIRST_OF_SERVICE : ADDRESS_FIRST;
}

static uint32_t end_of(const struct address_pool *pool)
{
    return pool->private_network && pool->services ? ADDRESS_FIRST : ADDRESS_END;
}

uint32_t address_pool_take(struct address_pool *pool)
{
    const uint32_t first = first_of(pool), end = end_of(pool);

    if (pool->next < first || pool->next >= end)
        pool->next = first;
    for (uint32_t tries = 0; tries < end - first; tries++) {
        uint32_t address = pool->next;

        if (++pool->next >= end)
            pool->next = first;
        if (is_taken(pool, address))
            continue;
        mark(pool, address);
        return address;
    }
    return 0;
}

static uint32_t address_of(const struct address_pool *pool, const char *text)
{
    const struct range range = range_of(pool);
    uint8_t bytes[4];
    uint32_t address;

    if (!text || inet_pton(AF_INET, text, bytes) != 1 || memcmp(bytes, range.bytes, 2) != 0)
        return 0;
    address = (uint32_t)bytes[2] << 8 | bytes[3];
    return address >= first_of(pool) && address < end_of(pool) ? address : 0;
}

uint32_t address_pool_reserve(struct address_pool *pool, const char *text)
{
    uint32_t address = address_of(pool, text);

    if (!address)
        return 0;
    mark(pool, address);
    if (pool->next <= address)
        pool->next = address + 1;
    return address;
}

uint32_t address_pool_claim(struct address_pool *pool, const char *text)
{
    uint32_t address = address_of(pool, text);

    return address && !is_taken(pool, address) ? address_pool_reserve(pool, text) : 0;
}

void address_pool_give_back(struct address_pool *pool, uint32_t address)
{
    if (address)
        pool->taken[address / 64] &= ~((uint64_t)1 << (address % 64));
}

void address_pool_text(const struct address_pool *pool, uint32_t address,
                       char out[ADDRESS_TEXT_MAX])
{
    const struct range range = range_of(pool);

    if (address)
        snprintf(out, ADDRESS_TEXT_MAX, "%u.%u.%u.%u", range.bytes[0], range.bytes[1],
                 address >> 8 & 0xff, address & 0xff);
    else
        out[0] = '\0';
}
