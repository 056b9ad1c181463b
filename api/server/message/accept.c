/*
 * Walks the clauses of an Accept header in their order and takes the first form that the endpoint
 * can produce.
 */
#include "api/server/message/accept.h"

#include <string.h>
#include <strings.h>

#include "base/compiler.h"

struct span {
    const char *text;
    size_t len;
};

static struct span trimmed(const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    return (struct span){text, len};
}

static bool is(struct span span, const char *word)
{
    return strlen(word) == span.len && strncasecmp(span.text, word, span.len) == 0;
}

/* Returns the part of `rest` up to `stop`, trimmed, and moves `rest` behind it. */
static struct span next_part(struct span *rest, char stop)
{
    const char *end = memchr(rest->text, stop, rest->len);
    size_t n = end ? (size_t)(end - rest->text) : rest->len;
    struct span part = trimmed(rest->text, n);

    n += end != NULL;
    rest->text += n;
    rest->len -= n;
    return part;
}

/* The versions of meta.k8s.io and apidiscovery.k8s.io that are served. */
static const struct {
    const char *name;
    bool discovery;
} versions[] = {{"v1", false}, {"v1beta1", false}, {"v2", true}, {"v2beta1", true}};

static bool take_version(struct span value, enum accept_endpoint endpoint, struct media *out)
{
    for (size_t i = 0; i < countof(versions); i++)
        if (is(value, versions[i].name) &&
            versions[i].discovery == (endpoint == ACCEPT_DISCOVERY)) {
            out->version = versions[i].name;
            return true;
        }
    return false;
}

/* Applies one parameter (as=, v=, g=) to the form; false when the endpoint cannot produce it. */
static bool take_parameter(struct span parameter, enum accept_endpoint endpoint, struct media *out)
{
    static const struct {
        const char *name;
        enum media_form form;
        enum accept_endpoint at;
    } forms[] = {
        {"Table", MEDIA_TABLE, ACCEPT_ITEM},
        {"Table", MEDIA_TABLE, ACCEPT_LIST},
        {"PartialObjectMetadata", MEDIA_PARTIAL, ACCEPT_ITEM},
        {"PartialObjectMetadataList", MEDIA_PARTIAL, ACCEPT_LIST},
        {"APIGroupDiscoveryList", MEDIA_DISCOVERY, ACCEPT_DISCOVERY},
    };
    struct span rest = parameter, key = next_part(&rest, '='), value;

    value = trimmed(rest.text, rest.len);
    if (is(key, "as")) {
        for (size_t i = 0; i < countof(forms); i++)
            if (is(value, forms[i].name) && forms[i].at == endpoint) {
                out->form = forms[i].form;
                return true;
            }
        return false;
    }
    if (is(key, "v"))
        return take_version(value, endpoint, out);
    return !is(key, "g") ||
           is(value, endpoint == ACCEPT_DISCOVERY ? "apidiscovery.k8s.io" : "meta.k8s.io");
}

static bool take_clause(struct span clause, enum accept_endpoint endpoint, struct media *out)
{
    struct span type = next_part(&clause, ';');

    *out = (struct media){MEDIA_JSON, "v1"};
    if (!is(type, "*/*") && !is(type, "application/*") && !is(type, "application/json"))
        return false;
    while (clause.len)
        if (!take_parameter(next_part(&clause, ';'), endpoint, out))
            return false;
    return true;
}

/* Returns whether a clause accepts objects as protobuf. The only parameter that it may have is that
 * of watches. */
static bool is_protobuf(struct span clause)
{
    struct span type = next_part(&clause, ';'), rest = trimmed(clause.text, clause.len);

    return is(type, PROTOBUF_TYPE) && (!rest.len || is(rest, "stream=watch"));
}

bool accept_negotiate(const char *accept, enum accept_endpoint endpoint,
                      enum accept_protobuf protobuf, struct media *out, struct error *err)
{
    struct span rest = {accept, accept ? strlen(accept) : 0};
    struct media media = {MEDIA_JSON, "v1"};
    bool found = trimmed(rest.text, rest.len).len == 0, as_protobuf = false;

    while (!found && rest.len) {
        struct span clause = next_part(&rest, ',');

        found = take_clause(clause, endpoint, &media);
        as_protobuf |= protobuf == PROTOBUF_POSSIBLE && is_protobuf(clause);
    }
    if (!found && !as_protobuf)
        return error_set(err, ERR_NOT_ACCEPTABLE, "",
                         "only the following media types are accepted: application/json%s",
                         protobuf == PROTOBUF_POSSIBLE ? ", " PROTOBUF_TYPE : "");
    *out = found ? media : (struct media){MEDIA_PROTOBUF, "v1"};
    return true;
}
