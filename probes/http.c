/*
 * httpGet: one GET, decided by the status code; 200 to 399 passes.
 */
#include <string.h>
#include <strings.h>

#include "probes/http_exchange.h"

/* Headers and path are checked here as well as at admission (SEC-15). */
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

/* The URL of the request. Blanks, control characters and bytes beyond ASCII in the path are
 * escaped. */
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

/* Returns whether the probe passes. A response whose body was cut at the limit still has a status
 * that counts. */
static bool passed(struct http_exchange *exchange, CURLcode result)
{
    long status = http_exchange_status(exchange);

    return (result == CURLE_OK || result == CURLE_WRITE_ERROR) && status >= 200 && status < 400;
}

/* A header without a name is ignored. */
static bool header_fits(const struct probe_header *header)
{
    return !header->name || !*header->name ||
           header_allowed(header->name, header->value ? header->value : "");
}

static void add_header(struct http_exchange *exchange, const struct probe_header *header)
{
    const char *value = header->value ? header->value : "";
    scoped(buf) struct buf text = {0};

    if (!header->name || !*header->name)
        return;
    buf_str(&text, header->name);
    buf_str(&text, *value ? ": " : ";"); /* "Name;" is curl's way to send an empty value */
    buf_str(&text, value);
    http_exchange_header(exchange, text.data);
}

bool probe_http_start(struct probe_http_client *client, struct probe_attempt *attempt,
                      const struct probe_http *entry, const struct probe_address *address)
{
    scoped(buf) struct buf url = {0};
    const struct probe_header own = {entry->header_name, entry->header_value};
    struct http_exchange *exchange;

    if (!write_url(entry, address, &url) || !header_fits(&own))
        return false;
    for (size_t i = 0; i < entry->n_headers; i++)
        if (!header_fits(&entry->headers[i]))
            return false;
    exchange = http_exchange_new(client, attempt, address, passed);
    add_header(exchange, &own);
    for (size_t i = 0; i < entry->n_headers; i++)
        add_header(exchange, &entry->headers[i]);
    curl_easy_setopt(http_exchange_easy(exchange), CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    http_exchange_start(exchange, url.data, probe_timeout_ms(entry->timeout_s));
    return true;
}
