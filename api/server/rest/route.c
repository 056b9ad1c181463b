/*
 * Walks a path one segment at a time: group, version, namespace, resource, name, subresource.
 */
#include "api/server/rest/route.h"

#include <string.h>

static bool set_not_found(struct error *err)
{
    return error_set(err, ERR_NOT_FOUND, "", "the server could not find the requested resource");
}

/* Reports a subresource that does not exist. As in kube-apiserver, for a custom kind the object is
 * reported as not found. */
static bool set_subresource_not_found(const struct route *route, struct error *err)
{
    if (!kind_is_custom(route->kind))
        return set_not_found(err);
    return error_set(err, ERR_NOT_FOUND, "", "%s.%s \"%s\" not found", route->kind->plural,
                     route->kind->group, route->name);
}

static bool find_subresource(const struct kind *kind, const char *word, enum route_subresource *out)
{
    for (const struct subresource *sub = subresources; sub->name; sub++)
        if (strcmp(sub->name, word) == 0 && sub->of(kind)) {
            *out = sub->sub;
            return true;
        }
    return false;
}

/* Returns whether WORD in "namespaces/NS/WORD" is a subresource of the namespace. */
static bool is_of_namespace(const char *word)
{
    enum route_subresource sub;

    return find_subresource(&kind_namespace, word, &sub);
}

static bool find_kind(const char *group, const char *version, const char *plural, struct route *out)
{
    out->kind = kind_by_resource(group, version, plural);
    if (!out->kind && (out->alias = group_alias_find(group, version, plural)))
        out->kind = out->alias->kind;
    return out->kind;
}

static bool find(const struct request_target *target, struct route *out, struct error *err)
{
    const char *const *segment = target->segments, *const *end = segment + target->n_segments;
    const char *group = "", *version;
    bool has_ns = false;

    if (end - segment < 3)
        return set_not_found(err);
    if (strcmp(*segment, "apis") == 0) {
        group = segment[1];
        segment++;
    } else if (strcmp(*segment, "api") != 0) {
        return set_not_found(err);
    }
    segment++;
    version = *segment++;
    /* The path is namespaces/NS/PLURAL…; namespaces and namespaces/NS themselves are the Namespace
     * kind. */
    if (end - segment >= 3 && strcmp(segment[0], "namespaces") == 0 &&
        !is_of_namespace(segment[2])) {
        out->ns = segment[1];
        has_ns = true;
        segment += 2;
    }
    if (segment >= end || !find_kind(group, version, *segment++, out))
        return set_not_found(err);
    if (out->kind->namespaced != has_ns && (has_ns || segment < end))
        return set_not_found(err);
    if (!out->kind->namespaced)
        out->ns = "";
    if (segment < end)
        out->name = *segment++;
    if (segment < end && !find_subresource(out->kind, *segment++, &out->sub))
        return set_subresource_not_found(out, err);
    return segment == end || set_not_found(err);
}

bool route_find(const struct request_target *target, struct route *out, struct error *err)
{
    struct route route = {0};
    bool found = find(target, &route, err);

    *out = found ? route : (struct route){0};
    return found;
}
