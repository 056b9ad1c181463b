/*
 * Connects a child with the response to a request: whichever of them ends first ends the other.
 */
#include "web/child_response.h"

static void drop(struct child_response *answer)
{
    child_release(&answer->child);
    answer->release(answer);
}

static void on_done(struct child *child)
{
    struct child_response *answer = container_of(child, struct child_response, child);

    answer->write(answer);
    drop(answer);
}

static void cancel(struct web_stream *stream)
{
    drop(container_of(stream, struct child_response, stream));
}

static const struct web_stream_ops ops = {.cancel = cancel};

void child_response_init(struct child_response *answer, struct web_server *server,
                         struct api_response *response)
{
    answer->stream = (struct web_stream){&ops, server, response};
    answer->child.done = on_done;
}

void *child_response_start(struct child_response *answer)
{
    struct error err = {0};

    if (child_start(answer->stream.server->children, &answer->child, &err))
        return &answer->stream;
    return child_response_refuse(answer, &err);
}

void *child_response_refuse(struct child_response *answer, const struct error *err)
{
    struct web_server *server = answer->stream.server;
    struct api_response *response = answer->stream.response;

    drop(answer);
    return web_respond_error(server, response, err);
}
