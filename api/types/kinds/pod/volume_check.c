/*
 * Checks the sources of volumes. The table has one row for each source that the node provides: its
 * required member, and a check of its own.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/pod/admission.h"
#include "api/types/kinds/pod/volume_path.h"
#include "api/types/text/quantity.h"

enum { MODE_MAX = 0777 };

/* A source and its path, for example "spec.volumes[0].secret". */
struct place {
    const struct admission *adm;
    struct error_list *errors;
    const char *path;
    const json_t *doc;
};

static const char *text_at(const json_t *doc, const char *member)
{
    const char *text = json_string_value(json_object_get(doc, member));

    return text ? text : "";
}

static void check_mode(const struct place *at, const char *member, const json_t *mode)
{
    if (json_is_integer(mode) &&
        (json_integer_value(mode) < 0 || json_integer_value(mode) > MODE_MAX))
        FINDING(at->errors, ("%s.%s", at->path, member),
                "Invalid value: %lld: must be a number between 0 and 0777 (octal), both inclusive",
                (long long)json_integer_value(mode));
}

/* The files of a volume stay within it. Names that begin with ".." are reserved for the
 * volume's own links. */
static void check_items(const struct place *at)
{
    const json_t *item;
    size_t n;

    json_array_foreach(json_object_get(at->doc, "items"), n, item)
    {
        const char *path = text_at(item, "path");
        scoped(buf) struct buf mode = {0};

        if (!*path || !path_descends(path) || strncmp(path, "..", 2) == 0)
            FINDING(at->errors, ("%s.items[%zu].path", at->path, n),
                    "Invalid value: \"%s\": must be a relative path without '..' that does not "
                    "start with '..'",
                    path);
        buf_printf(&mode, "items[%zu].mode", n);
        check_mode(at, mode.data, json_object_get(item, "mode"));
    }
}

static void require(const struct place *at, const char *member)
{
    if (!*text_at(at->doc, member))
        FINDING(at->errors, ("%s.%s", at->path, member), "Required value");
}

static void check_host_path(const struct place *at)
{
    const char *path = text_at(at->doc, "path");

    if (*path != '/' || !path_descends(path + strspn(path, "/")))
        FINDING(at->errors, ("%s.path", at->path),
                "Invalid value: \"%s\": must be an absolute path without '..'", path);
}

static void check_empty_dir(const struct place *at)
{
    quantity_nano size;

    if (quantity_parse(text_at(at->doc, "sizeLimit"), &size, NULL) && size < 0)
        FINDING(at->errors, ("%s.sizeLimit", at->path),
                "Invalid value: \"%s\": must be greater than or equal to 0",
                text_at(at->doc, "sizeLimit"));
}

static void check_projected(const struct place *at)
{
    static const struct {
        const char *member, *names;
    } parts[] = {{"configMap", "name"}, {"secret", "name"}, {"downwardAPI", NULL}};
    const json_t *source;
    size_t n;

    json_array_foreach(json_object_get(at->doc, "sources"), n, source)
    {
        size_t known = 0;

        for (size_t i = 0; i < countof(parts); i++) {
            const json_t *part = json_object_get(source, parts[i].member);
            scoped(buf) struct buf path = {0};
            struct place inner = {at->adm, at->errors, NULL, part};

            if (!part)
                continue;
            known++;
            buf_printf(&path, "%s.sources[%zu].%s", at->path, n, parts[i].member);
            inner.path = path.data;
            if (parts[i].names)
                require(&inner, parts[i].names);
            check_items(&inner);
        }
        if (json_object_size(source) != 1 || (!known && !at->adm->virtual_runtime))
            FINDING(at->errors, ("%s.sources[%zu]", at->path, n),
                    "Invalid value: a source is one of configMap, secret and downwardAPI");
    }
}

static const struct {
    const char *source;
    const char *names; /* required member, which names an object or a path; NULL = none */
    void (*check)(const struct place *at);
} rows[] = {
    {"emptyDir", NULL, check_empty_dir},
    {"configMap", "name", NULL},
    {"secret", "secretName", NULL},
    {"projected", NULL, check_projected},
    {"downwardAPI", NULL, NULL},
    {"hostPath", "path", check_host_path},
    {"persistentVolumeClaim", "claimName", NULL},
};

/* Checks a source that the node provides; returns false for any other. */
static bool check_known(const struct place *at, const char *source)
{
    for (size_t i = 0; i < countof(rows); i++) {
        if (strcmp(rows[i].source, source) != 0)
            continue;
        if (rows[i].names)
            require(at, rows[i].names);
        if (rows[i].check)
            rows[i].check(at);
        return true;
    }
    return false;
}

/* Writes "emptyDir, configMap … or persistentVolumeClaim". */
static void write_known(struct buf *out)
{
    for (size_t i = 0; i < countof(rows); i++)
        buf_printf(out, "%s%s",
                   i == 0                  ? ""
                   : i + 1 < countof(rows) ? ", "
                                           : " or ",
                   rows[i].source);
}

void pod_check_volume(const struct admission *adm, const struct pod_volume *volume,
                      const char *path, struct error_list *errors)
{
    const char *source;
    json_t *doc;

    if (json_object_size(volume->source) > 2)
        FINDING(errors, ("%s", path), "Forbidden: may not specify more than 1 volume type");
    json_object_foreach((json_t *)(uintptr_t)volume->source, source, doc)
    {
        scoped(buf) struct buf place = {0};
        struct place at = {adm, errors, NULL, doc};

        if (strcmp(source, "name") == 0)
            continue;
        buf_printf(&place, "%s.%s", path, source);
        at.path = place.data;
        check_mode(&at, "defaultMode", json_object_get(doc, "defaultMode"));
        check_items(&at);
        if (!check_known(&at, source) && !adm->virtual_runtime) {
            scoped(buf) struct buf known = {0};

            write_known(&known);
            FINDING(errors, ("%s", at.path),
                    "Forbidden: volumes of type %s are not supported here: use %s", source,
                    known.data);
        }
    }
}
