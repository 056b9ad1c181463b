#pragma once
/*
 * Text from outside as HTML that shows it and does nothing else.
 */
#include <stddef.h>

#include "base/buf.h"

/** Appends text: markup is escaped, bytes that are not UTF-8 become U+FFFD. Control characters and
 * those that change the direction of text are shown as "[U+202E]"; newlines and tabs stay. */
void html_text(const char *text, size_t len, struct buf *out);
