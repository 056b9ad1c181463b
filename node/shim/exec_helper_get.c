/*
 * One GET, blocking, in a process of its own; only the first line of the answer counts.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/shim/exec_helper.h"

static bool ask(int fd, const char *ip, uint32_t port, const char *path)
{
    scoped_str request = mem_printf("GET %s%s HTTP/1.1\r\nHost: %s:%u\r\n"
                                    "User-Agent: jobflow-hook/1\r\nConnection: close\r\n\r\n",
                                    *path == '/' ? "" : "/", path, ip, port);
    size_t len = strlen(request);

    return !strpbrk(path, "\r\n ") && send(fd, request, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool answered_well(int fd)
{
    char head[16] = "";
    size_t len = 0;
    long status;

    while (len < sizeof head - 1) {
        ssize_t n = recv(fd, head + len, sizeof head - 1 - len, 0);

        if (n <= 0)
            break;
        len += (size_t)n;
    }
    head[len] = 0;
    status = strncmp(head, "HTTP/1.", 7) != 0 || len < 12 ? 0 : strtol(head + 9, NULL, 10);
    return status >= 200 && status < 400;
}

bool exec_helper_get(const char *ip, uint32_t port, const char *path, int64_t limit_ms)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {limit_ms / 1000, (suseconds_t)(limit_ms % 1000 * 1000)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && inet_pton(AF_INET, ip, &to.sin_addr) == 1 &&
              setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
              setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
              connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && ask(fd, ip, port, path) &&
              answered_well(fd);

    if (fd >= 0)
        close(fd);
    return ok;
}
