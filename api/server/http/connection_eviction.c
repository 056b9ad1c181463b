/*
 * Counts the connections of each standing, in total and of one group, and finds the oldest.
 */
#include "api/server/http/connection_eviction.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* The connections of one standing: all, and those of the new connection's group. */
struct count {
    size_t all, own;
    long oldest, oldest_own;
};

static void take(const struct eviction_candidate *candidates, size_t i, long *oldest)
{
    if (*oldest == EVICT_NONE || candidates[i].number < candidates[*oldest].number)
        *oldest = (long)i;
}

static struct count count_standing(const struct eviction_candidate *candidates, size_t n,
                                   size_t newest, enum standing standing)
{
    struct count count = {.oldest = EVICT_NONE, .oldest_own = EVICT_NONE};

    for (size_t i = 0; i < n; i++) {
        if (candidates[i].standing != standing || i == newest)
            continue;
        count.all++;
        take(candidates, i, &count.oldest);
        if (strcmp(candidates[i].group, candidates[newest].group) == 0) {
            count.own++;
            take(candidates, i, &count.oldest_own);
        }
    }
    return count;
}

long eviction_choose(const struct eviction_candidate *candidates, size_t n, size_t newest,
                     const struct eviction_bounds *bounds)
{
    for (int standing = STANDING_SILENT; standing < STANDING_AUTHENTICATED; standing++) {
        struct count count = count_standing(candidates, n, newest, (enum standing)standing);

        if (count.own && count.own >= bounds->per_group)
            return count.oldest_own;
        if (count.all && count.all >= bounds->unauthenticated)
            return count.oldest;
    }
    return EVICT_NONE;
}

/* Writes the upper half of an IPv6 address. */
static void network_of(const struct in6_addr *address, char out[PEER_GROUP_MAX])
{
    const uint8_t *b = address->s6_addr;

    snprintf(out, PEER_GROUP_MAX, "%02x%02x:%02x%02x:%02x%02x:%02x%02x::/64", b[0], b[1], b[2],
             b[3], b[4], b[5], b[6], b[7]);
}

void peer_group(const char *address, char out[PEER_GROUP_MAX])
{
    struct in6_addr six;
    struct in_addr four;
    bool is_six = inet_pton(AF_INET6, address, &six) == 1;

    if (is_six && IN6_IS_ADDR_V4MAPPED(&six))
        memcpy(&four, six.s6_addr + 12, sizeof four);
    if ((is_six && IN6_IS_ADDR_V4MAPPED(&six)) || inet_pton(AF_INET, address, &four) == 1) {
        if (ntohl(four.s_addr) >> 24 == 127)
            snprintf(out, PEER_GROUP_MAX, "loopback");
        else
            inet_ntop(AF_INET, &four, out, PEER_GROUP_MAX);
    } else if (is_six && IN6_IS_ADDR_LOOPBACK(&six)) {
        snprintf(out, PEER_GROUP_MAX, "loopback");
    } else if (is_six) {
        network_of(&six, out);
    } else {
        snprintf(out, PEER_GROUP_MAX, "%s", address);
    }
}
