#pragma once
/*
 * Text of an enum's members from its X-macro list, and back.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Entry of a text table made from a list: static const char *const texts[] =
 * {JOB_PHASES(ENUM_TEXT)}; */
#define ENUM_TEXT(name, text) text,

/** The position of `text` among `count` texts; NULL counts as "". False when it is none of them. */
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
