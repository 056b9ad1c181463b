/*
 * Records Kubernetes Events about objects (L-40).
 *
 * Equal events are one Event object with a growing count. Its name is a hash of the content, so
 * that the object is found again after a restart. Each object may cause a burst of 25 writes, then
 * one per second. Above that rate, counts add up and a timer writes them later; events with new
 * content are combined in one "(combined from similar events)" Event per reason.
 *
 *   cluster_event ─► series known? ─yes─► count ─► token? ─yes─► write
 *                         │ no                        └─no──► dirty, written by the timer
 *                         └─► token? ─yes─► create
 *                                └─no──► the series of combined events
 *
 * Ref: client-go tools/record/events_cache.go.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/cluster.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum {
    BURST = 25,
    REFILL_MS = 1000,
    SERIES_MAX = 4096,
    SOURCES_MAX = 4096,
    MESSAGE_MAX = 1024,
    NAME_HEAD_MAX = 230, /* a name with "." and 16 digits has at most 253 bytes */
    NAME_BUF = 256,
};

/* Equal events, counted in one Event object. */
struct series {
    UT_hash_handle hh; /* hash table in the order of last use */
    uint64_t key;
    uint64_t source; /* key of the object that causes them */
    int64_t count, last_ms;
    bool dirty;           /* the count is newer than the Event object's */
    char *ns;             /* namespace of the Event object */
    struct object *first; /* the Event as it was created; of a cluster that does not show Events */
    char name[NAME_BUF];
};

/* An object that causes events, with its token bucket for writes. */
struct source {
    UT_hash_handle hh; /* hash table in the order of last use */
    uint64_t key;
    int64_t tokens;
    int64_t filled_ms; /* last refill of the tokens */
};

struct event_recorder {
    struct cluster *cluster;
    struct series *series;
    struct source *sources;
    size_t n_dirty;
    struct timer flush;
};

/* One event to record. */
struct event {
    const struct object *about;
    enum event_type type;
    const char *reason, *component, *message;
    const char *ns; /* namespace of the Event object */
};

static const char *type_text(enum event_type type)
{
    return type == EVENT_WARNING ? "Warning" : "Normal";
}

static uint64_t hash_parts(const char *const *parts, size_t count)
{
    scoped(buf) struct buf text = {0};

    for (size_t i = 0; i < count; i++)
        buf_add(&text, parts[i], strlen(parts[i]) + 1);
    return hash_stable(text.data, text.len);
}

static uint64_t event_key(const struct event *event)
{
    const char *parts[] = {object_uid(event->about), type_text(event->type), event->reason,
                           event->component, event->message};

    return hash_parts(parts, countof(parts));
}

static void event_name(const struct event *event, uint64_t key, char out[NAME_BUF])
{
    size_t len = strnlen(object_name(event->about), NAME_HEAD_MAX);

    while (len > 1 && strchr("-.", object_name(event->about)[len - 1]))
        len--;
    snprintf(out, NAME_BUF, "%.*s.%016llx", (int)len, object_name(event->about),
             (unsigned long long)key);
}

static struct source *source_of(struct event_recorder *recorder, uint64_t key, int64_t now_ms)
{
    struct source *source = NULL;

    HASH_FIND(hh, recorder->sources, &key, sizeof key, source);
    if (source) {
        HASH_DEL(recorder->sources, source);
    } else {
        if (HASH_COUNT(recorder->sources) >= SOURCES_MAX) {
            struct source *oldest = recorder->sources;

            HASH_DEL(recorder->sources, oldest);
            mem_free(oldest);
        }
        source = mem_alloc(sizeof *source);
        *source = (struct source){.key = key, .tokens = BURST, .filled_ms = now_ms};
    }
    HASH_ADD(hh, recorder->sources, key, sizeof source->key, source);
    return source;
}

static bool take_token(struct event_recorder *recorder, uint64_t key)
{
    int64_t now_ms = loop_mono_ns(recorder->cluster->loop) / 1000000;
    struct source *source = source_of(recorder, key, now_ms);
    int64_t earned = (now_ms - source->filled_ms) / REFILL_MS;

    source->filled_ms += earned * REFILL_MS;
    source->tokens += earned;
    if (source->tokens >= BURST) {
        source->tokens = BURST;
        source->filled_ms = now_ms;
    }
    if (source->tokens == 0)
        return false;
    source->tokens--;
    return true;
}

static struct blob *event_body(const struct event *event, int64_t now_ms)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);
    char revision[32];

    snprintf(revision, sizeof revision, "%lld", (long long)event->about->revision);
    jsonw_open(&w);
    jsonw_member_open(&w, "involvedObject");
    jsonw_member_str(&w, "kind", event->about->kind->name);
    jsonw_member_str_opt(&w, "namespace", object_namespace(event->about));
    jsonw_member_str(&w, "name", object_name(event->about));
    jsonw_member_str(&w, "uid", object_uid(event->about));
    jsonw_member_str(&w, "apiVersion", kind_api_version(event->about->kind));
    jsonw_member_str(&w, "resourceVersion", revision);
    jsonw_close(&w);
    jsonw_member_str(&w, "reason", event->reason);
    jsonw_member_str(&w, "message", event->message);
    jsonw_member_open(&w, "source");
    jsonw_member_str(&w, "component", event->component);
    jsonw_close(&w);
    jsonw_member_time(&w, "firstTimestamp", now_ms);
    jsonw_member_time(&w, "lastTimestamp", now_ms);
    jsonw_member_int(&w, "count", 1);
    jsonw_member_str(&w, "type", type_text(event->type));
    jsonw_member_str(&w, "reportingComponent", event->component);
    jsonw_close(&w);
    return blob_intern(text.data, text.len);
}

/* A write of an Event that the cache does not show. The series may be gone when it ends. */
struct unseen_write {
    struct cluster_call call;
    struct cluster *cluster;
    uint64_t key;
};

static void unseen_done(struct cluster_call *call, const struct object *result,
                        const struct error *err);

static struct cluster_call *unseen_call(struct cluster *c, uint64_t key)
{
    struct unseen_write *write = mem_alloc(sizeof *write);

    *write = (struct unseen_write){{.done = unseen_done}, c, key};
    return &write->call;
}

static void create_event(struct cluster *c, const struct event *event, struct series *series,
                         int64_t now_ms)
{
    const struct meta draft = {
        .namespace = event->ns, .name = series->name, .deletion_grace_s = -1};
    struct blob *body = event_body(event, now_ms);
    struct object *object;

    body->admitted_as = &kind_event; /* built here according to its schema */
    object = object_new(&kind_event, meta_new(&draft), body, NULL);
    if (c->events_unseen)
        series->first = object_ref(object);
    cluster_create(c, c->events_unseen ? unseen_call(c, series->key) : NULL, object);
}

/* Returns the Event with the present count. `members` (consumed) are those of the body to be
 * changed. Owned. */
static struct object *counted(const struct series *series, const struct object *event,
                              json_t *members)
{
    char last[TIME_TEXT_MAX];
    struct object *object;
    struct blob *body;

    time_format(series->last_ms, last);
    json_object_set_new(members, "count", json_integer(series->count));
    json_object_set_new(members, "lastTimestamp", json_string(last));
    body = object_body_from_json(members);
    body->admitted_as = &kind_event;
    object = object_with_body(event, body);
    json_decref(members);
    return object;
}

/* Without a revision and a known version, an update is a patch of the members that it has. */
static void patch_count(struct cluster *c, const struct series *series)
{
    cluster_update(c, unseen_call(c, series->key), counted(series, series->first, json_object()));
}

/* Writes the count into the Event object. False when the object is not in the cache (yet). */
static bool write_count(struct cluster *c, const struct series *series)
{
    const struct object *object = cluster_get(c, &kind_event, series->ns, series->name);

    if (c->events_unseen && series->first)
        patch_count(c, series);
    else if (object)
        cluster_update(c, NULL, counted(series, object, object_body_json(object)));
    return object || series->first;
}

static void series_free(struct event_recorder *recorder, struct series *series)
{
    HASH_DEL(recorder->series, series);
    recorder->n_dirty -= series->dirty;
    object_unref(series->first);
    mem_free(series->ns);
    mem_free(series);
}

/* Returns the series with `key`, now marked as most recently used, or NULL. */
static struct series *series_find(struct event_recorder *recorder, uint64_t key)
{
    struct series *series = NULL;

    HASH_FIND(hh, recorder->series, &key, sizeof key, series);
    if (series) {
        HASH_DEL(recorder->series, series);
        HASH_ADD(hh, recorder->series, key, sizeof series->key, series);
    }
    return series;
}

static struct series *series_add(struct event_recorder *recorder, const struct event *event,
                                 uint64_t key, uint64_t source)
{
    struct series *series;

    if (HASH_COUNT(recorder->series) >= SERIES_MAX)
        series_free(recorder, recorder->series);
    series = mem_alloc(sizeof *series);
    *series = (struct series){.key = key, .source = source, .ns = mem_strdup(event->ns)};
    event_name(event, key, series->name);
    HASH_ADD(hh, recorder->series, key, sizeof series->key, series);
    return series;
}

/* Adds the series of an Event object that an earlier run of the process wrote. */
static struct series *series_adopt(struct event_recorder *recorder, const struct event *event,
                                   uint64_t key, uint64_t source)
{
    char name[NAME_BUF];
    const struct object *object;
    scoped(json) json_t *members = NULL;
    struct series *series;

    event_name(event, key, name);
    object = cluster_get(recorder->cluster, &kind_event, event->ns, name);
    if (!object)
        return NULL;
    members = object_body_json(object);
    series = series_add(recorder, event, key, source);
    series->count = json_integer_value(json_object_get(members, "count"));
    return series;
}

/* An earlier process has written the Event: its count goes on. One that was removed meanwhile is
 * created anew. */
static void unseen_done(struct cluster_call *call, const struct object *result,
                        const struct error *err)
{
    struct unseen_write *write = container_of(call, struct unseen_write, call);
    struct cluster *c = write->cluster;
    struct series *series = NULL;
    const struct object *known;

    if (c->events)
        HASH_FIND(hh, c->events->series, &write->key, sizeof write->key, series);
    known = series ? cluster_get(c, &kind_event, series->ns, series->name) : NULL;
    if (err && err->code == ERR_EXISTS && known) {
        scoped(json) json_t *members = object_body_json(known);

        series->count += json_integer_value(json_object_get(members, "count"));
        patch_count(c, series);
    } else if (err && err->code == ERR_NOT_FOUND && series) {
        cluster_create(c, NULL, counted(series, series->first, object_body_json(series->first)));
    }
    mem_free(write);
}

static void set_dirty(struct event_recorder *recorder, struct series *series, bool dirty)
{
    recorder->n_dirty += dirty;
    recorder->n_dirty -= series->dirty;
    series->dirty = dirty;
    if (dirty && !timer_armed(&recorder->flush))
        timer_start(recorder->cluster->loop, &recorder->flush, REFILL_MS);
}

static void count_one_more(struct event_recorder *recorder, struct series *series, int64_t now_ms)
{
    series->count++;
    series->last_ms = now_ms;
    if (series->dirty) /* the timer is already set */
        return;
    set_dirty(recorder, series,
              !take_token(recorder, series->source) || !write_count(recorder->cluster, series));
}

/* Writes all dirty series. A count whose Event object was deleted is dropped. */
static void flush(struct timer *timer)
{
    struct event_recorder *recorder = container_of(timer, struct event_recorder, flush);
    struct series *series, *next;

    for (series = recorder->series; series && recorder->n_dirty > 0; series = next) {
        next = series->hh.next;
        if (!series->dirty || !take_token(recorder, series->source))
            continue;
        write_count(recorder->cluster, series);
        set_dirty(recorder, series, false);
    }
    if (recorder->n_dirty > 0 && !timer_armed(timer))
        timer_start(recorder->cluster->loop, timer, REFILL_MS);
}

static struct event_recorder *recorder_of(struct cluster *c)
{
    if (!c->events) {
        c->events = mem_alloc(sizeof *c->events);
        c->events->cluster = c;
        c->events->flush.fire = flush;
    }
    return c->events;
}

enum series_limit {
    SERIES_LIMITED, /* a new series costs a token */
    SERIES_UNLIMITED,
};

/* Counts or creates the event. False when it needs a new series and there is no token for it. */
static bool tell(struct event_recorder *recorder, const struct event *event, uint64_t source,
                 enum series_limit limit)
{
    int64_t now_ms = loop_wall_ms(recorder->cluster->loop);
    uint64_t key = event_key(event);
    struct series *series = series_find(recorder, key);

    if (!series)
        series = series_adopt(recorder, event, key, source);
    if (series) {
        count_one_more(recorder, series, now_ms);
        return true;
    }
    if (limit == SERIES_LIMITED && !take_token(recorder, source))
        return false;
    series = series_add(recorder, event, key, source);
    series->count = 1;
    series->last_ms = now_ms;
    create_event(recorder->cluster, event, series, now_ms);
    return true;
}

static void tell_combined(struct event_recorder *recorder, struct event event, uint64_t source)
{
    event.message = "(combined from similar events)";
    tell(recorder, &event, source, SERIES_UNLIMITED);
}

static bool namespace_takes_events(struct cluster *c, const char *ns)
{
    const struct object *ns_object = cluster_get(c, &kind_namespace, "", ns);

    return !ns_object || !object_deleting(ns_object);
}

void cluster_event(struct cluster *c, const struct object *about, enum event_type type,
                   const char *reason, const char *component, const char *format, ...)
{
    const char *ns = *object_namespace(about) ? object_namespace(about) : "default";
    char message[MESSAGE_MAX];
    const char *by = c->event_component ? c->event_component : component;
    struct event event = {about, type, reason, by, message, ns};
    struct event_recorder *recorder = recorder_of(c);
    uint64_t source = hash_stable(object_uid(about), strlen(object_uid(about)));
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (namespace_takes_events(c, ns) && !tell(recorder, &event, source, SERIES_LIMITED))
        tell_combined(recorder, event, source);
}

void cluster_events_release(struct cluster *c)
{
    struct event_recorder *recorder = take(c->events);

    if (!recorder)
        return;
    timer_stop(c->loop, &recorder->flush);
    while (recorder->series)
        series_free(recorder, recorder->series);
    while (recorder->sources) {
        struct source *source = recorder->sources;

        HASH_DEL(recorder->sources, source);
        mem_free(source);
    }
    mem_free(recorder);
}
