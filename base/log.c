/*
 * Log lines. Each is built on the stack and leaves with one write, so lines of several threads do
 * not mix.
 *
 *   2026-01-02T03:04:05.678Z INFO job phase changed job=default/train from=Running to=Completed
 */
#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timefmt.h"

enum { LINE_MAX_BYTES = 8192 };

static _Atomic int out_fd = STDERR_FILENO;
static _Atomic int out_level = LOG_WARN;
static _Atomic int out_format = LOG_TEXT;

/* clang-format off */
static const struct {
    const char *text, *json;
} levels[] = {
    [LOG_ERROR] = {"ERROR", "error"},
    [LOG_WARN]  = {"WARN",  "warn"},
    [LOG_INFO]  = {"INFO",  "info"},
    [LOG_DEBUG] = {"DEBUG", "debug"},
};
/* clang-format on */

/* A line that is full drops what follows; TAIL is kept free for closing what is open. */
enum { TAIL = 16 };

struct line {
    size_t len;
    bool cut;
    char text[LINE_MAX_BYTES];
};

static void put(struct line *line, const char *bytes, size_t len)
{
    if (line->cut || line->len + len > LINE_MAX_BYTES - TAIL) {
        line->cut = true;
        return;
    }
    memcpy(line->text + line->len, bytes, len);
    line->len += len;
}

static void put_str(struct line *line, const char *text)
{
    put(line, text, strlen(text));
}

/* Control bytes, quotes and backslashes as JSON writes them; that is also what logfmt readers take
 * inside quotes. */
static void put_escaped(struct line *line, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    const char *plain = text;

    for (;; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= 0x20 && c != 0x7f && c != '"' && c != '\\')
            continue;
        if (text != plain) {
            size_t len = (size_t)(text - plain), room = LINE_MAX_BYTES - TAIL - line->len;

            if (!line->cut && len > room) { /* keep the start of a long value */
                while (room && ((unsigned char)plain[room] & 0xC0) == 0x80)
                    room--;
                put(line, plain, room);
            }
            put(line, plain, len);
        }
        if (!c)
            return;
        plain = text + 1;

        const char quoted[] = {'\\', (char)c},
                   code[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

        if (c == '"' || c == '\\')
            put(line, quoted, sizeof quoted);
        else if (c == '\n')
            put(line, "\\n", 2);
        else if (c == '\t')
            put(line, "\\t", 2);
        else
            put(line, code, sizeof code);
    }
}

static void put_quoted(struct line *line, const char *text)
{
    put(line, "\"", 1);
    if (line->cut)
        return;
    put_escaped(line, text);
    line->text[line->len++] = '"'; /* fits: TAIL bytes of the line are kept free for it */
}

static void put_value(struct line *line, const char *text)
{
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;

        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) {
            put_quoted(line, text);
            return;
        }
    }
    if (!*text)
        put(line, "\"\"", 2);
    else
        put_escaped(line, text);
}

static void put_int(struct line *line, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    put(line, digits + at, sizeof digits - at);
}

static void put_time(struct line *line)
{
    char text[TIME_TEXT_MAX];

    time_format_nano(clock_wall_ns(clock_real()), text);
    put(line, text, sizeof "2026-01-02T03:04:05.678" - 1);
    put(line, "Z", 1);
}

static void write_text(struct line *line, enum log_level level, const char *event,
                       const struct log_kv *pairs, unsigned count)
{
    put_time(line);
    put(line, " ", 1);
    put_str(line, levels[level].text);
    put(line, " ", 1);
    put_escaped(line, event);
    for (unsigned i = 0; i < count; i++) {
        put(line, " ", 1);
        put_str(line, pairs[i].key);
        put(line, "=", 1);
        if (pairs[i].str)
            put_value(line, pairs[i].str);
        else
            put_int(line, pairs[i].num);
    }
    if (line->cut) {
        memcpy(line->text + line->len, " ...", 4);
        line->len += 4;
    }
}

static void write_json(struct line *line, enum log_level level, const char *event,
                       const struct log_kv *pairs, unsigned count)
{
    put_str(line, "{\"time\":\"");
    put_time(line);
    put_str(line, "\",\"level\":\"");
    put_str(line, levels[level].json);
    put_str(line, "\",\"event\":");
    put_quoted(line, event);
    for (unsigned i = 0; i < count && !line->cut; i++) {
        size_t before = line->len;

        put(line, ",", 1);
        put_quoted(line, pairs[i].key);
        put(line, ":", 1);

        size_t value = line->len;

        if (!line->cut && pairs[i].str)
            put_quoted(line, pairs[i].str);
        else
            put_int(line, pairs[i].num);
        if (line->len == value)
            line->len = before; /* a member without a value would not parse */
    }
    line->text[line->len++] = '}';
}

void log_to(int fd, enum log_level level, enum log_format format)
{
    out_fd = fd;
    out_level = (int)level;
    out_format = (int)format;
}

bool log_enabled(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&out_level, memory_order_relaxed);
}

void log_event(enum log_level level, const char *event, const struct log_kv *pairs, unsigned count)
{
    if (!log_enabled(level))
        return;

    int saved = errno;
    struct line line;

    line.len = 0;
    line.cut = false;
    if (out_format == LOG_JSON)
        write_json(&line, level, event, pairs, count);
    else
        write_text(&line, level, event, pairs, count);
    line.text[line.len++] = '\n';

    for (size_t done = 0; done < line.len;) {
        ssize_t n = write(out_fd, line.text + done, line.len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* the log itself cannot be written */
        done += (size_t)n;
    }
    errno = saved;
}
