#pragma once
/*
 * Tables of text in columns, in the form of kubectl: three spaces between columns, columns at least
 * six characters wide. Widths are remembered and only grow, so later rows of a watch stay aligned
 * with earlier ones.
 */
#include <jansson.h>
#include <stdio.h>

#include "base/scoped.h"
#include "base/term.h"

enum { TABLE_COLUMNS_MAX = 24 };

struct table_print_options {
    bool no_headers;
    bool wide;           /* print columns of priority 1 too */
    bool with_namespace; /* print a first column NAMESPACE */
    bool show_labels;    /* print a last column LABELS */
    const char *indent;  /* text before each line; NULL: none */
    const char *prefix;  /* text before names, such as "jobflow.flow.volcano.sh/"; NULL: none */
};

struct table_print {
    FILE *out;
    struct table_print_options options;
    struct term term;
    size_t n_columns;
    char *titles[TABLE_COLUMNS_MAX];
    size_t source[TABLE_COLUMNS_MAX]; /* index of the cell in a Table's row */
    int widths[TABLE_COLUMNS_MAX];
    bool begun;
};

void table_print_init(struct table_print *print, FILE *out,
                      const struct table_print_options *options);
void table_print_release(struct table_print *print);
SCOPED_DEFINE(table_print, struct table_print, table_print_release)

/** Prints a Table document (meta.k8s.io). Its columnDefinitions, if present, replace the columns;
 * the header is printed with the first row. */
void table_print_table(struct table_print *print, const json_t *table);

/** The two functions for a table without a document: set the columns once, then print `n_rows` rows
 * of `n_columns` texts each; NULL is an empty cell. */
void table_print_columns(struct table_print *print, const char *const *titles, size_t n);
void table_print_rows(struct table_print *print, char *const *cells, size_t n_rows);

/** Returns the colour of a phase or status word; COLOR_NONE for any other. */
enum color table_print_word_color(const char *word);
