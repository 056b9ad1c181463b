/*
 * Host names are kept in an open-addressing hash table. Replacing them takes one pass over each
 * text.
 */
#include "node/machine/host_names.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/collections/hash.h"

struct span {
    const char *at; /* first byte of the name in the hosts file; NULL: the slot is empty */
    size_t len;
};
struct named {
    struct span name, address;
};

struct host_names {
    size_t mask;
    struct named *slots; /* hash table of [mask + 1] slots, at most half of them taken */
};

static bool same(struct span a, struct span b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* Returns the slot of the hash table that has `name`, or the empty slot where the name belongs. */
static struct named *slot_of(const struct host_names *names, struct span name)
{
    size_t at = (size_t)hash_bytes(name.at, name.len) & names->mask;

    while (names->slots[at].name.at && !same(names->slots[at].name, name))
        at = (at + 1) & names->mask;
    return &names->slots[at];
}

static bool is_full_name(struct span name)
{
    return memchr(name.at, '.', name.len) != NULL;
}

/* Returns the next word of the line at *at and moves *at behind it. At the end of the line the word
 * is empty. */
static struct span next_word(const char **at)
{
    struct span word;

    *at += strspn(*at, " \t");
    word = (struct span){*at, strcspn(*at, " \t\n")};
    *at += word.len;
    return word;
}

static void add_line(struct host_names *names, const char *line)
{
    struct span address = next_word(&line);

    for (struct span name = next_word(&line); name.len; name = next_word(&line)) {
        struct named *slot = is_full_name(name) ? slot_of(names, name) : NULL;

        if (slot && !slot->name.at)
            *slot = (struct named){name, address};
    }
}

struct host_names *host_names_new(struct arena *arena, const char *hosts)
{
    struct host_names *names = arena_alloc(arena, sizeof *names);
    size_t words = 1, slots = 4;

    for (const char *at = hosts; *at; at++)
        words += *at == ' ';
    while (slots < 2 * words)
        slots *= 2;
    names->mask = slots - 1;
    names->slots = arena_array(arena, slots, sizeof *names->slots);
    for (const char *line = hosts; *line; line += *line == '\n') {
        add_line(names, line);
        line += strcspn(line, "\n");
    }
    return names;
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* Returns whether a single slash precedes the word at `at`, which makes it part of a file path:
 * /data/j-w-0.j is a file, while in http://j-w-0.j the name is a host. */
static bool in_path(const char *text, const char *at)
{
    return at > text && at[-1] == '/' && !(at - text > 1 && at[-2] == '/');
}

const char *host_names_replace(const struct host_names *names, struct arena *arena,
                               const char *text, size_t *len)
{
    scoped(buf) struct buf out = {0};
    const char *end = text + *len, *copied = text;

    if (!names || !memchr(text, '.', *len) || memchr(text, 0, *len))
        return text;
    for (const char *at = text; at < end;) {
        struct span word = {at, 0};
        const struct named *known;

        while (at < end && in_name(*at))
            at++;
        word.len = (size_t)(at - word.at);
        at += at < end;
        /* A dot at the end of a word ends a sentence and is not part of the name. */
        while (word.len && word.at[word.len - 1] == '.')
            word.len--;
        if (!word.len || !is_full_name(word) || in_path(text, word.at))
            continue;
        known = slot_of(names, word);
        if (!known->name.at)
            continue;
        buf_add(&out, copied, (size_t)(word.at - copied));
        buf_add(&out, known->address.at, known->address.len);
        copied = word.at + word.len;
    }
    if (copied == text)
        return text;
    buf_add(&out, copied, (size_t)(end - copied));
    *len = out.len;
    return arena_strndup(arena, out.data, out.len);
}
