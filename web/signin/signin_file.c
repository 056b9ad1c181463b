/*
 * Keeps the sign-ins of a daemon in a file, so that they outlive its restart. For each it has hashes of
 * the two secrets that a browser must show, cookie and key; which token or user it stands for; and its
 * times, in wall time.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/types/text/json_text.h"
#include "base/encoding/hex.h"
#include "base/encoding/jsonw.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "web/signin/internal.h"

enum { FILE_BYTES_MAX = 1 << 20, NS_PER_MS = 1000000 };

static void write_digest(struct jsonw *w, const char *member, const digest bytes)
{
    char text[2 * sizeof(digest) + 1];

    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    jsonw_member_str(w, member, text);
}

static bool read_digest(const json_t *value, digest out)
{
    const char *text = json_string_value(value);

    if (!text || strlen(text) != 2 * sizeof(digest))
        return false;
    for (size_t i = 0; i < sizeof(digest); i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* Wall and monotonic times differ by what the machine was off or its clock was set. */
static int64_t wall_of(const struct signins *signins, int64_t mono_ns)
{
    const struct loop *loop = signins->options.loop;

    return loop_wall_ms(loop) - (loop_mono_ns(loop) - mono_ns) / NS_PER_MS;
}

/* A time in the future is now: a clock that was set back must not prolong a sign-in. */
static int64_t mono_of(const struct signins *signins, const json_t *value)
{
    const struct loop *loop = signins->options.loop;
    int64_t ago_ms = loop_wall_ms(loop) - json_integer_value(value);
    int64_t most_ms = SIGNIN_WHOLE_MS + 1;

    ago_ms = ago_ms < 0 ? 0 : ago_ms > most_ms ? most_ms : ago_ms;
    return loop_mono_ns(loop) - ago_ms * NS_PER_MS;
}

static bool read_signin(struct signins *signins, const json_t *from, struct signin *out)
{
    const char *credential = json_string_value(json_object_get(from, "credential"));

    *out = (struct signin){0};
    if (!credential || !read_digest(json_object_get(from, "cookie"), out->cookie) ||
        !read_digest(json_object_get(from, "key"), out->key))
        return false;
    out->made_ns = mono_of(signins, json_object_get(from, "madeMs"));
    out->used_ns = mono_of(signins, json_object_get(from, "usedMs"));
    out->credential = mem_strdup(credential);
    out->number = ++signins->made;
    return true;
}

void signins_load(struct signins *signins)
{
    scoped(buf) struct buf text = {0};
    scoped(json) json_t *doc = NULL;
    const json_t *list, *from;
    struct error err = {0};
    const char *id;
    size_t i, n = 0;

    if (!file_read(signins->options.path, FILE_BYTES_MAX, &text, &err)) {
        if (err.code != ERR_NOT_FOUND)
            log_error("the sign-ins of the page cannot be read", kv_str("error", err.message));
        return;
    }
    doc = json_parse(text.data ? text.data : "", text.len, &json_limits_body, NULL);
    id = json_string_value(json_object_get(doc, "id"));
    list = json_object_get(doc, "signins");
    if (!id || strlen(id) != SIGNIN_ID_TEXT || strspn(id, "0123456789abcdef") != SIGNIN_ID_TEXT ||
        !json_is_array(list)) {
        log_error("the sign-ins of the page are damaged, and all are over",
                  kv_str("file", signins->options.path));
        return;
    }
    memcpy(signins->id, id, SIGNIN_ID_TEXT);
    json_array_foreach((json_t *)(size_t)list, i, from)
    {
        if (n < SIGNINS_MAX && read_signin(signins, from, &signins->items[n]))
            n++;
    }
}

void signins_save(struct signins *signins)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);
    struct error err = {0};

    signins->saved_ns = loop_mono_ns(signins->options.loop);
    if (!signins->options.path)
        return;
    jsonw_open(&w);
    jsonw_member_str(&w, "id", signins->id);
    jsonw_member_open_list(&w, "signins");
    for (size_t i = 0; i < SIGNINS_MAX; i++) {
        const struct signin *signin = &signins->items[i];

        if (!signin->number)
            continue;
        jsonw_open(&w);
        write_digest(&w, "cookie", signin->cookie);
        write_digest(&w, "key", signin->key);
        jsonw_member_str(&w, "credential", signin->credential);
        jsonw_member_int(&w, "madeMs", wall_of(signins, signin->made_ns));
        jsonw_member_int(&w, "usedMs", wall_of(signins, signin->used_ns));
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
    buf_char(&text, '\n');
    if (!file_write_changed(signins->options.path, text.data, text.len, 0600, &err))
        log_error("the sign-ins of the page cannot be written", kv_str("error", err.message));
}
