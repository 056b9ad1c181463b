/*
 * Reads the fixed beginning of a message and ignores the rest.
 */
#include "api/types/text/denial.h"

#include <stdbool.h>
#include <string.h>

static bool skip(const char **at, const char *text)
{
    size_t len = strlen(text);

    if (strncmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* Returns the text behind `RESOURCE ["NAME"] is forbidden: `; NULL: the message does not begin so. */
static const char *reason_in(const char *message)
{
    const char *at = message + strcspn(message, " \"");

    if (at != message && skip(&at, " \"")) {
        at += strcspn(at, " \"");
        if (!skip(&at, "\""))
            return NULL;
    }
    return at != message && skip(&at, " is forbidden: ") ? at : NULL;
}

/* Returns whether nothing but the name of the namespace differs. */
static bool is_closing(const char *reason)
{
    const char *at = reason;

    if (!skip(&at, "unable to create new content in namespace "))
        return false;
    at += strcspn(at, " ");
    return skip(&at, " because it is being terminated");
}

enum denial denial_of(const char *message)
{
    /* clang-format off */
    static const struct {
        const char *begins;
        enum denial denial;
    } rows[] = {
        {"exceeded quota: ",          DENIAL_QUOTA},
        {"failed quota: ",            DENIAL_QUOTA},
        {"status unknown for quota: ", DENIAL_QUOTA},
        {"User \"",                   DENIAL_RIGHTS},
    };
    /* clang-format on */
    const char *reason = reason_in(message);

    if (!reason)
        return DENIAL_OTHER;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(reason, rows[i].begins, strlen(rows[i].begins)) == 0)
            return rows[i].denial;
    return is_closing(reason) ? DENIAL_CLOSING : DENIAL_OTHER;
}
