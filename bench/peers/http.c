/*
 * A bare HTTP server on a unix socket, on libmicrohttpd. Every request gets the same bytes.
 *
 *   http SOCKET BYTES
 */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct MHD_Response *response;

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_len, void **state)
{
    static int seen;

    if (*state)
        return MHD_queue_response(connection, 200, response);
    *state = &seen; /* only the head has been read */
    return MHD_YES;
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    static char body[1 << 20];

    if (argc != 3 || len > sizeof body)
        return 2;
    memset(body, 'x', len);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1024) < 0)
        return 1;
    response = MHD_create_response_from_buffer(len, body, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Content-Type", "application/json");
    if (!MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL,
                          MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END))
        return 1;
    pause();
    return 0;
}
