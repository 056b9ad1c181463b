/*
 * Compares headers that scripts cannot set with what a browser sends for our own page.
 */
#include "web/request_check.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

static bool is_text(struct header_value value, const char *text)
{
    return value.text && value.len == strlen(text) && memcmp(value.text, text, value.len) == 0;
}

/* Whether `text` is empty or a port, ":" and digits. */
static bool is_port(const char *text, size_t len)
{
    enum { PORT_DIGITS = 5 };

    if (len == 0)
        return true;
    if (text[0] != ':' || len == 1 || len > PORT_DIGITS + 1)
        return false;
    for (size_t i = 1; i < len; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return true;
}

static bool is_loopback(struct header_value host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; host.text && i < countof(names); i++) {
        size_t len = strlen(names[i]);

        if (host.len >= len && strncasecmp(host.text, names[i], len) == 0 &&
            is_port(host.text + len, host.len - len))
            return true;
    }
    return false;
}

/* Whether the Origin is scheme and Host of this very request. */
static bool is_own_origin(struct header_value origin, struct header_value host, const char *scheme)
{
    size_t len = strlen(scheme);

    return origin.len == len + host.len && memcmp(origin.text, scheme, len) == 0 &&
           strncasecmp(origin.text + len, host.text, host.len) == 0;
}

/* Whether the request line asks for the shell, which holds no data: any path below /ui/ but those
 * of data, assets and sign-in. */
static bool asks_shell(const char *bytes, size_t len)
{
    static const char begins[] = "GET /ui/";
    static const char *const others[] = {"api/", "a/", "v1/", "sign", "ticket"};

    if (len < sizeof begins - 1 || memcmp(bytes, begins, sizeof begins - 1) != 0)
        return false;
    for (size_t i = 0; i < countof(others); i++) {
        size_t other = strlen(others[i]), from = sizeof begins - 1;

        if (len >= from + other && memcmp(bytes + from, others[i], other) == 0)
            return false;
    }
    return true;
}

/* Browsers send these headers for loopback addresses, too, and scripts cannot set them. A client
 * that is no browser sends none. */
static bool check_site(const char *bytes, size_t len, const struct request_head *head)
{
    if (!head->fetch_site.text || is_text(head->fetch_site, "same-origin"))
        return true;
    return is_text(head->fetch_mode, "navigate") &&
           (!head->fetch_dest.text || is_text(head->fetch_dest, "document")) &&
           asks_shell(bytes, len);
}

static bool check_host(const struct host_list *hosts, const struct request_head *head,
                       struct error *err)
{
    const struct request_head host_only = {.host = head->host};

    if (hosts)
        return host_check(hosts, &host_only, err);
    return is_loopback(head->host) ||
           error_set(err, ERR_FORBIDDEN, "",
                     "this page answers to the names 127.0.0.1, localhost and [::1] only");
}

bool request_check(const struct host_list *hosts, const char *bytes, size_t len,
                   const struct request_head *head, struct error *err)
{
    const char *scheme = hosts ? "https://" : "http://";

    if (!check_host(hosts, head, err))
        return false;
    if (head->origin.text && !is_own_origin(head->origin, head->host, scheme))
        return error_set(err, ERR_FORBIDDEN, "", "requests from other web pages are refused");
    return check_site(bytes, len, head) ||
           error_set(err, ERR_FORBIDDEN, "", "requests from other sites are refused");
}
