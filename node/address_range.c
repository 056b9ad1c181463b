/*
 * Locks on ranges of addresses. See address_range.h.
 */
#include "node/address_range.h"
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST = 10, END = 250, STEP = 2 /* the odd ones are for Services */ };

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

uint8_t address_range_lock(uint8_t wanted, int *out_fd)
{
    if (wanted && (*out_fd = lock(wanted)) >= 0)
        return wanted;
    for (uint8_t second = FIRST; second < END; second += STEP)
        if ((*out_fd = lock(second)) >= 0)
            return second;
    return 0;
}
