/*
 * Connects a child with the response to a request: whichever of them ends first ends the other.
 */
#include "web/child_answer.h"

static void drop(struct child_answer *answer)
{
    child_release(&answer->child);
    answer->release(answer);
}

static void on_done(struct child *child)
{
    struct child_answer *answer = container_of(child, struct child_answer, child);

    answer->write(answer);
    drop(answer);
}

static void cancel(struct web_stream *stream)
{
    drop(container_of(stream, struct child_answer, stream));
}

static const struct web_stream_ops ops = {.cancel = cancel};

void child_answer_init(struct child_answer *answer, struct web_server *server,
                       struct api_response *response)
{
    answer->stream = (struct web_stream){&ops, server, response};
    answer->child.done = on_done;
}

void *child_answer_start(struct child_answer *answer)
{
    struct error err = {0};

    if (child_start(answer->stream.server->children, &answer->child, &err))
        return &answer->stream;
    return child_answer_refuse(answer, &err);
}

void *child_answer_refuse(struct child_answer *answer, const struct error *err)
{
    struct web_server *server = answer->stream.server;
    struct api_response *response = answer->stream.response;

    drop(answer);
    return web_answer_error(server, response, err);
}
