/*
 * Runs the watches of topics, keeps their rows, and writes what a cursor has not read.
 */
#include "web/topic/topic.h"

#include <string.h>

#include "api/client/answer.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/collections/hash.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "web/topic/internal.h"

enum {
    LINGER_MS = 30000,
    WATCH_S = 1800,
    RETRY_MIN_MS = 500,
    RETRY_MAX_MS = 30000,
    BEGIN_EVERY_MS = 5000, /* least time between two beginnings of a topic */
    NS_PER_MS = 1000000,
    LINE_BYTES_MAX = 128 << 20,
};

struct topics {
    struct loop *loop;
    struct upstream *upstream;
    struct child_queue *children;
    LIST_HEAD(, topic) all;
};

static bool same_key(const void *item, const void *key)
{
    return strcmp(((const struct topic_row *)item)->key, key) == 0;
}

static uint64_t hash_of(const char *key)
{
    return hash_bytes(key, strlen(key));
}

void topic_tell(struct topic *topic)
{
    struct topic_cursor *cursor;

    LIST_FOREACH(cursor, &topic->cursors, all)
    {
        cursor->changed(cursor);
    }
}

bool topic_is_name(const char *text, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    enum { NAME_BYTES = 253 };

    return len > 0 && len <= NAME_BYTES && text[0] != '.' && strspn(text, letters) >= len;
}

/* Chapter: rows. */

static struct topic_rows *list_of(struct topic *topic, const struct topic_row *row)
{
    return row->text ? &topic->rows : &topic->gone;
}

/* Makes a change of the row the newest one. */
static void put_last(struct topic *topic, struct topic_row *row, char *text)
{
    if (row->number)
        TAILQ_REMOVE(list_of(topic, row), row, order);
    mem_free(row->text);
    row->text = text;
    row->number = ++topic->changes;
    TAILQ_INSERT_TAIL(list_of(topic, row), row, order);
    topic_tell(topic);
}

void topic_set(struct topic *topic, const char *key, const char *text)
{
    struct topic_row *row = table_find(&topic->by_key, hash_of(key), same_key, key);

    if (!row) {
        row = mem_alloc(sizeof *row);
        row->key = mem_strdup(key);
        table_add(&topic->by_key, hash_of(key), row);
    }
    row->seen = true;
    if (!row->text || strcmp(row->text, text) != 0)
        put_last(topic, row, mem_strdup(text));
}

void topic_remove(struct topic *topic, const char *key)
{
    struct topic_row *row = table_find(&topic->by_key, hash_of(key), same_key, key);

    if (row && row->text)
        put_last(topic, row, NULL);
}

static void drop_row(struct topic *topic, struct topic_row *row)
{
    TAILQ_REMOVE(list_of(topic, row), row, order);
    table_remove(&topic->by_key, hash_of(row->key), row);
    mem_free(row->key);
    mem_free(row->text);
    mem_free(row);
}

static void drop_rows(struct topic *topic)
{
    while (!TAILQ_EMPTY(&topic->rows))
        drop_row(topic, TAILQ_FIRST(&topic->rows));
    while (!TAILQ_EMPTY(&topic->gone))
        drop_row(topic, TAILQ_FIRST(&topic->gone));
}

void topic_reset(struct topic *topic)
{
    drop_rows(topic);
    buf_clear(&topic->head);
    topic->resets++;
    topic_tell(topic);
}

static void set_members(struct topic *topic, struct buf *place, const char *members)
{
    buf_clear(place);
    buf_str(place, members);
    topic_tell(topic);
}

void topic_set_head(struct topic *topic, const char *members)
{
    if (topic->head.len && strcmp(topic->head.data, members) == 0)
        return;
    topic->head_number = ++topic->changes;
    set_members(topic, &topic->head, members);
}

/* Says why data are old; "" when they are not. */
static void set_note(struct topic *topic, const char *member, const char *text)
{
    scoped(buf) struct buf members = {0};
    struct jsonw w = jsonw_to(&members);

    if (text) {
        buf_printf(&members, ",\"%s\":", member);
        jsonw_str(&w, text);
    } else
        buf_str(&members, "");
    if (strcmp(topic->note.len ? topic->note.data : "", members.data) == 0)
        return;
    topic->notes++;
    set_members(topic, &topic->note, members.data);
}

/* Drops keys that every reader knows to be gone. */
static void forget_gone(struct topic *topic)
{
    uint64_t read = topic->changes;
    struct topic_cursor *cursor;
    struct topic_row *row;

    LIST_FOREACH(cursor, &topic->cursors, all)
    {
        if (cursor->gone < read)
            read = cursor->gone;
    }
    while ((row = TAILQ_FIRST(&topic->gone)) && row->number <= read)
        drop_row(topic, row);
}

/* Chapter: what a cursor reads. */

static void begin_line(const struct topic *topic, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    buf_str(out, "{\"topic\":");
    jsonw_str(&w, topic->name);
}

static struct topic_row *first_after(const struct topic_rows *rows, uint64_t number)
{
    struct topic_row *row = TAILQ_LAST(rows, topic_rows), *first = NULL;

    for (; row && row->number > number; row = TAILQ_PREV(row, topic_rows, order))
        first = row;
    return first;
}

/* Appends rows from `row` on as a JSON array, at least one, until `out` has `most` bytes, and moves
 * the cursor behind them. */
static void write_rows(struct topic_cursor *cursor, struct topic_row *row, size_t most,
                       struct buf *out)
{
    bool comma = false;

    buf_printf(out, ",\"%s\":[", cursor->topic->kind->member);
    for (; row && (out->len < most || !comma); row = TAILQ_NEXT(row, order)) {
        buf_str(out, comma ? "," : "");
        buf_str(out, row->text);
        cursor->rows = row->number;
        comma = true;
    }
    buf_char(out, ']');
}

static void write_gone(struct topic_cursor *cursor, struct topic_row *row, size_t most,
                       struct buf *out)
{
    struct jsonw w;

    buf_str(out, ",\"gone\":[");
    w = jsonw_to(out);
    for (; row && out->len < most; row = TAILQ_NEXT(row, order)) {
        jsonw_str(&w, row->key);
        cursor->gone = row->number;
    }
    buf_char(out, ']');
}

/* Appends the line that makes the reader drop what it has. */
static void write_reset(struct topic_cursor *cursor, struct buf *out)
{
    const struct topic *topic = cursor->topic;

    begin_line(topic, out);
    buf_str(out, ",\"reset\":true");
    buf_add(out, topic->reset.data ? topic->reset.data : "", topic->reset.len);
    buf_str(out, "}\n");
    cursor->resets = topic->resets;
    cursor->rows = cursor->gone = cursor->head = 0;
    cursor->ready = false;
    if (topic->kind->rewind)
        topic->kind->rewind(cursor);
}

static bool has_own(const struct topic_cursor *cursor)
{
    const struct topic_kind *kind = cursor->topic->kind;

    return kind->has_more && kind->has_more(cursor);
}

static void write_changes(struct topic_cursor *cursor, size_t most, struct buf *out)
{
    const struct topic *topic = cursor->topic;
    struct topic_row *row = first_after(&topic->rows, cursor->rows);
    struct topic_row *gone = first_after(&topic->gone, cursor->gone);
    bool head = topic->head.len && topic->head_number > cursor->head;

    if (!row && !gone && !head && !has_own(cursor))
        return;
    begin_line(topic, out);
    if (head)
        buf_printf(out, ",%s", topic->head.data);
    cursor->head = topic->head_number;
    if (has_own(cursor))
        topic->kind->write(cursor, most, out);
    if (row)
        write_rows(cursor, row, most, out);
    if (gone)
        write_gone(cursor, gone, most, out);
    buf_str(out, "}\n");
}

static bool has_more(const struct topic_cursor *cursor)
{
    const struct topic *topic = cursor->topic;

    return first_after(&topic->rows, cursor->rows) || first_after(&topic->gone, cursor->gone) ||
           has_own(cursor);
}

static void write_member(const struct topic *topic, const char *members, struct buf *out)
{
    begin_line(topic, out);
    buf_printf(out, "%s}\n", members);
}

bool topic_read(struct topic_cursor *cursor, size_t most, struct buf *out)
{
    struct topic *topic = cursor->topic;

    if (topic->resets == 0 && topic->notes == cursor->notes)
        return false; /* no state has been received yet */
    if (cursor->resets < topic->resets)
        write_reset(cursor, out);
    while (out->len < most && (has_more(cursor) || cursor->head < topic->head_number)) {
        uint64_t head = cursor->head;

        write_changes(cursor, most, out);
        if (!has_more(cursor) && head == cursor->head)
            break;
    }
    if (topic->is_ready && !cursor->ready && !has_more(cursor)) {
        write_member(topic, ",\"ready\":true", out);
        cursor->ready = true;
    }
    if (cursor->notes != topic->notes && topic->note.len)
        write_member(topic, topic->note.data, out);
    cursor->notes = topic->notes;
    forget_gone(topic);
    return has_more(cursor);
}

/* Chapter: the watch. */

static void begin_watch(struct topic *topic);

static void begin_later(struct topic *topic, int64_t wait_ms)
{
    int64_t since_ms = (loop_mono_ns(topic->loop) - topic->began_ns) / NS_PER_MS;

    if (since_ms + wait_ms < BEGIN_EVERY_MS && topic->failures == 0)
        wait_ms = BEGIN_EVERY_MS - since_ms;
    timer_start(topic->loop, &topic->timer, wait_ms);
}

void topic_complete(struct topic *topic)
{
    struct topic_row *row, *next;

    if (topic->kind->complete)
        topic->kind->complete(topic);
    for (row = TAILQ_FIRST(&topic->rows); row; row = next) {
        next = TAILQ_NEXT(row, order);
        if (!row->seen)
            topic_remove(topic, row->key);
    }
    if (topic->resets == 0)
        topic->resets = 1;
    topic->is_ready = true;
    topic->state = TOPIC_LIVE;
    topic->failures = 0;
    set_note(topic, NULL, NULL);
}

static void take_line(struct topic *topic, const char *text, size_t len)
{
    scoped(json) json_t *event = json_loadb(text, len, 0, NULL);
    const char *type = doc_text(event, "type");
    json_t *object = json_object_get(event, "object");

    if (event && topic->kind->line && topic->kind->line(topic, event))
        return;
    if (!type || !object)
        return;
    if (strcmp(type, "BOOKMARK") == 0) {
        if (topic->state == TOPIC_STARTING)
            topic_complete(topic);
    } else if (strcmp(type, "ERROR") != 0) { /* after an ERROR the watch ends, and begins anew */
        topic->kind->event(topic, type, object);
    }
}

static void on_data(struct upstream_call *call, const char *bytes, size_t len)
{
    struct topic *topic = container_of(call, struct topic, watch);

    while (len) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end ? (size_t)(end - bytes) : len;

        if (topic->line.len + n <= LINE_BYTES_MAX)
            buf_add(&topic->line, bytes, n);
        if (end) {
            take_line(topic, topic->line.data ? topic->line.data : "", topic->line.len);
            buf_clear(&topic->line);
            n++;
        }
        bytes += n;
        len -= n;
    }
}

static int64_t retry_ms(const struct topic *topic)
{
    int64_t wait_ms = RETRY_MIN_MS;

    for (int i = 1; i < topic->failures && wait_ms < RETRY_MAX_MS; i++)
        wait_ms *= 2;
    wait_ms = wait_ms < RETRY_MAX_MS ? wait_ms : RETRY_MAX_MS;
    return wait_ms / 2 + (int64_t)(clock_random(loop_clock(topic->loop)) % (uint64_t)wait_ms);
}

/* Whether a refusal is the last word: the topic will not come to be by waiting. */
static bool is_final(int status)
{
    enum { TIMEOUT = 408, GONE = 410, TOO_MANY = 429 };

    return status >= 400 && status < 500 && status != GONE && status != TOO_MANY &&
           status != TIMEOUT;
}

void topic_failed(struct topic *topic, const struct error *err)
{
    topic->failures++;
    topic->state = TOPIC_WAITING;
    set_note(topic, "waiting", err->message);
    begin_later(topic, retry_ms(topic));
}

static void on_done(struct upstream_call *call)
{
    struct topic *topic = container_of(call, struct topic, watch);
    struct error err = {0};

    if (call->status == 200 && call->is_local) { /* nothing changes until there is another server */
        if (topic->state == TOPIC_STARTING)
            topic_complete(topic);
        return;
    }
    if (call->status == 200 && call->err.code == ERR_NONE) {
        begin_later(topic, 0);
        return;
    }
    if (topic->kind->refused && topic->kind->refused(topic, call->status)) {
        timer_start(topic->loop, &topic->timer, 0);
        return;
    }
    if (call->err.code != ERR_NONE)
        err = call->err;
    else
        answer_ok(call->status, &call->text, &err);
    if (!is_final(call->status)) {
        topic_failed(topic, &err);
        return;
    }
    topic->failures++;
    topic->state = TOPIC_OVER;
    set_note(topic, "error", err.message);
}

static void begin_watch(struct topic *topic)
{
    struct topic_row *row;

    TAILQ_FOREACH(row, &topic->rows, order)
    {
        row->seen = false;
    }
    if (topic->kind->begin)
        topic->kind->begin(topic);
    buf_clear(&topic->line);
    topic->began_ns = loop_mono_ns(topic->loop);
    topic->state = TOPIC_STARTING;
    topic->watch.target = topic->kind->source ? topic->kind->source(topic) : topic->target;
    if (!topic->watch.target)
        return;
    topic->watch.accept = topic->kind->accept;
    topic->watch.data = on_data;
    topic->watch.done = on_done;
    upstream_start(topic->topics->upstream, &topic->watch);
}

/* Chapter: topics. */

static void topic_free(struct topic *topic)
{
    timer_stop(topic->loop, &topic->timer);
    upstream_call_release(&topic->watch);
    if (topic->kind->release)
        topic->kind->release(topic);
    drop_rows(topic);
    table_release(&topic->by_key);
    buf_release(&topic->line);
    buf_release(&topic->head);
    buf_release(&topic->reset);
    buf_release(&topic->note);
    mem_free(topic->target);
    mem_free(topic->name);
    LIST_REMOVE(topic, all);
    mem_free(topic);
}

static void on_timer(struct timer *timer)
{
    struct topic *topic = container_of(timer, struct topic, timer);

    if (LIST_EMPTY(&topic->cursors))
        topic_free(topic);
    else if (!topic->watch.under_way)
        begin_watch(topic);
}

struct topics *topics_new(struct loop *loop, struct upstream *upstream,
                          struct child_queue *children)
{
    struct topics *topics = mem_alloc(sizeof *topics);

    topics->loop = loop;
    topics->upstream = upstream;
    topics->children = children;
    return topics;
}

void topics_free(struct topics *topics)
{
    if (!topics)
        return;
    while (!LIST_EMPTY(&topics->all))
        topic_free(LIST_FIRST(&topics->all));
    mem_free(topics);
}

void topics_restart(struct topics *topics)
{
    struct topic *topic;

    LIST_FOREACH(topic, &topics->all, all)
    {
        if (LIST_EMPTY(&topic->cursors))
            continue; /* the topic's timer ends it */
        upstream_cancel(&topic->watch);
        timer_stop(topics->loop, &topic->timer);
        topic->failures = 0;
        begin_watch(topic);
    }
}

static const struct topic_kind *kind_of(const char *name, size_t *out_len)
{
    static const struct topic_kind *const kinds[] = {&topic_flows, &topic_objects, &topic_events,
                                                     &topic_flow};

    for (size_t i = 0; i < countof(kinds); i++) {
        size_t len = strlen(kinds[i]->word);

        if (strncmp(name, kinds[i]->word, len) == 0 && strchr(" ", name[len])) {
            *out_len = len + (name[len] == ' ');
            return kinds[i];
        }
    }
    return NULL;
}

static struct topic *topic_new(struct topics *topics, const char *name, struct error *err)
{
    scoped(buf) struct buf target = {0};
    size_t len = 0;
    const struct topic_kind *kind = kind_of(name, &len);
    struct topic *topic;

    if (!kind) {
        error_set(err, ERR_BAD_REQUEST, "", "there is no such topic");
        return NULL;
    }
    if (!kind->target(name + len, &target, err))
        return NULL;
    buf_printf(&target,
               "%swatch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
               "allowWatchBookmarks=true&timeoutSeconds=%d",
               strchr(target.data, '?') ? "&" : "?", WATCH_S);
    topic = mem_alloc(sizeof *topic);
    topic->kind = kind;
    topic->topics = topics;
    topic->loop = topics->loop;
    topic->name = mem_strdup(name);
    topic->target = buf_take(&target);
    topic->timer.fire = on_timer;
    TAILQ_INIT(&topic->rows);
    TAILQ_INIT(&topic->gone);
    LIST_INSERT_HEAD(&topics->all, topic, all);
    begin_watch(topic);
    return topic;
}

bool topic_open(struct topics *topics, const char *name, struct topic_cursor *cursor,
                struct error *err)
{
    struct topic *topic;

    LIST_FOREACH(topic, &topics->all, all)
    {
        if (strcmp(topic->name, name) == 0)
            break;
    }
    if (!topic && !(topic = topic_new(topics, name, err)))
        return false;
    cursor->topic = topic;
    cursor->rows = cursor->gone = cursor->head = cursor->resets = 0;
    cursor->notes = 0;
    cursor->ready = false;
    if (LIST_EMPTY(&topic->cursors)) { /* it was about to end, and may have missed a new server */
        timer_stop(topics->loop, &topic->timer);
        if (!topic->watch.under_way && !(topic->kind->is_current && topic->kind->is_current(topic)))
            begin_watch(topic);
    }
    LIST_INSERT_HEAD(&topic->cursors, cursor, all);
    cursor->changed(cursor);
    return true;
}

void topic_close(struct topic_cursor *cursor)
{
    struct topic *topic = cursor->topic;

    LIST_REMOVE(cursor, all);
    bitset_release(&cursor->unread);
    if (LIST_EMPTY(&topic->cursors))
        timer_start(topic->loop, &topic->timer, LINGER_MS);
}

struct upstream *topic_upstream(const struct topic *topic)
{
    return topic->topics->upstream;
}

struct child_queue *topic_children(const struct topic *topic)
{
    return topic->topics->children;
}

const char *topic_name(const struct topic *topic)
{
    return topic->name;
}
