/*
 * GET …/jobflows/NAME/progress: states and times of all steps and iterations of a flow, as lines of
 * JSON whose members are arrays. With watch=1 further lines tell what has changed, at most ten times
 * a second.
 *
 *   {"reset":true,"uid":…,"generation":…,"count":…,"base":MS,"loops":[[step,iterations],…]}
 *   {"phases":[…],"i":[…],"phase":[…],"attempt":[…],"made":[…],"run":[…],"end":[…],"words":[…],
 *    "flow":{…}}
 *   {"ready":true}   everything has been told once
 *   {"gone":true}    the flow does not exist
 *
 * Position k of each array is about vertex i[k]; "from": N stands for "i" when the vertices are N,
 * N + 1, … Vertices are counted as …/steps counts them. "phase" has positions in "phases", which is
 * given anew when it grows. Times are in units of 10 ms since "base"; 0 is not yet, or not known. A
 * vertex has a reason, a message or restarts only while it is among "words". "flow" is the flow
 * without what grows with its steps.
 *
 * What is not told yet is a set with one bit for each vertex. A change of a job adds a bit, and a
 * line reads the present state of a part of the set. So a reader that is slow costs no memory and
 * gets the last state of each vertex once. A line is made, waits until everything it has seen is
 * durable, and is then sent. Ref: spec/web.md 7.4.
 */
#include <string.h>

#include "api/server/rest/internal.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/jobflow/step_list.h"
#include "base/collections/bitset.h"
#include "base/collections/name_index.h"
#include "base/mem.h"

enum {
    PIECE_VERTICES = 4096, /* most vertices of one line */
    PIECE_BYTES = 128 << 10,
    PACE_MS = 100,
    PHASES_MAX = 64, /* different texts; a further one is shown as the first */
    UNIT_MS = 10,
    BEFORE_MS = 60000, /* from the base to the flow: ends are stored in whole seconds */
    NS_PER_MS = 1000000,
};

/* The arrays of one line. */
enum progress_column { PHASE, ATTEMPT, MADE, RUN, END, COLUMN_N };
static const char *const column_names[COLUMN_N] = {"phase", "attempt", "made", "run", "end"};

struct progress {
    struct api_stream stream;
    char *ns, *name;
    bool follows, has_head;
    /* The version of the flow that was read last. */
    struct object *flow; /* reference; NULL: there is none */
    struct step_list *list;
    struct name_index names; /* numbers of the steps of the spec */
    uint32_t *first;         /* the vertex of each step, [steps + 1] */
    uint32_t steps;
    int64_t base_ms;
    /* What has not been told. */
    struct bitset untold;
    bool flow_changed, tell_flow, tell_ready, was_gone;
    bool more; /* the last line had no room for all of it */
    char *phases[PHASES_MAX];
    uint32_t n_phases, n_phases_told;
    struct buf line; /* waits for the commit */
    struct store_watch *flows, *jobs;
    struct timer pace;
    int64_t told_ns;
};

static struct progress *progress_of(struct api_stream *stream)
{
    return container_of(stream, struct progress, stream);
}

static void forget_flow(struct progress *p)
{
    step_list_free(take(p->list));
    object_unref(take(p->flow));
    name_index_release(&p->names);
    mem_free(take(p->first));
    bitset_release(&p->untold);
}

static void release(struct api_stream *stream)
{
    struct progress *p = progress_of(stream);

    store_watch_close(p->flows);
    store_watch_close(p->jobs);
    timer_stop(stream->api->loop, &p->pace);
    forget_flow(p);
    for (uint32_t i = 0; i < p->n_phases; i++)
        mem_free(p->phases[i]);
    buf_release(&p->line);
    mem_free(p->ns);
    mem_free(p->name);
    mem_free(p);
}

/* Chapter: the flow. */

static const struct object *find_job(void *ctx, const char *name)
{
    const struct progress *p = ctx;

    return store_get(p->stream.api->store, &kind_job, p->ns, name);
}

static struct step_list *list_of(struct progress *p, const struct object *flow)
{
    const struct step_list_options options = {.find_job = find_job, .ctx = p};

    return step_list_new(flow, &options);
}

static void write_loops(const struct progress *p, struct jsonw *w)
{
    jsonw_member_open_list(w, "loops");
    for (uint32_t i = 0; i < p->steps; i++) {
        if (p->first[i + 1] - p->first[i] == 1)
            continue;
        jsonw_open_list(w);
        jsonw_int(w, i);
        jsonw_int(w, p->first[i + 1] - p->first[i] - 1);
        jsonw_close_list(w);
    }
    jsonw_close_list(w);
}

static void write_reset(struct progress *p)
{
    struct jsonw w = jsonw_to(&p->line);

    jsonw_open(&w);
    jsonw_member_bool(&w, "reset", true);
    jsonw_member_str(&w, "uid", object_uid(p->flow));
    jsonw_member_int(&w, "generation", p->flow->meta->generation);
    jsonw_member_int(&w, "count", p->untold.size);
    jsonw_member_int(&w, "base", p->base_ms);
    write_loops(p, &w);
    jsonw_close(&w);
    buf_char(&p->line, '\n');
}

/* Starts over with a flow that was replaced or changed: all of its steps are reported again. */
static void take_flow(struct progress *p, const struct object *flow, struct step_list *list)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    uint32_t n = (uint32_t)spec->steps.count, vertex = 0;

    forget_flow(p);
    p->flow = object_ref(flow);
    p->list = list;
    p->steps = n;
    p->base_ms = flow->meta->created_at_ms - BEFORE_MS;
    p->first = mem_array((size_t)n + 1, sizeof *p->first);
    name_index_init(&p->names, n);
    for (uint32_t i = 0; i < n; i++) {
        name_index_put(&p->names, spec->steps.items[i].name, i);
        p->first[i] = vertex;
        vertex += 1 + step_list_iterations(list, i);
    }
    p->first[n] = vertex;
    bitset_init(&p->untold, vertex);
    for (uint32_t i = 0; i < vertex; i++)
        bitset_add(&p->untold, i);
    p->tell_flow = p->tell_ready = true;
    p->was_gone = false;
    p->n_phases_told = 0;
    write_reset(p);
}

/* Returns the step whose vertex, or the vertex of whose iteration, this is. */
static uint32_t step_of(const struct progress *p, uint32_t vertex)
{
    uint32_t low = 0, high = p->steps;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (p->first[middle] <= vertex)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds the step, or the iteration and its loop, of this name. */
static void mark_named(void *ctx, const char *name)
{
    struct progress *p = ctx;
    uint32_t step = name_index_get(&p->names, name);
    const char *dash = strrchr(name, '-');
    scoped_str loop = NULL;
    unsigned long iteration;
    char *end;

    if (step != NAME_NONE) {
        bitset_add(&p->untold, p->first[step]);
        return;
    }
    if (!dash || dash[1] < '0' || dash[1] > '9')
        return;
    loop = mem_printf("%.*s", (int)(dash - name), name);
    step = name_index_get(&p->names, loop);
    iteration = strtoul(dash + 1, &end, 10);
    if (step == NAME_NONE || *end || iteration >= p->first[step + 1] - p->first[step] - 1)
        return;
    bitset_add(&p->untold, p->first[step]);
    bitset_add(&p->untold, p->first[step] + 1 + (uint32_t)iteration);
}

static void mark_at(void *ctx, uint32_t vertex)
{
    struct progress *p = ctx;

    bitset_add(&p->untold, vertex);
}

static bool same_steps(const struct progress *p, const struct object *flow,
                       const struct step_list *list)
{
    return p->flow && strcmp(object_uid(p->flow), object_uid(flow)) == 0 &&
           p->flow->meta->generation == flow->meta->generation &&
           step_list_count(list) == p->untold.size;
}

/* Reads the newest version of the flow. */
static void read_flow(struct progress *p)
{
    const struct object *flow = store_get(p->stream.api->store, &kind_job_flow, p->ns, p->name);
    struct step_list *list = flow ? list_of(p, flow) : NULL;

    p->flow_changed = false;
    if (!flow) {
        forget_flow(p);
        if (!p->was_gone)
            buf_str(&p->line, "{\"gone\":true}\n");
        p->was_gone = true;
        p->tell_flow = p->tell_ready = false;
        return;
    }
    if (!same_steps(p, flow, list)) {
        take_flow(p, flow, list);
        return;
    }
    step_list_compare(p->list, list, mark_named, mark_at, p);
    step_list_free(p->list);
    p->list = list;
    object_unref(p->flow);
    p->flow = object_ref(flow);
    p->tell_flow = true;
}

/* Chapter: lines. */

static uint32_t phase_number(struct progress *p, const char *phase)
{
    for (uint32_t i = 0; i < p->n_phases; i++)
        if (strcmp(p->phases[i], phase) == 0)
            return i;
    if (p->n_phases == PHASES_MAX)
        return 0;
    p->phases[p->n_phases] = mem_strdup(phase);
    return p->n_phases++;
}

static int64_t unit_of(const struct progress *p, int64_t ms)
{
    int64_t units = (ms - p->base_ms) / UNIT_MS;

    return ms <= 0 ? 0 : units < 1 ? 1 : units > UINT32_MAX ? UINT32_MAX : units;
}

/* One line while it is made. */
struct piece {
    struct buf columns[COLUMN_N], vertices, words;
    uint32_t first, last, n;
};

static void add_number(struct buf *list, int64_t value)
{
    if (list->len)
        buf_char(list, ',');
    buf_int(list, value);
}

static void add_words(struct piece *piece, uint32_t vertex, const struct step_state *state)
{
    struct jsonw w;

    if (!state->reason && !state->message && !state->restarts)
        return;
    if (piece->words.len)
        buf_char(&piece->words, ',');
    w = jsonw_to(&piece->words);
    jsonw_open(&w);
    jsonw_member_int(&w, "i", vertex);
    jsonw_member_str_opt(&w, "reason", state->reason);
    jsonw_member_str_opt(&w, "message", state->message);
    jsonw_member_int_opt(&w, "restarts", state->restarts);
    jsonw_close(&w);
}

static void add_vertex(struct progress *p, struct piece *piece, uint32_t vertex)
{
    uint32_t step = step_of(p, vertex), own = p->first[step];
    struct step_state state;

    if (!step_list_state(p->list, vertex, step, vertex == own ? UINT32_MAX : vertex - own - 1,
                         &state))
        state = (struct step_state){.phase = ""};
    if (!piece->n++)
        piece->first = vertex;
    piece->last = vertex;
    add_number(&piece->vertices, vertex);
    add_number(&piece->columns[PHASE], phase_number(p, state.phase));
    add_number(&piece->columns[ATTEMPT], state.attempts < UINT16_MAX ? state.attempts : UINT16_MAX);
    add_number(&piece->columns[MADE], unit_of(p, state.made_ms));
    add_number(&piece->columns[RUN], unit_of(p, state.run_ms));
    add_number(&piece->columns[END], unit_of(p, state.ended_ms));
    add_words(piece, vertex, &state);
}

static void write_raw_list(struct jsonw *w, const char *name, const struct buf *items)
{
    jsonw_member_open_list(w, name);
    if (items->len)
        jsonw_raw(w, items->data, items->len);
    jsonw_close_list(w);
}

static void write_flow(const struct progress *p, struct jsonw *w)
{
    static const char *const large[] = {
        "nodes",       "results",       "jobStatusList", "conditions",     "pendingJobs",
        "runningJobs", "completedJobs", "failedJobs",    "terminatedJobs", "unknownJobs",
        "waitingJobs", "skippedJobs",   "criticalPath"};
    scoped(json) json_t *status = p->flow->status ? object_status_json(p->flow) : NULL;
    scoped(json) json_t *small = status ? json_copy(status) : NULL;
    scoped(buf) struct buf text = {0}, revision = {0};

    for (size_t i = 0; i < countof(large); i++)
        json_object_del(small, large[i]);
    buf_printf(&revision, "%lld", (long long)p->flow->revision);
    jsonw_member_open(w, "flow");
    jsonw_member_open(w, "metadata");
    jsonw_member_str(w, "name", p->name);
    jsonw_member_str(w, "namespace", p->ns);
    jsonw_member_str(w, "uid", object_uid(p->flow));
    jsonw_member_int(w, "generation", p->flow->meta->generation);
    jsonw_member_str(w, "resourceVersion", revision.data);
    jsonw_close(w);
    jsonw_member_open(w, "spec");
    jsonw_member_bool_opt(w, "suspend", jobflow_spec_of(p->flow)->suspend);
    jsonw_close(w);
    if (small) {
        json_text(small, &text);
        jsonw_member_raw(w, "status", text.data, text.len);
    }
    jsonw_close(w);
}

static void write_phases(struct progress *p, struct jsonw *w)
{
    if (p->n_phases_told == p->n_phases)
        return;
    jsonw_member_open_list(w, "phases");
    for (uint32_t i = 0; i < p->n_phases; i++)
        jsonw_str(w, p->phases[i]);
    jsonw_close_list(w);
    p->n_phases_told = p->n_phases;
}

static void write_piece(struct progress *p, const struct piece *piece)
{
    struct jsonw w = jsonw_to(&p->line);

    jsonw_open(&w);
    write_phases(p, &w);
    if (piece->n && piece->last - piece->first + 1 == piece->n)
        jsonw_member_int(&w, "from", piece->first);
    else if (piece->n)
        write_raw_list(&w, "i", &piece->vertices);
    for (int c = 0; piece->n && c < COLUMN_N; c++)
        write_raw_list(&w, column_names[c], &piece->columns[c]);
    if (piece->words.len)
        write_raw_list(&w, "words", &piece->words);
    if (p->tell_flow)
        write_flow(p, &w);
    p->tell_flow = false;
    jsonw_close(&w);
    buf_char(&p->line, '\n');
}

static bool has_untold(const struct progress *p)
{
    return p->flow_changed || p->tell_flow || p->tell_ready ||
           bitset_next(&p->untold, 0) != BITSET_NONE;
}

static size_t size_of(const struct piece *piece)
{
    size_t size = piece->words.len + piece->vertices.len;

    for (int c = 0; c < COLUMN_N; c++)
        size += piece->columns[c].len;
    return size;
}

/* Makes the next line. */
static void make_line(struct progress *p)
{
    struct piece piece = {0};

    if (p->flow_changed)
        read_flow(p);
    for (uint32_t vertex = bitset_next(&p->untold, 0);
         vertex != BITSET_NONE && piece.n < PIECE_VERTICES && size_of(&piece) < PIECE_BYTES;
         vertex = bitset_next(&p->untold, vertex + 1)) {
        bitset_remove(&p->untold, vertex);
        add_vertex(p, &piece, vertex);
    }
    p->more = bitset_next(&p->untold, 0) != BITSET_NONE;
    if (piece.n || p->tell_flow)
        write_piece(p, &piece);
    if (p->tell_ready && !p->more) {
        buf_str(&p->line, "{\"ready\":true}\n");
        p->tell_ready = false;
    }
    for (int c = 0; c < COLUMN_N; c++)
        buf_release(&piece.columns[c]);
    buf_release(&piece.vertices);
    buf_release(&piece.words);
}

/* Chapter: the stream. */

static void send_line(struct progress *p)
{
    struct api_response *response = p->stream.response;

    if (!p->has_head)
        response->head(response, 200, "application/x-ndjson", NULL, 0);
    p->has_head = true;
    if (p->line.len)
        response->data(response, p->line.data, p->line.len);
    buf_clear(&p->line);
}

static void on_pace(struct timer *timer)
{
    struct progress *p = container_of(timer, struct progress, pace);

    loop_post(p->stream.api->loop, &p->stream.task);
}

static int64_t rest_ms(const struct progress *p)
{
    int64_t since_ms = (loop_mono_ns(p->stream.api->loop) - p->told_ns) / NS_PER_MS;

    return since_ms < PACE_MS ? PACE_MS - since_ms : 0;
}

static void run(struct api_stream *stream)
{
    struct progress *p = progress_of(stream);
    struct api_response *response = stream->response;
    bool first = !p->has_head;

    send_line(p);
    if (!has_untold(p)) {
        if (!p->follows)
            stream_end(stream);
        return;
    }
    if (response->backlog(response) > BACKLOG_LOW) {
        stream->awaits_drain = true;
        return;
    }
    if (!first && !p->more && rest_ms(p) > 0) {
        timer_start(stream->api->loop, &p->pace, rest_ms(p));
        return;
    }
    make_line(p);
    p->told_ns = loop_mono_ns(stream->api->loop);
    stream->awaits_commit = true;
    store_when_durable(stream->api->store, &stream->task);
}

/* Lets a line be made: at once after a pause, else when the pace allows it. */
static void wake(struct progress *p)
{
    struct api_stream *stream = &p->stream;

    if (!p->has_head || stream->awaits_commit || stream->awaits_drain || stream->task.posted ||
        timer_armed(&p->pace))
        return;
    timer_start(stream->api->loop, &p->pace, rest_ms(p));
}

static bool on_flow(void *ctx, enum store_change change, const struct object *old,
                    const struct object *flow)
{
    struct progress *p = ctx;

    if (strcmp(object_name(flow), p->name) != 0)
        return true;
    p->flow_changed = true;
    wake(p);
    return true;
}

static bool on_job(void *ctx, enum store_change change, const struct object *old,
                   const struct object *job)
{
    struct progress *p = ctx;
    const struct owner_ref *owner = meta_controller(job->meta);
    size_t prefix = strlen(p->name);

    if (!p->flow || !owner || strcmp(owner->uid, object_uid(p->flow)) != 0 ||
        strncmp(object_name(job), p->name, prefix) != 0 || object_name(job)[prefix] != '-')
        return true;
    mark_named(p, object_name(job) + prefix + 1);
    wake(p);
    return true;
}

static struct store_watch *watch_kind(struct progress *p, const struct kind *kind,
                                      bool (*changed)(void *, enum store_change,
                                                      const struct object *, const struct object *))
{
    const struct store_watch_options options = {
        .kind = kind, .ns = p->ns, .since_revision = -1, .changed = changed, .ctx = p};

    return store_watch_open(p->stream.api->store, &options, NULL);
}

/* Tells the last states when the server stops. */
static void finish(struct api_stream *stream)
{
    struct progress *p = progress_of(stream);
    struct store *store = stream->api->store;

    if (!p->has_head || store_durable_revision(store) != store_revision(store))
        return;
    send_line(p);
    while (has_untold(p) && stream->response->backlog(stream->response) <= BACKLOG_LOW) {
        make_line(p);
        send_line(p);
    }
}

static const struct stream_ops once_ops = {run, release};
static const struct stream_ops follow_ops = {run, release, finish, .long_running = true};

struct api_stream *verb_progress(const struct api_call *call)
{
    bool follows = request_query_bool(&call->target, "watch");
    struct progress *p;
    struct error err = {0};

    if (!follows && !find_object(call, &err))
        return reply_error(call, &err);
    p = mem_alloc(sizeof *p);
    p->follows = follows;
    p->flow_changed = true;
    p->ns = mem_strdup(call->route.ns);
    p->name = mem_strdup(call->route.name);
    p->pace.fire = on_pace;
    stream_start(&p->stream, call, follows ? &follow_ops : &once_ops, STREAM_DURABLE);
    if (follows) {
        p->flows = watch_kind(p, &kind_job_flow, on_flow);
        p->jobs = watch_kind(p, &kind_job, on_job);
    }
    return &p->stream;
}
