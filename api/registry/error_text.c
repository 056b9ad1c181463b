/*
 * Formats resource and kind names for API errors. Ref: spec/kube-api.md 12.2.
 */
#include <stdio.h>
#include <string.h>

#include "api/registry/internal.h"

static const char *with_group(const char *word, const struct kind *kind, char *out)
{
    snprintf(out, RESOURCE_TEXT_MAX, "%s%s%s", word, *kind->group ? "." : "", kind->group);
    return out;
}

const char *registry_resource(const struct kind *kind, char out[RESOURCE_TEXT_MAX])
{
    return with_group(kind->plural, kind, out);
}

const char *registry_kind_text(const struct kind *kind, char out[RESOURCE_TEXT_MAX])
{
    return with_group(kind->name, kind, out);
}

bool registry_not_found(const struct kind *kind, const char *name, struct error_list *errors)
{
    char resource[RESOURCE_TEXT_MAX];

    error_list_add(errors, ERR_NOT_FOUND, "", "%s \"%s\" not found",
                   registry_resource(kind, resource), name);
    return false;
}

bool registry_no_namespace(const char *name, struct error_list *errors)
{
    error_list_add(errors, ERR_NOT_FOUND, "metadata.namespace", "namespaces \"%s\" not found",
                   name);
    return false;
}

bool registry_conflict(const struct kind *kind, const char *name, struct error_list *errors)
{
    char resource[RESOURCE_TEXT_MAX];

    error_list_add(errors, ERR_CONFLICT, "",
                   "Operation cannot be fulfilled on %s \"%s\": the object has been modified; "
                   "please apply your changes to the latest version and try again",
                   registry_resource(kind, resource), name);
    return false;
}

bool registry_generate_name(struct registry *r, const struct kind *kind, const char *ns,
                            const char *prefix, char out[254])
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    enum { PREFIX_MAX = 58, CHANCE = 5, TRIES = 8 };
    size_t len = strnlen(prefix, PREFIX_MAX);

    memcpy(out, prefix, len);
    out[len + CHANCE] = '\0';
    for (int i = 0; i < TRIES; i++) {
        uint64_t random = clock_random(loop_clock(r->loop));

        for (size_t at = 0; at < CHANCE; at++, random /= sizeof alphabet - 1)
            out[len + at] = alphabet[random % (sizeof alphabet - 1)];
        if (!store_get(r->store, kind, ns, out))
            return true;
    }
    return false;
}
