#include "tests/support/own_address.h"
#include "tests/unit.h"

#include <sys/socket.h>
#include <unistd.h>

struct sockaddr_in own_address(uint16_t port)
{
    uint32_t pid = (uint32_t)getpid() & 0xffff;

    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(127U << 24 | 99U << 16 | pid)};
}

int own_socket(int type, uint16_t *out_port)
{
    static uint16_t next = 20000;
    struct sockaddr_in address = own_address(next);
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    const int again = type == SOCK_STREAM;

    *out_port = next++;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    check("bind", fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}
