/*
 * Each member of the file is handed to the parser of the flag it is named after, so both accept the
 * same values.
 */
#include "cli/settings.h"
#include "api/types/yaml.h"
#include "base/file.h"
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

static const struct flag *flag_by_name(const struct flag *flags, const char *name)
{
    for (; flags->type != FLAG_END; flags++)
        if (strcmp(flags->name, name) == 0)
            return flags;
    return NULL;
}

/* A scalar as it would stand on the command line; NULL for what could not. */
static const char *text_of(const json_t *value, struct arena *arena)
{
    if (json_is_string(value))
        return arena_strdup(arena, json_string_value(value));
    if (json_is_integer(value))
        return arena_printf(arena, "%lld", (long long)json_integer_value(value));
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    return NULL;
}

struct settings {
    const char *path;
    char *options;
    bool (*store)(const struct flag *flag, const char *text, char *options);
    struct arena *arena;
};

static bool set_one(const struct settings *settings, const struct flag *flag, const json_t *value)
{
    const char *text = text_of(value, settings->arena);

    if (text && settings->store(flag, text, settings->options))
        return true;
    if (text) /* why, is told */
        cli_errorf("%s: %s: not taken", settings->path, flag->name);
    else
        cli_errorf("%s: %s: must be a text, a number, true or false", settings->path, flag->name);
    return false;
}

static bool set_member(const struct settings *settings, const struct flag *flags, const char *key,
                       json_t *value)
{
    const struct flag *flag = flag_by_name(flags, key);
    json_t *each;
    size_t i;

    if (!flag || strcmp(key, "config") == 0) {
        cli_errorf("%s: %s: no such setting", settings->path, key);
        return false;
    }
    if (flag->type != FLAG_LIST || !json_is_array(value))
        return set_one(settings, flag, value);
    json_array_foreach(value, i, each)
    {
        if (!set_one(settings, flag, each))
            return false;
    }
    return true;
}

bool settings_load(const char *path, const struct flag *flags, char *options,
                   bool (*store)(const struct flag *flag, const char *text, char *options),
                   struct arena *arena)
{
    const struct settings settings = {path, options, store, arena};
    scoped(yaml) struct yaml_stream *stream = NULL;
    scoped(buf) struct buf text = {0};
    struct error err = {0};
    const char *key;
    json_t *value;

    if (!file_read(path, FILE_BYTES_MAX, &text, &err)) {
        cli_errorf("%s", err.message);
        return false;
    }
    stream = yaml_parse(text.data ? text.data : "", text.len, &yaml_limits_body, &err);
    if (!stream) {
        cli_errorf("%s: %s", path, err.message);
        return false;
    }
    if (yaml_count(stream) == 0)
        return true;
    if (!json_is_object(yaml_document(stream, 0))) {
        cli_errorf("%s: settings are written as \"name: value\"", path);
        return false;
    }
    json_object_foreach(yaml_document(stream, 0), key, value)
    {
        if (!set_member(&settings, flags, key, value))
            return false;
    }
    return true;
}
