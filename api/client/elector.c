/*
 * Leader election with one call at a time: read the lease, then write it when this candidate holds
 * it, when it is free, or when it has expired. Each write names the revision it read, so that only
 * one of two candidates succeeds. What the watch shows is never the reason to lead: it makes this
 * candidate try earlier.
 */
#include "api/client/elector.h"

#include <string.h>

#include "api/client/resource_path.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { NS_PER_MS = 1000000, LEASE_MS = 15000, DEADLINE_MS = 10000, RETRY_MS = 2000 };
enum { JITTER_PERCENT = 120, RELEASED_LEASE_S = 1 };
/* Candidates spread their attempts over so long, when the lease becomes free or expires. */
enum { FREE_SPREAD_MS = 100, EXPIRED_SPREAD_MS = 200 };

static struct loop *loop_of(const struct elector *e)
{
    return remote_loop(e->remote);
}

static int64_t now_ns(const struct elector *e)
{
    return loop_mono_ns(loop_of(e));
}

static void read_lease(struct elector *e);

static void stop_leading(struct elector *e, const char *why)
{
    if (!e->leading)
        return;
    e->leading = false;
    timer_stop(loop_of(e), &e->deadline);
    e->lost(e, why);
}

static void on_deadline(struct timer *timer)
{
    struct elector *e = container_of(timer, struct elector, deadline);

    stop_leading(e, "the lease could not be renewed in time");
}

static void lead(struct elector *e)
{
    bool begins = !e->leading;
    int64_t left_ns;

    e->leads_until_ns = e->sent_ns + e->deadline_ms * NS_PER_MS;
    left_ns = e->leads_until_ns - now_ns(e);
    if (left_ns <= 0) { /* the answer came too late */
        stop_leading(e, "the lease could not be renewed in time");
        return;
    }
    e->leading = true;
    e->deadline.fire = on_deadline;
    timer_start_ns(loop_of(e), &e->deadline, left_ns);
    if (begins)
        e->leads(e);
}

static void write_lease(struct elector *e);

static void on_timer(struct timer *timer)
{
    struct elector *e = container_of(timer, struct elector, timer);

    if (e->leading && e->lease)
        write_lease(e);
    else
        read_lease(e);
}

static int64_t random_ms(struct elector *e, int64_t most)
{
    return (int64_t)(clock_random(loop_clock(loop_of(e))) % (uint64_t)(most + 1));
}

static void try_in(struct elector *e, int64_t ms)
{
    e->timer.fire = on_timer;
    timer_start(loop_of(e), &e->timer, ms);
}

static const char *text_of(const json_t *spec, const char *key)
{
    const char *text = json_string_value(json_object_get(spec, key));

    return text ? text : "";
}

static void forget(struct elector *e)
{
    json_decref(e->lease);
    e->lease = NULL;
}

static const json_t *spec_of(const struct elector *e)
{
    return json_object_get(e->lease, "spec");
}

/* Records the time at which the lease was first seen with its current content. */
static void observe(struct elector *e)
{
    const json_t *spec = spec_of(e);
    scoped_str record =
        mem_printf("%s %s %s %" JSON_INTEGER_FORMAT, text_of(spec, "holderIdentity"),
                   text_of(spec, "acquireTime"), text_of(spec, "renewTime"),
                   json_integer_value(json_object_get(spec, "leaseTransitions")));

    if (e->record && strcmp(e->record, record) == 0)
        return;
    mem_free(e->record);
    e->record = take(record);
    e->observed_ns = now_ns(e);
}

static bool is_mine(const struct elector *e)
{
    return strcmp(text_of(spec_of(e), "holderIdentity"), e->identity) == 0;
}

/* Returns the time until the lease of another candidate expires; 0 when it is not held. */
static int64_t held_for_ms(const struct elector *e)
{
    const json_t *spec = spec_of(e);
    int64_t seconds = json_integer_value(json_object_get(spec, "leaseDurationSeconds"));
    int64_t left_ms = seconds * 1000 - (now_ns(e) - e->observed_ns) / NS_PER_MS;

    return *text_of(spec, "holderIdentity") && !is_mine(e) && left_ms > 0 ? left_ms : 0;
}

/* Schedules the next attempt: at the usual time, with jitter so that candidates do not all write at
 * once, or when the lease of another one expires, if that comes first. */
static void try_later(struct elector *e)
{
    int64_t usual_ms = e->retry_ms, left_ms = e->lease ? held_for_ms(e) : 0;

    if (!e->started)
        return;
    if (!e->leading)
        usual_ms += random_ms(e, e->retry_ms * JITTER_PERCENT / 100);
    if (left_ms)
        left_ms += random_ms(e, EXPIRED_SPREAD_MS);
    try_in(e, left_ms && left_ms < usual_ms ? left_ms : usual_ms);
}

static void ask(struct elector *e, const char *method, bool of_collection,
                void (*done)(struct remote_call *call))
{
    buf_clear(&e->path);
    resource_write_path(&kind_lease, e->ns, of_collection ? NULL : e->name, &e->path);
    e->call.method = method;
    e->call.target = e->path.data;
    e->call.body = e->body.len ? e->body.data : NULL;
    e->call.body_len = e->body.len;
    e->call.limit_ms = e->deadline_ms;
    e->call.done = done;
    e->sent_ns = now_ns(e);
    e->asking = true;
    remote_start(e->remote, &e->call);
}

/* Takes a Lease as the server has it (consumed; NULL: it cannot be read). */
static void take_lease(struct elector *e, json_t *lease)
{
    forget(e);
    e->lease = lease;
    if (e->lease && json_is_object(spec_of(e)))
        observe(e);
    else if (json_is_object(e->lease)) /* the lease exists without a holder */
        json_object_set_new(e->lease, "spec", json_object());
    else
        forget(e);
}

static json_t *answer_of(const struct elector *e)
{
    const struct buf *text = &e->call.text;

    return json_loadb(text->data ? text->data : "", text->len, 0, NULL);
}

static void report(struct elector *e, const struct error *err)
{
    bool race = err->code == ERR_CONFLICT || err->code == ERR_EXISTS;

    if (e->failed && !race)
        e->failed(e, err);
}

static void on_written(struct remote_call *call)
{
    struct elector *e = container_of(call, struct elector, call);
    struct error err = {0};

    e->asking = false;
    if (remote_ok(call, &err)) {
        take_lease(e, answer_of(e));
        lead(e);
    } else {
        forget(e); /* the outcome is unknown: read the lease again */
        report(e, &err);
    }
    try_later(e);
}

static void set_text(json_t *spec, const char *key, const char *value)
{
    json_object_set_new(spec, key, json_string(value));
}

static void note_mode(struct elector *e)
{
    json_t *metadata = json_object_get(e->lease, "metadata");
    json_t *annotations = json_object_get(metadata, "annotations");

    if (!e->mode)
        return;
    if (!annotations) {
        annotations = json_object();
        json_object_set_new(metadata, "annotations", annotations);
    }
    set_text(annotations, "jobflow.dev/mode", e->mode);
}

static void put(struct elector *e, const char *holder, int64_t seconds,
                void (*done)(struct remote_call *call))
{
    json_t *spec = json_object_get(e->lease, "spec");
    bool is_new = !json_object_get(json_object_get(e->lease, "metadata"), "resourceVersion");
    bool renewed = is_mine(e) && *holder;
    json_int_t transitions = json_integer_value(json_object_get(spec, "leaseTransitions"));
    char now[TIME_TEXT_MAX];

    time_format_micro(clock_wall_ns(loop_clock(loop_of(e))), now);
    if (!renewed)
        set_text(spec, "acquireTime", now);
    if (!renewed && *holder && !is_new)
        transitions++;
    set_text(spec, "holderIdentity", holder);
    set_text(spec, "renewTime", now);
    json_object_set_new(spec, "leaseDurationSeconds", json_integer(seconds));
    json_object_set_new(spec, "leaseTransitions", json_integer(transitions));
    note_mode(e);
    buf_clear(&e->body);
    json_text(e->lease, &e->body);
    ask(e, is_new ? "POST" : "PUT", is_new, done);
}

static void write_lease(struct elector *e)
{
    put(e, e->identity, e->lease_ms / 1000, on_written);
}

static void on_read(struct remote_call *call)
{
    struct elector *e = container_of(call, struct elector, call);
    struct error err = {0};

    e->asking = false;
    if (!remote_ok(call, &err) && err.code == ERR_NOT_FOUND) {
        forget(e);
        e->lease = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{}}", "apiVersion",
                             kind_api_version(&kind_lease), "kind", kind_lease.name, "metadata",
                             "name", e->name, "namespace", e->ns, "spec");
        write_lease(e);
        return;
    }
    if (err.code == ERR_NONE) {
        take_lease(e, answer_of(e));
    } else {
        forget(e);
        report(e, &err);
    }
    if (e->lease && !held_for_ms(e)) {
        write_lease(e);
        return;
    }
    if (e->lease)
        stop_leading(e, "another process holds the lease");
    try_later(e);
}

static void read_lease(struct elector *e)
{
    buf_clear(&e->body);
    ask(e, "GET", false, on_read);
}

static struct elector *watched_by(struct reflector *reflector)
{
    return container_of(reflector, struct elector, watch);
}

/* A list shows nothing that its Leases do not. */
static void on_list(struct reflector *reflector)
{
}

/* A candidate tries when the lease is free and when it expires. A leader looks when the lease names
 * another holder. */
static void on_shown(struct reflector *reflector, json_t *lease)
{
    struct elector *e = watched_by(reflector);
    const char *holder = text_of(json_object_get(lease, "spec"), "holderIdentity");

    if (e->asking || (e->leading && strcmp(holder, e->identity) == 0))
        return;
    if (e->leading) {
        forget(e);
        try_in(e, 0);
        return;
    }
    take_lease(e, json_incref(lease));
    if (held_for_ms(e))
        try_later(e);
    else
        try_in(e, random_ms(e, FREE_SPREAD_MS));
}

static void on_gone(struct reflector *reflector, json_t *lease)
{
    struct elector *e = watched_by(reflector);

    if (e->asking)
        return;
    forget(e);
    try_in(e, e->leading ? 0 : random_ms(e, FREE_SPREAD_MS));
}

static const struct reflector_ops watch_ops = {
    .begun = on_list,
    .present = on_shown,
    .vanished = on_gone,
    .listed = on_list,
};

static void start_watch(struct elector *e)
{
    scoped(buf) struct buf path = {0};
    scoped_str selector = mem_printf("metadata.name=%s", e->name);

    resource_write_path(&kind_lease, e->ns, NULL, &path);
    resource_write_query("fieldSelector", selector, &path);
    e->watch = (struct reflector){
        .ops = &watch_ops, .remote = e->remote, .collection = buf_take(&path), .from_newest = true};
    reflector_start(&e->watch);
}

void elector_start(struct elector *e)
{
    e->lease_ms = e->lease_ms ? e->lease_ms : LEASE_MS;
    e->deadline_ms = e->deadline_ms ? e->deadline_ms : DEADLINE_MS;
    e->retry_ms = e->retry_ms ? e->retry_ms : RETRY_MS;
    e->started = true;
    read_lease(e);
    start_watch(e);
}

bool elector_leads(const struct elector *e)
{
    return e->leading && now_ns(e) < e->leads_until_ns;
}

static void quiet(struct elector *e)
{
    reflector_stop(&e->watch);
    remote_cancel(&e->call);
    e->asking = false;
    timer_stop(loop_of(e), &e->timer);
    timer_stop(loop_of(e), &e->deadline);
}

static void on_released(struct remote_call *call);

static void release_again(struct remote_call *call)
{
    struct elector *e = container_of(call, struct elector, call);

    if (remote_ok(call, NULL))
        take_lease(e, answer_of(e));
    if (e->lease && is_mine(e))
        put(e, "", RELEASED_LEASE_S, on_released);
    else
        e->released(e);
}

/* A renewal that was cancelled may have been stored: the Lease has then a newer version than the
 * one that was to be released, and is read once. */
static void on_released(struct remote_call *call)
{
    struct elector *e = container_of(call, struct elector, call);
    struct error err = {0};

    if (remote_ok(call, &err) || err.code != ERR_CONFLICT || e->releasing) {
        e->released(e);
        return;
    }
    e->releasing = true;
    forget(e);
    buf_clear(&e->body);
    ask(e, "GET", false, release_again);
}

static void on_nothing_to_release(struct timer *timer)
{
    struct elector *e = container_of(timer, struct elector, timer);

    e->released(e);
}

void elector_release(struct elector *e)
{
    bool held = e->leading && e->lease;

    quiet(e);
    e->leading = false;
    if (held) {
        put(e, "", RELEASED_LEASE_S, on_released);
        return;
    }
    e->timer.fire = on_nothing_to_release;
    timer_start(loop_of(e), &e->timer, 0);
}

void elector_stop(struct elector *e)
{
    if (!e->started)
        return;
    e->started = e->leading = false;
    quiet(e);
    remote_call_release(&e->call);
    buf_release(&e->path);
    buf_release(&e->body);
    mem_free(take(e->record));
    forget(e);
}
