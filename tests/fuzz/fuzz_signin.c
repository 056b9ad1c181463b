/*
 * The head of a request to the gateway of the page. The input is a head in which "@ID@", "@K1@" and
 * "@K2@" stand for the gateway's id and the two halves of a key. A request is signed in exactly when
 * a cookie of our name has the first half and the header has the second; only requests for loopback
 * names pass; the server is asked nothing that the gateway's table forbids.
 */
/* covers: web.md WEB-028 WEB-036 WEB-048 WEB-050 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/collections/arena.h"
#include "base/mem.h"
#include "web/allowed_requests.h"
#include "web/request_check.h"
#include "web/signin/signin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct gateway {
    struct clock *clock;
    struct loop *loop;
    struct signins *signins;
    struct signin_keys keys;
};

static void start(struct gateway *gateway)
{
    char ticket[SIGNIN_SECRET_TEXT + 1];
    const struct signin_try attempt = {.ticket = ticket, .len = SIGNIN_SECRET_TEXT};

    gateway->clock = clock_virtual_new(1, 1);
    gateway->loop = loop_new(gateway->clock);
    gateway->signins =
        signins_new(&(const struct signins_options){.loop = gateway->loop, .cookie_prefix = ""});
    signins_ticket(gateway->signins, "", 1000, ticket);
    require(signins_redeem(gateway->signins, &attempt, &gateway->keys, NULL));
}

static void stop(struct gateway *gateway)
{
    signins_free(gateway->signins);
    loop_free(gateway->loop);
    clock_free(gateway->clock);
}

/* Copies the input with the secrets in the places of their names. */
static void fill_in(const struct gateway *gateway, const char *text, size_t len, struct buf *out)
{
    const struct {
        const char *name, *value;
    } places[] = {{"@ID@", signins_id(gateway->signins)},
                  {"@K1@", gateway->keys.cookie},
                  {"@K2@", gateway->keys.key}};

    for (size_t i = 0; i < len;) {
        size_t p = 0;

        while (p < countof(places) && (len - i < 4 || memcmp(text + i, places[p].name, 4) != 0))
            p++;
        if (p < countof(places))
            buf_str(out, places[p].value);
        else
            buf_char(out, text[i]);
        i += p < countof(places) ? 4 : 1;
    }
}

static bool equals(struct header_value value, const char *text)
{
    return value.text && value.len == strlen(text) && memcmp(value.text, text, value.len) == 0;
}

/* Whether one of the first eight cookies of our name is the right one: the rule, written again. */
static bool has_cookie(const struct gateway *gateway, struct header_value header)
{
    scoped_str name = mem_printf("jf-%s=", signins_id(gateway->signins));
    scoped_str all = mem_printf("%.*s", (int)header.len, header.text ? header.text : "");
    int ours = 0;
    char *rest = all, *one;

    while ((one = strsep(&rest, ";"))) {
        one += strspn(one, " ");
        if (strncmp(one, name, strlen(name)) != 0)
            continue;
        if (++ours <= 8 && strcmp(one + strlen(name), gateway->keys.cookie) == 0)
            return true;
    }
    return false;
}

static bool names_loopback(struct header_value host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; host.text && i < countof(names); i++)
        if (host.len >= strlen(names[i]) &&
            strncasecmp(host.text, names[i], strlen(names[i])) == 0 &&
            (host.len == strlen(names[i]) || host.text[strlen(names[i])] == ':'))
            return true;
    return false;
}

/* The target of the request line, as a text; NULL: there is none. */
static char *target_of(const char *bytes)
{
    const char *space = strchr(bytes, ' ');
    size_t len = space ? strcspn(space + 1, " \r") : 0;

    return space ? mem_printf("%.*s", (int)len, space + 1) : NULL;
}

/* Whether the path, which ends before the query, has a segment "..". */
static bool path_goes_up(const char *target)
{
    scoped_str path = mem_printf("%.*s/", (int)strcspn(target, "?"), target);

    return strstr(path, "/../") != NULL;
}

static void check_target(const char *target)
{
    scoped(arena) struct arena *arena = arena_new(0);
    struct gateway_request request = {.from = 2};
    struct request_target parsed;

    if (!gateway_target(target) || !request_target_parse(target, arena, &parsed, NULL) ||
        parsed.n_segments < 2)
        return;
    request.target = &parsed;
    for (int method = 0; method < API_METHOD_N; method++) {
        enum gateway_pass pass;

        request.method = (enum api_method)method;
        request.content_type = method == API_GET ? NULL : "application/json";
        pass = gateway_may_pass(&request, NULL);
        if (pass == GATEWAY_REFUSED)
            continue;
        require(method == API_GET || method == API_HEAD || method == API_POST ||
                method == API_PATCH || method == API_DELETE);
        require(!strchr(target, '#') && !path_goes_up(target));
        for (size_t i = 2; i < parsed.n_segments; i++)
            require(strcmp(parsed.segments[i], "..") != 0);
        require(parsed.n_segments < 7 || strcmp(parsed.segments[6], "secrets") != 0 ||
                pass == GATEWAY_BLIND || strcmp(parsed.segments[2], "api") != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) struct buf head = {0};
    scoped_str target = NULL;
    struct gateway gateway;
    struct request_head parsed;

    if (size > REQUEST_HEAD_BYTES_MAX)
        return 0;
    start(&gateway);
    fill_in(&gateway, (const char *)data, size, &head);
    buf_str(&head, "\r\n\r\n");
    if (memchr(head.data, '\0', head.len) == NULL &&
        request_head_parse(head.data, head.len, &parsed, NULL)) {
        bool signed_in = signins_find(gateway.signins, parsed.cookie, parsed.key) != SIGNIN_NONE;

        require(signed_in ==
                (has_cookie(&gateway, parsed.cookie) && equals(parsed.key, gateway.keys.key)));
        if (request_check(NULL, head.data, head.len, &parsed, NULL))
            require(names_loopback(parsed.host));
        target = target_of(head.data);
        if (target)
            check_target(target);
    }
    stop(&gateway);
    return 0;
}
