#pragma once
/*
 * What standard output is: a terminal or not, how wide, whether colours are welcome (NO_COLOR,
 * TERM=dumb).
 */
#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

enum color {
    COLOR_NONE,
    COLOR_DIM,
    COLOR_BOLD,
    COLOR_RED,
    COLOR_GREEN,
    COLOR_YELLOW,
    COLOR_BLUE,
    COLOR_CYAN
};

struct term {
    bool is_tty;
    bool colors;
    bool utf8; /* the locale's characters; without, only ASCII is drawn */
    int columns, rows;
};

void term_look(struct term *term, FILE *stream);                   /* again after SIGWINCH */
const char *term_color(const struct term *term, enum color color); /* "" without colours */
const char *term_reset(const struct term *term);

/** Columns a UTF-8 text takes, as wcwidth counts. */
int term_text_width(const char *text);
/** Print `text` cut or padded to exactly `width` columns; an ellipsis marks a cut. */
void term_print_cell(FILE *out, const char *text, int width);
/** The same into a buffer, for what is drawn: in ASCII where `term` knows no more. */
void term_write_cell(const struct term *term, const char *text, int width, struct buf *out);
/** Append a line of a program's output as a terminal may see it: no control characters but tabs and
 * colours, of what overwrites itself by carriage returns only the last. */
void term_write_line(const char *line, size_t len, struct buf *out);
