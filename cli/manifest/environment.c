/*
 * Collects variables in a table by name, so that the last value of a name counts.
 */
#include "cli/manifest/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/collections/arena.h"
#include "base/file.h"
#include "base/mem.h"

enum { FILE_BYTES_MAX = 1 << 20 };

struct variable {
    const char *name, *value;
    size_t order; /* the last one of a name counts */
    bool named;   /* by a flag or a file */
};

struct collecting {
    struct arena *arena;
    struct variable *items;
    size_t count, cap;
};

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        const bool letter = (unsigned)((c | 32) - 'a') < 26 || c == '_';

        if (!letter && (i == 0 || !strchr("0123456789.-", c)))
            return false;
    }
    return len > 0;
}

static void set(struct collecting *c, const char *name, size_t len, const char *value, bool named)
{
    mem_grow(c->items, c->count, c->cap);
    c->items[c->count] = (struct variable){.name = arena_printf(c->arena, "%.*s", (int)len, name),
                                           .value = arena_strdup(c->arena, value),
                                           .order = c->count,
                                           .named = named};
    c->count++;
}

/* Takes NAME=VALUE or NAME. `where` names the flag or the line in messages. */
static bool take_line(struct collecting *c, const char *text, const char *where)
{
    const size_t len = strcspn(text, "=");
    scoped_str name = mem_printf("%.*s", (int)len, text);
    const char *value = text[len] ? text + len + 1 : getenv(name);

    if (!is_name(text, len))
        cli_errorf("%s: \"%.64s\" is not of the form NAME=VALUE or NAME", where, text);
    else if (!value)
        cli_errorf("%s: this process has no variable %s: write %s=VALUE", where, name, name);
    else
        set(c, text, len, value, true);
    return is_name(text, len) && value;
}

static bool take_file(struct collecting *c, const char *path)
{
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    size_t number = 0;
    bool ok = true;

    if (!file_read(path, FILE_BYTES_MAX, &text, &err)) {
        cli_errorf("--env-file: %s", err.message);
        return false;
    }
    if (text.len && memchr(text.data, '\0', text.len)) {
        cli_errorf("--env-file: %s has a NUL byte, so it is no text", path);
        return false;
    }
    buf_char(&text, '\0');
    for (char *line = text.data, *next; line; line = next) {
        scoped_str where = mem_printf("%s:%zu", path, ++number);
        const size_t len = strcspn(line, "\r\n");

        next = strchr(line, '\n');
        next = next ? next + 1 : NULL;
        line[len] = '\0';
        line += strspn(line, " \t");
        if (*line && *line != '#')
            ok &= take_line(c, line, where);
    }
    return ok;
}

static void inherit(struct collecting *c)
{
    for (char **at = environ; *at; at++) {
        const size_t len = strcspn(*at, "=");

        if ((*at)[len] && is_name(*at, len))
            set(c, *at, len, *at + len + 1, false);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void finish(struct collecting *c, struct environment *out)
{
    scoped(buf) struct buf named = {0};

    if (c->count)
        qsort(c->items, c->count, sizeof *c->items, by_name);
    out->all.items = arena_array(c->arena, c->count + 1, sizeof *out->all.items);
    for (size_t i = 0; i < c->count; i++) {
        const struct variable *v = &c->items[i];

        if (i + 1 < c->count && strcmp(v->name, v[1].name) == 0)
            continue;
        out->all.items[out->all.count++] = (struct str_pair){v->name, v->value};
        if (v->named)
            buf_printf(&named, "%s=%zu:%s\n", v->name, strlen(v->value), v->value);
    }
    if (named.len)
        out->named = buf_take(&named);
}

bool environment_collect(struct environment *out, const struct environment_flags *flags)
{
    struct collecting c = {.arena = arena_new(1024)};
    bool ok = true;

    *out = (struct environment){.arena = c.arena};
    if (flags->inherit)
        inherit(&c);
    for (size_t i = 0; i < flags->files.count; i++)
        ok &= take_file(&c, flags->files.items[i]);
    for (size_t i = 0; i < flags->variables.count; i++)
        ok &= take_line(&c, flags->variables.items[i], "--env");
    finish(&c, out);
    mem_free(c.items);
    return ok;
}

void environment_release(struct environment *environment)
{
    arena_free(environment->arena);
    mem_free(environment->named);
    *environment = (struct environment){0};
}

bool environment_is_asked(const struct environment_flags *flags)
{
    return flags->inherit || flags->files.count || flags->variables.count;
}
