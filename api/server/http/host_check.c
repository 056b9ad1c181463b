/*
 * Compares the Host header, without its port, with the names of this server, and the Origin header
 * with the allowed origins.
 */
#include "api/server/http/host_check.h"

#include <string.h>
#include <strings.h>

/* Returns the name in "name", "name:port" or "[::1]:port". */
static struct header_value without_port(struct header_value host)
{
    const char *end;

    if (host.len && host.text[0] == '[') {
        end = memchr(host.text, ']', host.len);
        return end ? (struct header_value){host.text + 1, (size_t)(end - host.text) - 1}
                   : (struct header_value){host.text, 0};
    }
    end = memchr(host.text, ':', host.len);
    return end ? (struct header_value){host.text, (size_t)(end - host.text)} : host;
}

static bool is_one_of(struct header_value value, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == value.len && strncasecmp(words[i], value.text, value.len) == 0)
            return true;
    return false;
}

bool host_check(const struct host_list *list, const struct request_head *head, struct error *err)
{
    if (head->origin.text && !is_one_of(head->origin, list->origins, list->n_origins))
        return error_set(err, ERR_FORBIDDEN, "",
                         "requests from web pages are refused: origin \"%.*s\" is not allowed",
                         (int)head->origin.len, head->origin.text);
    if (head->host.text && is_one_of(without_port(head->host), list->hosts, list->n_hosts))
        return true;
    return error_set(err, ERR_FORBIDDEN, "",
                     "this server does not answer to the name \"%.*s\"; add it with --tls-name",
                     (int)head->host.len, head->host.text ? head->host.text : "");
}
