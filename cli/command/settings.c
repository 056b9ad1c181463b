/*
 * Passes each member of the file to the parser of the flag of that name, so the file and the
 * command line accept the same values.
 */
#include "cli/command/settings.h"

#include <string.h>

#include "api/types/text/suggest.h"
#include "api/types/text/yaml.h"
#include "base/mem.h"
#include "cli/command/flag_values.h"

enum { FILE_BYTES_MAX = 1 << 20 };

struct settings {
    const char *path;
    struct yaml_stream *stream;
    const struct flag *flags;
    void *options;
    struct arena *arena;
};

/* Returns a scalar as it would be written on the command line, or NULL for other values. */
static const char *text_of(const json_t *value, struct arena *arena)
{
    if (json_is_string(value))
        return arena_strdup(arena, json_string_value(value));
    if (json_is_integer(value))
        return arena_printf(arena, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value))
        return arena_printf(arena, "%.17g", json_real_value(value));
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    return NULL;
}

/* Reports an error; `place` is the YAML path of the member or of one entry of its list, for
 * yaml_line. */
static bool wrong(const struct settings *settings, const char *place, const char *key,
                  struct error *err)
{
    error_prefix(err, "%s:%zu: %s: ", settings->path, yaml_line(settings->stream, 0, place), key);
    return false;
}

static bool set_one(const struct settings *settings, const struct flag *flag, const json_t *value,
                    const char *place, struct error *err)
{
    const char *text = text_of(value, settings->arena);

    if (text ? flag_store(flag, text, settings->options, err)
             : error_set(err, ERR_INVALID, "", "must be a text, a number, true or false%s",
                         flag->type == FLAG_LIST ? ", or a list of them" : ""))
        return true;
    return wrong(settings, place, flag->name, err);
}

static bool unknown(const struct settings *settings, const char *place, const char *key,
                    struct error *err)
{
    struct suggest near = {0};

    for (const struct flag *flag = settings->flags; flag->type != FLAG_END; flag++)
        if (strcmp(flag->name, "config") != 0)
            suggest_offer(&near, key, flag->name);
    error_set(err, ERR_INVALID, "", "no such setting%s%s%s", near.word ? "; did you mean \"" : "",
              near.word ? near.word : "", near.word ? "\"?" : "");
    return wrong(settings, place, key, err);
}

static bool set_member(const struct settings *settings, const char *key, const json_t *value,
                       struct error *err)
{
    const struct flag *flag = flag_named(settings->flags, key);
    scoped_str place = mem_printf("[%s]", key);
    const json_t *each;
    size_t i;

    if (!flag || strcmp(key, "config") == 0)
        return unknown(settings, place, key, err);
    if (flag->type != FLAG_LIST || !json_is_array(value))
        return set_one(settings, flag, value, place, err);
    json_array_foreach(value, i, each)
    {
        scoped_str entry = mem_printf("%s[%zu]", place, i);

        if (!set_one(settings, flag, each, entry, err))
            return false;
    }
    return true;
}

bool settings_load(const char *path, const struct flag *flags, void *options, struct arena *arena,
                   struct error *err)
{
    scoped(yaml) struct yaml_stream *stream = NULL;
    struct settings settings = {path, NULL, flags, options, arena};
    const char *key;
    json_t *value;

    stream = yaml_read_file(path, FILE_BYTES_MAX, &yaml_limits_body, err);
    if (!stream)
        return false;
    if (yaml_count(stream) == 0)
        return true;
    if (!json_is_object(yaml_document(stream, 0)))
        return error_set(err, ERR_INVALID, "", "%s:%zu: settings are written as \"name: value\"",
                         path, yaml_line(stream, 0, ""));
    settings.stream = stream;
    json_object_foreach(yaml_document(stream, 0), key, value)
    {
        if (!set_member(&settings, key, value, err))
            return false;
    }
    return true;
}
