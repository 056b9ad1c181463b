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
 * What is not told yet is a set with one bit for each vertex (progress_index.h). A change of a job
 * adds a bit, and a line reads the present state of a part of the set. So a reader that is slow costs no memory and
 * gets the last state of each vertex once. A line is made, waits until everything it has seen is
 * durable, and is then sent. Ref: spec/web.md 7.4.
 */
#include <string.h>

#include "api/server/rest/progress_index.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"

enum {
    PIECE_VERTICES = 4096, /* most vertices of one line */
    PIECE_BYTES = 128 << 10,
    PACE_MS = 100,
    UNIT_MS = 10,
    BEFORE_MS = 60000, /* from the base to the flow: ends are stored in whole seconds */
    NS_PER_MS = 1000000,
};

/* The arrays of one line. */
enum progress_column { PHASE, ATTEMPT, MADE, RUN, END, COLUMN_N };
static const char *const column_names[COLUMN_N] = {"phase", "attempt", "made", "run", "end"};

struct progress {
    struct api_stream stream;
    struct progress_reader reader;
    bool follows, has_head;
    bool more;       /* the last line had no room for all of it */
    struct buf line; /* waits for the commit */
    struct timer pace;
    int64_t told_ns;
};

static struct progress *progress_of(struct api_stream *stream)
{
    return container_of(stream, struct progress, stream);
}

static void release(struct api_stream *stream)
{
    struct progress *p = progress_of(stream);

    timer_stop(stream->api->loop, &p->pace);
    progress_reader_close(&p->reader);
    buf_release(&p->line);
    mem_free(p);
}

/* Chapter: the flow. */

static int64_t base_of(const struct progress_index *index)
{
    return index->flow->meta->created_at_ms - BEFORE_MS;
}

static void write_loops(const struct progress_index *index, struct jsonw *w)
{
    jsonw_member_open_list(w, "loops");
    for (uint32_t i = 0; i < index->n_loops; i++) {
        uint32_t step = index->loops[i], n = index->first[step + 1] - index->first[step] - 1;

        if (!n)
            continue;
        jsonw_open_list(w);
        jsonw_int(w, step);
        jsonw_int(w, n);
        jsonw_close_list(w);
    }
    jsonw_close_list(w);
}

static void write_reset(struct progress *p)
{
    const struct progress_index *index = p->reader.index;
    struct jsonw w = jsonw_to(&p->line);

    jsonw_open(&w);
    jsonw_member_bool(&w, "reset", true);
    jsonw_member_str(&w, "uid", object_uid(index->flow));
    jsonw_member_int(&w, "generation", index->flow->meta->generation);
    jsonw_member_int(&w, "count", progress_index_count(index));
    jsonw_member_int(&w, "base", base_of(index));
    write_loops(index, &w);
    jsonw_close(&w);
    buf_char(&p->line, '\n');
    p->reader.tell_reset = false;
}

static void write_gone(struct progress *p)
{
    buf_str(&p->line, "{\"gone\":true}\n");
    p->reader.tell_gone = false;
}

/* Chapter: lines. */

static int64_t unit_of(const struct progress_index *index, int64_t ms)
{
    int64_t units = (ms - base_of(index)) / UNIT_MS;

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

static void add_vertex(struct progress_index *index, struct piece *piece, uint32_t vertex)
{
    uint32_t step = progress_index_step(index, vertex), own = index->first[step];
    struct step_state state;

    if (!step_list_state(index->list, vertex, step, vertex == own ? UINT32_MAX : vertex - own - 1,
                         &state))
        state = (struct step_state){.phase = ""};
    if (!piece->n++)
        piece->first = vertex;
    piece->last = vertex;
    add_number(&piece->vertices, vertex);
    add_number(&piece->columns[PHASE], progress_index_phase(index, state.phase));
    add_number(&piece->columns[ATTEMPT], state.attempts < UINT16_MAX ? state.attempts : UINT16_MAX);
    add_number(&piece->columns[MADE], unit_of(index, state.made_ms));
    add_number(&piece->columns[RUN], unit_of(index, state.run_ms));
    add_number(&piece->columns[END], unit_of(index, state.ended_ms));
    add_words(piece, vertex, &state);
}

static void write_raw_list(struct jsonw *w, const char *name, const struct buf *items)
{
    jsonw_member_open_list(w, name);
    if (items->len)
        jsonw_raw(w, items->data, items->len);
    jsonw_close_list(w);
}

static void write_flow(const struct progress_index *index, struct jsonw *w)
{
    static const char *const large[] = {
        "nodes",       "results",       "jobStatusList", "conditions",     "pendingJobs",
        "runningJobs", "completedJobs", "failedJobs",    "terminatedJobs", "unknownJobs",
        "waitingJobs", "skippedJobs",   "criticalPath"};
    scoped(json) json_t *status = index->flow->status ? object_status_json(index->flow) : NULL;
    scoped(json) json_t *small = status ? json_copy(status) : NULL;
    scoped(buf) struct buf text = {0}, revision = {0};

    for (size_t i = 0; i < countof(large); i++)
        json_object_del(small, large[i]);
    buf_printf(&revision, "%lld", (long long)index->flow->revision);
    jsonw_member_open(w, "flow");
    jsonw_member_open(w, "metadata");
    jsonw_member_str(w, "name", index->name);
    jsonw_member_str(w, "namespace", index->ns);
    jsonw_member_str(w, "uid", object_uid(index->flow));
    jsonw_member_int(w, "generation", index->flow->meta->generation);
    jsonw_member_str(w, "resourceVersion", revision.data);
    jsonw_close(w);
    jsonw_member_open(w, "spec");
    jsonw_member_bool_opt(w, "suspend", jobflow_spec_of(index->flow)->suspend);
    jsonw_close(w);
    if (small) {
        json_text(small, &text);
        jsonw_member_raw(w, "status", text.data, text.len);
    }
    jsonw_close(w);
}

static void write_phases(struct progress_reader *reader, struct jsonw *w)
{
    const struct progress_index *index = reader->index;

    if (reader->n_phases_told == index->n_phases)
        return;
    jsonw_member_open_list(w, "phases");
    for (uint32_t i = 0; i < index->n_phases; i++)
        jsonw_str(w, index->phases[i]);
    jsonw_close_list(w);
    reader->n_phases_told = index->n_phases;
}

static void write_piece(struct progress *p, const struct piece *piece)
{
    struct jsonw w = jsonw_to(&p->line);

    jsonw_open(&w);
    write_phases(&p->reader, &w);
    if (piece->n && piece->last - piece->first + 1 == piece->n)
        jsonw_member_int(&w, "from", piece->first);
    else if (piece->n)
        write_raw_list(&w, "i", &piece->vertices);
    for (int c = 0; piece->n && c < COLUMN_N; c++)
        write_raw_list(&w, column_names[c], &piece->columns[c]);
    if (piece->words.len)
        write_raw_list(&w, "words", &piece->words);
    if (p->reader.tell_flow)
        write_flow(p->reader.index, &w);
    p->reader.tell_flow = false;
    jsonw_close(&w);
    buf_char(&p->line, '\n');
}

static bool has_untold(const struct progress *p)
{
    const struct progress_reader *reader = &p->reader;

    return reader->index->stale || reader->tell_reset || reader->tell_gone || reader->tell_flow ||
           reader->tell_ready || bitset_next(&reader->untold, 0) != BITSET_NONE;
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
    struct progress_reader *reader = &p->reader;
    struct piece piece = {0};

    progress_index_refresh(reader->index);
    if (reader->tell_gone)
        write_gone(p);
    if (reader->tell_reset)
        write_reset(p);
    for (uint32_t vertex = bitset_next(&reader->untold, 0);
         vertex != BITSET_NONE && piece.n < PIECE_VERTICES && size_of(&piece) < PIECE_BYTES;
         vertex = bitset_next(&reader->untold, vertex + 1)) {
        bitset_remove(&reader->untold, vertex);
        add_vertex(reader->index, &piece, vertex);
    }
    p->more = bitset_next(&reader->untold, 0) != BITSET_NONE;
    if (piece.n || reader->tell_flow)
        write_piece(p, &piece);
    if (reader->tell_ready && !p->more) {
        buf_str(&p->line, "{\"ready\":true}\n");
        reader->tell_ready = false;
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
static void wake(struct progress_reader *reader)
{
    struct progress *p = container_of(reader, struct progress, reader);
    struct api_stream *stream = &p->stream;

    if (!p->has_head || stream->awaits_commit || stream->awaits_drain || stream->task.posted ||
        timer_armed(&p->pace))
        return;
    timer_start(stream->api->loop, &p->pace, rest_ms(p));
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
    p->reader.wake = wake;
    p->pace.fire = on_pace;
    stream_start(&p->stream, call, follows ? &follow_ops : &once_ops, STREAM_DURABLE);
    progress_reader_open(&p->reader, call->api, call->route.ns, call->route.name, follows);
    return &p->stream;
}
