/*
 * HTTP on the unix socket of the data directory, or on the server a kubeconfig names, by libcurl.
 */
#include "api/server/unix_path.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client_transport.h"
#include "cli/kubeconfig.h"
#include "cli/serving.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { POLL_MAX_MS = 60000, CONNECT_MS = 10000, TRIES_MAX = 10, RETRY_MAX_S = 600 };

struct http {
    struct client base;
    CURLM *multi;
    struct unix_path socket;
    struct kubeconfig server;           /* server NULL: the socket */
    struct curl_slist *connect_to;      /* the server, when its certificate has another name */
    struct exchange *starting, **s_end; /* not yet given to libcurl; some wait for their time */
    struct exchange *cancelled;         /* not yet taken from it */
    bool inside;                        /* libcurl is calling us: it must not be called */
};

/* One request at work. */
struct exchange {
    struct client_call *call; /* NULL: cancelled */
    struct exchange *next;
    CURL *easy;
    struct curl_slist *headers;
    char *url;
    int64_t due_ns; /* when it is tried again; 0: now */
    int tries, retry_after_s;
    bool renewed; /* with new credentials, once */
};

static struct http *of(struct client *client)
{
    return container_of(client, struct http, base);
}

/* ---- one exchange ---- */

static void exchange_free(struct http *http, struct exchange *exchange)
{
    curl_multi_remove_handle(http->multi, exchange->easy);
    curl_easy_cleanup(exchange->easy);
    curl_slist_free_all(exchange->headers);
    mem_free(exchange->url);
    mem_free(exchange);
}

/* Whole seconds; 0 for a date, or anything else. */
static int seconds_of(const char *text, size_t len)
{
    int seconds = 0;
    size_t i = 0;

    while (i < len && text[i] == ' ')
        i++;
    for (; i < len && text[i] >= '0' && text[i] <= '9' && seconds <= RETRY_MAX_S; i++)
        seconds = seconds * 10 + (text[i] - '0');
    return seconds;
}

static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
    static const char warning[] = "Warning:", retry[] = "Retry-After:";
    struct exchange *exchange = ctx;

    if (n > sizeof retry && strncasecmp(line, retry, sizeof retry - 1) == 0)
        exchange->retry_after_s = seconds_of(line + sizeof retry - 1, n - (sizeof retry - 1));
    if (n > sizeof warning && strncasecmp(line, warning, sizeof warning - 1) == 0)
        client_take_warning(line + sizeof warning - 1, n - (sizeof warning - 1));
    return n;
}

static size_t on_data(char *bytes, size_t size, size_t n, void *ctx)
{
    struct exchange *exchange = ctx;
    long status = 0;

    if (!exchange->call)
        return 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    exchange->call->status = (int)status;
    client_take_data(exchange->call, bytes, n);
    return n;
}

static void add_header(struct exchange *exchange, const char *name, const char *value)
{
    scoped_str line = mem_printf("%s: %s", name, value);

    exchange->headers = curl_slist_append(exchange->headers, line);
}

static void set_blob(CURL *easy, CURLoption option, const struct buf *text)
{
    struct curl_blob blob = {text->data, text->len, CURL_BLOB_NOCOPY};

    if (text->len)
        curl_easy_setopt(easy, option, &blob);
}

static void set_server(const struct http *http, CURL *easy)
{
    const struct kubeconfig *server = &http->server;

    if (!server->server) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, http->socket.text);
        return;
    }
    set_blob(easy, CURLOPT_CAINFO_BLOB, &server->ca);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, &server->certificate);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, &server->key);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    if (http->connect_to)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, http->connect_to);
    if (strncmp(server->server, "https:", 6) != 0) /* nothing secret in the clear */
        return;
    if (server->token) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, server->token);
    } else if (server->basic) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERPWD, server->basic);
    }
}

static void set_up(struct http *http, struct exchange *exchange, const struct client_call *call)
{
    CURL *easy = exchange->easy;

    set_server(http, easy);
    curl_easy_setopt(easy, CURLOPT_URL, exchange->url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, http->server.proxy ? http->server.proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method ? call->method : "GET");
    if (call->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)call->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
}

static void put_among_starting(struct http *http, struct exchange *exchange)
{
    exchange->next = NULL;
    *http->s_end = exchange;
    http->s_end = &exchange->next;
}

static void http_start(struct client *client, struct client_call *call)
{
    struct http *http = of(client);
    struct exchange *exchange = mem_alloc(sizeof *exchange);

    exchange->call = call;
    exchange->easy = curl_easy_init();
    if (!exchange->easy)
        mem_fatal("libcurl has no handle left");
    exchange->url = mem_printf("%s%s", http->server.server ? http->server.server : "http://jobflow",
                               call->target);
    add_header(exchange, "Accept", call->accept ? call->accept : "application/json");
    if (call->body)
        add_header(exchange, "Content-Type",
                   call->content_type ? call->content_type : "application/json");
    exchange->headers = curl_slist_append(exchange->headers, "Expect:");
    for (size_t i = 0; i < http->server.n_headers; i++)
        exchange->headers = curl_slist_append(exchange->headers, http->server.headers[i]);
    kubeconfig_refresh(&http->server, CREDENTIALS_MISSING, clock_wall_ms(clock_real()), NULL);
    set_up(http, exchange, call);
    call->transport = exchange;
    put_among_starting(http, exchange);
}

static void start_all(struct http *http)
{
    struct exchange *exchange = http->starting, *next;

    int64_t now_ns = clock_mono_ns(clock_real());

    http->starting = NULL;
    http->s_end = &http->starting;
    for (; exchange; exchange = next) {
        next = exchange->next;
        exchange->next = NULL;
        if (exchange->call && exchange->due_ns > now_ns)
            put_among_starting(http, exchange);
        else if (exchange->call)
            curl_multi_add_handle(http->multi, exchange->easy);
        else
            exchange_free(http, exchange);
    }
}

static bool is_starting(const struct http *http, const struct exchange *exchange)
{
    for (const struct exchange *each = http->starting; each; each = each->next)
        if (each == exchange)
            return true;
    return false;
}

static void http_cancel(struct client_call *call)
{
    struct http *http = of(call->client);
    struct exchange *exchange = call->transport;

    call->transport = NULL;
    exchange->call = NULL;
    if (is_starting(http, exchange)) /* start_all frees it */
        return;
    if (!http->inside) {
        exchange_free(http, exchange);
        return;
    }
    exchange->next = http->cancelled;
    http->cancelled = exchange;
}

static void free_cancelled(struct http *http)
{
    struct exchange *exchange;

    while ((exchange = http->cancelled)) {
        http->cancelled = exchange->next;
        exchange_free(http, exchange);
    }
}

/* Once more, later or with new credentials: whether the answer so far is not the last word. */
static bool is_tried_again(struct http *http, struct exchange *exchange, long status)
{
    bool refused =
        status == 401 && !exchange->renewed && (http->server.plugin || http->server.token_file);
    bool busy = (status == 429 || status >= 500) && exchange->retry_after_s > 0 &&
                exchange->retry_after_s <= RETRY_MAX_S && exchange->tries < TRIES_MAX;

    if (!refused && !busy)
        return false;
    if (refused &&
        !kubeconfig_refresh(&http->server, CREDENTIALS_REFUSED, clock_wall_ms(clock_real()), NULL))
        return false;
    exchange->renewed = exchange->renewed || refused;
    exchange->tries += busy;
    exchange->due_ns =
        clock_mono_ns(clock_real()) + (busy ? (int64_t)exchange->retry_after_s * 1000000000 : 0);
    exchange->retry_after_s = 0;
    buf_clear(&exchange->call->text);
    curl_multi_remove_handle(http->multi, exchange->easy);
    set_up(http, exchange, exchange->call);
    put_among_starting(http, exchange);
    return true;
}

static void finish(struct http *http, CURL *easy, CURLcode result)
{
    struct exchange *exchange = NULL;
    struct client_call *call;
    long status = 0;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)(void *)&exchange);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    call = exchange->call;
    if (result == CURLE_OK && is_tried_again(http, exchange, status))
        return;
    call->status = (int)status;
    call->transport = NULL;
    if (result != CURLE_OK)
        error_set(&call->err, ERR_UNAVAILABLE, "",
                  http->server.server ? "no answer from %s: %s"
                                      : "the process at work in %s does not answer any more: %s",
                  http->server.server ? http->server.server : http->base.data_dir,
                  curl_easy_strerror(result));
    exchange_free(http, exchange);
    client_take_end(call);
}

/* ---- running ---- */

static void finish_all(struct http *http)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(http->multi, &left)))
        if (message->msg == CURLMSG_DONE)
            finish(http, message->easy_handle, message->data.result);
}

/* When the first of those not yet given to libcurl wants to start. */
static int until_next_start_ms(const struct http *http)
{
    int64_t now_ns = clock_mono_ns(clock_real()), wait_ms = POLL_MAX_MS;

    for (const struct exchange *each = http->starting; each; each = each->next)
        if ((each->due_ns - now_ns + 999999) / 1000000 < wait_ms)
            wait_ms = each->due_ns > now_ns ? (each->due_ns - now_ns + 999999) / 1000000 : 0;
    return (int)wait_ms;
}

static enum client_ran http_run(struct client *client, int64_t timeout_ms)
{
    struct http *http = of(client);
    int64_t ends_ns = clock_mono_ns(clock_real()) + timeout_ms * 1000000;
    int running, wait_ms = POLL_MAX_MS;

    for (;;) {
        start_all(http);
        http->inside = true;
        curl_multi_perform(http->multi, &running);
        http->inside = false;
        free_cancelled(http);
        finish_all(http);
        if (client->stopped)
            return CLIENT_STOPPED;
        if (!client->calls)
            return CLIENT_IDLE;
        wait_ms = until_next_start_ms(http);
        if (wait_ms <= 0)
            continue;
        if (timeout_ms >= 0) {
            int64_t left_ns = ends_ns - clock_mono_ns(clock_real());

            if (left_ns <= 0)
                return CLIENT_TIMED_OUT;
            if (left_ns / 1000000 < wait_ms)
                wait_ms = (int)(left_ns / 1000000) + 1;
        }
        curl_multi_poll(http->multi, NULL, 0, wait_ms, NULL);
    }
}

static void http_close(struct client *client)
{
    struct http *http = of(client);

    start_all(http); /* all are cancelled */
    curl_multi_cleanup(http->multi);
    curl_slist_free_all(http->connect_to);
    unix_path_release(&http->socket);
    kubeconfig_release(&http->server);
    mem_free(http);
}

static const struct client_ops ops = {
    .is_live = true,
    .start = http_start,
    .cancel = http_cancel,
    .run = http_run,
    .close = http_close,
};

/* ---- opening ---- */

/* A socket file may outlive its process: only connecting tells. */
static bool somebody_listens(const struct unix_path *path, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;

    memcpy(address.sun_path, path->text, sizeof address.sun_path);
    result = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&address, sizeof address);
    if (result < 0 && (errno == ECONNREFUSED || errno == ENOENT || errno == ENOTDIR))
        error_set(err, ERR_NOT_FOUND, "", "nobody listens");
    else if (result < 0)
        error_errno(err, errno, "cannot connect to %s", path->text);
    if (fd >= 0)
        close(fd);
    return result == 0;
}

static struct http *new_http(const char *data_dir)
{
    struct http *http = mem_alloc(sizeof *http);

    curl_global_init(CURL_GLOBAL_DEFAULT);
    http->base.ops = &ops;
    http->base.data_dir = mem_strdup(data_dir);
    http->s_end = &http->starting;
    http->socket.directory = -1;
    http->multi = curl_multi_init();
    return http;
}

struct client *client_http_open(const char *data_dir, struct error *err)
{
    scoped_str path = mem_printf("%s/" SERVING_SOCKET, data_dir);
    scoped(unix_path) struct unix_path socket = {.directory = -1};
    struct http *http;

    if (!unix_path_open(path, &socket, err) || !somebody_listens(&socket, err))
        return NULL;
    http = new_http(data_dir);
    http->socket = socket;
    socket.directory = -1;
    return &http->base;
}

static bool check_url(const char *url, struct error *err)
{
    return strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0 ||
           error_set(err, ERR_INVALID, "",
                     "--server: \"%s\" is no URL, like https://127.0.0.1:6480", url);
}

/* The address stays, the name asked for and checked is another. */
static bool rename_server(struct http *http, struct error *err)
{
    struct kubeconfig *server = &http->server;
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *renamed = NULL;
    bool ok = curl_url_set(url, CURLUPART_URL, server->server, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
              curl_url_set(url, CURLUPART_HOST, server->server_name, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_URL, &renamed, 0) == CURLUE_OK;

    if (ok) {
        scoped_str row = mem_printf("%s:%s:%s:%s", server->server_name, port, host, port);
        size_t len = strlen(renamed);

        http->connect_to = curl_slist_append(NULL, row);
        mem_free(server->server);
        server->server = mem_printf("%.*s", (int)(len - (renamed[len - 1] == '/')), renamed);
    } else {
        error_set(err, ERR_INVALID, "", "%s is no address of a server", server->server);
    }
    curl_free(host);
    curl_free(port);
    curl_free(renamed);
    curl_url_cleanup(url);
    return ok;
}

/* Consumes the config. */
static struct client *open_server(struct kubeconfig *config, struct error *err)
{
    struct http *http = new_http(config->server);

    http->server = *config;
    *config = (struct kubeconfig){0};
    if (kubeconfig_refresh(&http->server, CREDENTIALS_MISSING, clock_wall_ms(clock_real()), err) &&
        (!http->server.server_name || rename_server(http, err)))
        return &http->base;
    client_close(&http->base);
    return NULL;
}

struct client *client_kube_open(const char *kubeconfig, const char *url, struct error *err)
{
    const struct kubeconfig_options options = {
        .context = getenv("JOBFLOW_CONTEXT"),
        .allowed_plugin = getenv("JOBFLOW_EXEC_PLUGIN"),
    };
    scoped(kubeconfig) struct kubeconfig server = {0};

    if ((url && !check_url(url, err)) ||
        (kubeconfig && !kubeconfig_read(kubeconfig, &options, &server, err)))
        return NULL;
    if (url) {
        mem_free(server.server);
        server.server = kubeconfig_server(url);
    }
    return open_server(&server, err);
}

struct client *client_cluster_open(struct error *err)
{
    scoped(kubeconfig) struct kubeconfig server = {0};

    return kubeconfig_in_cluster(getenv("KUBERNETES_SERVICE_HOST"),
                                 getenv("KUBERNETES_SERVICE_PORT"), KUBECONFIG_ACCOUNT_DIR, &server,
                                 err)
               ? open_server(&server, err)
               : NULL;
}
