/*
 * The topic of one flow: the states of its steps in a table, words about few of them as rows, and
 * the flow itself beside them.
 *
 *   a run, a daemon     …/jobflows/NAME/progress?watch=1: lines with what has changed
 *   a store at rest     …/jobflows/NAME/progress, read by a child, which opens the whole store
 *   any other server    the flow as a whole object, read through the model of every command
 *                       (view/flow_view.h)
 *
 * Of whole objects that change often only the newest version is read, and the gateway spends at
 * most a tenth of its time on it. Ref: spec/web.md 7.4.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "view/flow_line.h"
#include "web/child/child.h"
#include "web/topic/internal.h"
#include "web/topic/step_table.h"
#include "web/upstream/upstream.h"

enum {
    REST_FACTOR = 9,
    REST_MAX_MS = 10000,
    NS_PER_MS = 1000000,
    PHASES_MAX = 64, /* different states; a further one is shown as the first */
    UNIT_MS = 10,
    BEFORE_MS = 60000, /* from the base to the flow: ends are stored in whole seconds */
};

enum way { WAY_PROGRESS, WAY_CHILD, WAY_OBJECTS };

/* What the topic knows beside its rows. */
struct own {
    struct topic *topic;
    enum way way;
    bool no_progress;   /* the server does not have the subresource */
    char *path;         /* of …/progress */
    char *watch_target; /* the same with watch=1 */
    struct child child;
    unsigned upstream; /* generation of the server that was asked last */
    bool has_flow;     /* the flow exists */
    char *uid;
    int64_t generation;
    struct step_table table;
    struct bitset worded; /* the vertices that have a row */
    int64_t base_ms;
    json_t *phases;                /* texts; phases in the table are positions in this list */
    uint8_t number_of[PHASES_MAX]; /* of the phases that the server counts */
    struct buf flow;               /* the flow without its steps, as JSON */
    /* Of a flow that is read as an object. */
    json_t *newest;         /* the newest version, not read yet; NULL: it is read */
    struct flow_view *view; /* view of the flow with this uid and generation */
    struct timer rest;
};

static bool flow_target(const char *words, struct buf *out, struct error *err)
{
    size_t ns_len = strcspn(words, "/");
    const char *name = words[ns_len] ? words + ns_len + 1 : "";

    if (!topic_is_name(words, ns_len) || !topic_is_name(name, strlen(name)) || strchr(name, '/'))
        return error_set(err, ERR_BAD_REQUEST, "", "there is no such topic");
    buf_printf(out,
               "/apis/flow.volcano.sh/v1alpha1/namespaces/%.*s/jobflows?"
               "fieldSelector=metadata.name%%3D%s",
               (int)ns_len, words, name);
    return true;
}

/* Chapter: the flow without its steps. */

/* Takes the flow from a view. The view may have no steps, so their number and counts are left out. */
static void keep_flow(struct own *own, const struct flow_view *view, const json_t *doc)
{
    scoped(json) json_t *flow = flow_line(view, doc);

    json_object_del(flow, "steps");
    json_object_del(flow, "counts");
    buf_clear(&own->flow);
    json_text(flow, &own->flow);
}

/* The phases stand before what refers to them. */
static void set_head(struct own *own)
{
    scoped(buf) struct buf head = {0};

    buf_str(&head, "\"phases\":");
    json_text(own->phases, &head);
    if (own->flow.len)
        buf_printf(&head, ",\"flow\":%s", own->flow.data);
    topic_set_head(own->topic, head.data);
}

/* Tells readers that the flow does not exist. */
static void tell_gone(struct topic *topic)
{
    struct own *own = topic->own;

    step_table_init(&own->table, 0);
    topic_reset(topic);
    topic_set_head(topic, "\"gone\":true");
}

/* Chapter: the table. */

/* Begins anew with a flow of `count` vertices. `loops`: the loops as …/progress lists them; NULL. */
static void reset(struct own *own, const char *uid, int64_t generation, uint32_t count,
                  const json_t *loops)
{
    struct topic *topic = own->topic;
    struct jsonw w;

    mem_free(own->uid);
    own->uid = mem_strdup(uid);
    own->generation = generation;
    step_table_init(&own->table, count);
    bitset_init(&own->worded, count);
    json_decref(own->phases);
    own->phases = json_array();
    buf_clear(&own->flow);
    buf_clear(&topic->reset);
    buf_str(&topic->reset, ",\"uid\":");
    w = jsonw_to(&topic->reset);
    jsonw_str(&w, own->uid);
    buf_printf(&topic->reset, ",\"generation\":%lld,\"count\":%u,\"base\":%lld",
               (long long)generation, count, (long long)own->base_ms);
    buf_str(&topic->reset, ",\"loops\":");
    if (loops)
        json_text(loops, &topic->reset);
    else
        buf_str(&topic->reset, "[]");
    topic_reset(topic);
}

static void set_vertex(struct own *own, uint32_t i, const struct step_values *values)
{
    struct topic_cursor *cursor;

    if (!step_table_set(&own->table, i, values))
        return;
    LIST_FOREACH(cursor, &own->topic->cursors, all)
    {
        bitset_add(&cursor->unread, i);
    }
}

/* Sets what is said about a vertex: an object with its number; NULL: nothing any more. */
static void set_words(struct own *own, uint32_t i, const json_t *words)
{
    scoped(buf) struct buf text = {0};
    char key[16];

    if (!words && !bitset_has(&own->worded, i))
        return;
    bitset_add(&own->worded, i);
    snprintf(key, sizeof key, "%u", i);
    if (words)
        json_text(words, &text);
    else
        buf_printf(&text, "{\"i\":%u}", i);
    topic_set(own->topic, key, text.data);
}

static void rewind_cursor(struct topic_cursor *cursor)
{
    const struct own *own = cursor->topic->own;

    step_table_rewind(&own->table, &cursor->unread);
}

static bool has_more(const struct topic_cursor *cursor)
{
    return cursor->unread.words && bitset_next(&cursor->unread, 0) != BITSET_NONE;
}

static void write_steps(struct topic_cursor *cursor, size_t most, struct buf *out)
{
    const struct own *own = cursor->topic->own;

    step_table_write(&own->table, &cursor->unread, out->len < most ? most - out->len : 0, out);
}

/* Returns the number of a phase in the table. */
static uint8_t phase_number(struct own *own, const char *text)
{
    size_t i;
    const json_t *known;

    json_array_foreach(own->phases, i, known)
    {
        if (strcmp(json_string_value(known), text) == 0)
            return (uint8_t)i;
    }
    if (i == PHASES_MAX)
        return 0;
    json_array_append_new(own->phases, json_string(text));
    return (uint8_t)i;
}

/* Chapter: lines of …/progress. */

static uint32_t number_at(const json_t *list, size_t k)
{
    json_int_t value = json_integer_value(json_array_get(list, k));

    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* A line that begins anew with what is known already, because the connection broke off, changes
 * nothing for readers. */
static void take_reset(struct own *own, const json_t *line)
{
    const char *uid = json_string_value(json_object_get(line, "uid"));
    int64_t generation = json_integer_value(json_object_get(line, "generation"));
    int64_t count = json_integer_value(json_object_get(line, "count"));
    int64_t base_ms = json_integer_value(json_object_get(line, "base"));
    bool same = own->uid && uid && own->has_flow && strcmp(own->uid, uid) == 0 &&
                own->generation == generation && own->table.count == count &&
                own->base_ms == base_ms;

    own->has_flow = true;
    own->base_ms = base_ms;
    if (!same && count >= 0 && count <= STEP_TABLE_MAX)
        reset(own, uid ? uid : "", generation, (uint32_t)count, json_object_get(line, "loops"));
}

/* Takes the arrays. A vertex that is not among `told`, those with words, has none. */
static void take_arrays(struct own *own, const json_t *line, const struct bitset *told)
{
    const json_t *vertices = json_object_get(line, "i"), *phase = json_object_get(line, "phase");
    const json_t *attempt = json_object_get(line, "attempt"), *made = json_object_get(line, "made");
    const json_t *run = json_object_get(line, "run"), *end = json_object_get(line, "end");
    json_int_t from = json_integer_value(json_object_get(line, "from"));

    for (size_t k = 0; k < json_array_size(phase); k++) {
        uint64_t i = vertices ? number_at(vertices, k) : (uint64_t)from + k;
        const struct step_values values = {
            .phase = own->number_of[number_at(phase, k) % PHASES_MAX],
            .attempt = (uint16_t)number_at(attempt, k),
            .made = number_at(made, k),
            .run = number_at(run, k),
            .end = number_at(end, k),
        };

        if (i >= own->table.count)
            continue;
        set_vertex(own, (uint32_t)i, &values);
        if (!bitset_has(told, (uint32_t)i))
            set_words(own, (uint32_t)i, NULL);
    }
}

static void take_words(struct own *own, const json_t *list, struct bitset *told)
{
    size_t k;
    const json_t *words;

    json_array_foreach(list, k, words)
    {
        json_int_t i = json_integer_value(json_object_get(words, "i"));

        if (i < 0 || i >= own->table.count)
            continue;
        bitset_add(told, (uint32_t)i);
        set_words(own, (uint32_t)i, words);
    }
}

static void take_states(struct own *own, const json_t *line)
{
    struct bitset told = {0};

    if (!json_object_get(line, "phase"))
        return;
    bitset_init(&told, own->table.count);
    take_words(own, json_object_get(line, "words"), &told);
    take_arrays(own, line, &told);
    bitset_release(&told);
    topic_tell(own->topic);
}

/* Takes the flow and the phases. */
static void take_head(struct own *own, const json_t *line)
{
    json_t *doc = json_object_get(line, "flow");
    const json_t *phases = json_object_get(line, "phases");
    scoped(flow_view) struct flow_view *view = doc ? flow_view_from_document(doc, NULL) : NULL;

    for (size_t i = 0; i < json_array_size(phases) && i < PHASES_MAX; i++) {
        const char *text = json_string_value(json_array_get(phases, i));

        own->number_of[i] = phase_number(own, text ? text : "");
    }
    if (view)
        keep_flow(own, view, doc);
    if (phases || view)
        set_head(own);
}

static bool take_line(struct topic *topic, const json_t *line)
{
    struct own *own = topic->own;

    if (!own || own->way == WAY_OBJECTS)
        return false;
    if (json_is_true(json_object_get(line, "reset")))
        take_reset(own, line);
    if (json_is_true(json_object_get(line, "gone"))) {
        own->has_flow = false;
        tell_gone(topic);
        topic_complete(topic);
    }
    if (own->has_flow) {
        take_head(own, line);
        take_states(own, line);
    }
    if (json_is_true(json_object_get(line, "ready")))
        topic_complete(topic);
    return true;
}

/* Chapter: a store at rest. */

static void take_lines(struct own *own, const struct buf *text)
{
    const char *at = text->len ? text->data : "", *end;

    for (; (end = strchr(at, '\n')); at = end + 1) {
        scoped(json) json_t *line = json_loadb(at, (size_t)(end - at), 0, NULL);

        if (line)
            take_line(own->topic, line);
    }
}

static void on_child(struct child *child)
{
    struct own *own = container_of(child, struct own, child);
    scoped(buf) struct buf text = child->out;
    struct error err = child->err;

    child->out = (struct buf){0};
    child_release(child);
    if (err.code == ERR_NONE) {
        take_lines(own, &text);
        return;
    }
    if (err.code != ERR_NOT_FOUND) {
        topic_failed(own->topic, &err);
        return;
    }
    own->has_flow = false;
    tell_gone(own->topic);
    topic_complete(own->topic);
}

static void ask_child(struct own *own)
{
    struct error err = {0};

    child_release(&own->child);
    own->child = (struct child){.arguments = {"get", "--raw", own->path}, .done = on_child};
    if (!child_start(topic_children(own->topic), &own->child, &err))
        topic_failed(own->topic, &err);
}

/* Chapter: the flow as an object. */

static uint32_t unit_of(const struct own *own, int64_t ms)
{
    int64_t units = (ms - own->base_ms) / UNIT_MS;

    return ms <= 0 ? 0 : units < 1 ? 1 : units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

/* Makes a new view when the flow was replaced or its spec has changed. Returns false when the flow
 * cannot be read. */
static bool renew(struct own *own, json_t *doc)
{
    const char *uid = doc_text(doc, "metadata.uid");
    int64_t generation = json_integer_value(doc_at(doc, "metadata.generation"));

    if (own->view && strcmp(own->uid, uid ? uid : "") == 0 && own->generation == generation)
        return true;
    flow_view_free(take(own->view));
    own->view = flow_view_from_document(doc, NULL);
    own->base_ms = doc_time_ms(json_object_get(doc, "metadata"), "creationTimestamp") - BEFORE_MS;
    reset(own, uid ? uid : "", generation, own->view ? own->view->n_steps : 0, NULL);
    return own->view != NULL;
}

static void take_step(struct own *own, uint32_t i)
{
    static const char *const kept[] = {"progress", "reason", "restarts"};
    const struct flow_view_step *step = &own->view->steps[i];
    scoped(json) json_t *told = flow_line_step(step), *words = json_object();
    const char *state = flow_view_step_state(step);
    int64_t run_ms = step->started_ms;

    for (size_t k = 0; k < countof(kept); k++)
        json_object_set(words, kept[k], json_object_get(told, kept[k]));
    if (!run_ms && step->ended_ms && step->ran_ms >= 0)
        run_ms = step->ended_ms - step->ran_ms;
    set_vertex(own, i,
               &(struct step_values){
                   .phase = phase_number(own, state ? state : "Waiting"),
                   .attempt = (uint16_t)(step->attempts < UINT16_MAX ? step->attempts : UINT16_MAX),
                   .made = unit_of(own, step->created_ms),
                   .run = unit_of(own, run_ms),
                   .end = unit_of(own, step->ended_ms),
               });
    if (json_object_size(words) > 0)
        json_object_set_new(words, "i", json_integer(i));
    set_words(own, i, json_object_size(words) > 0 ? words : NULL);
}

static void read_newest(struct own *own)
{
    scoped(json) json_t *doc = take(own->newest);
    json_t *status = json_object_get(doc, "status");

    if (!renew(own, doc))
        return;
    if (status)
        flow_view_take_status(own->view, status);
    for (uint32_t i = 0; i < own->view->n_steps; i++)
        take_step(own, i);
    keep_flow(own, own->view, doc);
    set_head(own);
    topic_tell(own->topic);
}

/* Reads the newest version, or lets so much time pass first that reading takes a tenth of it. */
static void read_or_rest(struct own *own)
{
    struct loop *loop = own->topic->loop;
    int64_t began_ns, rest_ms;

    if (timer_armed(&own->rest) || !own->newest)
        return;
    began_ns = loop_mono_ns(loop);
    read_newest(own);
    rest_ms = (loop_mono_ns(loop) - began_ns) * REST_FACTOR / NS_PER_MS;
    if (rest_ms > 0)
        timer_start(loop, &own->rest, rest_ms < REST_MAX_MS ? rest_ms : REST_MAX_MS);
}

static void on_rested(struct timer *timer)
{
    read_or_rest(container_of(timer, struct own, rest));
}

static struct own *own_of(struct topic *topic)
{
    struct own *own = topic->own;

    if (!own) {
        topic->own = own = mem_alloc(sizeof *own);
        own->topic = topic;
        own->rest.fire = on_rested;
        own->phases = json_array();
    }
    return own;
}

static void drop_newest(struct own *own)
{
    json_decref(take(own->newest));
}

static void take_flow(struct topic *topic, const char *type, json_t *flow)
{
    struct own *own = own_of(topic);

    drop_newest(own);
    own->has_flow = strcmp(type, "DELETED") != 0;
    if (own->has_flow) {
        own->newest = json_incref(flow);
        read_or_rest(own);
        return;
    }
    flow_view_free(take(own->view));
    tell_gone(topic);
}

/* Called when the watch of objects has sent all that exists. If that was no flow, readers are told
 * that it does not exist. */
static void complete(struct topic *topic)
{
    struct own *own = own_of(topic);

    if (own->way != WAY_OBJECTS)
        return;
    if (own->newest) {
        timer_stop(topic->loop, &own->rest);
        read_or_rest(own);
    }
    if (!own->has_flow)
        tell_gone(topic);
}

/* Chapter: where the state comes from. */

static enum way way_of(const struct own *own, const struct upstream_info *info)
{
    if (info->kind == UPSTREAM_STORE)
        return WAY_CHILD;
    return info->kind == UPSTREAM_CLUSTER || own->no_progress ? WAY_OBJECTS : WAY_PROGRESS;
}

/* Writes the paths of the subresource for "NS/NAME", which the name of the topic ends with. */
static void set_paths(struct own *own)
{
    const char *words = strchr(own->topic->name, ' ') + 1;
    size_t ns_len = strcspn(words, "/");

    if (own->path)
        return;
    own->path = mem_printf("/apis/flow.volcano.sh/v1alpha1/namespaces/%.*s/jobflows/%s/progress",
                           (int)ns_len, words, words + ns_len + 1);
    own->watch_target = mem_printf("%s?watch=1", own->path);
}

static const char *source(struct topic *topic)
{
    struct own *own = own_of(topic);
    unsigned generation = upstream_generation(topic_upstream(topic));
    struct upstream_info info;

    upstream_info(topic_upstream(topic), &info);
    if (generation != own->upstream)
        own->no_progress = false;
    own->upstream = generation;
    own->way = way_of(own, &info);
    set_paths(own);
    child_release(&own->child);
    if (own->way == WAY_OBJECTS) {
        own->has_flow = false;
        return topic->target;
    }
    timer_stop(topic->loop, &own->rest);
    flow_view_free(take(own->view));
    drop_newest(own);
    if (own->way == WAY_PROGRESS)
        return own->watch_target;
    ask_child(own);
    return NULL;
}

/* A store at rest does not change: there is another server when it does. */
static bool is_current(const struct topic *topic)
{
    const struct own *own = topic->own;

    return own && own->way == WAY_CHILD && topic->state == TOPIC_LIVE &&
           own->upstream == upstream_generation(topic_upstream(topic));
}

/* A server that does not have the subresource is asked for the object. */
static bool refused(struct topic *topic, int status)
{
    enum { NOT_FOUND = 404, METHOD = 405 };
    struct own *own = topic->own;

    if (own->way != WAY_PROGRESS || (status != NOT_FOUND && status != METHOD))
        return false;
    own->no_progress = true;
    return true;
}

static void release(struct topic *topic)
{
    struct own *own = topic->own;

    if (!own)
        return;
    timer_stop(topic->loop, &own->rest);
    child_release(&own->child);
    drop_newest(own);
    flow_view_free(own->view);
    step_table_release(&own->table);
    bitset_release(&own->worded);
    json_decref(own->phases);
    buf_release(&own->flow);
    mem_free(own->uid);
    mem_free(own->watch_target);
    mem_free(own->path);
    mem_free(own);
}

const struct topic_kind topic_flow = {
    .word = "flow",
    .member = "words",
    .accept = "application/json",
    .target = flow_target,
    .event = take_flow,
    .complete = complete,
    .release = release,
    .source = source,
    .is_current = is_current,
    .line = take_line,
    .refused = refused,
    .rewind = rewind_cursor,
    .has_more = has_more,
    .write = write_steps,
};
