/*
 * Parses the value of --node-resources, one name=quantity at a time.
 */
#include "node/node_resources.h"

#include <string.h>

#include "api/types/labels.h"
#include "api/types/text/quantity.h"

static bool wrong(struct error *err, const char *part, const char *why)
{
    return error_set(err, ERR_INVALID, "", "\"%s\": %s", part, why);
}

static bool is_known(const struct machine_resources *out, const char *name)
{
    for (size_t i = 0; i < out->extras.count; i++)
        if (strcmp(out->extras.names[i], name) == 0)
            return true;
    return false;
}

/* Parses one NAME=QUANTITY. Modifies `part`. */
static bool take_part(struct machine_resources *out, char *part, struct error *err)
{
    char *equals = strchr(part, '=');
    quantity_nano value;

    if (!equals || equals == part)
        return wrong(err, part, "must be NAME=QUANTITY, like memory=8Gi");
    if (!quantity_parse(equals + 1, &value, NULL) || value < 0)
        return wrong(err, part, "the part behind = must be a quantity, like 2, 500m or 8Gi");
    *equals = '\0';
    if (strcmp(part, "cpu") == 0 || strcmp(part, "memory") == 0) {
        if (!value)
            return wrong(err, part, "no pod could run with none of it");
        if (*part == 'c')
            out->cpu_milli = amount_clamp(quantity_milli(value));
        else
            out->memory_bytes = amount_clamp(quantity_whole(value));
        return true;
    }
    if (strcmp(part, "pods") == 0)
        return wrong(err, part, "the number of pods at once is said by --max-pods");
    if (!label_key_valid(part, NULL))
        return wrong(err, part, "is not the name of a resource, like nvidia.com/gpu");
    if (is_known(out, part))
        return wrong(err, part, "is there twice");
    if (out->extras.count == AMOUNT_EXTRA)
        return wrong(err, part, "there may be three named resources at most");
    out->extra[out->extras.count] = amount_clamp(quantity_whole(value));
    out->extras.names[out->extras.count++] = part;
    return true;
}

bool machine_resources_parse(const char *text, struct machine_resources *out, struct error *err)
{
    char *rest;

    *out = (struct machine_resources){0};
    if (!text || !*text)
        return true;
    if (strlen(text) >= sizeof out->text)
        return error_set(err, ERR_INVALID, "", "longer than %d bytes",
                         MACHINE_RESOURCES_TEXT_MAX - 1);
    rest = memcpy(out->text, text, strlen(text) + 1);
    while (rest) {
        char *part = strsep(&rest, ",");

        if (!take_part(out, part, err))
            return false;
    }
    return true;
}

/* Limits a list of ids to the number that the text gives. */
static bool limit(struct device_resource *resource, int64_t number, bool strict, struct error *err)
{
    if (number > (int64_t)resource->ids.count)
        return !strict || error_set(err, ERR_FORBIDDEN, "",
                                    "--node-resources: %s=%lld: this machine has %zu: describe "
                                    "others in the file of --devices",
                                    resource->name, (long long)number, resource->ids.count);
    resource->ids.count = (size_t)number;
    return true;
}

bool machine_resources_add_devices(struct machine_resources *resources, struct device_list *devices,
                                   bool strict, struct error *err)
{
    struct resource_names *extras = &resources->extras;

    for (size_t i = 0; i < devices->resources.count; i++) {
        struct device_resource *resource = &devices->resources.items[i];
        size_t known = 0;

        while (known < extras->count && strcmp(extras->names[known], resource->name) != 0)
            known++;
        if (known < extras->count) {
            if (!limit(resource, resources->extra[known], strict, err))
                return false;
            continue;
        }
        if (extras->count == AMOUNT_EXTRA)
            return error_set(err, ERR_INVALID, "",
                             "--devices: there may be three named resources at most, with those of "
                             "--node-resources");
        resources->extra[extras->count] = (int64_t)resource->ids.count;
        extras->names[extras->count++] = resource->name;
    }
    return true;
}

bool size_limit_parse(const char *text, int64_t *out_bytes, struct error *err)
{
    quantity_nano size = 0;

    if (strcmp(text, "none") != 0 &&
        (!quantity_parse(text, &size, NULL) || quantity_whole(size) <= 0))
        return error_set(err, ERR_INVALID, "", "\"%s\" is no size like 20Gi, and not none", text);
    *out_bytes = quantity_whole(size);
    return true;
}
