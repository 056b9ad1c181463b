/*
 * libcurl's callbacks on the loop. A socket of libcurl becomes a poll handle, its deadline a timer.
 * Transfers that ended are handed to their owners after each pass.
 */
#include "base/net/http_multi.h"

#include "base/mem.h"

struct http_multi {
    struct loop *loop;
    CURLM *curl;
    uv_timer_t timer;
    bool closing;
    int open_handles; /* open handles of libuv; the memory is freed with the last one */
};

/* One socket that libcurl waits for. */
struct socket_poll {
    uv_poll_t poll;
    curl_socket_t socket;
    struct http_multi *multi;
};

static void collect(struct http_multi *multi)
{
    CURLMsg *message;
    int left;

    while (!multi->closing && (message = curl_multi_info_read(multi->curl, &left))) {
        CURLcode result = message->data.result;
        char *private = NULL;
        struct http_transfer *transfer;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        transfer = (struct http_transfer *)(void *)private;
        curl_multi_remove_handle(multi->curl, transfer->easy);
        transfer->done(transfer, result);
    }
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct socket_poll *s = poll->data;
    struct http_multi *multi = s->multi;
    int what = status < 0 ? CURL_CSELECT_ERR : 0;
    int running;

    what |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    what |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    curl_multi_socket_action(multi->curl, s->socket, what, &running);
    collect(multi);
}

static void handle_closed(struct http_multi *multi)
{
    if (--multi->open_handles == 0 && multi->closing)
        mem_free(multi);
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct socket_poll *s = handle->data;

    handle_closed(s->multi);
    mem_free(s);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct http_multi *multi = arg;
    struct socket_poll *s = socket_arg;
    int events = 0;

    if (what == CURL_POLL_REMOVE) {
        if (s) {
            uv_poll_stop(&s->poll);
            uv_close((uv_handle_t *)&s->poll, on_poll_closed);
            curl_multi_assign(multi->curl, fd, NULL);
        }
        return 0;
    }
    if (!s) {
        s = mem_alloc(sizeof *s);
        s->socket = fd;
        s->multi = multi;
        s->poll.data = s;
        uv_poll_init_socket(loop_uv(multi->loop), &s->poll, fd);
        multi->open_handles++;
        curl_multi_assign(multi->curl, fd, s);
    }
    events |= what & CURL_POLL_IN ? UV_READABLE : 0;
    events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
    uv_poll_start(&s->poll, events, on_ready);
    return 0;
}

static void on_timer(uv_timer_t *timer)
{
    struct http_multi *multi = timer->data;
    int running;

    curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    collect(multi);
}

static int on_curl_timer(CURLM *curl, long timeout_ms, void *arg)
{
    struct http_multi *multi = arg;

    if (timeout_ms < 0)
        uv_timer_stop(&multi->timer);
    else /* the callback never runs inside this call, because curl is on the stack */
        uv_timer_start(&multi->timer, on_timer, (uint64_t)timeout_ms, 0);
    return 0;
}

struct http_multi *http_multi_new(struct loop *loop)
{
    struct http_multi *multi = mem_alloc(sizeof *multi);

    multi->loop = loop;
    multi->timer.data = multi;
    multi->open_handles = 1;
    uv_timer_init(loop_uv(loop), &multi->timer);
    return multi;
}

static void open_curl(struct http_multi *multi)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi->curl = curl_multi_init();
    if (!multi->curl)
        mem_fatal("curl_multi_init");
    curl_multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
    curl_multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl_multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
}

CURL *http_multi_easy(struct http_multi *multi)
{
    CURL *easy;

    if (!multi->curl)
        open_curl(multi);
    easy = curl_easy_init();
    if (!easy)
        mem_fatal("curl_easy_init");
    return easy;
}

static void on_timer_closed(uv_handle_t *handle)
{
    handle_closed(handle->data);
}

void http_multi_free(struct http_multi *multi)
{
    if (!multi)
        return;
    if (multi->curl) {
        curl_multi_cleanup(multi->curl);
        curl_global_cleanup();
    }
    multi->closing = true;
    uv_close((uv_handle_t *)&multi->timer, on_timer_closed);
}

void http_multi_add(struct http_multi *multi, struct http_transfer *transfer)
{
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    curl_multi_add_handle(multi->curl, transfer->easy);
}

void http_multi_remove(struct http_multi *multi, struct http_transfer *transfer)
{
    curl_multi_remove_handle(multi->curl, transfer->easy);
}
