/*
 * Writes a trace in Chrome's JSON trace format. Processes are the steps, the pods and what all of
 * them use together; threads are tracks. Times are microseconds since the begin of the trace.
 *
 * A slice has up to three parts inside it: held (by the flow), waiting for room, running. A part
 * without length, or with a time that is not known, is left out. Arrows join the steps of the
 * critical path, each from the end of its last attempt to the first attempt of the next.
 */
#include "view/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/encoding/jsonw.h"
#include "base/mem.h"

enum { PIECE_BYTES = 64 << 10, US_PER_MS = 1000, PID_RESOURCES = TRACE_CLASSES + 1 };

struct writer {
    const struct trace *trace;
    int64_t base_ms; /* time at which the trace begins */
    struct buf text; /* text that is not written yet */
    struct jsonw json;
    void (*write)(void *ctx, const void *bytes, size_t len);
    void *ctx;
};

static void flush(struct writer *w)
{
    w->write(w->ctx, w->text.data, w->text.len);
    buf_clear(&w->text);
}

static void open_event(struct writer *w, const char *kind, int pid, uint32_t track)
{
    if (w->text.len >= PIECE_BYTES)
        flush(w);
    jsonw_open(&w->json);
    jsonw_member_str(&w->json, "ph", kind);
    jsonw_member_int(&w->json, "pid", pid);
    jsonw_member_int(&w->json, "tid", track);
}

static int64_t us(const struct writer *w, int64_t at_ms)
{
    return (at_ms - w->base_ms) * US_PER_MS;
}

/* Names a process (`what` "process_name") or a track ("thread_name"). */
static void write_name(struct writer *w, const char *what, int pid, uint32_t track,
                       const char *name)
{
    open_event(w, "M", pid, track);
    jsonw_member_str(&w->json, "name", what);
    jsonw_member_open(&w->json, "args");
    jsonw_member_str(&w->json, "name", name);
    jsonw_close(&w->json);
    jsonw_close(&w->json);
}

static void write_slice(struct writer *w, int pid, const struct trace_slice *slice,
                        const char *kind)
{
    const char *words = w->trace->words.data;
    int64_t begin_ms = trace_begin_ms(slice);

    open_event(w, "X", pid, slice->track);
    jsonw_member_str(&w->json, "cat", kind);
    jsonw_member_str(&w->json, "name", words + slice->name);
    jsonw_member_int(&w->json, "ts", us(w, begin_ms));
    jsonw_member_int(&w->json, "dur", (slice->end_ms - begin_ms) * US_PER_MS);
    jsonw_member_raw(&w->json, "args", words + slice->args, strlen(words + slice->args));
    jsonw_close(&w->json);
}

/* Writes the parts of a slice. Each part begins where the one before it ends. */
static void write_parts(struct writer *w, int pid, const struct trace_slice *slice)
{
    const struct {
        const char *name;
        int64_t from_ms, to_ms;
    } parts[] = {{"held", slice->ready_ms, slice->made_ms},
                 {"waiting for room", slice->made_ms, slice->run_ms},
                 {"running", slice->run_ms, slice->end_ms}};

    for (size_t i = 0; i < countof(parts); i++) {
        if (!parts[i].from_ms || parts[i].to_ms <= parts[i].from_ms)
            continue;
        open_event(w, "X", pid, slice->track);
        jsonw_member_str(&w->json, "cat", "part");
        jsonw_member_str(&w->json, "name", parts[i].name);
        jsonw_member_int(&w->json, "ts", us(w, parts[i].from_ms));
        jsonw_member_int(&w->json, "dur", (parts[i].to_ms - parts[i].from_ms) * US_PER_MS);
        jsonw_close(&w->json);
    }
}

static void write_class(struct writer *w, enum trace_class class)
{
    static const char *const names[TRACE_CLASSES] = {"steps by template", "pods by template"};
    static const char *const kinds[TRACE_CLASSES] = {"step", "pod"};
    const struct trace_slices *slices = &w->trace->of[class];
    int pid = (int)class + 1;
    uint32_t named =
        0; /* tracks are numbered by group, in the order in which they are first used */

    if (slices->count)
        write_name(w, "process_name", pid, 0, names[class]);
    for (size_t i = 0; i < slices->count; i++) {
        const struct trace_slice *slice = &slices->items[i];

        if (slice->track > named) {
            named = slice->track;
            write_name(w, "thread_name", pid, named, w->trace->view->steps[slice->group].template);
        }
        write_slice(w, pid, slice, kinds[class]);
        write_parts(w, pid, slice);
    }
}

/* What all slices use together. */
enum counter { RUNNING, WAITING, CPU, MEMORY, COUNTERS };

struct change {
    int64_t at_ms, by;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

/* Returns how much a slice counts for a counter, and from when to when. */
static int64_t share(const struct trace_slice *slice, enum counter counter, struct change ends[2])
{
    int64_t from_ms = counter == WAITING ? slice->made_ms : slice->run_ms;
    int64_t to_ms = counter == WAITING ? slice->run_ms : slice->end_ms;
    int64_t by = counter == CPU ? slice->cpu_milli : counter == MEMORY ? slice->memory : 1;

    if (!from_ms || to_ms <= from_ms)
        return 0;
    ends[0] = (struct change){from_ms, by};
    ends[1] = (struct change){to_ms, -by};
    return by;
}

/* Writes the value of a counter whenever it has changed. */
static void write_counter(struct writer *w, enum counter counter)
{
    static const char *const names[COUNTERS] = {"jobs running", "jobs waiting for room",
                                                "CPU requested (thousandths)",
                                                "memory requested (bytes)"};
    const struct trace_slices *slices =
        &w->trace->of[counter == CPU || counter == MEMORY ? TRACE_PODS : TRACE_STEPS];
    struct change *changes = mem_array(2 * slices->count + 1, sizeof *changes);
    size_t n = 0;
    int64_t value = 0;

    for (size_t i = 0; i < slices->count; i++)
        if (share(&slices->items[i], counter, &changes[n]))
            n += 2;
    qsort(changes, n, sizeof *changes, compare_changes);
    for (size_t i = 0; i < n; i++) {
        value += changes[i].by;
        if (i + 1 < n && changes[i + 1].at_ms == changes[i].at_ms)
            continue;
        open_event(w, "C", PID_RESOURCES, 0);
        jsonw_member_str(&w->json, "name", names[counter]);
        jsonw_member_int(&w->json, "ts", us(w, changes[i].at_ms));
        jsonw_member_open(&w->json, "args");
        jsonw_member_int(&w->json, "value", value);
        jsonw_close(&w->json);
        jsonw_close(&w->json);
    }
    mem_free(changes);
}

static void write_arrow_end(struct writer *w, const char *kind, uint32_t id,
                            const struct trace_slice *slice, int64_t ts)
{
    open_event(w, kind, TRACE_STEPS + 1, slice->track);
    jsonw_member_str(&w->json, "cat", "critical path");
    jsonw_member_str(&w->json, "name", "critical path");
    jsonw_member_int(&w->json, "id", id);
    jsonw_member_int(&w->json, "ts", ts);
    if (kind[0] == 'f')
        jsonw_member_str(&w->json, "bp", "e");
    jsonw_close(&w->json);
}

/* An arrow begins in the last microsecond of a slice, because a reader looks for the slice around
 * that moment. */
static void write_arrow(struct writer *w, uint32_t id, const struct trace_slice *from,
                        const struct trace_slice *to)
{
    int64_t ends = us(w, from->end_ms) - (from->end_ms > trace_begin_ms(from));
    int64_t begins = us(w, trace_begin_ms(to));

    write_arrow_end(w, "s", id, from, ends);
    write_arrow_end(w, "f", id, to, begins > ends ? begins : ends);
}

static void write_path(struct writer *w)
{
    const struct flow_view *view = w->trace->view;
    const struct trace_slices *slices = &w->trace->of[TRACE_STEPS];
    const struct trace_slice **first = mem_array((size_t)view->n_steps + 1, sizeof(void *));
    const struct trace_slice **last = mem_array((size_t)view->n_steps + 1, sizeof(void *));

    for (size_t i = 0; i < slices->count; i++) {
        const struct trace_slice *slice = &slices->items[i];
        const struct trace_slice **latest = &last[slice->step];

        if (!first[slice->step])
            first[slice->step] = slice;
        if (!*latest || slice->end_ms >= (*latest)->end_ms)
            *latest = slice;
    }
    for (uint32_t i = 0; i + 1 < view->path_listed; i++) {
        uint32_t from = view->path[i], to = view->path[i + 1];

        if (flow_view_edge_is_critical(view, from, to) && last[from] && first[to])
            write_arrow(w, i + 1, last[from], first[to]);
    }
    mem_free(first);
    mem_free(last);
}

/* What the trace is of, and what it leaves out. */
static void write_other(struct writer *w)
{
    const struct trace *trace = w->trace;
    const struct flow_view *view = trace->view;
    struct jsonw *json = &w->json;

    jsonw_member_open(json, "otherData");
    jsonw_member_str(json, "flow", view->name);
    jsonw_member_str(json, "namespace", view->ns);
    jsonw_member_str(json, "phase", flow_phase_text(view->phase));
    jsonw_member_time(json, "startTime", w->base_ms);
    if (!flow_view_is_over(view))
        jsonw_member_time(json, "followedUntil", trace->now_ms);
    jsonw_member_int(json, "attempts", (int64_t)trace->of[TRACE_STEPS].count);
    jsonw_member_int(json, "pods", (int64_t)trace->of[TRACE_PODS].count);
    jsonw_member_int(json, "attemptsWithoutTimes", trace->untimed);
    jsonw_member_int(json, "attemptsWithoutTimeHeld", trace->unknown_held);
    jsonw_member_int(json, "attemptsWithoutTimeRunning", trace->unknown_run);
    jsonw_member_int(json, "attemptsWithoutPods", trace->unknown_pods);
    jsonw_close(json);
}

static int64_t base_of(const struct trace *trace)
{
    int64_t base_ms = trace->view->began_ms ? trace->view->began_ms : trace->now_ms;

    for (enum trace_class class = 0; class < TRACE_CLASSES; class ++)
        for (size_t i = 0; i < trace->of[class].count; i++) {
            int64_t begin_ms = trace_begin_ms(&trace->of[class].items[i]);

            base_ms = begin_ms < base_ms ? begin_ms : base_ms;
        }
    return base_ms;
}

void trace_write(const struct trace *trace, void (*write)(void *ctx, const void *bytes, size_t len),
                 void *ctx)
{
    struct writer w = {.trace = trace, .base_ms = base_of(trace), .write = write, .ctx = ctx};

    w.json = jsonw_to(&w.text);
    jsonw_open(&w.json);
    jsonw_member_str(&w.json, "displayTimeUnit", "ms");
    write_other(&w);
    jsonw_member_open_list(&w.json, "traceEvents");
    for (enum trace_class class = 0; class < TRACE_CLASSES; class ++)
        write_class(&w, class);
    write_path(&w);
    write_name(&w, "process_name", PID_RESOURCES, 0, "resources");
    for (enum counter counter = 0; counter < COUNTERS; counter++)
        write_counter(&w, counter);
    jsonw_close_list(&w.json);
    jsonw_close(&w.json);
    buf_char(&w.text, '\n');
    flush(&w);
    buf_release(&w.text);
}
