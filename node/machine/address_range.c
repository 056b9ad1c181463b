/*
 * Processes lock ranges of addresses by abstract socket names. This file takes such a lock and
 * finds out in which ranges programs listen.
 */
#include "node/machine/address_range.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST = 10, END = 250, STEP = 2 /* odd second bytes are for Services */ };

static int lock(uint8_t second)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "jobflow-pods-127.%u", second);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&name,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

uint8_t address_range_of(const char *address)
{
    uint8_t bytes[4];

    if (!address || inet_pton(AF_INET, address, bytes) != 1 || bytes[0] != 127)
        return 0;
    return bytes[1] >= FIRST && bytes[1] < END && bytes[1] % STEP == 0 ? bytes[1] : 0;
}

/* Marks in `listened` the range of the local address in one line of /proc/net/tcp or tcp6. A line
 * is "NUMBER: ADDRESS:PORT ADDRESS:PORT STATE …" with the local address first. Addresses are words
 * in memory order; the last word of a mapped IPv6 address is the IPv4 address. */
static void note_listener(const char *line, bool listened[256])
{
    enum { LISTEN = 0x0a, WORD = 8, LOOPBACK = 127 };
    const char *local = strchr(line, ':'), *port = local ? strchr(local + 1, ':') : NULL;
    const char *remote = port ? strchr(port, ' ') : NULL;
    const char *state = remote ? strchr(remote + 1, ' ') : NULL;
    uint32_t word;
    uint8_t bytes[sizeof word];

    if (!state || port - local <= WORD || strtoul(state, NULL, 16) != LISTEN)
        return;
    word = (uint32_t)strtoul(port - WORD, NULL, 16);
    memcpy(bytes, &word, sizeof bytes);
    if (bytes[0] == LOOPBACK)
        listened[bytes[1]] = true;
}

/* Finds the ranges in which programs listen. Such programs belong to pods that outlived the process
 * that had locked their range. */
static void find_listeners(bool listened[256])
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        FILE *table = fopen(tables[i], "re");
        char line[256]; /* a line of /proc/net/tcp has about 150 bytes */

        while (table && fgets(line, sizeof line, table))
            note_listener(line, listened);
        if (table)
            fclose(table);
    }
}

uint8_t address_range_lock(uint8_t wanted, int *out_fd)
{
    bool listened[256] = {false};

    if (wanted && (*out_fd = lock(wanted)) >= 0)
        return wanted;
    find_listeners(listened);
    for (int avoid = 1; avoid >= 0; avoid--)
        for (int second = FIRST; second < END; second += STEP)
            if (!(avoid && listened[second]) && (*out_fd = lock((uint8_t)second)) >= 0)
                return (uint8_t)second;
    return 0;
}
