/*
 * get and list. What is read may not be durable yet, so the answer waits for it.
 */
#include "api/server/stream.h"
#include "api/server/table.h"
#include "base/mem.h"
#include <string.h>

enum { PAGE = 512 };

static struct api_stream *not_found(const struct api_call *call)
{
    struct error err = {0};

    error_set(&err, ERR_NOT_FOUND, "", "%s%s%s \"%s\" not found", call->route.kind->plural,
              *call->route.kind->group ? "." : "", call->route.kind->group, call->route.name);
    return reply_error(call, &err);
}

static bool parse_include(const struct api_call *call, enum table_object *out, struct error *err)
{
    const char *text = target_query(&call->target, "includeObject");

    *out = TABLE_OBJECT_METADATA;
    if (!text || !*text || strcmp(text, "Metadata") == 0)
        return true;
    *out = strcmp(text, "Object") == 0 ? TABLE_OBJECT_FULL : TABLE_OBJECT_NONE;
    if (strcmp(text, "Object") == 0 || strcmp(text, "None") == 0)
        return true;
    return error_set(err, ERR_BAD_REQUEST, "",
                     "Unable to convert to Table as requested: includeObject: Invalid value: "
                     "\"%s\": must be 'Metadata', "
                     "'Object', 'None', or empty",
                     text);
}

static struct api_stream *reply_table(const struct api_call *call,
                                      const struct object *const *objects, size_t n,
                                      int64_t revision, const char *continue_)
{
    struct table_options options = {
        .now_ms = loop_wall_ms(call->api->loop), .revision = revision, .continue_ = continue_};
    scoped(buf) struct buf body = {0};
    struct error err = {0};

    if (!parse_include(call, &options.include, &err))
        return reply_error(call, &err);
    table_write(call->route.kind, objects, n, true, &options, &body);
    return reply_body(call, 200, "application/json", &body, REPLY_DURABLE);
}

struct api_stream *verb_get(const struct api_call *call)
{
    const struct object *object =
        store_get(call->api->store, call->route.kind, call->route.ns, call->route.name);

    if (!object)
        return not_found(call);
    if (call->table)
        return reply_table(call, &object, 1, object->revision, "");
    return reply_object(call, 200, object, REPLY_DURABLE);
}

/* The objects of one answer, as references. */
struct page {
    const struct object **items;
    size_t count, cap;
    char *continue_; /* "ns/name" of the last one when there are more; owned */
};

static void page_release(struct page *page)
{
    for (size_t i = 0; i < page->count; i++)
        object_unref((struct object *)(size_t)page->items[i]);
    mem_free(page->items);
    mem_free(page->continue_);
}

static void page_collect(const struct api_call *call, const struct api_filter *filter,
                         const char *after, size_t limit, struct page *page)
{
    struct object *chunk[PAGE];
    char *cursor = mem_strdup(after);
    size_t n;

    do {
        n = store_page(call->api->store, call->route.kind, call->route.ns, cursor, PAGE, chunk);
        for (size_t i = 0; i < n; i++) {
            if (i + 1 == n) {
                mem_free(cursor);
                cursor = mem_printf("%s/%s", object_namespace(chunk[i]), object_name(chunk[i]));
            }
            if ((limit && page->count == limit && page->continue_) ||
                !filter_matches(filter, chunk[i])) {
                object_unref(chunk[i]);
                continue;
            }
            if (limit && page->count == limit) { /* one more than asked for: there is a next page */
                const struct object *last = page->items[limit - 1];

                page->continue_ = mem_printf("%s/%s", object_namespace(last), object_name(last));
                object_unref(chunk[i]);
                continue;
            }
            mem_grow(page->items, page->count, page->cap);
            page->items[page->count++] = chunk[i];
        }
    } while (n == PAGE && !page->continue_);
    mem_free(cursor);
}

static struct api_stream *reply_list(const struct api_call *call, const struct page *page,
                                     int64_t revision)
{
    scoped(buf) struct buf body = {0};
    struct jsonw w = jsonw_to(&body);
    char text[64];

    jsonw_open(&w);
    snprintf(text, sizeof text, "%sList", call->route.kind->name);
    jsonw_member_str(&w, "kind", text);
    jsonw_member_str(&w, "apiVersion", kind_api_version(call->route.kind));
    jsonw_member_open(&w, "metadata");
    snprintf(text, sizeof text, "%lld", (long long)revision);
    jsonw_member_str(&w, "resourceVersion", text);
    jsonw_member_str_opt(&w, "continue", page->continue_);
    jsonw_close(&w);
    jsonw_member_open_list(&w, "items");
    for (size_t i = 0; i < page->count; i++) {
        if (i)
            buf_char(&body, ',');
        object_write(page->items[i], &body);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
    buf_char(&body, '\n');
    return reply_body(call, 200, "application/json", &body, REPLY_DURABLE);
}

struct api_stream *verb_list(const struct api_call *call)
{
    const char *after = target_query(&call->target, "continue");
    int64_t revision = store_revision(call->api->store), limit;
    struct api_filter filter = {0};
    struct page page = {0};
    struct api_stream *stream;
    struct error err = {0};

    if (!target_query_int(&call->target, "limit", 0, 0, &limit, &err) ||
        !filter_parse(call, &filter, &err)) {
        filter_release(&filter);
        return reply_error(call, &err);
    }
    page_collect(call, &filter, after && *after ? after : NULL, (size_t)limit, &page);
    filter_release(&filter);
    stream = call->table ? reply_table(call, page.items, page.count, revision,
                                       page.continue_ ? page.continue_ : "")
                         : reply_list(call, &page, revision);
    page_release(&page);
    return stream;
}
