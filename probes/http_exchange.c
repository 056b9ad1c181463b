/*
 * One exchange on a libcurl handle: options that keep the peer out of everything else, bounds on
 * what it may send, and release of all of it when the exchange ends or is cancelled.
 */
#include "probes/http_exchange.h"

#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

struct probe_http_client {
    struct loop *loop;
    struct http_multi *multi;
};

struct http_exchange {
    struct probe_attempt *attempt;
    struct probe_http_client *client;
    struct http_transfer transfer;
    struct curl_slist *headers;
    struct probe_address address;
    http_exchange_fn passed;
    struct buf body, heads; /* `heads` has the lines of headers and trailers as received */
    bool heads_overflow;
};

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
    struct http_exchange *exchange = arg;

    if (exchange->body.len + size * count > PROBE_BODY_MAX)
        return 0; /* curl ends the transfer */
    buf_add(&exchange->body, data, size * count);
    return size * count;
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
    struct http_exchange *exchange = arg;

    exchange->heads_overflow = exchange->heads.len + size * count > PROBE_HEADERS_MAX;
    if (exchange->heads_overflow)
        return 0;
    buf_add(&exchange->heads, data, size * count);
    return size * count;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct http_exchange *exchange = arg;
    int fd;

    if (!probe_address_is(&exchange->address, &to->addr, to->addrlen))
        return CURL_SOCKET_BAD;
    fd = probe_address_socket(&exchange->address);
    return fd >= 0 ? fd
                   : socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
}

static struct probe_attempt *finish(struct http_exchange *exchange)
{
    struct probe_attempt *attempt = exchange->attempt;

    attempt->operation = NULL;
    curl_easy_cleanup(exchange->transfer.easy);
    curl_slist_free_all(exchange->headers);
    buf_release(&exchange->body);
    buf_release(&exchange->heads);
    loop_unhold(exchange->client->loop);
    mem_free(exchange);
    return attempt;
}

static void on_done(struct http_transfer *transfer, CURLcode result)
{
    struct http_exchange *exchange = container_of(transfer, struct http_exchange, transfer);
    bool ok = !exchange->heads_overflow && exchange->passed(exchange, result);
    struct probe_attempt *attempt = finish(exchange);

    attempt->done(attempt, ok);
}

struct probe_http_client *probe_http_client_new(struct loop *loop)
{
    struct probe_http_client *client = mem_alloc(sizeof *client);

    client->loop = loop;
    client->multi = http_multi_new(loop);
    return client;
}

void probe_http_client_free(struct probe_http_client *client)
{
    if (!client)
        return;
    http_multi_free(client->multi);
    mem_free(client);
}

struct http_exchange *http_exchange_new(struct probe_http_client *client,
                                        struct probe_attempt *attempt,
                                        const struct probe_address *address,
                                        http_exchange_fn passed)
{
    struct http_exchange *exchange = mem_alloc(sizeof *exchange);

    exchange->attempt = attempt;
    exchange->client = client;
    exchange->address = *address;
    exchange->passed = passed;
    exchange->transfer = (struct http_transfer){http_multi_easy(client->multi), on_done};
    return exchange;
}

void http_exchange_header(struct http_exchange *exchange, const char *line)
{
    exchange->headers = curl_slist_append(exchange->headers, line);
}

CURL *http_exchange_easy(struct http_exchange *exchange)
{
    return exchange->transfer.easy;
}

static void set_options(struct http_exchange *exchange, const char *url, long limit_ms)
{
    CURL *easy = exchange->transfer.easy;

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L); /* like the HTTPS probes of Kubernetes */
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, limit_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, limit_ms);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "volcano-probe/1");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
}

void http_exchange_start(struct http_exchange *exchange, const char *url, int64_t timeout_ms)
{
    set_options(exchange, url, (long)timeout_ms);
    exchange->attempt->operation = exchange;
    loop_hold(exchange->client->loop);
    http_multi_add(exchange->client->multi, &exchange->transfer);
}

void probe_http_cancel(struct probe_attempt *attempt)
{
    struct http_exchange *exchange = attempt->operation;

    if (!exchange)
        return;
    http_multi_remove(exchange->client->multi, &exchange->transfer);
    finish(exchange);
}

long http_exchange_status(const struct http_exchange *exchange)
{
    long status = 0;

    curl_easy_getinfo(exchange->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

const struct buf *http_exchange_body(const struct http_exchange *exchange)
{
    return &exchange->body;
}

bool http_exchange_answered(const struct http_exchange *exchange, const char *line)
{
    const char *at = exchange->heads.data, *end = at + exchange->heads.len;
    size_t len = strlen(line);

    while (at < end) {
        const char *stop = memchr(at, '\r', (size_t)(end - at));

        if (!stop)
            return false;
        if ((size_t)(stop - at) == len && memcmp(at, line, len) == 0)
            return true;
        at = stop + 2; /* each line ends with a line feed, too */
    }
    return false;
}
