/*
 * The text after the last carriage return is what a reader sees of a line; it is what is printed
 * again after an interruption.
 */
#include "cli/client/log_print.h"

#include <string.h>

static void print_label(const struct log_printer *printer, const struct log_line *line)
{
    fprintf(printer->out, "%s[%s]%s ", line->color ? line->color : "", line->label,
            line->reset ? line->reset : "");
}

/* Returns the position of the text that follows the last carriage return before `end`. */
static size_t piece_start(const char *text, size_t end)
{
    while (end > 0 && text[end - 1] != '\r')
        end--;
    return end;
}

/* Returns the position from which a line is printed: what is new of it, or, when it was
 * interrupted, the text that is seen of it, unless that is about to be rewritten. */
static size_t print_start(const struct log_printer *printer, const struct log_line *line,
                          const char *text, size_t len)
{
    if (printer->open == line || !line->begun)
        return line->shown;
    if (line->shown < len && text[line->shown] == '\r')
        return line->shown + 1;
    return line->shown < len ? piece_start(text, line->shown) : len;
}

static void print_from(struct log_printer *printer, struct log_line *line, size_t at,
                       const char *text, size_t len)
{
    if (printer->open != line) {
        log_print_break(printer);
        print_label(printer, line);
        line->begun = true;
        line->returned = false;
        line->opened_ns = clock_mono_ns(printer->clock);
    }
    while (at < len) {
        const char *end = memchr(text + at, '\r', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;

        if (line->returned && n > 0)
            print_label(printer, line);
        line->returned = end ? true : line->returned && n == 0;
        fwrite(text + at, 1, n + (end != NULL), printer->out);
        at += n + (end != NULL);
    }
    line->shown = len;
    printer->open = line;
}

void log_print_growing(struct log_printer *printer, struct log_line *line, const char *text,
                       size_t len)
{
    enum { AGAIN_NS = 1000000000 };
    int64_t since_ns = clock_mono_ns(printer->clock) - line->opened_ns;
    size_t at = print_start(printer, line, text, len);

    line->grows = line->grows || memchr(text, '\r', len);
    if (!line->grows || at == len || (printer->open != line && line->begun && since_ns < AGAIN_NS))
        return;
    print_from(printer, line, at, text, len);
    fflush(printer->out);
}

void log_print_whole(struct log_printer *printer, struct log_line *line, const char *text,
                     size_t len)
{
    size_t at = print_start(printer, line, text, len);
    bool is_on_screen = line->begun && at == len;

    if (printer->open == line || !is_on_screen) {
        print_from(printer, line, at, text, len);
        putc('\n', printer->out);
        printer->open = NULL;
    }
    line->shown = 0;
    line->grows = line->begun = line->returned = false;
}

void log_print_break(struct log_printer *printer)
{
    if (printer->open)
        putc('\n', printer->out);
    printer->open = NULL;
}

size_t log_print_forget(struct log_line *line, const char *text, size_t len)
{
    size_t forgotten = line->grows ? piece_start(text, line->shown) : 0;

    line->shown -= forgotten;
    return forgotten;
}
