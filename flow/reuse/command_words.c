/*
 * Splits the commands of a job into words.
 */
#include "flow/reuse/command_words.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

#define SEPARATORS " \t\n\r\v\f'\"`;&|<>()="

enum { WORD_BYTES_MAX = 4096 };

struct known_word {
    UT_hash_handle hh;
    char text[];
};

struct words {
    struct arena *arena;
    struct known_word *known;
    const char **items;
    size_t count, cap;
};

static void add_word(struct words *words, const char *text, size_t len)
{
    struct known_word *word;

    if (!len || len > WORD_BYTES_MAX || words->count == REUSE_WORDS_MAX)
        return;
    HASH_FIND(hh, words->known, text, len, word);
    if (word)
        return;
    word = arena_alloc(words->arena, sizeof *word + len + 1);
    memcpy(word->text, text, len);
    HASH_ADD_KEYPTR(hh, words->known, word->text, len, word);
    mem_grow(words->items, words->count, words->cap);
    words->items[words->count++] = word->text;
}

static void add_text(struct words *words, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, SEPARATORS);

        add_word(words, text, len);
        text += len;
        text += strspn(text, SEPARATORS);
    }
}

static void add_texts(struct words *words, const json_t *list)
{
    const json_t *text;
    size_t i;

    json_array_foreach(list, i, text)
    {
        if (json_is_string(text))
            add_text(words, json_string_value(text));
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *dir_of(const json_t *container)
{
    const char *dir = json_string_value(json_object_get(container, "workingDir"));

    return dir && *dir ? dir : NULL;
}

static const json_t *pod_of(const json_t *task)
{
    return json_object_get(json_object_get(task, "template"), "spec");
}

const char *reuse_working_dir(const json_t *job_spec)
{
    const json_t *task = json_array_get(json_object_get(job_spec, "tasks"), 0);

    return dir_of(json_array_get(json_object_get(pod_of(task), "containers"), 0));
}

static void add_containers(struct words *words, const json_t *containers, const char *dir)
{
    const json_t *container;
    size_t i;

    json_array_foreach(containers, i, container)
    {
        if (!same_text(dir_of(container), dir))
            continue;
        add_texts(words, json_object_get(container, "command"));
        add_texts(words, json_object_get(container, "args"));
    }
}

struct str_list reuse_command_words(const json_t *job_spec, struct arena *arena)
{
    struct words words = {.arena = arena};
    const char *dir = reuse_working_dir(job_spec);
    struct str_list out = {0};
    const json_t *task;
    size_t i;

    json_array_foreach(json_object_get(job_spec, "tasks"), i, task)
    {
        add_containers(&words, json_object_get(pod_of(task), "initContainers"), dir);
        add_containers(&words, json_object_get(pod_of(task), "containers"), dir);
    }
    HASH_CLEAR(hh, words.known);
    out.count = words.count;
    out.items = arena_array(arena, words.count + 1, sizeof *out.items);
    if (words.count)
        memcpy(out.items, words.items, words.count * sizeof *out.items);
    mem_free(words.items);
    return out;
}
