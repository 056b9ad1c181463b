#pragma once
/*
 * A grid of character cells for drawing in a terminal. Cells hold texts, or lines with their
 * directions, so that the right corner, branch or cross is printed where lines meet, in box
 * characters or in ASCII.
 *
 * Every line belongs to an owner, a number. Lines of one owner join. Where lines of two owners
 * cross, the horizontal one is interrupted, so a crossing does not look like a branch.
 */
#include <stdint.h>

#include "base/term.h"

enum canvas_direction { CANVAS_UP = 1, CANVAS_DOWN = 2, CANVAS_LEFT = 4, CANVAS_RIGHT = 8 };

struct canvas_cell {
    uint32_t glyph; /* character in the cell; 0 = none */
    uint32_t owner;
    uint8_t directions;
    uint8_t color;
    bool bold;
};

struct canvas {
    int rows, columns;
    struct canvas_cell *cells; /* the cells, [rows * columns] */
};

void canvas_init(struct canvas *canvas, int rows, int columns);
void canvas_release(struct canvas *canvas);
SCOPED_DEFINE(canvas, struct canvas, canvas_release)

/** Writes a text from a column on; the part beyond the right border is cut off. */
void canvas_text(struct canvas *canvas, int row, int column, const char *text, enum color color,
                 bool bold);
void canvas_glyph(struct canvas *canvas, int row, int column, uint32_t glyph);
/** Draws a line between two columns, or two rows, both included. Its ends point only towards the
 * line. */
void canvas_across(struct canvas *canvas, int row, int from, int to, uint32_t owner);
void canvas_down(struct canvas *canvas, int column, int from, int to, uint32_t owner);
/** Adds directions to the lines of one cell. */
void canvas_join(struct canvas *canvas, int row, int column, unsigned directions, uint32_t owner);
struct canvas_box {
    int row, column, width, height; /* position of the upper left corner, and size */
    uint32_t owner;
    enum color color;
    bool bold;
};
void canvas_box(struct canvas *canvas, const struct canvas_box *box);
/** Prints all rows without trailing blanks. */
void canvas_print(const struct canvas *canvas, const struct term *term, FILE *out);
