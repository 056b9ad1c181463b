/*
 * Finds values in a JSON document by the path that a finding names.
 */
#include "api/types/text/doc.h"

#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"

/* Returns the member, or the entry of a list, that a piece of a path names. */
static const json_t *below(const json_t *doc, const char *piece, size_t len)
{
    if (json_is_array(doc))
        return len && len == strspn(piece, "0123456789")
                   ? json_array_get(doc, strtoul(piece, NULL, 10))
                   : NULL;
    return json_object_getn(doc, piece, len);
}

const json_t *doc_at(const json_t *doc, const char *path)
{
    while (doc && *path) {
        bool is_bracket = *path == '[';
        const char *piece = path + is_bracket;
        size_t n = strcspn(piece, is_bracket ? "]" : ".[");

        doc = below(doc, piece, n);
        path = piece + n;
        path += is_bracket && *path == ']';
        path += *path == '.';
    }
    return doc;
}

const char *doc_text(const json_t *doc, const char *path)
{
    return json_string_value(doc_at(doc, path));
}

const json_t *doc_named(const json_t *list, const char *name)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        const char *its = json_string_value(json_object_get(entry, "name"));

        if (its && name && strcmp(its, name) == 0)
            return entry;
    }
    return NULL;
}

int64_t doc_time_ms(const json_t *doc, const char *path)
{
    const char *text = doc_text(doc, path);
    int64_t at_ms;

    return text && time_parse(text, &at_ms, NULL) ? at_ms : 0;
}

int64_t doc_duration_ms(const json_t *doc, const char *path)
{
    const char *text = doc_text(doc, path);
    int64_t ns;

    return text && duration_parse(text, &ns, NULL) && ns >= 0 ? ns / 1000000 : -1;
}
