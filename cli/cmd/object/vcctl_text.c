/*
 * Prints what vcctl prints: its table, its objects in full, and a line for each object created or
 * deleted.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kind.h"
#include "api/types/text/doc.h"
#include "api/types/text/json_text.h"
#include "api/types/text/yaml.h"
#include "base/clock.h"
#include "base/timefmt.h"
#include "cli/cmd/object/vcctl.h"
#include "cli/manifest/manifests.h"

enum { COLUMN_GAP = 4 };

/* The columns of the table. Templates have only the first two. */
static const struct {
    const char *title, *path; /* an empty path stands for the age */
} columns[] = {
    {"Name", "metadata.name"},
    {"Namespace", "metadata.namespace"},
    {"Phase", "status.state.phase"},
    {"Age", ""},
};

/* Returns a cell's text, borrowed; NULL as the item stands for the header. */
static const char *cell_text(const json_t *item, size_t column, int64_t now_ms,
                             char age[TIME_TEXT_MAX])
{
    const char *path = columns[column].path, *text = NULL;
    int64_t at_ms;

    if (!item)
        return columns[column].title;
    text = doc_text(item, *path ? path : "metadata.creationTimestamp");
    if (*path)
        return text ? text : "";
    if (!text || !time_parse(text, &at_ms, NULL))
        return "<unknown>";
    duration_human(now_ms - at_ms, age);
    return age;
}

void vcctl_write_table(const struct kind *kind, const json_t *items, int64_t now_ms,
                       struct buf *out)
{
    size_t n = kind == &kind_job_flow ? countof(columns) : 2, rows = json_array_size(items) + 1;
    size_t widths[countof(columns)] = {0};
    char age[TIME_TEXT_MAX];

    for (size_t i = 0; i < rows * n; i++) {
        const json_t *item = i < n ? NULL : json_array_get(items, i / n - 1);
        size_t width = strlen(cell_text(item, i % n, now_ms, age)) + COLUMN_GAP;

        if (width > widths[i % n])
            widths[i % n] = width;
    }
    for (size_t i = 0; i < rows * n; i++) {
        const json_t *item = i < n ? NULL : json_array_get(items, i / n - 1);

        buf_printf(out, "%-*s%s", (int)widths[i % n], cell_text(item, i % n, now_ms, age),
                   i % n + 1 == n ? "\n" : "");
    }
}

static json_t *member_or_empty(const json_t *object, const char *member)
{
    json_t *value = json_object_get(object, member);

    return value ? json_incref(value) : json_object();
}

/* Returns a copy with the members that upstream's Go types always write, in their order, without
 * managedFields. */
static json_t *as_upstream(const struct kind *kind, const json_t *object)
{
    json_t *metadata = json_copy(json_object_get(object, "metadata"));
    json_t *status = member_or_empty(object, "status");

    json_object_del(metadata, "managedFields");
    if (kind == &kind_job_flow && !json_object_get(status, "state"))
        json_object_set_new(status, "state", json_object());
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", kind->name, "apiVersion",
                     kind_api_version(kind), "metadata", metadata ? metadata : json_object(),
                     "spec", member_or_empty(object, "spec"), "status", status);
}

bool vcctl_write_object(const struct kind *kind, const json_t *object, const char *format,
                        struct buf *out)
{
    scoped(json) json_t *doc = as_upstream(kind, object);
    bool as_yaml = strcmp(format, "yaml") == 0;
    char *text = json_dumps(doc, as_yaml ? JSON_SORT_KEYS : JSON_INDENT(2));

    if (as_yaml) { /* Go's YAML encoder sorts the members by name */
        scoped(json) json_t *sorted = json_loads(text, 0, NULL);

        yaml_write(sorted, out);
    } else {
        buf_printf(out, "%s\n", text);
    }
    free(text);
    return as_yaml || strcmp(format, "json") == 0;
}

bool vcctl_print(const struct vcctl_alias *alias, const json_t *items)
{
    bool as_table = strcmp(alias->format, "table") == 0;
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *item;

    if (as_table && json_array_size(items) > 0)
        vcctl_write_table(alias->kind, items, clock_wall_ms(clock_real()), &text);
    else if (as_table)
        buf_str(&text, "No resources found\n");
    json_array_foreach(as_table ? NULL : items, i, item)
    {
        buf_str(&text, i ? "\n\n" : "");
        if (!vcctl_write_object(alias->kind, item, alias->format, &text)) {
            cli_errorf("Unsupported format: %s", alias->format);
            return false;
        }
    }
    fputs(text.data ? text.data : "", stdout);
    return true;
}

bool vcctl_print_change(const struct vcctl_alias *alias, const char *ns, const char *name,
                        const struct error *err)
{
    if (err)
        printf("Failed to %s %s: %s\n", alias->verb, alias->kind->name, err->message);
    else
        printf("%c%sd %s: %s/%s\n", toupper((unsigned char)alias->verb[0]), alias->verb + 1,
               alias->kind->name, ns, name);
    return !err;
}

bool vcctl_accepts(const struct vcctl_alias *alias, const struct manifest *manifest)
{
    const char *name = doc_text(manifest->doc, "metadata.name");
    struct error err = {0};

    if (manifest->kind == alias->kind && name)
        return true;
    error_set(&err, ERR_INVALID, "", "%s:%zu: a %s%s", manifest->file,
              manifest_line(manifest, "metadata"), manifest->kind->name,
              name ? "" : " without a name");
    return vcctl_print_change(alias, NULL, NULL, &err);
}
