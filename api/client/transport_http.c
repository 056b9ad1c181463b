/*
 * HTTP with libcurl on the loop.
 *
 *   start ─► waiting ─► curl ─► done
 *
 * An exchange waits while libcurl is on the stack, because libcurl must not be called from its own
 * callbacks. It also waits while a credential plugin runs on the thread pool: no exchange starts
 * meanwhile, so that none reads credentials while they are written.
 */
#include "api/client/transport_http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/net/http_multi.h"
#include "base/version.h"

enum { CONNECT_MS = 30000, KEEPALIVE_S = 30, HEADER_BYTES_MAX = 1 << 20, SECONDS_MAX = 1000000 };

struct http_transport {
    struct transport base;
    struct loop *loop;
    struct http_multi *multi;
    struct kubeconfig config;
    char *socket; /* path of a unix socket; NULL: the server of the configuration */
    char *shown;  /* name of the server in messages */
    struct curl_slist *connect_to; /* address to connect to when the certificate has another name */
    struct carrier *waiting, **w_end;
    struct carrier *cancelled; /* cancelled while libcurl was on the stack */
    struct task task;          /* starts waiting exchanges, frees cancelled ones */
    bool inside;               /* libcurl is on the stack */
    /* The run of the credential plugin on the pool. */
    struct pool_work work;
    bool asking, asked, stale, closing;
    struct error why; /* error of the last plugin run */
};

/* The transport's state of one exchange. */
struct carrier {
    struct carrier *next;
    struct http_transport *http;
    struct exchange *exchange; /* exchange of the caller; NULL: it was cancelled */
    struct http_transfer transfer;
    struct curl_slist *headers;
    size_t header_bytes;
    bool added; /* the transfer was added to libcurl */
};

static struct http_transport *of(struct transport *transport)
{
    return container_of(transport, struct http_transport, base);
}

static void carrier_free(struct carrier *carrier)
{
    if (carrier->added)
        http_multi_remove(carrier->http->multi, &carrier->transfer);
    curl_easy_cleanup(carrier->transfer.easy);
    curl_slist_free_all(carrier->headers);
    mem_free(carrier);
}

/* Parses a number of seconds; 0 for a date or anything else. */
static int seconds_of(const char *text, size_t len)
{
    int seconds = 0;
    size_t i = 0;

    while (i < len && text[i] == ' ')
        i++;
    for (; i < len && text[i] >= '0' && text[i] <= '9' && seconds <= SECONDS_MAX; i++)
        seconds = seconds * 10 + (text[i] - '0');
    return seconds;
}

static bool header_is(const char *line, size_t len, const char *name, size_t name_len)
{
    return len > name_len && strncasecmp(line, name, name_len) == 0;
}

static void take_media_type(struct exchange *exchange, const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len && strchr("\r\n \t", text[len - 1]))
        len--;
    snprintf(exchange->media_type, sizeof exchange->media_type, "%.*s", (int)len, text);
}

static size_t on_header(char *line, size_t size, size_t len, void *ctx)
{
    static const char warning[] = "Warning:", retry[] = "Retry-After:", type[] = "Content-Type:";
    struct carrier *carrier = ctx;
    struct exchange *exchange = carrier->exchange;

    carrier->header_bytes += len;
    if (!exchange || carrier->header_bytes > HEADER_BYTES_MAX)
        return 0;
    carrier->http->inside = true;
    if (header_is(line, len, retry, sizeof retry - 1))
        exchange->retry_after_s = seconds_of(line + sizeof retry - 1, len - (sizeof retry - 1));
    if (header_is(line, len, type, sizeof type - 1))
        take_media_type(exchange, line + sizeof type - 1, len - (sizeof type - 1));
    if (header_is(line, len, warning, sizeof warning - 1))
        exchange->warning(exchange, line + sizeof warning - 1, len - (sizeof warning - 1));
    carrier->http->inside = false;
    return len;
}

static size_t on_data(char *bytes, size_t size, size_t len, void *ctx)
{
    struct carrier *carrier = ctx;
    long status = 0;

    if (!carrier->exchange)
        return 0;
    curl_easy_getinfo(carrier->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    carrier->exchange->status = (int)status;
    carrier->http->inside = true;
    carrier->exchange->data(carrier->exchange, bytes, len);
    carrier->http->inside = false;
    return len;
}

static void on_done(struct http_transfer *transfer, CURLcode result)
{
    struct carrier *carrier = container_of(transfer, struct carrier, transfer);
    struct exchange *exchange = carrier->exchange;
    struct http_transport *http = carrier->http;
    long status = 0, sent = 0;
    struct error err = {0};

    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent);
    carrier->added = false;
    if (!exchange)
        return; /* the exchange is in the list of cancelled ones */
    exchange->status = (int)status;
    exchange->sent = sent > 0;
    exchange->carrier = NULL;
    carrier_free(carrier);
    if (result != CURLE_OK)
        error_set(&err, result == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_UNAVAILABLE, "",
                  http->socket ? "the process at work in %s does not answer any more: %s"
                               : "no answer from %s: %s",
                  http->shown, curl_easy_strerror(result));
    exchange->done(exchange, result == CURLE_OK ? NULL : &err);
}

static void add_header(struct carrier *carrier, const char *name, const char *value)
{
    scoped_str line = mem_printf("%s: %s", name, value);

    carrier->headers = curl_slist_append(carrier->headers, line);
}

/* Copies the data, because a plugin may replace it during the exchange. */
static void set_blob(CURL *easy, CURLoption option, const struct buf *text)
{
    struct curl_blob blob = {text->data, text->len, CURL_BLOB_COPY};

    if (text->len)
        curl_easy_setopt(easy, option, &blob);
}

static void set_token(CURL *easy, const char *token)
{
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, token);
}

/* Of the configuration only the token counts for a local socket: the kernel says who connects, and
 * a token is shown in place of that. */
static void set_socket(const struct http_transport *http, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, http->socket);
    if (http->config.token)
        set_token(easy, http->config.token);
}

static void set_server(const struct http_transport *http, CURL *easy)
{
    const struct kubeconfig *config = &http->config;

    if (http->socket) {
        set_socket(http, easy);
        return;
    }
    set_blob(easy, CURLOPT_CAINFO_BLOB, &config->ca);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, &config->certificate);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, &config->key);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_S);
    if (http->connect_to)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, http->connect_to);
    if (strncmp(config->server, "https:", 6) != 0) /* credentials are not sent over plain HTTP */
        return;
    if (config->token) {
        set_token(easy, config->token);
    } else if (config->basic) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERPWD, config->basic);
    }
}

static void set_request(struct carrier *carrier, const struct exchange *exchange)
{
    const struct kubeconfig *config = &carrier->http->config;
    CURL *easy = carrier->transfer.easy;
    scoped_str url = mem_printf("%s%s", carrier->http->socket ? "http://jobflow" : config->server,
                                exchange->target);

    add_header(carrier, "Accept", exchange->accept ? exchange->accept : "application/json");
    if (exchange->body)
        add_header(carrier, "Content-Type",
                   exchange->content_type ? exchange->content_type : "application/json");
    carrier->headers = curl_slist_append(carrier->headers, "Expect:");
    for (size_t i = 0; i < config->n_headers; i++)
        carrier->headers = curl_slist_append(carrier->headers, config->headers[i]);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, carrier->headers);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method);
    if (exchange->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)exchange->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body_len);
    }
    if (exchange->limit_ms)
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)exchange->limit_ms);
    if (exchange->gathered && !carrier->http->socket && !config->uncompressed)
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static void set_up(struct carrier *carrier)
{
    const struct kubeconfig *config = &carrier->http->config;
    const char *agent = carrier->exchange->user_agent;
    CURL *easy = carrier->transfer.easy;

    set_server(carrier->http, easy);
    set_request(carrier, carrier->exchange);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, config->proxy ? config->proxy : "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_USERAGENT,
                     agent ? agent : "jobflow/" JOBFLOW_VERSION " (linux)");
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, carrier);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, carrier);
}

static void run_program(struct pool_work *work)
{
    struct http_transport *http = container_of(work, struct http_transport, work);

    http->why = (struct error){0};
    kubeconfig_ask(&http->config, &http->why);
}

static void destroy(struct http_transport *http);

static void program_ended(struct pool_work *work)
{
    struct http_transport *http = container_of(work, struct http_transport, work);

    http->asking = http->stale = false;
    http->asked = true;
    if (http->closing)
        destroy(http);
    else
        loop_post(http->loop, &http->task);
}

/* Returns whether exchanges can start. False while the credential plugin runs. */
static bool has_credentials(struct http_transport *http)
{
    if (http->asking)
        return false;
    if (!http->stale && kubeconfig_is_fresh(&http->config, loop_wall_ms(http->loop)))
        return true;
    http->asking = true;
    http->work.run = run_program;
    http->work.done = program_ended;
    loop_work(http->loop, &http->work);
    return false;
}

static bool refused(struct transport *transport)
{
    struct http_transport *http = of(transport);

    if (http->config.plugin)
        http->stale = true;
    return http->config.plugin || http->config.token_file;
}

static void begin(struct carrier *carrier)
{
    struct http_transport *http = carrier->http;

    carrier->transfer = (struct http_transfer){http_multi_easy(http->multi), on_done};
    set_up(carrier);
    carrier->added = true;
    http_multi_add(http->multi, &carrier->transfer);
}

static void give_up(struct carrier *carrier, const struct error *err)
{
    struct exchange *exchange = carrier->exchange;

    carrier_free(carrier);
    exchange->carrier = NULL;
    exchange->done(exchange, err);
}

static void go_on(struct task *task)
{
    struct http_transport *http = container_of(task, struct http_transport, task);
    struct error why = http->why;
    bool asked = http->asked; /* use the plugin's credentials once even if they say that they
                               * have expired */
    struct carrier *carrier;

    while ((carrier = http->cancelled)) {
        http->cancelled = carrier->next;
        carrier_free(carrier);
    }
    while ((carrier = http->waiting)) {
        if (!asked && !has_credentials(http))
            return;
        if (why.code == ERR_NONE && !kubeconfig_read_token(&http->config, &why))
            continue;
        http->waiting = carrier->next;
        if (!http->waiting)
            http->w_end = &http->waiting;
        if (why.code == ERR_NONE)
            begin(carrier);
        else
            give_up(carrier, &why);
    }
    if (!http->asking) { /* the next exchange runs the plugin again */
        http->asked = false;
        http->why = (struct error){0};
    }
}

static void start(struct transport *transport, struct exchange *exchange)
{
    struct http_transport *http = of(transport);
    struct carrier *carrier = mem_alloc(sizeof *carrier);

    carrier->http = http;
    carrier->exchange = exchange;
    exchange->carrier = carrier;
    *http->w_end = carrier;
    http->w_end = &carrier->next;
    loop_post(http->loop, &http->task);
}

static void leave_waiting(struct http_transport *http, struct carrier *carrier)
{
    struct carrier **at = &http->waiting;

    while (*at != carrier)
        at = &(*at)->next;
    *at = carrier->next;
    if (!*at)
        http->w_end = at;
}

static void cancel(struct transport *transport, struct exchange *exchange)
{
    struct http_transport *http = of(transport);
    struct carrier *carrier = exchange->carrier;

    exchange->carrier = NULL;
    carrier->exchange = NULL;
    if (!carrier->added)
        leave_waiting(http, carrier);
    if (!http->inside) {
        carrier_free(carrier);
        return;
    }
    carrier->next = http->cancelled;
    http->cancelled = carrier;
    loop_post(http->loop, &http->task);
}

static const struct transport_ops ops = {start, cancel, refused};

/* Keeps the address but requests and verifies another server name. */
static bool rename_server(struct http_transport *http, struct error *err)
{
    struct kubeconfig *config = &http->config;
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *renamed = NULL;
    bool ok = curl_url_set(url, CURLUPART_URL, config->server, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
              curl_url_set(url, CURLUPART_HOST, config->server_name, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_URL, &renamed, 0) == CURLUE_OK;

    if (ok) {
        scoped_str row = mem_printf("%s:%s:%s:%s", config->server_name, port, host, port);

        http->connect_to = curl_slist_append(NULL, row);
        mem_free(config->server);
        config->server = kubeconfig_server(renamed);
    } else {
        error_set(err, ERR_INVALID, "", "%s is no address of a server", config->server);
    }
    curl_free(host);
    curl_free(port);
    curl_free(renamed);
    curl_url_cleanup(url);
    return ok;
}

static void destroy(struct http_transport *http)
{
    http_multi_free(http->multi);
    curl_slist_free_all(http->connect_to);
    kubeconfig_release(&http->config);
    mem_free(http->socket);
    mem_free(http->shown);
    mem_free(http);
}

struct transport *transport_http_new(struct loop *loop, struct kubeconfig *config,
                                     const char *socket, const char *shown, struct error *err)
{
    struct http_transport *http = mem_alloc(sizeof *http);

    http->base.ops = &ops;
    http->loop = loop;
    http->shown = mem_strdup(shown);
    http->multi = http_multi_new(loop);
    http->config = *config;
    *config = (struct kubeconfig){0};
    http->socket = mem_strdup(socket);
    http->w_end = &http->waiting;
    http->task.run = go_on;
    if (!http->config.server_name || rename_server(http, err))
        return &http->base;
    destroy(http);
    return NULL;
}

void transport_http_free(struct transport *transport)
{
    struct http_transport *http;

    if (!transport)
        return;
    http = of(transport);
    loop_cancel(http->loop, &http->task);
    while (http->cancelled) {
        struct carrier *carrier = http->cancelled;

        http->cancelled = carrier->next;
        carrier_free(carrier);
    }
    http->closing = true;
    if (!http->asking)
        destroy(http);
}
