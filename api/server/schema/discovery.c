/*
 * Discovery: which groups, resources and verbs the server has, written from the tables of
 * resources.h. There are two shapes: one document per group, which kubectl before 1.27 and many
 * libraries need, and the aggregated one.
 *
 * The documents have no ETag: after "304 Not Modified" kubectl takes one shape for the other, and
 * finds no resources at all.
 */
#include "api/server/rest/internal.h"

#include <string.h>

#include "api/server/rest/group_alias.h"
#include "api/server/rest/resources.h"
#include "base/encoding/jsonw.h"

static const char *group_version(const struct api_group *group, char out[128])
{
    snprintf(out, 128, "%s%s%s", group->name, *group->name ? "/" : "", group->version);
    return out;
}

static bool in_group(const struct api_group *group, const char *name, const char *version)
{
    return strcmp(group->name, name) == 0 && strcmp(group->version, version) == 0;
}

static void write_words(struct jsonw *w, const char *key, const char *words)
{
    jsonw_member_open_list(w, key);
    while (*words) {
        size_t n = strcspn(words, " ");

        jsonw_strn(w, words, n);
        words += n + (words[n] == ' ');
    }
    jsonw_close_list(w);
}

static void write_short_names(struct jsonw *w, const struct kind *kind)
{
    if (!kind->short_names)
        return;
    jsonw_member_open_list(w, "shortNames");
    for (const char *const *name = kind->short_names; *name; name++)
        jsonw_str(w, *name);
    jsonw_close_list(w);
}

static void write_resource_head(struct jsonw *w, const char *name, const char *singular,
                                bool namespaced)
{
    jsonw_open(w);
    jsonw_member_str(w, "name", name);
    jsonw_member_str(w, "singularName", singular);
    jsonw_member_bool(w, "namespaced", namespaced);
}

static void write_kind(struct jsonw *w, const struct kind *kind)
{
    write_resource_head(w, kind->plural, kind->singular, kind->namespaced);
    jsonw_member_str(w, "kind", kind->name);
    write_words(w, "verbs", resource_verbs(kind));
    write_short_names(w, kind);
    if (resource_in_all(kind))
        write_words(w, "categories", "all");
    jsonw_close(w);
    for (const struct subresource *sub = subresources; sub->name; sub++) {
        char name[128];

        if (!sub->verbs || !sub->of(kind))
            continue;
        snprintf(name, sizeof name, "%s/%s", kind->plural, sub->name);
        write_resource_head(w, name, "", kind->namespaced);
        jsonw_member_str_opt(w, "group", sub->group);
        jsonw_member_str_opt(w, "version", sub->version);
        jsonw_member_str(w, "kind", sub->body_kind ? sub->body_kind : kind->name);
        write_words(w, "verbs", sub->verbs);
        jsonw_close(w);
    }
}

static void write_resources(const struct api_group *group, struct buf *out)
{
    struct jsonw w = jsonw_to(out);
    char text[128];

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "APIResourceList");
    jsonw_member_str(&w, "apiVersion", "v1");
    jsonw_member_str(&w, "groupVersion", group_version(group, text));
    jsonw_member_open_list(&w, "resources");
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);

        if (in_group(group, kind->group, kind->version))
            write_kind(&w, kind);
    }
    for (const struct group_alias *alias = group_aliases; alias->group; alias++)
        if (in_group(group, alias->group, alias->version))
            write_kind(&w, alias->kind);
    for (const struct review *review = reviews; review->plural; review++) {
        if (!in_group(group, review->group, review->version))
            continue;
        write_resource_head(&w, review->plural, review->singular, review->namespaced);
        jsonw_member_str(&w, "kind", review->kind);
        write_words(&w, "verbs", "create");
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
}

static void write_version(struct jsonw *w, const struct api_group *group)
{
    char text[128];

    jsonw_open(w);
    jsonw_member_str(w, "groupVersion", group_version(group, text));
    jsonw_member_str(w, "version", group->version);
    jsonw_close(w);
}

static void write_group_members(struct jsonw *w, const struct api_group *group)
{
    jsonw_member_str(w, "name", group->name);
    jsonw_member_open_list(w, "versions");
    write_version(w, group);
    jsonw_close_list(w);
    jsonw_key(w, "preferredVersion");
    write_version(w, group);
}

static void write_group(const struct api_group *group, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "APIGroup");
    jsonw_member_str(&w, "apiVersion", "v1");
    write_group_members(&w, group);
    jsonw_close(&w);
}

static void write_groups(struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "APIGroupList");
    jsonw_member_str(&w, "apiVersion", "v1");
    jsonw_member_open_list(&w, "groups");
    for (const struct api_group *group = api_groups; group->name; group++) {
        if (!*group->name)
            continue;
        jsonw_open(&w);
        write_group_members(&w, group);
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
}

static void write_core_versions(struct buf *out)
{
    buf_str(out, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":"
                 "[{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1\"}]}");
}

static void write_body_kind(struct jsonw *w, const char *group, const char *version,
                            const char *kind)
{
    jsonw_member_open(w, "responseKind");
    jsonw_member_str(w, "group", group);
    jsonw_member_str(w, "version", version);
    jsonw_member_str(w, "kind", kind);
    jsonw_close(w);
}

static void write_aggregated_subs(struct jsonw *w, const struct kind *kind)
{
    bool any = false;

    for (const struct subresource *sub = subresources; sub->name; sub++) {
        if (!sub->verbs || !sub->of(kind))
            continue;
        if (!any)
            jsonw_member_open_list(w, "subresources");
        any = true;
        jsonw_open(w);
        jsonw_member_str(w, "subresource", sub->name);
        write_body_kind(w, sub->group ? sub->group : kind->group,
                        sub->version ? sub->version : kind->version,
                        sub->body_kind ? sub->body_kind : kind->name);
        write_words(w, "verbs", sub->verbs);
        jsonw_close(w);
    }
    if (any)
        jsonw_close_list(w);
}

/* Writes a kind. `group` is the group that is described, which for an alias is not the kind's own.
 */
static void write_aggregated_kind(struct jsonw *w, const struct api_group *group,
                                  const struct kind *kind)
{
    jsonw_open(w);
    jsonw_member_str(w, "resource", kind->plural);
    write_body_kind(w, group->name, group->version, kind->name);
    jsonw_member_str(w, "scope", kind->namespaced ? "Namespaced" : "Cluster");
    jsonw_member_str(w, "singularResource", kind->singular);
    write_short_names(w, kind);
    if (resource_in_all(kind))
        write_words(w, "categories", "all");
    write_words(w, "verbs", resource_verbs(kind));
    write_aggregated_subs(w, kind);
    jsonw_close(w);
}

static void write_aggregated_review(struct jsonw *w, const struct review *review)
{
    jsonw_open(w);
    jsonw_member_str(w, "resource", review->plural);
    write_body_kind(w, review->group, review->version, review->kind);
    jsonw_member_str(w, "scope", review->namespaced ? "Namespaced" : "Cluster");
    jsonw_member_str(w, "singularResource", review->singular);
    write_words(w, "verbs", "create");
    jsonw_close(w);
}

static void write_aggregated_group(struct jsonw *w, const struct api_group *group)
{
    jsonw_open(w);
    jsonw_member_open(w, "metadata");
    jsonw_member_str_opt(w, "name", group->name);
    jsonw_member_raw(w, "creationTimestamp", "null", 4);
    jsonw_close(w);
    jsonw_member_open_list(w, "versions");
    jsonw_open(w);
    jsonw_member_str(w, "version", group->version);
    jsonw_member_open_list(w, "resources");
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);

        if (in_group(group, kind->group, kind->version))
            write_aggregated_kind(w, group, kind);
    }
    for (const struct group_alias *alias = group_aliases; alias->group; alias++)
        if (in_group(group, alias->group, alias->version))
            write_aggregated_kind(w, group, alias->kind);
    for (const struct review *review = reviews; review->plural; review++)
        if (in_group(group, review->group, review->version))
            write_aggregated_review(w, review);
    jsonw_close_list(w);
    jsonw_member_str(w, "freshness", "Current");
    jsonw_close(w);
    jsonw_close_list(w);
    jsonw_close(w);
}

/* The core group is at /api, all others are at /apis. */
enum discovery_root { ROOT_API, ROOT_APIS };

static void write_aggregated(enum discovery_root root, const char *version, struct buf *out)
{
    struct jsonw w = jsonw_to(out);
    char text[64];

    snprintf(text, sizeof text, "apidiscovery.k8s.io/%s", version);
    jsonw_open(&w);
    jsonw_member_str(&w, "kind", "APIGroupDiscoveryList");
    jsonw_member_str(&w, "apiVersion", text);
    jsonw_member_open(&w, "metadata");
    jsonw_close(&w);
    jsonw_member_open_list(&w, "items");
    for (const struct api_group *group = api_groups; group->name; group++)
        if (!*group->name == (root == ROOT_API))
            write_aggregated_group(&w, group);
    jsonw_close_list(&w);
    jsonw_close(&w);
}

static const struct api_group *find_group(const char *name, const char *version)
{
    for (const struct api_group *group = api_groups; group->name; group++)
        if (strcmp(group->name, name) == 0 && (!version || strcmp(group->version, version) == 0))
            return group;
    return NULL;
}

static struct api_stream *send_root(const struct api_call *call, enum discovery_root root)
{
    struct reply reply = {.status = 200, .headers = {"Vary: Accept"}};
    struct media media;
    struct error err = {0};
    char type[96];

    if (!accept_negotiate(call->request->accept, ACCEPT_DISCOVERY, PROTOBUF_UNKNOWN, &media, &err))
        return reply_error(call, &err);
    if (media.form == MEDIA_DISCOVERY) {
        snprintf(type, sizeof type, "application/json;g=apidiscovery.k8s.io;v=%s;as=%s",
                 media.version, "APIGroupDiscoveryList");
        reply.content_type = arena_strdup(call->arena, type);
        write_aggregated(root, media.version, &reply.body);
    } else if (root == ROOT_API) {
        write_core_versions(&reply.body);
    } else {
        write_groups(&reply.body);
    }
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_NOW);
}

static struct api_stream *send_group(const struct api_call *call, const struct api_group *group,
                                     void (*write)(const struct api_group *group, struct buf *out))
{
    struct reply reply = {.status = 200};
    struct media media;
    struct error err = {0};

    if (!accept_negotiate(call->request->accept, ACCEPT_PLAIN, PROTOBUF_UNKNOWN, &media, &err))
        return reply_error(call, &err);
    write(group, &reply.body);
    buf_char(&reply.body, '\n');
    return reply_send(call, &reply, STREAM_NOW);
}

struct api_stream *page_discovery(const struct api_call *call)
{
    const char *const *segment = call->target.segments;
    size_t n = call->target.n_segments;
    const struct api_group *group = NULL;
    bool core = n > 0 && strcmp(segment[0], "api") == 0;

    if (call->request->method != API_GET && call->request->method != API_HEAD)
        return NULL;
    if (n == 0 || (!core && strcmp(segment[0], "apis") != 0))
        return NULL;
    if (n == 1)
        return send_root(call, core ? ROOT_API : ROOT_APIS);
    if (core && n == 2)
        group = find_group("", segment[1]);
    else if (!core && (n == 2 || n == 3) && *segment[1])
        group = find_group(segment[1], n == 3 ? segment[2] : NULL);
    if (!group)
        return NULL;
    return send_group(call, group, !core && n == 2 ? write_group : write_resources);
}
