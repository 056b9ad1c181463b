/*
 * A bitmap of the /16 and the place where the search goes on.
 */
#include "node/addresses.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_taken(const struct addresses *a, uint32_t address)
{
    return a->taken[address / 64] >> (address % 64) & 1;
}

static void mark(struct addresses *a, uint32_t address)
{
    a->taken[address / 64] |= (uint64_t)1 << (address % 64);
}

/* The first two bytes. */
struct range {
    uint8_t bytes[2];
};

static struct range range_of(const struct addresses *a)
{
    return a->private_network ? (struct range){{10, 127}}
                              : (struct range){{127, a->second ? a->second : 10}};
}

uint32_t addresses_take(struct addresses *a)
{
    if (a->next < ADDRESS_FIRST || a->next >= ADDRESS_END)
        a->next = ADDRESS_FIRST;
    for (uint32_t tries = 0; tries < ADDRESS_END - ADDRESS_FIRST; tries++) {
        uint32_t address = a->next;

        if (++a->next >= ADDRESS_END)
            a->next = ADDRESS_FIRST;
        if (is_taken(a, address))
            continue;
        mark(a, address);
        return address;
    }
    return 0;
}

uint32_t addresses_hold(struct addresses *a, const char *text)
{
    const struct range range = range_of(a);
    uint8_t bytes[4];
    uint32_t address;

    if (!text || inet_pton(AF_INET, text, bytes) != 1 || memcmp(bytes, range.bytes, 2) != 0)
        return 0;
    address = (uint32_t)bytes[2] << 8 | bytes[3];
    if (address < ADDRESS_FIRST || address >= ADDRESS_END)
        return 0;
    mark(a, address);
    if (a->next <= address)
        a->next = address + 1;
    return address;
}

void addresses_give_back(struct addresses *a, uint32_t address)
{
    if (address)
        a->taken[address / 64] &= ~((uint64_t)1 << (address % 64));
}

void addresses_text(const struct addresses *a, uint32_t address, char out[ADDRESS_TEXT_MAX])
{
    const struct range range = range_of(a);

    if (address)
        snprintf(out, ADDRESS_TEXT_MAX, "%u.%u.%u.%u", range.bytes[0], range.bytes[1],
                 address >> 8 & 0xff, address & 0xff);
    else
        out[0] = '\0';
}
