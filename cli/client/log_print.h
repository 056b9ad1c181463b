#pragma once
/*
 * Prints lines of several programs to one stream, each behind the name of its source.
 *
 * A line that its program rewrites, with carriage returns, is printed as it grows: after each
 * return stands the name again, so that the line keeps it. Bytes are printed as they are. When
 * another source prints in between, the unfinished line is ended; it goes on in a line of its own,
 * at most once a second, with the text that is seen of it then.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"

/* The line that a source is writing. `label` is set by its owner, the rest starts with zeros. */
struct log_line {
    const char *label;         /* label of the source, printed in brackets */
    const char *color, *reset; /* colour codes around the brackets; NULL: none */
    size_t shown;              /* number of bytes of the line that have been printed */
    bool grows;                /* the line has been rewritten */
    bool begun;                /* a part of the line has been printed */
    bool returned;             /* the cursor stands before the brackets */
    int64_t opened_ns;         /* time at which the line last began or grew */
};

struct log_printer {
    FILE *out;
    struct clock *clock;
    const struct log_line *open; /* the line that is printed in part; NULL: none */
};

/** Prints what is new of an unfinished line, if it is one that its program rewrites. `text` is the
 * line so far. */
void log_print_growing(struct log_printer *printer, struct log_line *line, const char *text,
                       size_t len);
/** Prints what is new of a line that is complete, and its newline. */
void log_print_whole(struct log_printer *printer, struct log_line *line, const char *text,
                     size_t len);
/** Ends the line that is printed in part. It is called before anything else is printed. */
void log_print_break(struct log_printer *printer);
/** Returns how many bytes at the front of an unfinished line are not needed any more, because they
 * have been printed and rewritten. The owner removes them before the next call. */
size_t log_print_forget(struct log_line *line, const char *text, size_t len);
