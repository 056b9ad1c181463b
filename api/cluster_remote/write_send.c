/*
 * Sends the requests of a write and acts on the answers.
 *
 *   sent ─┬─ done, refused ──────────────────────────────► end
 *         ├─ nothing has happened ──► pause ──► queue
 *         ├─ a newer version, a taken name ──► read ──► end, as outcome_adopt says
 *         └─ no answer ──► read ──► end, or queue, as outcome_resolve says
 *
 * A read is repeated until the server answers it. What a read shows enters the cache before the
 * controller hears of the end, so that its next decision is based on it.
 */
#include <inttypes.h>
#include <string.h>

#include "api/client/answer.h"
#include "api/cluster_remote/feed.h"
#include "api/cluster_remote/internal.h"
#include "api/cluster_remote/outcome.h"
#include "api/cluster_remote/write_request.h"
#include "base/log.h"

enum {
    NS_PER_MS = 1000000,
    PAUSE_FIRST_MS = 200,
    PAUSE_MOST_MS = 10000,
    RETRY_AFTER_MAX_S = 60,
};

static void on_answer(struct remote_call *http);

static int64_t now_ns(const struct write *write)
{
    return loop_mono_ns(write->writes->options.loop);
}

static const struct object *known(struct write *write)
{
    return cache_get(write->writes->options.cache, write->kind, write->ns, write->name);
}

static void start_request(struct write *write, enum write_step step)
{
    struct write_chains *writes = write->writes;

    write->step = step;
    write->sent_ns = now_ns(write);
    write->http.done = on_answer;
    writes->in_flight++;
    writes->events_in_flight += write->class == CLASS_EVENT;
    writes->stats.sent++;
    remote_start(writes->options.remote, &write->http);
}

void write_cancel(struct write *write)
{
    timer_stop(write->writes->options.loop, &write->pause);
    if (write->step != STEP_SENT && write->step != STEP_READING && write->step != STEP_REMOVING)
        return;
    remote_cancel(&write->http);
    write_queue_answered(write);
}

static void read_object(struct write *write)
{
    write->writes->stats.reads++;
    write_request_build_read(write);
    start_request(write, STEP_READING);
}

static void on_pause(struct timer *timer)
{
    struct write *write = container_of(timer, struct write, pause);

    if (write->lost || write->clearing)
        read_object(write);
    else
        write_queue_add(write);
}

static int64_t pause_ms(struct write *write, int retry_after_s)
{
    int64_t ms = PAUSE_FIRST_MS;

    if (retry_after_s > 0)
        return (int64_t)(retry_after_s < RETRY_AFTER_MAX_S ? retry_after_s : RETRY_AFTER_MAX_S) *
               1000;
    for (unsigned i = 0; i < write->failures && ms < PAUSE_MOST_MS; i++)
        ms *= 2;
    ms = ms < PAUSE_MOST_MS ? ms : PAUSE_MOST_MS;
    return ms + (int64_t)(clock_random(loop_clock(write->writes->options.loop)) %
                          (uint64_t)(ms / 2 + 1));
}

static void pause_for(struct write *write, int retry_after_s)
{
    int64_t ms = pause_ms(write, retry_after_s);

    write->failures++;
    write->step = STEP_PAUSED;
    write->pause.fire = on_pause;
    timer_start(write->writes->options.loop, &write->pause, ms);
}

/* Sends the write again after a pause, or gives up when that has been tried for long enough. */
static void try_again(struct write *write, int retry_after_s, const struct error *err)
{
    if (now_ns(write) - write->began_ns >= (int64_t)WRITES_TRY_FOR_MS * NS_PER_MS) {
        write_end(write, NULL, err);
        return;
    }
    write->writes->stats.retries++;
    pause_for(write, retry_after_s);
}

static bool same_text(const struct blob *a, const struct blob *b)
{
    return a == b || (a && b && a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

/* Moves a write that waited behind another write of this process to the version that the other
 * write has made. Returns false when another client has changed what the decision saw. */
static bool rebase(struct write *write)
{
    const struct object *object = known(write);
    bool is_it = object && (!write->uid || strcmp(object_uid(object), write->uid) == 0);
    bool is_ours = write->chain->answered && object && object->revision == write->chain->answered;

    if (!write->object || !is_it || object->revision <= write->object->revision)
        return true;
    if (write->verb == WRITE_STATUS) {
        if (write->revision && (!is_ours || !same_text(object->status, write->object->status)))
            return false;
        object_unref(write->object);
        write->object = object_ref(object);
        return true;
    }
    if (write->verb != WRITE_UPDATE || !write->revision)
        return true;
    if (!is_ours || !write->base || object->body != write->base->body)
        return false;
    write->revision = object->revision;
    return true;
}

static void on_warning(struct remote_call *http, const char *text, size_t len)
{
    scoped_str warning = mem_printf("%.*s", (int)len, text);
    struct write *write = container_of(http, struct write, http);

    log_warn("the server warns of a write", kv_str("kind", write->kind->name),
             kv_str("name", write->name), kv_str("warning", warning));
}

void write_send(struct write *write)
{
    bool first_of_kind = write->verb == WRITE_CREATE && !write->writes->seen[write->kind->id];
    const struct write_request_form form = {first_of_kind, write->writes->options.status_by_patch};
    struct error err = {0};

    if (write->verb == WRITE_CREATE &&
        terminating_namespaces_refuses(&write->writes->terminating, write->ns, now_ns(write),
                                       &err)) {
        write_end(write, NULL, &err);
        return;
    }
    if (!rebase(write)) {
        error_set(&err, ERR_CONFLICT, "", "the object has been changed since it was read");
        write_end(write, NULL, &err);
        return;
    }
    if (!write->began_ns)
        write->began_ns = now_ns(write);
    write_request_build(write, &form);
    write->http.warning = first_of_kind ? on_warning : NULL;
    start_request(write, STEP_SENT);
}

static json_t *document_of(const struct write *write)
{
    return json_read(write->http.text.data ? write->http.text.data : "", write->http.text.len);
}

/* A server prints the members of a status in its own order. The text that was sent is kept, so that
 * the controller that wrote it recognises it. */
static struct object *with_sent_status(const struct write *write, struct object *object)
{
    scoped(json) json_t *sent = NULL, *stored = NULL;
    struct object *kept;

    if (write->verb != WRITE_STATUS || !object->status)
        return object;
    sent = json_read(write->status->text, write->status->len);
    stored = object_status_json(object);
    if (!json_equal(sent, stored))
        return object;
    kept = object_with_status(object, blob_ref(write->status));
    object_unref(object);
    return kept;
}

/* Decodes the object in the answer and puts it into the cache. Owned; NULL when there is none. */
static struct object *take_object(struct write *write)
{
    struct write_chains *writes = write->writes;
    scoped(json) json_t *doc = document_of(write);
    const char *kind = json_string_value(json_object_get(doc, "kind"));
    struct error err = {0};
    struct object *object;

    if (!kind || strcmp(kind, write->kind->name) != 0)
        return NULL;
    object = feed_decode(write->kind, doc, &err);
    if (!object) {
        log_warn("an object of the cluster is left out", kv_str("kind", write->kind->name),
                 kv_str("name", write->name), kv_str("error", err.message));
        return NULL;
    }
    object = with_sent_status(write, object);
    if (write->kind != &kind_event || write->step == STEP_READING) /* Events are many */
        cache_take(writes->options.cache, object,
                   writes->options.covers(writes->options.ctx, object) ? CACHE_FOLLOWED
                                                                       : CACHE_ANSWERED,
                   0);
    return object;
}

/* Notes that the object of the write does not exist. */
static void take_absence(struct write *write)
{
    const struct object *object = known(write);
    scoped_str uid = mem_strdup(write->uid ? write->uid : object ? object_uid(object) : NULL);

    if (uid)
        cache_forget(write->writes->options.cache, write->kind, write->ns, write->name, uid);
}

static void end_done(struct write *write, const struct object *object)
{
    if (object)
        write->chain->answered = object->revision;
    write_end(write, write->verb == WRITE_REMOVE ? NULL : object, NULL);
}

static void answered(struct write *write)
{
    scoped(object) struct object *object = take_object(write);
    struct error err = {0};

    if (write->verb == WRITE_CREATE)
        write->writes->seen[write->kind->id] = true;
    if (!object && write->verb != WRITE_REMOVE) {
        error_set(&err, ERR_INTERNAL, "", "the answer to a write is no %s", write->kind->name);
        write_end(write, NULL, &err);
        return;
    }
    end_done(write, object);
}

/* Reads the object before the controller is told why its write failed. */
static void read_before(struct write *write, const struct error *err)
{
    write->refusal = *err;
    read_object(write);
}

static bool knows_newer(struct write *write)
{
    const struct object *object = known(write);

    return object && write->revision && object->revision > write->revision;
}

static void act_on(struct write *write, enum outcome outcome, const struct error *err)
{
    switch (outcome) {
    case OUTCOME_DONE:
        answered(write);
        break;
    case OUTCOME_CONFLICT:
        if (knows_newer(write))
            write_end(write, NULL, err);
        else
            read_before(write, err);
        break;
    case OUTCOME_EXISTS:
        read_before(write, err);
        break;
    case OUTCOME_NOT_FOUND:
        if (write->verb != WRITE_CREATE)
            take_absence(write);
        write_end(write, NULL, err);
        break;
    case OUTCOME_REFUSED:
        if (write->verb == WRITE_CREATE)
            terminating_namespaces_note(&write->writes->terminating, write->ns, now_ns(write), err);
        write_end(write, NULL, err);
        break;
    case OUTCOME_TRANSIENT:
        try_again(write, write->http.exchange.retry_after_s, err);
        break;
    case OUTCOME_UNKNOWN:
        write->lost = true;
        read_before(write, err);
        break;
    }
}

static void send_again(struct write *write)
{
    write->lost = write->clearing = false;
    write->failures = 0;
    if (write->resent && write->verb == WRITE_CREATE) {
        /* Two answers in a row were lost, so the write waits before it is sent again. */
        try_again(write, 0, &write->refusal);
        return;
    }
    write->resent = true;
    write_queue_add(write);
}

static void remove_older(struct write *write, const struct object *found)
{
    log_info("an earlier incarnation is removed", kv_str("kind", write->kind->name),
             kv_str("name", write->name), kv_str("uid", object_uid(found)));
    write->lost = false;
    write->clearing = true;
    write_request_build_removal(write, object_uid(found));
    start_request(write, STEP_REMOVING);
}

static void act_on_resolution(struct write *write, enum resolution resolution,
                              const struct object *found)
{
    struct error err = write->refusal;

    switch (resolution) {
    case RESOLVED_DONE:
        end_done(write, found);
        break;
    case RESOLVED_AGAIN:
        send_again(write);
        break;
    case RESOLVED_OLDER:
        if (object_deleting(found)) {
            write->clearing = true;
            pause_for(write, 0);
        } else {
            remove_older(write, found);
        }
        break;
    case RESOLVED_EXISTS:
        error_set(&err, ERR_EXISTS, "", "%s \"%s\" exists already", write->kind->name, write->name);
        write_end(write, NULL, &err);
        break;
    case RESOLVED_CONFLICT:
        err.code = ERR_CONFLICT;
        write_end(write, NULL, &err);
        break;
    }
}

/* Ends or repeats a write after its object was read. `found` is the object, or NULL when there is
 * none. */
static void act_on_found(struct write *write, const struct object *found)
{
    if (write->lost)
        act_on_resolution(write, outcome_resolve(write, found), found);
    else if (write->verb == WRITE_CREATE)
        act_on_resolution(write, found ? outcome_adopt(write->object, found) : RESOLVED_AGAIN,
                          found);
    else
        write_end(write, NULL, &write->refusal);
}

static void on_read(struct write *write)
{
    scoped(object) struct object *found = NULL;
    struct error err = {0};

    if (remote_ok(&write->http, &err)) {
        found = take_object(write);
        if (!found) { /* an object that cannot be decoded decides nothing */
            write_end(write, NULL, &write->refusal);
            return;
        }
    } else if (write->http.status == 404) {
        take_absence(write);
    } else if (write->http.status == 401 || write->http.status == 403) {
        write_end(write, NULL, &err);
        return;
    } else {
        write->lost = write->lost || !write->clearing;
        pause_for(write, write->http.exchange.retry_after_s);
        return;
    }
    act_on_found(write, found);
}

static void on_answer(struct remote_call *http)
{
    struct write *write = container_of(http, struct write, http);
    int64_t took_ms = (now_ns(write) - write->sent_ns) / NS_PER_MS;
    const struct outcome_answer answer = {http->status, http->exchange.sent, &http->text};
    bool busy = http->status == 429 || http->status == 503 || http->status == 504;
    struct error err = {0};

    in_flight_limit_answered(&write->writes->in_flight_limit, busy, took_ms);
    write_queue_answered(write);
    if (write->step == STEP_READING)
        on_read(write);
    else if (write->step == STEP_REMOVING)
        pause_for(write, 0); /* whatever the answer is, the next read shows it */
    else
        act_on(
            write,
            outcome_of(write->verb, &answer, http->err.code == ERR_NONE ? NULL : &http->err, &err),
            &err);
}
