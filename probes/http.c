/*
 * httpGet: one GET, decided by the status code; 200 to 399 passes.
 *
 * The peer is not trusted (T-6): no redirects, no proxies, no cookies, bounded headers and
 * body, and the address is checked again when the socket is opened (SEC-13, SEC-14).
 */
#include "base/http_multi.h"
#include "base/mem.h"
#include "probes/try.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct probe_http_client {
    struct loop *loop;
    struct http_multi *multi;
};

struct http_operation {
    struct probe_try *attempt;
    struct probe_http_client *client;
    struct http_transfer transfer;
    struct curl_slist *headers;
    struct probe_address address;
    size_t body_bytes, header_bytes;
};

/* ---- the entry, checked at use as well as at admission (SEC-15) ---- */

static const char *const forbidden_headers[] = {"Content-Length", "Transfer-Encoding", "Connection",
                                                "Upgrade", "Authorization"};

static bool is_token(const char *name)
{
    size_t len = strlen(name);

    return len && len <= PROBE_HEADER_NAME_MAX &&
           strspn(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == len;
}

static bool header_allowed(const char *name, const char *value)
{
    if (!is_token(name) || strncasecmp(name, "Proxy-", 6) == 0)
        return false;
    for (size_t i = 0; i < countof(forbidden_headers); i++)
        if (strcasecmp(forbidden_headers[i], name) == 0)
            return false;
    return strlen(value) <= PROBE_HEADER_VALUE_MAX && !strpbrk(value, "\r\n");
}

/* The path as a request line may carry it: blanks, controls and bytes beyond ASCII are escaped. */
static bool write_url(const struct probe_http *entry, const struct probe_address *address,
                      struct buf *out)
{
    const char *path = entry->path ? entry->path : "";
    bool secure = entry->scheme && strcasecmp(entry->scheme, "HTTPS") == 0;

    if (strlen(path) > PROBE_PATH_MAX)
        return false;
    buf_str(out, secure ? "https://" : "http://");
    buf_str(out, address->text);
    if (*path != '/')
        buf_char(out, '/');
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (c <= ' ' || c >= 0x7f || c == '#')
            buf_printf(out, "%%%02X", c);
        else
            buf_char(out, (char)c);
    }
    return true;
}

/* ---- bounds on what the peer sends ---- */

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
    struct http_operation *op = arg;

    op->body_bytes += size * count;
    return op->body_bytes > PROBE_BODY_MAX ? 0 : size * count; /* 0: curl ends the transfer */
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
    struct http_operation *op = arg;

    op->header_bytes += size * count;
    return op->header_bytes > PROBE_HEADERS_MAX ? 0 : size * count;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct http_operation *op = arg;
    int fd;

    if (!probe_address_is(&op->address, &to->addr, to->addrlen))
        return CURL_SOCKET_BAD;
    fd = probe_address_socket(&op->address);
    return fd >= 0 ? fd
                   : socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
}

/* ---- one transfer ---- */

static struct probe_try *finish(struct http_operation *op)
{
    struct probe_try *attempt = op->attempt;

    attempt->operation = NULL;
    curl_easy_cleanup(op->transfer.easy);
    curl_slist_free_all(op->headers);
    loop_unhold(op->client->loop);
    mem_free(op);
    return attempt;
}

/* Cut short by our own bound on the body, the answer still has its status. */
static bool passed(CURL *easy, CURLcode result)
{
    long status = 0;

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return (result == CURLE_OK || result == CURLE_WRITE_ERROR) && status >= 200 && status < 400;
}

static void on_done(struct http_transfer *transfer, CURLcode result)
{
    struct http_operation *op = container_of(transfer, struct http_operation, transfer);
    bool ok = passed(transfer->easy, result) && op->header_bytes <= PROBE_HEADERS_MAX;
    struct probe_try *attempt = finish(op);

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

static void set_options(struct http_operation *op, const struct probe_http *entry, const char *url)
{
    CURL *easy = op->transfer.easy;
    long limit_ms = (long)probe_timeout_ms(entry->timeout_s);

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L); /* as Kubernetes' own HTTPS probes */
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, limit_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, limit_ms);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "volcano-probe/1");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, op->headers);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, op);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, op);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, op);
}

/* A header without a name is none. */
static bool header_fits(const struct probe_header *header)
{
    return !header->name || !*header->name ||
           header_allowed(header->name, header->value ? header->value : "");
}

static void add_header(struct http_operation *op, const struct probe_header *header)
{
    const char *value = header->value ? header->value : "";
    scoped(buf) struct buf text = {0};

    if (!header->name || !*header->name)
        return;
    buf_str(&text, header->name);
    buf_str(&text, *value ? ": " : ";"); /* "Name;" is curl's way to send an empty value */
    buf_str(&text, value);
    op->headers = curl_slist_append(op->headers, text.data);
}

bool probe_http_start(struct probe_http_client *client, struct probe_try *attempt,
                      const struct probe_http *entry, const struct probe_address *address)
{
    scoped(buf) struct buf url = {0};
    const struct probe_header own = {entry->header_name, entry->header_value};
    struct http_operation *op;

    if (!write_url(entry, address, &url) || !header_fits(&own))
        return false;
    for (size_t i = 0; i < entry->n_headers; i++)
        if (!header_fits(&entry->headers[i]))
            return false;
    op = mem_alloc(sizeof *op);
    op->attempt = attempt;
    op->client = client;
    op->address = *address;
    op->transfer = (struct http_transfer){http_multi_easy(client->multi), on_done};
    add_header(op, &own);
    for (size_t i = 0; i < entry->n_headers; i++)
        add_header(op, &entry->headers[i]);
    set_options(op, entry, url.data);
    attempt->operation = op;
    loop_hold(client->loop);
    http_multi_add(client->multi, &op->transfer);
    return true;
}

void probe_http_cancel(struct probe_try *attempt)
{
    struct http_operation *op = attempt->operation;

    if (!op)
        return;
    http_multi_remove(op->client->multi, &op->transfer);
    finish(op);
}
