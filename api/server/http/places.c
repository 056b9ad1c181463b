/*
 * Counts the connections of each standing, in total and of one group, and finds the eldest.
 */
#include "api/server/http/places.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* The connections of one standing: all, and those of the newcomer's group. */
struct count {
    size_t all, own;
    long eldest, eldest_own;
};

static void take(const struct place_holder *holders, size_t i, long *eldest)
{
    if (*eldest == PLACE_NONE || holders[i].number < holders[*eldest].number)
        *eldest = (long)i;
}

static struct count count_standing(const struct place_holder *holders, size_t n, size_t newcomer,
                                   enum standing standing)
{
    struct count count = {.eldest = PLACE_NONE, .eldest_own = PLACE_NONE};

    for (size_t i = 0; i < n; i++) {
        if (holders[i].standing != standing || i == newcomer)
            continue;
        count.all++;
        take(holders, i, &count.eldest);
        if (strcmp(holders[i].group, holders[newcomer].group) == 0) {
            count.own++;
            take(holders, i, &count.eldest_own);
        }
    }
    return count;
}

long place_to_give_up(const struct place_holder *holders, size_t n, size_t newcomer,
                      const struct place_bounds *bounds)
{
    for (int standing = STANDING_SILENT; standing < STANDING_KNOWN; standing++) {
        struct count count = count_standing(holders, n, newcomer, (enum standing)standing);

        if (count.own && count.own >= bounds->per_group)
            return count.eldest_own;
        if (count.all && count.all >= bounds->strangers)
            return count.eldest;
    }
    return PLACE_NONE;
}

/* The upper half of an IPv6 address. */
static void network_of(const struct in6_addr *address, char out[PLACE_GROUP_MAX])
{
    const uint8_t *b = address->s6_addr;

    snprintf(out, PLACE_GROUP_MAX, "%02x%02x:%02x%02x:%02x%02x:%02x%02x::/64", b[0], b[1], b[2],
             b[3], b[4], b[5], b[6], b[7]);
}

void place_group(const char *address, char out[PLACE_GROUP_MAX])
{
    struct in6_addr six;
    struct in_addr four;
    bool is_six = inet_pton(AF_INET6, address, &six) == 1;

    if (is_six && IN6_IS_ADDR_V4MAPPED(&six))
        memcpy(&four, six.s6_addr + 12, sizeof four);
    if ((is_six && IN6_IS_ADDR_V4MAPPED(&six)) || inet_pton(AF_INET, address, &four) == 1) {
        if (ntohl(four.s_addr) >> 24 == 127)
            snprintf(out, PLACE_GROUP_MAX, "loopback");
        else
            inet_ntop(AF_INET, &four, out, PLACE_GROUP_MAX);
    } else if (is_six && IN6_IS_ADDR_LOOPBACK(&six)) {
        snprintf(out, PLACE_GROUP_MAX, "loopback");
    } else if (is_six) {
        network_of(&six, out);
    } else {
        snprintf(out, PLACE_GROUP_MAX, "%s", address);
    }
}
