/*
 * Responses that are known as a whole when they begin.
 */
#include <stdio.h>
#include <string.h>

#include "api/server/message/status.h"
#include "base/mem.h"
#include "web/internal.h"

struct answer {
    struct web_stream stream;
    struct task task;
    struct web_response content;
    char *texts[RESPONSE_HEADERS_MAX + 1]; /* copies of the headers and the media type */
};

static void release(struct answer *answer)
{
    for (size_t i = 0; i < countof(answer->texts); i++)
        mem_free(answer->texts[i]);
    buf_release(&answer->content.body);
    mem_free(answer);
}

void web_respond_head_now(struct api_response *response, const struct web_response *answer)
{
    const char *headers[RESPONSE_HEADERS_MAX + 1];
    bool cached = false;
    size_t n = 0;

    for (size_t i = 0; i < RESPONSE_HEADERS_MAX && answer->headers[i]; i++) {
        headers[n++] = answer->headers[i];
        cached = cached || strncmp(answer->headers[i], "Cache-Control:", 14) == 0;
    }
    if (!cached)
        headers[n++] = "Cache-Control: no-store";
    response->head(response, answer->status,
                   answer->media_type ? answer->media_type : "application/json", headers, n);
}

void web_respond_now(struct api_response *response, struct web_response *answer)
{
    web_respond_head_now(response, answer);
    if (answer->body.len)
        response->data(response, answer->body.data, answer->body.len);
    response->end(response);
    buf_release(&answer->body);
}

enum { RETRY_BYTES = 32 };

/* Makes the answer of an error. One that passes by itself says when to try again. */
static struct web_response error_answer(const struct error *err, char retry[RETRY_BYTES])
{
    struct web_response answer = {.status = error_http_status(err->code)};
    int retry_s = status_retry_after_s(err->code);

    if (retry_s) {
        snprintf(retry, RETRY_BYTES, "Retry-After: %d", retry_s);
        answer.headers[0] = retry;
    }
    status_write_error(err, &(struct status_subject){0}, &answer.body);
    return answer;
}

void web_respond_error_now(struct api_response *response, const struct error *err)
{
    char retry[RETRY_BYTES];
    struct web_response answer = error_answer(err, retry);

    web_respond_now(response, &answer);
}

static void on_turn(struct task *task)
{
    struct answer *answer = container_of(task, struct answer, task);

    web_respond_now(answer->stream.response, &answer->content);
    release(answer);
}

static void cancel(struct web_stream *stream)
{
    struct answer *answer = container_of(stream, struct answer, stream);

    loop_cancel(stream->server->loop, &answer->task);
    release(answer);
}

static const struct web_stream_ops ops = {.cancel = cancel};

void *web_respond(struct web_server *server, struct api_response *response,
                  struct web_response *content)
{
    struct answer *answer = mem_alloc(sizeof *answer);

    answer->stream = (struct web_stream){&ops, server, response};
    answer->content = *content;
    content->body = (struct buf){0};
    for (size_t i = 0; i < RESPONSE_HEADERS_MAX && content->headers[i]; i++)
        answer->content.headers[i] = answer->texts[i] = mem_strdup(content->headers[i]);
    answer->content.media_type = answer->texts[RESPONSE_HEADERS_MAX] =
        mem_strdup(content->media_type);
    answer->task.run = on_turn;
    loop_post(server->loop, &answer->task);
    return &answer->stream;
}

void *web_respond_error(struct web_server *server, struct api_response *response,
                        const struct error *err)
{
    char retry[RETRY_BYTES];
    struct web_response answer = error_answer(err, retry);

    return web_respond(server, response, &answer);
}

void *web_refuse(struct web_server *server, struct api_response *response, enum error_code code,
                 const char *why)
{
    struct error err = {0};

    error_set(&err, code, "", "%s", why);
    return web_respond_error(server, response, &err);
}

void *web_refuse_method(struct web_server *server, struct api_response *response)
{
    return web_refuse(server, response, ERR_METHOD, "this method is not allowed here");
}
