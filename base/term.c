/*
 * Looks at standard output once; texts are cut and measured by the columns they take, not by bytes.
 */
#include "base/term.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

void term_look(struct term *term, FILE *stream)
{
    struct winsize size = {0};
    const char *name = getenv("TERM"), *no_color = getenv("NO_COLOR");

    *term = (struct term){.columns = 80, .rows = 24};
    term->is_tty = isatty(fileno(stream)) && name && strcmp(name, "dumb") != 0;
    term->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    term->colors = term->is_tty && !(no_color && *no_color);
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        term->columns = size.ws_col;
        term->rows = size.ws_row > 0 ? size.ws_row : 24;
    }
}

const char *term_color(const struct term *term, enum color color)
{
    static const char *const codes[] = {
        [COLOR_NONE] = "",         [COLOR_DIM] = "\033[2m",    [COLOR_BOLD] = "\033[1m",
        [COLOR_RED] = "\033[31m",  [COLOR_GREEN] = "\033[32m", [COLOR_YELLOW] = "\033[33m",
        [COLOR_BLUE] = "\033[34m", [COLOR_CYAN] = "\033[36m",
    };

    return term->colors ? codes[color] : "";
}

const char *term_reset(const struct term *term)
{
    return term->colors ? "\033[0m" : "";
}

/* Returns the character at `text`, its bytes and its width; bytes that are no UTF-8 count as one
 * column each. */
static size_t next_char(const char *text, mbstate_t *state, int *width)
{
    wchar_t wide;
    size_t n = mbrtowc(&wide, text, strlen(text), state);

    if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
        memset(state, 0, sizeof *state);
        *width = 1;
        return 1;
    }
    *width = wcwidth(wide);
    if (*width < 0)
        *width = 0;
    return n;
}

int term_text_width(const char *text)
{
    mbstate_t state = {0};
    int total = 0, width;

    while (*text) {
        text += next_char(text, &state, &width);
        total += width;
    }
    return total;
}

static void write_cell(const char *text, int width, const char *ellipsis, struct buf *out)
{
    mbstate_t state = {0};
    bool cut = term_text_width(text) > width;
    int room = cut ? width - 1 : width, used = 0;

    while (*text) {
        int w;
        size_t n = next_char(text, &state, &w);

        if (used + w > room)
            break;
        buf_add(out, text, n);
        text += n;
        used += w;
    }
    if (cut && width > 0) {
        buf_str(out, ellipsis);
        used++;
    }
    if (used < width)
        buf_printf(out, "%*s", width - used, "");
}

void term_write_cell(const struct term *term, const char *text, int width, struct buf *out)
{
    write_cell(text, width, term->utf8 ? "…" : "~", out);
}

void term_print_cell(FILE *out, const char *text, int width)
{
    scoped(buf) struct buf cell = {0};

    write_cell(text, width, "…", &cell);
    if (cell.len)
        fwrite(cell.data, 1, cell.len, out);
}

/* A character of a program's output, or a whole control sequence. */
struct unit {
    size_t len;
    enum { UNIT_PRINTED, UNIT_COLOR, UNIT_DROPPED } type;
};

/* Returns the length of a control sequence (CSI) at the start of `text`: its last byte is the first
 * one from '@' on; the sequence of a colour ends with 'm'. */
static struct unit control_sequence(const char *text, size_t len)
{
    size_t n = 2;

    while (n < len && text[n] >= ' ' && text[n] <= '?')
        n++;
    if (n == len)
        return (struct unit){len, UNIT_DROPPED};
    for (size_t i = 2; i < n; i++)
        if ((text[i] < '0' || text[i] > '9') && text[i] != ';')
            return (struct unit){n + 1, UNIT_DROPPED};
    return (struct unit){n + 1, text[n] == 'm' ? UNIT_COLOR : UNIT_DROPPED};
}

/* Returns the length of a command to the terminal (OSC), such as one that sets its title: up to BEL
 * or ESC \. */
static struct unit terminal_command(const char *text, size_t len)
{
    for (size_t n = 2; n < len; n++) {
        if (text[n] == '\a')
            return (struct unit){n + 1, UNIT_DROPPED};
        if (text[n] == '\033')
            return (struct unit){n + 1 < len ? n + 2 : len, UNIT_DROPPED};
    }
    return (struct unit){len, UNIT_DROPPED};
}

static struct unit next_unit(const char *text, size_t len)
{
    unsigned char c = (unsigned char)text[0];

    if (c == '\033' && len > 1 && text[1] == '[')
        return control_sequence(text, len);
    if (c == '\033' && len > 1 && text[1] == ']')
        return terminal_command(text, len);
    return (struct unit){1, (c >= ' ' && c != 0x7f) || c == '\t' ? UNIT_PRINTED : UNIT_DROPPED};
}

/* Returns what is seen of a line that overwrites itself: the text behind its last carriage
 * return. */
static const char *last_text(const char *line, size_t *len)
{
    size_t from;

    while (*len && line[*len - 1] == '\r')
        --*len;
    from = *len;
    while (from && line[from - 1] != '\r')
        from--;
    *len -= from;
    return line + from;
}

void term_write_plain(const char *line, size_t len, struct buf *out)
{
    struct unit unit;

    line = last_text(line, &len);
    for (size_t i = 0; i < len; i += unit.len) {
        unit = next_unit(line + i, len - i);
        if (unit.type == UNIT_PRINTED)
            buf_char(out, line[i] == '\t' ? ' ' : line[i]);
    }
}

void term_write_line(const char *line, size_t len, struct buf *out)
{
    bool colored = false;
    struct unit unit;

    line = last_text(line, &len);
    for (size_t i = 0; i < len; i += unit.len) {
        unit = next_unit(line + i, len - i);
        if (unit.type != UNIT_DROPPED)
            buf_add(out, line + i, unit.len);
        colored |= unit.type == UNIT_COLOR;
    }
    if (colored)
        buf_str(out, "\033[0m");
}
