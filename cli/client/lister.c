/*
 * Fetches pages until the server has no more; a watch then starts at the revision of the last page.
 */
#include "cli/client/lister.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "base/encoding/jsonscan.h"
#include "base/mem.h"
#include "cli/client/resource.h"

enum { PAGE_LIMIT = 500 };
/* One event may be a large flow with its status (DC-05). */
static const size_t event_bytes_max = (size_t)1 << 30;

char *list_target(const struct list_query *query)
{
    scoped(buf) struct buf target = {0}, fields = {0};

    resource_write_path(query->kind, query->ns, NULL, &target);
    if (query->name)
        buf_printf(&fields, "metadata.name=%s", query->name);
    if (query->fields && *query->fields)
        buf_printf(&fields, "%s%s", fields.len ? "," : "", query->fields);
    resource_write_query("labelSelector", query->labels, &target);
    resource_write_query("fieldSelector", fields.data, &target);
    resource_write_query("includeObject", query->include_object, &target);
    return buf_take(&target);
}

static json_t *parse_page(const struct buf *text, struct error *err)
{
    json_t *page = json_loadb(text->len ? text->data : "", text->len, 0, NULL);

    if (!page)
        error_set(err, ERR_INTERNAL, "", "the answer is no JSON");
    return page;
}

static json_t *get_page(struct client *client, const char *target, const char *accept,
                        struct error *err)
{
    scoped(client_call) struct client_call call = {.target = target, .accept = accept};

    return client_do(client, &call, err) ? parse_page(&call.text, err) : NULL;
}

/* Appends what a page of the list is asked for. */
static void write_page_query(const struct list_query *query, const char *next, struct buf *url)
{
    scoped_str limit = mem_printf("%u", query->limit ? query->limit : PAGE_LIMIT);

    resource_write_query("limit", limit, url);
    resource_write_query("continue", next, url);
}

#define ACCEPT_NAMES                                                                               \
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"

struct names {
    void (*each)(void *ctx, const char *name);
    void *ctx;
    struct buf name;
    char *next; /* continue token of the next page; NULL */
};

static void names_release(struct names *names)
{
    buf_release(&names->name);
    mem_free(names->next);
}
SCOPED_DEFINE(names, struct names, names_release)

static char *string_of(const char *value)
{
    size_t len = 0;
    const char *text = value ? jsonscan_string(value, &len) : NULL;
    scoped(buf) struct buf out = {0};

    buf_add(&out, text, len);
    return len ? buf_take(&out) : NULL;
}

/* Reads the names by scanning the text. Returns false when the text is not in the expected compact
 * form. */
static bool scan_names(struct names *names, const char *text)
{
    const char *at = jsonscan_member(text, "items"), *item;

    if (!at || *at != '[')
        return false;
    names->next = string_of(jsonscan_member(jsonscan_member(text, "metadata"), "continue"));
    while ((item = jsonscan_next_element(&at))) {
        const char *name = jsonscan_member(jsonscan_member(item, "metadata"), "name");
        size_t len = 0;
        const char *word = name ? jsonscan_string(name, &len) : NULL;

        buf_clear(&names->name);
        buf_add(&names->name, word, len);
        if (len)
            names->each(names->ctx, names->name.data);
    }
    return true;
}

static bool read_names(struct names *names, const struct buf *text, struct error *err)
{
    scoped(json) json_t *page = parse_page(text, err);
    const char *next =
        json_string_value(json_object_get(json_object_get(page, "metadata"), "continue"));
    size_t i;
    json_t *item;

    if (!page)
        return false;
    names->next = mem_strdup(next && *next ? next : NULL);
    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        const char *name =
            json_string_value(json_object_get(json_object_get(item, "metadata"), "name"));

        if (name)
            names->each(names->ctx, name);
    }
    return true;
}

/* Says of a kind that the server does not have that it is missing. A collection of a kind that it
 * has is found, even when it is empty. */
static bool missing(const struct list_query *query, struct error *err)
{
    if (err && err->code == ERR_NOT_FOUND && !query->path)
        error_set(err, ERR_NOT_FOUND, "", "the server has no %s%s%s", query->kind->plural,
                  *query->kind->group ? "." : "", query->kind->group);
    return false;
}

bool list_names(struct client *client, const struct list_query *query,
                void (*each)(void *ctx, const char *name), void *ctx, struct error *err)
{
    scoped_str target = list_target(query);
    scoped(names) struct names names = {.each = each, .ctx = ctx};

    do {
        scoped(buf) struct buf url = {0};
        scoped(client_call) struct client_call call = {.accept = ACCEPT_NAMES};

        buf_str(&url, target);
        write_page_query(query, names.next, &url);
        mem_free(take(names.next));
        call.target = url.data;
        if (!client_do(client, &call, err))
            return missing(query, err);
        if (!scan_names(&names, call.text.data ? call.text.data : "") &&
            !read_names(&names, &call.text, err))
            return false;
    } while (names.next);
    return true;
}

bool list_pages(struct client *client, const struct list_query *query,
                bool (*page)(void *ctx, json_t *page), void *ctx, char **out_revision,
                struct error *err)
{
    scoped_str target = query->path ? mem_strdup(query->path) : list_target(query);
    scoped_str next = NULL;
    bool goes_on;

    do {
        scoped(buf) struct buf url = {0};
        scoped(json) json_t *doc = NULL;
        const json_t *metadata;
        const char *revision;

        buf_str(&url, target);
        write_page_query(query, next, &url);
        doc = get_page(client, url.data, query->accept, err);
        if (!doc)
            return missing(query, err);
        metadata = json_object_get(doc, "metadata");
        revision = json_string_value(json_object_get(metadata, "resourceVersion"));
        if (out_revision && !*out_revision)
            *out_revision = mem_strdup(revision ? revision : "0");
        mem_free(next);
        next = mem_strdup(json_string_value(json_object_get(metadata, "continue")));
        goes_on = page(ctx, doc) && next && *next;
    } while (goes_on);
    return true;
}

struct each_object {
    bool (*each)(void *ctx, json_t *object);
    void *ctx;
};

static bool each_of_page(void *ctx, json_t *page)
{
    const struct each_object *objects = ctx;
    size_t i;
    json_t *object;

    json_array_foreach(json_object_get(page, "items"), i, object)
    {
        if (!objects->each(objects->ctx, object))
            return false;
    }
    return true;
}

/* Passes the objects of a page that are wanted, and parses no others. Moves `*next` to the token of
 * the next page; NULL: there is none. False with `err` when the page is no JSON. */
static bool each_wanted(const struct list_query *query, const struct each_object *objects,
                        const struct buf *text, char **next, struct error *err)
{
    const char *at = jsonscan_member(text->len ? text->data : "", "items"), *item;
    bool goes_on = true;

    mem_free(take(*next));
    if (!at || *at != '[') { /* the text is not compact */
        scoped(json) json_t *page = parse_page(text, err);
        const json_t *metadata = json_object_get(page, "metadata");

        if (page && each_of_page((void *)(uintptr_t)objects, page))
            *next = mem_strdup(json_string_value(json_object_get(metadata, "continue")));
        return page != NULL;
    }
    while (goes_on && (item = jsonscan_next_element(&at))) {
        scoped(json) json_t *object = NULL;

        if (!query->wanted(query->wanted_ctx, item))
            continue;
        object = json_loadb(item, (size_t)(at - item), 0, NULL);
        if (!object)
            return error_set(err, ERR_INTERNAL, "", "the answer is no JSON");
        goes_on = objects->each(objects->ctx, object);
    }
    if (goes_on)
        *next = string_of(jsonscan_member(jsonscan_member(text->data, "metadata"), "continue"));
    return true;
}

static bool list_wanted(struct client *client, const struct list_query *query,
                        const struct each_object *objects, struct error *err)
{
    scoped_str target = list_target(query);
    scoped_str next = NULL;

    do {
        scoped(buf) struct buf url = {0};
        scoped(client_call) struct client_call call = {0};

        buf_str(&url, target);
        write_page_query(query, next, &url);
        call.target = url.data;
        if (!client_do(client, &call, err))
            return missing(query, err);
        if (!each_wanted(query, objects, &call.text, &next, err))
            return false;
    } while (next && *next);
    return true;
}

bool list_each(struct client *client, const struct list_query *query,
               bool (*each)(void *ctx, json_t *object), void *ctx, char **out_revision,
               struct error *err)
{
    struct each_object objects = {each, ctx};

    if (query->wanted && !out_revision)
        return list_wanted(client, query, &objects, err);
    return list_pages(client, query, each_of_page, &objects, out_revision, err);
}

static struct watcher *of(struct client_call *call)
{
    return container_of(call, struct watcher, call);
}

static void take_error(struct watcher *watcher, const json_t *status)
{
    const char *message = json_string_value(json_object_get(status, "message"));
    bool gone = json_integer_value(json_object_get(status, "code")) == 410;

    error_set(&watcher->call.err, gone ? ERR_GONE : ERR_INTERNAL, "", "%s",
              message ? message : "the watch failed");
}

static bool take_event(void *ctx, const char *text, size_t len)
{
    static const char *const types[] = {
        [WATCH_ADDED] = "ADDED", [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED"};
    struct watcher *watcher = ctx;
    scoped(json) json_t *doc = json_loadb(text, len, 0, NULL);
    const char *type = json_string_value(json_object_get(doc, "type"));
    json_t *object = json_object_get(doc, "object");

    if (type && strcmp(type, "ERROR") == 0)
        take_error(watcher, object);
    for (size_t i = 0; type && i < countof(types); i++)
        if (strcmp(types[i], type) == 0 && !watcher->changed(watcher, (enum watch_event)i, object))
            client_stop(watcher->call.client);
    return true;
}

static void on_data(struct client_call *call, const char *bytes, size_t len)
{
    struct watcher *watcher = of(call);

    documents_take(&watcher->events, bytes, len, take_event, watcher, &watcher->call.err);
}

static void on_done(struct client_call *call)
{
    struct watcher *watcher = of(call);
    struct error err = {0};

    client_ok(call, &err);
    if (watcher->ended)
        watcher->ended(watcher, &err);
}

void watcher_start(struct client *client, struct watcher *watcher, const struct list_query *query,
                   const char *revision)
{
    scoped(buf) struct buf target = {0};
    scoped_str list = list_target(query);

    buf_str(&target, list);
    resource_write_query("watch", "true", &target);
    resource_write_query("resourceVersion", revision, &target);
    mem_free(watcher->target);
    watcher->target = buf_take(&target);
    documents_reset(&watcher->events);
    watcher->events.bytes_max = event_bytes_max;
    client_cancel(&watcher->call);
    watcher->call.target = watcher->target;
    watcher->call.accept = query->accept;
    watcher->call.data = on_data;
    watcher->call.done = on_done;
    client_start(client, &watcher->call);
}

void watcher_stop(struct watcher *watcher)
{
    client_call_release(&watcher->call);
    mem_free(take(watcher->target));
    documents_release(&watcher->events);
}
