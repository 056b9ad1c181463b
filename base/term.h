#pragma once
/*
 * Properties of an output stream: whether it is a terminal, how wide it is, and whether colours are
 * wanted (NO_COLOR, TERM=dumb).
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
    bool utf8; /* whether the locale has Unicode; otherwise only ASCII is printed */
    int columns, rows;
};

void term_look(struct term *term, FILE *stream); /* call it again after SIGWINCH */
/** Returns "" on a terminal without colours. */
const char *term_color(const struct term *term, enum color color);
const char *term_reset(const struct term *term);

/** Columns a UTF-8 text takes, as wcwidth counts. */
int term_text_width(const char *text);
/** Prints `text` cut or padded to exactly `width` columns; an ellipsis marks a cut. */
void term_print_cell(FILE *out, const char *text, int width);
/** Appends a cell to a buffer, as term_print_cell prints one. Drawing characters become ASCII where
 * `term` has no Unicode. */
void term_write_cell(const struct term *term, const char *text, int width, struct buf *out);
/** Appends a line of a program's output in a form that is safe for a terminal: control characters
 * are removed, except tabs and colours. If the line overwrites itself with carriage returns, only
 * the last text is kept. */
void term_write_line(const char *line, size_t len, struct buf *out);
/** Appends the line as term_write_line does, but without colours, and with tabs as blanks: a text
 * whose width can be measured. */
void term_write_plain(const char *line, size_t len, struct buf *out);
