/*
 * Finds values in a JSON document by a dotted path.
 */
#include "api/types/text/doc.h"

#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"

const json_t *doc_at(const json_t *doc, const char *path)
{
    char member[96];

    while (doc && *path) {
        size_t n = strcspn(path, ".");

        snprintf(member, sizeof member, "%.*s", (int)n, path);
        doc = json_object_get(doc, member);
        path += n + (path[n] == '.');
    }
    return doc;
}

const char *doc_text(const json_t *doc, const char *path)
{
    return json_string_value(doc_at(doc, path));
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
