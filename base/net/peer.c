/*
 * Compares the credentials of a listener with our own.
 */
#include "base/net/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool peer_is_ours(int socket_fd, const char *where, struct error *err)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return error_errno(err, errno, "cannot tell whose process listens in %s", where);
    return peer.uid == geteuid() || peer.uid == 0 ||
           error_set(err, ERR_FORBIDDEN, "",
                     "a process of another user listens in %s (pid %d, uid %u)", where,
                     (int)peer.pid, (unsigned)peer.uid);
}
