#pragma once
/*
 * Converts the members of an enum, listed in an X-macro, to text and back.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Expands to one entry of a text table: static const char *const texts[] = {JOB_PHASES(ENUM_TEXT)};
 */
#define ENUM_TEXT(name, text) text,

/** Finds the position of `text` among `count` texts; NULL counts as "". Returns false if there is
 * none. */
static inline bool enum_find(const char *const *texts, size_t count, const char *text, int *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(texts[i], text ? text : "") == 0) {
            *out = (int)i;
            return true;
        }
    }
    return false;
}
