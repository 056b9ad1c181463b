/*
 * The one streamed answer of a visible tab: a line for each change of what the tab has subscribed
 * to, at most ten times a second.
 *
 * A stream has a cursor in each of its topics and nothing else: what is not read yet stays with the
 * topic, where a newer value replaces it. A client that reads slowly gets the last values when it
 * goes on. Ref: spec/web.md 7.5.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "web/internal.h"
#include "web/topic/topic.h"

enum {
    STREAMS_MAX = 8, /* open streams of one sign-in */
    TOPICS_MAX = 64, /* topics of one stream */
    PACE_MS = 100,
    HEARTBEAT_MS = 15000,
    WHOLE_MS = 60 * 60 * 1000,
    BACKLOG_MAX = 64 << 10, /* nothing is added while the client has not read this much */
    PIECE_MAX = 256 << 10,
    TAB_MAX = 32,
    TOPIC_NAME_MAX = 512,
    ID_TEXT = 16,
    NS_PER_MS = 1000000,
};

struct subscription {
    struct topic_cursor cursor;
    struct page_stream *stream;
    LIST_ENTRY(subscription) all;
};

struct page_stream {
    struct web_stream stream;
    struct task start;
    bool started;
    char id[ID_TEXT + 1], tab[TAB_MAX + 1];
    uint64_t signin;
    LIST_HEAD(, subscription) subscriptions;
    size_t n_subscriptions;
    struct timer pump, heartbeat, whole;
    int64_t pumped_ns;
    LIST_ENTRY(page_stream) all;
};

static struct subscription *subscription_of(struct topic_cursor *cursor)
{
    return container_of(cursor, struct subscription, cursor);
}

static struct loop *loop_of(const struct page_stream *stream)
{
    return stream->stream.server->loop;
}

static void send_text(struct page_stream *stream, const struct buf *text)
{
    struct api_response *response = stream->stream.response;

    if (text->len)
        response->data(response, text->data, text->len);
    timer_start(loop_of(stream), &stream->heartbeat, HEARTBEAT_MS);
}

static void send_json(struct page_stream *stream, json_t *object)
{
    scoped(buf) struct buf line = {0};

    json_text(object, &line);
    buf_char(&line, '\n');
    send_text(stream, &line);
}

static bool is_read(const struct page_stream *stream)
{
    return stream->stream.response->backlog(stream->stream.response) < BACKLOG_MAX;
}

/* Sends what has changed. What does not fit goes when the client has read this. */
static void pump(struct page_stream *stream)
{
    scoped(buf) struct buf lines = {0};
    struct subscription *subscription;
    bool more = false;

    if (!stream->started || !is_read(stream))
        return; /* the callback `drained` continues */
    stream->pumped_ns = loop_mono_ns(loop_of(stream));
    LIST_FOREACH(subscription, &stream->subscriptions, all)
    {
        more = topic_read(&subscription->cursor, PIECE_MAX, &lines) || more;
    }
    if (lines.len)
        send_text(stream, &lines);
    if (more)
        timer_start(loop_of(stream), &stream->pump, PACE_MS);
}

static void on_pump(struct timer *timer)
{
    pump(container_of(timer, struct page_stream, pump));
}

/* The first change after a pause goes at once, or rather when this turn's changes are complete. */
static void pump_soon(struct page_stream *stream)
{
    int64_t since_ms = (loop_mono_ns(loop_of(stream)) - stream->pumped_ns) / NS_PER_MS;

    if (!timer_armed(&stream->pump))
        timer_start(loop_of(stream), &stream->pump, since_ms < PACE_MS ? PACE_MS - since_ms : 0);
}

static void on_changed(struct topic_cursor *cursor)
{
    pump_soon(subscription_of(cursor)->stream);
}

static void on_heartbeat(struct timer *timer)
{
    struct page_stream *stream = container_of(timer, struct page_stream, heartbeat);
    scoped(json) json_t *line = json_pack("{s:s, s:I}", "type", "heartbeat", "timeMs",
                                          (json_int_t)loop_wall_ms(loop_of(stream)));

    send_json(stream, line);
}

static void drop(struct subscription *subscription)
{
    subscription->stream->n_subscriptions--;
    LIST_REMOVE(subscription, all);
    topic_close(&subscription->cursor);
    mem_free(subscription);
}

static void release(struct page_stream *stream)
{
    struct loop *loop = loop_of(stream);

    while (!LIST_EMPTY(&stream->subscriptions))
        drop(LIST_FIRST(&stream->subscriptions));
    loop_cancel(loop, &stream->start);
    timer_stop(loop, &stream->pump);
    timer_stop(loop, &stream->heartbeat);
    timer_stop(loop, &stream->whole);
    LIST_REMOVE(stream, all);
    mem_free(stream);
}

static void begin(struct page_stream *stream)
{
    static const char *const headers[] = {"Cache-Control: no-store"};
    struct api_response *response = stream->stream.response;

    stream->started = true;
    response->head(response, 200, "application/x-ndjson; charset=utf-8", headers, 1);
}

/* Ends the response with a last line. */
static void end(struct page_stream *stream, const char *type, const char *reason)
{
    struct api_response *response = stream->stream.response;
    scoped(json) json_t *line = json_pack("{s:s}", "type", type);

    if (reason)
        json_object_set_new(line, "reason", json_string(reason));
    if (!stream->started)
        begin(stream);
    send_json(stream, line);
    response->end(response);
    release(stream);
}

static void on_whole(struct timer *timer)
{
    end(container_of(timer, struct page_stream, whole), "again", NULL);
}

static void on_start(struct task *task)
{
    struct page_stream *stream = container_of(task, struct page_stream, start);
    scoped(json) json_t *hello = json_pack("{s:s, s:s}", "type", "hello", "id", stream->id);

    begin(stream);
    web_write_server(stream->stream.server, hello);
    send_json(stream, hello);
    pump_soon(stream);
}

static void cancel(struct web_stream *stream)
{
    release(container_of(stream, struct page_stream, stream));
}

static void drained(struct web_stream *stream)
{
    struct page_stream *mine = container_of(stream, struct page_stream, stream);

    if (mine->started)
        pump_soon(mine);
}

static void finish(struct web_stream *stream, const char *why)
{
    end(container_of(stream, struct page_stream, stream), "ended", why);
}

static const struct web_stream_ops ops = {
    .cancel = cancel, .drained = drained, .finish = finish, .long_running = true};

/* Ends an earlier stream of the same tab, and of too many the oldest one. */
static void make_room(struct web_server *server, uint64_t signin, const char *tab)
{
    struct page_stream *stream, *oldest = NULL, *same = NULL;
    int n = 0;

    LIST_FOREACH(stream, &server->streams, all)
    {
        if (stream->signin != signin)
            continue;
        oldest = stream; /* the last one seen, because new streams are at the front of the list */
        n++;
        if (strcmp(stream->tab, tab) == 0)
            same = stream;
    }
    if (same)
        end(same, "ended", "continued by the same tab");
    else if (n >= STREAMS_MAX)
        end(oldest, "ended", "continued in another tab");
}

static bool is_tab(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");

    return len > 0 && len <= TAB_MAX && !text[len];
}

static void *open_stream(struct web_server *server, const struct web_request *request,
                         struct api_response *response)
{
    const char *tab = request_query(&request->target, "tab");
    struct page_stream *stream;
    struct error err = {0};

    if (!tab || !is_tab(tab)) {
        error_set(&err, ERR_BAD_REQUEST, "", "\"tab\" must be letters and digits");
        return web_respond_error(server, response, &err);
    }
    make_room(server, request->signin, tab);
    stream = mem_alloc(sizeof *stream);
    stream->stream = (struct web_stream){&ops, server, response};
    stream->signin = request->signin;
    snprintf(stream->id, sizeof stream->id, "%016llx",
             (unsigned long long)clock_random(loop_clock(server->loop)));
    snprintf(stream->tab, sizeof stream->tab, "%s", tab);
    stream->start.run = on_start;
    stream->pump.fire = on_pump;
    stream->heartbeat.fire = on_heartbeat;
    stream->whole.fire = on_whole;
    LIST_INSERT_HEAD(&server->streams, stream, all);
    timer_start(server->loop, &stream->whole, WHOLE_MS);
    loop_post(server->loop, &stream->start);
    return &stream->stream;
}

/* Chapter: subscriptions. */

static struct page_stream *by_id(const struct web_server *server, uint64_t signin, const char *id)
{
    struct page_stream *stream;

    LIST_FOREACH(stream, &server->streams, all)
    {
        if (stream->signin == signin && strcmp(stream->id, id) == 0)
            return stream;
    }
    return NULL;
}

static struct subscription *by_name(const struct page_stream *stream, const char *name)
{
    struct subscription *subscription;

    LIST_FOREACH(subscription, &stream->subscriptions, all)
    {
        if (strcmp(topic_name(subscription->cursor.topic), name) == 0)
            return subscription;
    }
    return NULL;
}

static bool add(struct page_stream *stream, const char *name, struct error *err)
{
    struct subscription *subscription;

    if (by_name(stream, name))
        return true;
    if (strlen(name) > TOPIC_NAME_MAX)
        return error_set(err, ERR_BAD_REQUEST, "", "there is no such topic");
    if (stream->n_subscriptions == TOPICS_MAX)
        return error_set(err, ERR_TOO_MANY, "", "a stream has at most %d topics", TOPICS_MAX);
    subscription = mem_alloc(sizeof *subscription);
    subscription->stream = stream;
    subscription->cursor.changed = on_changed;
    if (!topic_open(stream->stream.server->topics, name, &subscription->cursor, err)) {
        mem_free(subscription);
        return false;
    }
    LIST_INSERT_HEAD(&stream->subscriptions, subscription, all);
    stream->n_subscriptions++;
    return true;
}

/* Whether a member is absent or a list of texts. */
static bool is_list(const json_t *list)
{
    size_t i;
    const json_t *item;

    if (list && !json_is_array(list))
        return false;
    json_array_foreach(list, i, item) if (!json_is_string(item)) return false;
    return true;
}

static bool change(struct page_stream *stream, const json_t *doc, struct error *err)
{
    const json_t *added = json_object_get(doc, "add"), *dropped = json_object_get(doc, "drop");
    struct subscription *subscription;
    size_t i;
    const json_t *item;

    if (!json_is_object(doc) || !is_list(added) || !is_list(dropped))
        return error_set(err, ERR_BAD_REQUEST, "", "the body must have lists \"add\" and \"drop\"");
    json_array_foreach(dropped, i, item)
    {
        subscription = by_name(stream, json_string_value(item));
        if (subscription)
            drop(subscription);
    }
    json_array_foreach(added, i, item)
    {
        if (!add(stream, json_string_value(item), err))
            return false;
    }
    return true;
}

static void *change_stream(struct web_server *server, const struct web_request *request,
                           struct api_response *response)
{
    const struct api_request *http = request->http;
    const char *id = request->target.n_segments == 4 ? request->target.segments[3] : "";
    struct page_stream *stream = by_id(server, request->signin, id);
    scoped(json) json_t *doc =
        json_loadb(http->body_len ? http->body : "", http->body_len, JSON_REJECT_DUPLICATES, NULL);
    struct web_response answer = {.status = 200};
    struct error err = {0};

    if (!stream)
        error_set(&err, ERR_NOT_FOUND, "", "there is no such stream");
    else if (change(stream, doc, &err))
        buf_str(&answer.body, "{}");
    if (err.code != ERR_NONE)
        return web_respond_error(server, response, &err);
    return web_respond(server, response, &answer);
}

void *web_stream(struct web_server *server, const struct web_request *request,
                 struct api_response *response)
{
    struct error err = {0};

    if (request->http->method == API_GET && request->target.n_segments == 3)
        return open_stream(server, request, response);
    if (request->http->method == API_POST && request->target.n_segments == 4)
        return change_stream(server, request, response);
    error_set(&err, ERR_METHOD, "", "this method is not allowed here");
    return web_respond_error(server, response, &err);
}

/* Chapter: all streams of a gateway. */

void web_streams_tell_server(struct web_server *server)
{
    struct page_stream *stream;

    LIST_FOREACH(stream, &server->streams, all)
    {
        scoped(json) json_t *line = json_pack("{s:s}", "type", "server");

        web_write_server(server, line);
        if (stream->started)
            send_json(stream, line);
    }
}
