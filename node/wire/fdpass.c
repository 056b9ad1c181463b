/*
 * Passes file descriptors between processes with sendmsg, recvmsg and SCM_RIGHTS.
 */
#include "node/wire/fdpass.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control { /* ancillary data with room for the file descriptors, aligned */
    struct cmsghdr header;
    char room[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
};

bool fdpass_send(int socket_fd, const void *bytes, size_t len, const int *fds, size_t n, int flags)
{
    /* Sendmsg only reads the bytes, but its struct is not const. */
    struct iovec part = {(void *)(size_t)bytes, len};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;

    assert(n <= FDPASS_MAX);
    if (n) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n * sizeof *fds);
        control.header = (struct cmsghdr){CMSG_LEN(n * sizeof *fds), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), fds, n * sizeof *fds);
    }
    do
        sent = sendmsg(socket_fd, &message, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)len;
}

int fdpass_receive(int socket_fd, void *out, size_t len, int out_fds[FDPASS_MAX], int flags)
{
    struct iovec part = {out, len};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t received;
    size_t bytes = 0;

    do
        received = recvmsg(socket_fd, &message, flags | MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (message.msg_controllen && control.header.cmsg_type == SCM_RIGHTS)
        bytes = control.header.cmsg_len - CMSG_LEN(0);
    memcpy(out_fds, CMSG_DATA(&control.header), bytes);
    if (received == (ssize_t)len)
        return (int)(bytes / sizeof *out_fds);
    for (size_t i = 0; i < bytes / sizeof *out_fds; i++)
        close(out_fds[i]);
    return -1;
}
