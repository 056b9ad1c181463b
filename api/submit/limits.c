/*
 * The limits of an item that are checked before anything is built of it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/submit/ids.h"
#include "api/submit/item.h"

enum { OBJECTS_MAX = 64, PORTS_MAX = 64, METADATA_MAX = 256 << 10 };

/* The labels and annotations of all objects of a request. Those of an item are copied to each of its
 * objects, and {JobId} becomes longer, so that a small request could have very large copies. */
enum { REQUEST_METADATA_MAX = 64 << 20 };

/* Returns the length of a text in which every {JobId} is replaced. */
static size_t replaced_length(const char *text)
{
    static const char mark[] = "{JobId}";
    size_t len = text ? strlen(text) : 0;

    for (const char *found = text; found && (found = strstr(found, mark)); found += strlen(mark))
        len += SUBMIT_ID_LEN - strlen(mark);
    return len;
}

static size_t bytes_of(const json_t *map)
{
    size_t sum = 0;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        sum += strlen(key) + replaced_length(json_string_value(value));
    }
    return sum;
}

static size_t metadata_of(const json_t *owner)
{
    return bytes_of(json_object_get(owner, "labels")) +
           bytes_of(json_object_get(owner, "annotations"));
}

/* Bounds the labels and annotations of the item (path ""), its main object or an object. */
static bool check_metadata(const struct submit_item *item, const json_t *owner, const char *path)
{
    if (metadata_of(owner) <= METADATA_MAX)
        return true;
    submit_item_problem(item, "MetadataTooLarge", path,
                        "labels and annotations together must have at most %d bytes", METADATA_MAX);
    return false;
}

static bool check_ports(const struct submit_item *item, const json_t *object, const char *path)
{
    static const char *const kinds[] = {"service", "ingress"};
    bool ok = true;

    for (size_t i = 0; i < countof(kinds); i++)
        if (json_array_size(json_object_get(json_object_get(object, kinds[i]), "ports")) >
            PORTS_MAX) {
            submit_item_problem(item, "TooMany", path, "%s.ports must have at most %d entries",
                                kinds[i], PORTS_MAX);
            ok = false;
        }
    return ok;
}

/* Counts the labels and annotations of the item's objects. */
static bool count_metadata(const struct submit_item *item)
{
    const json_t *objects = json_object_get(item->doc, "objects");
    size_t n = json_array_size(objects), *sum = item->ctx->metadata_bytes;

    if (!sum || *sum > REQUEST_METADATA_MAX)
        return !sum; /* it was reported */
    *sum +=
        (n + 1) * metadata_of(item->doc) + metadata_of(json_object_get(item->doc, "mainObject"));
    for (size_t i = 0; i < n; i++)
        *sum += metadata_of(json_array_get(objects, i));
    if (*sum > REQUEST_METADATA_MAX)
        submit_item_problem(
            item, "MetadataTooLarge", "",
            "labels and annotations of all objects of the request must have at most "
            "%d bytes",
            REQUEST_METADATA_MAX);
    return *sum <= REQUEST_METADATA_MAX;
}

bool submit_item_within_limits(const struct submit_item *item)
{
    const json_t *objects = json_object_get(item->doc, "objects");
    bool ok = check_metadata(item, item->doc, "");

    ok = check_metadata(item, json_object_get(item->doc, "mainObject"), "mainObject") && ok;
    if (json_array_size(objects) > OBJECTS_MAX) {
        submit_item_problem(item, "TooMany", "objects", "must have at most %d entries",
                            OBJECTS_MAX);
        return false;
    }
    for (size_t i = 0; i < json_array_size(objects); i++) {
        const json_t *object = json_array_get(objects, i);
        char path[32];

        snprintf(path, sizeof path, "objects[%zu]", i);
        ok = check_metadata(item, object, path) && ok;
        ok = check_ports(item, object, path) && ok;
    }
    return ok && count_metadata(item);
}
