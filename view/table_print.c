/*
 * Prints the Tables that a server answers, and tables of this program. Column widths grow with the
 * rows; on a terminal, status words are coloured.
 */
#include "view/table_print.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { WIDTH_MIN = 6, GAP = 3 };

static const struct {
    const char *word;
    enum color color;
} word_colors[] = {
    /* clang-format off */
    {"Running",           COLOR_CYAN},
    {"Inqueue",           COLOR_CYAN},
    {"Active",            COLOR_GREEN},
    {"Bound",             COLOR_GREEN},
    {"Open",              COLOR_GREEN},
    {"Ready",             COLOR_GREEN},
    {"Succeed",           COLOR_GREEN},
    {"Succeeded",         COLOR_GREEN},
    {"Completed",         COLOR_GREEN},
    {"Failed",            COLOR_RED},
    {"Error",             COLOR_RED},
    {"Aborted",           COLOR_RED},
    {"Terminated",        COLOR_RED},
    {"CrashLoopBackOff",  COLOR_RED},
    {"OOMKilled",         COLOR_RED},
    {"NotReady",          COLOR_RED},
    {"Blocked",           COLOR_RED},
    {"Pending",           COLOR_YELLOW},
    {"Waiting",           COLOR_YELLOW},
    {"Restarting",        COLOR_YELLOW},
    {"Completing",        COLOR_YELLOW},
    {"Aborting",          COLOR_YELLOW},
    {"Terminating",       COLOR_YELLOW},
    {"ContainerCreating", COLOR_YELLOW},
    {"PodInitializing",   COLOR_YELLOW},
    {"Warning",           COLOR_YELLOW},
    /* clang-format on */
};

enum color table_print_word_color(const char *word)
{
    if (strncmp(word, "Init:", 5) == 0)
        return COLOR_YELLOW;
    for (size_t i = 0; i < countof(word_colors); i++)
        if (strcmp(word_colors[i].word, word) == 0)
            return word_colors[i].color;
    return COLOR_NONE;
}

static bool has_status_words(const char *title)
{
    return strcmp(title, "STATUS") == 0 || strcmp(title, "STATE") == 0 ||
           strcmp(title, "TYPE") == 0;
}

void table_print_init(struct table_print *print, FILE *out,
                      const struct table_print_options *options)
{
    *print = (struct table_print){.out = out, .options = *options};
    term_look(&print->term, out);
}

void table_print_release(struct table_print *print)
{
    for (size_t i = 0; i < print->n_columns; i++)
        mem_free(print->titles[i]);
    print->n_columns = 0;
}

static void add_column(struct table_print *print, const char *title, size_t source)
{
    char *upper = mem_strdup(title);

    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    if (print->n_columns == TABLE_COLUMNS_MAX) {
        mem_free(upper);
        return;
    }
    print->titles[print->n_columns] = upper;
    print->source[print->n_columns++] = source;
}

enum { FROM_NAMESPACE = 1000, FROM_LABELS };

static void take_definitions(struct table_print *print, const json_t *definitions)
{
    size_t i;
    json_t *definition;

    table_print_release(print);
    if (print->options.with_namespace)
        add_column(print, "NAMESPACE", FROM_NAMESPACE);
    json_array_foreach(definitions, i, definition)
    {
        const char *name = json_string_value(json_object_get(definition, "name"));

        if (print->options.wide || json_integer_value(json_object_get(definition, "priority")) == 0)
            add_column(print, name ? name : "", i);
    }
    if (print->options.show_labels)
        add_column(print, "LABELS", FROM_LABELS);
}

void table_print_columns(struct table_print *print, const char *const *titles, size_t n)
{
    table_print_release(print);
    for (size_t i = 0; i < n; i++)
        add_column(print, titles[i], i);
}

/* Returns the text of a cell up to the first line break, without control characters; owned. */
static char *clean(const char *text)
{
    size_t n = strcspn(text, "\n\r\f");
    scoped(buf) struct buf out = {0};

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            buf_printf(&out, "^%c", text[i] ^ 0x40);
        else
            buf_char(&out, text[i]);
    if (text[n])
        buf_str(&out, "...");
    return buf_take(&out);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns labels as "a=b,c=d", sorted by name; owned. */
static char *labels_text(const json_t *metadata)
{
    json_t *labels = json_object_get(metadata, "labels"), *value;
    const char **keys = mem_array(json_object_size(labels) + 1, sizeof *keys), *key;
    scoped(buf) struct buf out = {0};
    size_t n = 0;

    json_object_foreach(labels, key, value) keys[n++] = key;
    qsort(keys, n, sizeof *keys, by_name);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s=%s", i ? "," : "", keys[i],
                   json_string_value(json_object_get(labels, keys[i])));
    mem_free(keys);
    return n ? buf_take(&out) : mem_strdup("<none>");
}

static char *value_text(const json_t *value)
{
    if (json_is_string(value))
        return clean(json_string_value(value));
    if (json_is_integer(value))
        return mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return mem_printf("%g", json_real_value(value));
    if (json_is_boolean(value))
        return mem_strdup(json_is_true(value) ? "true" : "false");
    return mem_strdup("");
}

static char *cell_text(const struct table_print *print, const json_t *row, size_t column)
{
    const json_t *metadata = json_object_get(json_object_get(row, "object"), "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    scoped_str text = NULL;

    if (print->source[column] == FROM_NAMESPACE)
        return mem_strdup(ns ? ns : "");
    if (print->source[column] == FROM_LABELS)
        return labels_text(metadata);
    text = value_text(json_array_get(json_object_get(row, "cells"), print->source[column]));
    if (print->options.prefix && strcmp(print->titles[column], "NAME") == 0)
        return mem_printf("%s%s", print->options.prefix, text);
    return take(text);
}

static void fit(struct table_print *print, size_t column, const char *text)
{
    int width = term_text_width(text) + GAP;

    if (width < WIDTH_MIN)
        width = WIDTH_MIN;
    if (print->widths[column] < width)
        print->widths[column] = width;
}

static void print_indent(const struct table_print *print, size_t column)
{
    if (column == 0 && print->options.indent)
        fputs(print->options.indent, print->out);
}

static void print_cell(struct table_print *print, size_t column, const char *text)
{
    bool last = column + 1 == print->n_columns;
    enum color color =
        has_status_words(print->titles[column]) ? table_print_word_color(text) : COLOR_NONE;
    int pad = last ? 0 : print->widths[column] - term_text_width(text);

    if (color != COLOR_NONE)
        fputs(term_color(&print->term, color), print->out);
    fputs(text, print->out);
    if (color != COLOR_NONE)
        fputs(term_reset(&print->term), print->out);
    fprintf(print->out, "%*s", pad, "");
}

void table_print_rows(struct table_print *print, char *const *cells, size_t n_rows)
{
    size_t n = print->n_columns;

    if (n_rows == 0)
        return;
    for (size_t i = 0; !print->begun && !print->options.no_headers && i < n; i++)
        fit(print, i, print->titles[i]);
    for (size_t i = 0; i < n_rows * n; i++)
        fit(print, i % n, cells[i] ? cells[i] : "");
    for (size_t i = 0; !print->begun && !print->options.no_headers && i < n; i++) {
        print_indent(print, i);
        fprintf(print->out, "%s%*s", print->titles[i],
                i + 1 == n ? 0 : print->widths[i] - term_text_width(print->titles[i]), "");
        if (i + 1 == n)
            fputc('\n', print->out);
    }
    print->begun = true;
    for (size_t i = 0; i < n_rows * n; i++) {
        print_indent(print, i % n);
        print_cell(print, i % n, cells[i] ? cells[i] : "");
        if (i % n + 1 == n)
            fputc('\n', print->out);
    }
}

void table_print_table(struct table_print *print, const json_t *table)
{
    const json_t *definitions = json_object_get(table, "columnDefinitions");
    const json_t *rows = json_object_get(table, "rows");
    size_t n_rows = json_array_size(rows), n_cells;
    char **cells;

    if (json_is_array(definitions) && !print->begun)
        take_definitions(print, definitions);
    n_cells = n_rows * print->n_columns;
    cells = mem_array(n_cells + 1, sizeof *cells);
    for (size_t i = 0; i < n_cells; i++)
        cells[i] =
            cell_text(print, json_array_get(rows, i / print->n_columns), i % print->n_columns);
    table_print_rows(print, cells, print->n_columns ? n_rows : 0);
    for (size_t i = 0; i < n_cells; i++)
        mem_free(cells[i]);
    mem_free(cells);
}
