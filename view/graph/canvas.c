/*
 * Each cell holds a character, or the sides by which lines leave it and the owner of these lines.
 * The box character that fits the sides is chosen when the canvas is printed.
 */
#include "view/graph/canvas.h"

#include <limits.h>
#include <wchar.h>

#include "base/mem.h"

static const char *const box_glyphs[16] = {
    " ", "╵", "╷", "│", "╴", "┘", "┐", "┤", "╶", "└", "┌", "├", "─", "┴", "┬", "┼",
};
static const char ascii_glyphs[16] = {' ', '|', '|', '|', '-', '+', '+', '+',
                                      '-', '+', '+', '+', '-', '+', '+', '+'};

void canvas_init(struct canvas *canvas, int rows, int columns)
{
    *canvas = (struct canvas){.rows = rows, .columns = columns};
    canvas->cells = mem_array((size_t)rows * (size_t)columns + 1, sizeof *canvas->cells);
}

void canvas_release(struct canvas *canvas)
{
    mem_free(canvas->cells);
    *canvas = (struct canvas){0};
}

static struct canvas_cell *cell_at(struct canvas *canvas, int row, int column)
{
    static struct canvas_cell outside;

    if (row < 0 || column < 0 || row >= canvas->rows || column >= canvas->columns)
        return &outside;
    return &canvas->cells[(size_t)row * (size_t)canvas->columns + (size_t)column];
}

void canvas_glyph(struct canvas *canvas, int row, int column, uint32_t glyph)
{
    cell_at(canvas, row, column)->glyph = glyph;
}

/* Marks the second column of a wide character, for which nothing is printed. */
enum { COVERED = 0x110000 };

void canvas_text(struct canvas *canvas, int row, int column, const char *text, enum color color,
                 bool bold)
{
    mbstate_t state = {0};

    while (*text) {
        wchar_t wide;
        size_t n = mbrtowc(&wide, text, 8, &state);
        struct canvas_cell *cell = cell_at(canvas, row, column);
        int width;

        if (n == 0 || n > 8) { /* the bytes are no character in this locale */
            wide = L'?';
            n = 1;
            state = (mbstate_t){0};
        }
        width = wcwidth(wide);
        text += n;
        if (width <= 0)
            continue;
        cell->glyph = (uint32_t)wide;
        cell->color = (uint8_t)color;
        cell->bold = bold;
        for (int i = 1; i < width; i++)
            canvas_glyph(canvas, row, column + i, COVERED);
        column += width;
    }
}

void canvas_join(struct canvas *canvas, int row, int column, unsigned directions, uint32_t owner)
{
    struct canvas_cell *cell = cell_at(canvas, row, column);
    bool is_vertical = directions & (CANVAS_UP | CANVAS_DOWN);

    if (cell->directions && cell->owner != owner) {
        if (!is_vertical)
            return; /* a line crosses this cell */
        cell->directions = 0;
    }
    cell->owner = owner;
    cell->directions |= (uint8_t)directions;
}

void canvas_across(struct canvas *canvas, int row, int from, int to, uint32_t owner)
{
    for (int column = from; column <= to; column++)
        canvas_join(canvas, row, column,
                    (column > from ? CANVAS_LEFT : 0u) | (column < to ? CANVAS_RIGHT : 0u), owner);
}

void canvas_down(struct canvas *canvas, int column, int from, int to, uint32_t owner)
{
    for (int row = from; row <= to; row++)
        canvas_join(canvas, row, column,
                    (row > from ? CANVAS_UP : 0u) | (row < to ? CANVAS_DOWN : 0u), owner);
}

void canvas_box(struct canvas *canvas, const struct canvas_box *box)
{
    int left = box->column, right = left + box->width - 1;
    int top = box->row, bottom = top + box->height - 1;

    canvas_across(canvas, top, left, right, box->owner);
    canvas_across(canvas, bottom, left, right, box->owner);
    canvas_down(canvas, left, top, bottom, box->owner);
    canvas_down(canvas, right, top, bottom, box->owner);
    for (int r = top; r <= bottom; r++)
        for (int c = left; c <= right; c += r == top || r == bottom ? 1 : box->width - 1) {
            cell_at(canvas, r, c)->color = (uint8_t)box->color;
            cell_at(canvas, r, c)->bold = box->bold;
        }
}

static void write_cell(const struct canvas_cell *cell, const struct term *term, struct buf *out)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    size_t n;

    if (!cell->glyph) {
        if (term->utf8)
            buf_str(out, box_glyphs[cell->directions]);
        else
            buf_char(out, ascii_glyphs[cell->directions]);
        return;
    }
    n = wcrtomb(bytes, (wchar_t)cell->glyph, &state);
    if (n == (size_t)-1)
        buf_char(out, '?');
    else
        buf_add(out, bytes, n);
}

static void write_row(const struct canvas *canvas, int row, const struct term *term,
                      struct buf *out)
{
    const struct canvas_cell *cells = canvas->cells + (size_t)row * (size_t)canvas->columns;
    int end = canvas->columns;
    uint8_t color = COLOR_NONE;
    bool bold = false;

    while (end && !cells[end - 1].glyph && !cells[end - 1].directions)
        end--;
    for (int c = 0; c < end; c++) {
        if (cells[c].glyph == COVERED)
            continue;
        if (cells[c].color != color || cells[c].bold != bold) {
            buf_str(out, term_reset(term));
            buf_str(out, term_color(term, (enum color)cells[c].color));
            buf_str(out, cells[c].bold ? term_color(term, COLOR_BOLD) : "");
            color = cells[c].color;
            bold = cells[c].bold;
        }
        write_cell(&cells[c], term, out);
    }
    if (color != COLOR_NONE || bold)
        buf_str(out, term_reset(term));
    buf_char(out, '\n');
}

void canvas_print(const struct canvas *canvas, const struct term *term, FILE *out)
{
    scoped(buf) struct buf text = {0};

    for (int row = 0; row < canvas->rows; row++) {
        buf_clear(&text);
        write_row(canvas, row, term, &text);
        fwrite(text.data, 1, text.len, out);
    }
}
