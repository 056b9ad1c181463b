/*
 * Errors as values. Text is formatted in a local buffer, because the arguments may point into the
 * error itself.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* clang-format off */
#define ERROR_ROW(name, status, reason) [ERR_##name] = {status, reason},
static const struct {
    int status;
    const char *reason;
} codes[ERROR_CODE_N] = {ERROR_CODES(ERROR_ROW)};
#undef ERROR_ROW
/* clang-format on */

int error_http_status(enum error_code code)
{
    return (unsigned)code < ERROR_CODE_N ? codes[code].status : codes[ERR_INTERNAL].status;
}

const char *error_reason(enum error_code code)
{
    return (unsigned)code < ERROR_CODE_N ? codes[code].reason : codes[ERR_INTERNAL].reason;
}

/* Returns the longest length ≤ max that does not cut a UTF-8 sequence of text in two. */
static size_t utf8_cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((unsigned char)text[max] & 0xC0) == 0x80)
        max--;
    return max;
}

static void copy_cut(char *out, size_t size, const char *text)
{
    size_t len = utf8_cut(text, strlen(text), size - 1);

    memmove(out, text, len);
    out[len] = '\0';
}

/* Twice the room of a message: enough to see whether the cut falls inside a character. */
enum { SCRATCH = 2 * ERROR_MESSAGE_MAX };

static void set(struct error *err, enum error_code code, const char *field, const char *message)
{
    char kept[ERROR_FIELD_MAX];

    copy_cut(kept, sizeof kept, field ? field : "");
    err->code = code;
    memcpy(err->field, kept, sizeof kept);
    copy_cut(err->message, sizeof err->message, message);
}

PRINTF_LIKE(4, 0)
static void set_text(struct error *err, enum error_code code, const char *field, const char *format,
                     va_list args)
{
    char message[SCRATCH];

    vsnprintf(message, sizeof message, format, args);
    set(err, code, field, message);
}

bool error_set(struct error *err, enum error_code code, const char *field, const char *format, ...)
{
    if (!err)
        return false;

    va_list args;

    va_start(args, format);
    set_text(err, code, field, format, args);
    va_end(args);
    return false;
}

static enum error_code code_of_errno(int value)
{
    switch (value) {
    case ENOENT:
        return ERR_NOT_FOUND;
    case EEXIST:
        return ERR_EXISTS;
    case ENOSPC:
    case EDQUOT:
        return ERR_STORAGE;
    case ETIMEDOUT:
        return ERR_TIMEOUT;
    default:
        return ERR_INTERNAL;
    }
}

bool error_errno(struct error *err, int errno_value, const char *format, ...)
{
    if (!err)
        return false;

    int value = errno_value < 0 ? -errno_value : errno_value; /* libuv's codes are negative */
    const char *text = strerrordesc_np(value);
    char message[SCRATCH];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);

    /* A buffer of its own, so that a long name before the reason does not cut it off. */
    char reason[128];
    int reason_len = text ? snprintf(reason, sizeof reason, ": %s", text)
                          : snprintf(reason, sizeof reason, ": error %d", value);
    size_t cut = utf8_cut(message, strlen(message), ERROR_MESSAGE_MAX - 1 - (size_t)reason_len);

    memcpy(message + cut, reason, (size_t)reason_len + 1);
    set(err, code_of_errno(value), "", message);
    return false;
}

void error_prefix(struct error *err, const char *format, ...)
{
    if (!err)
        return;

    char message[SCRATCH];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (len < 0)
        return;

    /* Half of the room is kept for the reason. */
    size_t inner = strlen(err->message);
    size_t kept = inner < ERROR_MESSAGE_MAX / 2 ? inner : ERROR_MESSAGE_MAX / 2;
    size_t used = utf8_cut(message, strlen(message), ERROR_MESSAGE_MAX - 1 - kept);

    snprintf(message + used, sizeof message - used, "%s", err->message);
    copy_cut(err->message, sizeof err->message, message);
}

static struct error *list_slot(struct error_list *list)
{
    if (list->count == ERROR_LIST_MAX) {
        list->dropped++;
        return NULL;
    }
    /* The capacity is 0, 4, 8, 16, 32, 64: it follows from the count and needs no field. */
    if (!list->count || (list->count >= 4 && !(list->count & (list->count - 1)))) {
        size_t cap = list->count ? list->count * 2 : 4;

        list->items = mem_resize(list->items, cap * sizeof *list->items);
    }

    struct error *slot = &list->items[list->count++];

    *slot = (struct error){0};
    return slot;
}

void error_list_add(struct error_list *list, enum error_code code, const char *field,
                    const char *format, ...)
{
    struct error *slot = list_slot(list);

    if (!slot)
        return;

    va_list args;

    va_start(args, format);
    set_text(slot, code, field, format, args);
    va_end(args);
}

void error_list_append(struct error_list *list, const struct error *err)
{
    struct error copy = *err; /* a copy, because `err` may lie in the list that moves now */
    struct error *slot = list_slot(list);

    if (slot)
        *slot = copy;
}

void error_list_release(struct error_list *list)
{
    if (!list)
        return;
    mem_free(list->items);
    *list = (struct error_list){0};
}

bool error_list_ok(const struct error_list *list, struct error *err)
{
    if (!list->count)
        return true;
    if (!err)
        return false;
    if (list->count == 1 && !list->dropped) {
        *err = list->items[0];
        return false;
    }

    char message[SCRATCH];
    char tail[48] = "";
    size_t used = 0, shown = 0;

    for (; shown < list->count; shown++) {
        const struct error *item = &list->items[shown];
        const char *between = shown ? "; " : "";
        const char *colon = item->field[0] ? ": " : "";
        int len = snprintf(message + used, sizeof message - used, "%s%s%s%s", between, item->field,
                           colon, item->message);

        /* A finding is shown whole or counted, except the first. */
        if (shown && used + (size_t)len > ERROR_MESSAGE_MAX - sizeof tail)
            break;
        used += (size_t)len;
        if (used > ERROR_MESSAGE_MAX - sizeof tail) {
            used = utf8_cut(message, strlen(message), ERROR_MESSAGE_MAX - sizeof tail);
            shown++;
            break;
        }
    }

    size_t hidden = list->count - shown + list->dropped;

    if (hidden)
        snprintf(tail, sizeof tail, "; and %zu more", hidden);
    snprintf(message + used, sizeof message - used, "%s", tail);
    set(err, list->items[0].code, "", message);
    return false;
}
