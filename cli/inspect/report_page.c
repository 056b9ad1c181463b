/*
 * Writes a report: of each flow summary, graph, timeline, steps, attempts and logs as text and
 * pictures, and beside them the views of the page with the data that they show.
 *
 * Everything that comes from a flow passes html_text, or is compressed data that no browser reads
 * as markup. The file carries a policy that allows no request, and of scripts and styles only those
 * that are in it, by their digests.
 */
#include "cli/inspect/report_page.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/encoding/base64.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/version.h"
#include "view/graph/graph_forms.h"
#include "view/html_text.h"

/* ROWS_MAX: rows of a table or picture; STEPS_MAX: those of the table of steps with failed ones.
 * ASKED_MAX: steps whose pods are read for the reason; the time of each grows with all pods. */
enum {
    ROWS_MAX = 2000,
    STEPS_MAX = 2 * ROWS_MAX,
    ASKED_MAX = 500,
    ROW_HEIGHT = 20,
    NAME_WIDTH = 260,
    BAR_WIDTH = 700,
    BAR_HEIGHT = 12
};

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1f2328;--dim:#59636e;--rule:#8c959f;--paper:#fff;"
    "--held:#afb8c1;--room:#bf8700;--run:#1a7f37;--bad:#cf222e}"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9198a1;"
    "--rule:#6e7681;--paper:#0d1117;--held:#484f58;--room:#d29922;--run:#3fb950;--bad:#f85149}}"
    "body{background:var(--paper)}"
    "#report{font:15px/1.45 system-ui,sans-serif;color:var(--ink)}"
    "#report h1{font-size:1.5rem;margin:1rem 0}#report h2{font-size:1.15rem;margin:2rem 0 .6rem}"
    "#report p{margin:.5rem 0}"
    "#report .scroll{overflow:auto;max-width:100%}"
    "#report table{border-collapse:collapse}"
    "#report th,#report td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid var(--rule)}"
    "#report td{overflow-wrap:anywhere}#report td.n{white-space:nowrap}"
    "#report .bad{color:var(--bad)}#report .note{color:var(--dim);padding:0}"
    "#report pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--rule);"
    "padding:.6rem;max-height:40rem;overflow:auto}"
    "#report .time text{font:12px ui-monospace,monospace;fill:var(--ink);text-anchor:start}"
    "#report .time rect{stroke:none}#report .time .held{fill:var(--held)}"
    "#report .time .room{fill:var(--room)}#report .time .run{fill:var(--run)}"
    "#report .time .fail{fill:var(--bad)}"
    "@media print{#report pre{max-height:none}#report .scroll{overflow:visible}"
    "#report svg.flow{max-width:100%;height:auto}}";

void report_release(struct report *report)
{
    for (size_t i = 0; i < report->n_logs; i++) {
        mem_free(report->logs[i].pod);
        mem_free(report->logs[i].container);
        buf_release(&report->logs[i].text);
    }
    mem_free(report->logs);
    json_decref(report->why);
    *report = (struct report){0};
}

/* Appends the digest of a script or style in the form of a Content-Security-Policy. */
static void allow(const char *text, size_t len, struct buf *out)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];

    SHA256((const unsigned char *)text, len, digest);
    buf_str(out, " 'sha256-");
    base64_encode(digest, sizeof digest, out);
    buf_char(out, '\'');
}

static void add_text(const char *text, struct buf *out)
{
    if (text)
        html_text(text, strlen(text), out);
}

/* Appends a cell. The text is isolated, so that its direction changes nothing around it. */
static void add_cell(const char *class, const char *text, struct buf *out)
{
    buf_printf(out, "<td%s%s%s><bdi>", class ? " class=\"" : "", class ? class : "",
               class ? "\"" : "");
    add_text(text, out);
    buf_str(out, "</bdi></td>");
}

static void add_time(const char *label, int64_t at_ms, struct buf *out)
{
    char text[TIME_TEXT_MAX];

    if (!at_ms)
        return;
    time_format(at_ms, text);
    buf_printf(out, "<p>%s <time datetime=\"%s\">%s</time>.</p>\n", label, text, text);
}

/* Appends the graph of the flow, or the reason why it cannot be drawn. */
static void draw_graph(const struct report *report, struct buf *out)
{
    struct term term = {.utf8 = true};
    struct error err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    const struct graph_form form = {
        .view = report->about->view, .term = &term, .now_ms = report->about->now_ms, .out = file};
    bool drawn;

    if (!file)
        mem_fatal("report");
    drawn = graph_svg(&form, &err);
    if (fclose(file) != 0)
        mem_fatal("report");
    if (drawn)
        buf_add(out, text, len);
    free(text);
    if (drawn)
        return;
    buf_str(out, "<p class=\"note\">The graph is not drawn: ");
    add_text(err.message, out);
    buf_str(out, "</p>");
}

/* Appends the digest of the style of a picture, which all pictures share. */
static void allow_picture(const char *graph, struct buf *out)
{
    const char *begin = graph ? strstr(graph, "<style>") : NULL;
    const char *end = begin ? strstr(begin, "</style>") : NULL;

    if (!end)
        return;
    begin += strlen("<style>");
    allow(begin, (size_t)(end - begin), out);
}

static void add_policy(const struct report_file *file, const struct buf *graphs, struct buf *out)
{
    const struct report_views *views = &file->views;

    buf_str(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
                 "trusted-types 'none'; style-src");
    allow(style, sizeof style - 1, out);
    if (views->script.len)
        allow(views->style.data, views->style.len, out);
    for (size_t i = 0; i < file->count; i++) {
        if (!strstr(graphs[i].data, "<style>"))
            continue;
        allow_picture(graphs[i].data, out);
        break;
    }
    if (views->script.len) {
        buf_str(out, "; script-src");
        allow(views->script.data, views->script.len, out);
    }
    buf_str(out, "\">\n");
}

static void add_head(const struct report_file *file, const struct buf *graphs, struct buf *out)
{
    const struct report_views *views = &file->views;

    buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add_policy(file, graphs, out);
    buf_str(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    add_text(file->flows[0].about->view->name, out);
    buf_printf(out, " – jobflow</title>\n<style>%s</style>\n", style);
    if (views->script.len) {
        buf_printf(out, "<style>%s</style>\n<script>", views->style.data);
        buf_add(out, views->script.data, views->script.len);
        buf_str(out, "</script>\n");
    }
    buf_str(out, "</head>\n<body>\n");
}

static void add_summary(const struct report *report, int64_t made_ms, struct buf *out)
{
    const struct flow_view *view = report->about->view;
    scoped(buf) struct buf counts = {0}, took = {0};
    const char *phase = flow_phase_text(view->phase);
    const char *revision = doc_text(view->doc, "metadata.resourceVersion");

    buf_str(out, "<h1>Flow ");
    add_text(view->ns, out);
    buf_char(out, '/');
    add_text(view->name, out);
    buf_str(out, "</h1>\n<p><strong>");
    add_text(phase, out);
    buf_str(out, "</strong>");
    flow_view_took(view, report->about->now_ms, &took);
    if (took.len)
        buf_printf(out, " %s %s", flow_view_is_over(view) ? "after" : "for", took.data);
    flow_view_write_counts(view, &counts);
    buf_printf(out, ": %s.</p>\n", counts.data);
    if (view->reason || view->message) {
        buf_str(out, "<p><bdi>");
        add_text(view->reason, out);
        buf_str(out, view->reason && view->message ? ": " : "");
        add_text(view->message, out);
        buf_str(out, "</bdi></p>\n");
    }
    add_time("Began", view->began_ms, out);
    add_time("Ended", flow_view_is_over(view) ? view->ended_ms : 0, out);
    if (revision) {
        buf_str(out, "<p>Revision ");
        add_text(revision, out);
        buf_str(out, ".</p>\n");
    }
    add_time("This report was made by jobflow " JOBFLOW_VERSION " and does not follow the flow; it "
             "was made",
             made_ms, out);
}

/* The time that the timeline shows. */
struct window {
    int64_t from_ms, to_ms;
};

static struct window window_of(const struct trace *trace)
{
    struct window w = {INT64_MAX, 0};

    for (size_t i = 0; i < trace->of[TRACE_STEPS].count; i++) {
        const struct trace_slice *slice = &trace->of[TRACE_STEPS].items[i];
        int64_t begin_ms = trace_begin_ms(slice);

        w.from_ms = begin_ms < w.from_ms ? begin_ms : w.from_ms;
        w.to_ms = slice->end_ms > w.to_ms ? slice->end_ms : w.to_ms;
    }
    return w;
}

static void add_bar(const struct window *w, size_t row, const char *class, int64_t from_ms,
                    int64_t to_ms, struct buf *out)
{
    double scale = (double)BAR_WIDTH / (double)(w->to_ms > w->from_ms ? w->to_ms - w->from_ms : 1);
    double width = (double)(to_ms - from_ms) * scale;

    if (!from_ms || to_ms < from_ms)
        return;
    buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>", class,
               NAME_WIDTH + (double)(from_ms - w->from_ms) * scale, row * ROW_HEIGHT + 4,
               width > 1 ? width : 1, BAR_HEIGHT);
}

static bool has_failed(const json_t *args)
{
    const char *phase = doc_text(args, "phase");
    const struct flow_view_step step = {.state =
                                            (uint8_t)(phase ? view_state_parse(phase) : VIEW_NONE)};

    return flow_view_step_failed(&step);
}

static void add_row(const struct report *report, const struct window *w, size_t i, struct buf *out)
{
    const struct trace_slice *slice = &report->trace->of[TRACE_STEPS].items[i];
    const char *words = report->trace->words.data;
    scoped(json) json_t *args = json_loads(words + slice->args, 0, NULL);
    int64_t work_ms = slice->run_ms ? slice->run_ms : slice->made_ms;

    buf_printf(out, "<g><text x=\"0\" y=\"%zu\">", i * ROW_HEIGHT + 14);
    add_text(words + slice->name, out);
    buf_str(out, "</text>");
    if (slice->made_ms > slice->ready_ms)
        add_bar(w, i, "held", slice->ready_ms, slice->made_ms, out);
    if (slice->run_ms > slice->made_ms)
        add_bar(w, i, "room", slice->made_ms, slice->run_ms, out);
    add_bar(w, i, has_failed(args) ? "fail" : "run", work_ms, slice->end_ms, out);
    buf_str(out, "</g>\n");
}

static void add_timeline(const struct report *report, struct buf *out)
{
    const struct window w = window_of(report->trace);
    size_t count = report->trace->of[TRACE_STEPS].count;
    size_t rows = count < ROWS_MAX ? count : ROWS_MAX;

    buf_str(out, "<h2>Timeline</h2>\n");
    if (!count) {
        buf_str(out, "<p class=\"note\">No attempt has a time yet.</p>\n");
        return;
    }
    buf_str(out, "<p class=\"note\">Grey: held by the flow. Yellow: waiting for room. Green: "
                 "running. Red: failed. Times are whole seconds. The table of attempts below has "
                 "the same as text.</p>\n");
    buf_printf(out,
               "<div class=\"scroll\"><svg class=\"time\" role=\"img\" aria-label=\"Timeline of "
               "%zu attempts\" width=\"%d\" height=\"%zu\">\n",
               rows, NAME_WIDTH + BAR_WIDTH, rows * ROW_HEIGHT);
    for (size_t i = 0; i < rows; i++)
        add_row(report, &w, i, out);
    buf_str(out, "</svg></div>\n");
    if (rows < count)
        buf_printf(out, "<p class=\"note\">%zu more attempts are not in this picture.</p>\n",
                   count - rows);
}

/* Begins a table, whose id has a number in all flows but the first. */
static void begin_table(const char *id, size_t number, const char *const *titles, struct buf *out)
{
    buf_printf(out, "<div class=\"scroll\"><table id=\"%s", id);
    if (number)
        buf_printf(out, "-%zu", number + 1);
    buf_str(out, "\"><thead><tr>");
    for (; *titles; titles++)
        buf_printf(out, "<th scope=\"col\">%s</th>", *titles);
    buf_str(out, "</tr></thead><tbody>\n");
}

/* Ends a table, and says how many rows it leaves out. */
static void end_table(size_t left_out, const char *what, struct buf *out)
{
    buf_str(out, "</tbody></table></div>\n");
    if (left_out)
        buf_printf(out, "<p class=\"note\">%zu more %s are not in this table.</p>\n", left_out,
                   what);
}

static void add_step(const struct report *report, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &report->about->view->steps[i];
    scoped(buf) struct buf took = {0}, attempts = {0};

    if (flow_view_step_over(step) || flow_view_step_active(step))
        flow_view_step_took(step, report->about->now_ms, &took);
    buf_int(&attempts, step->attempts);
    buf_str(out, "<tr>");
    add_cell(NULL, step->name, out);
    add_cell(flow_view_step_failed(step) ? "n bad" : "n", flow_view_step_state(step), out);
    add_cell("n", took.data, out);
    add_cell("n", attempts.data, out);
    add_cell(NULL, json_string_value(json_object_get(report->why, step->name)), out);
    buf_str(out, "</tr>\n");
}

/* Appends the table of steps. Of very many it has the first ones, and those that failed. */
static void add_steps(const struct report *report, size_t number, struct buf *out)
{
    static const char *const titles[] = {"Step", "State", "Duration", "Attempts", "Why", NULL};
    const struct flow_view *view = report->about->view;
    size_t shown = 0;

    buf_str(out, "<h2>Steps</h2>\n");
    begin_table("steps", number, titles, out);
    for (uint32_t i = 0; i < view->n_steps && shown < STEPS_MAX; i++)
        if (i < ROWS_MAX || flow_view_step_failed(&view->steps[i])) {
            add_step(report, i, out);
            shown++;
        }
    end_table(view->n_steps - shown, "steps", out);
}

/* Appends a cell with the time from one moment to another. */
static void add_span(int64_t from_ms, int64_t to_ms, struct buf *out)
{
    scoped(buf) struct buf text = {0};

    if (from_ms && to_ms)
        flow_view_write_ms(to_ms - from_ms, &text);
    add_cell("n", text.len ? text.data : "not known", out);
}

/* Appends how long an attempt ran: exactly when that is known, else by its stored times. */
static void add_ran(const struct trace_slice *slice, const json_t *args, struct buf *out)
{
    const json_t *ran = json_object_get(args, "runMilliseconds");

    if (ran)
        add_span(1, 1 + json_integer_value(ran), out);
    else
        add_span(slice->run_ms, slice->end_ms, out);
}

static void add_attempt(const struct report *report, const struct trace_slice *slice,
                        struct buf *out)
{
    const char *words = report->trace->words.data;
    scoped(json) json_t *args = json_loads(words + slice->args, 0, NULL);
    const json_t *codes = json_object_get(args, "exitCodes");
    char *codes_text = codes ? json_dumps(codes, JSON_COMPACT) : NULL;
    scoped_str number =
        mem_printf("%lld", (long long)json_integer_value(json_object_get(args, "attempt")));
    char at[TIME_TEXT_MAX];

    time_format(slice->made_ms, at);
    buf_str(out, "<tr>");
    add_cell(NULL, words + slice->name, out);
    add_cell("n", number, out);
    add_cell(has_failed(args) ? "n bad" : "n", doc_text(args, "phase"), out);
    add_cell("n", at, out);
    add_span(slice->ready_ms, slice->made_ms, out);
    add_span(slice->made_ms, slice->run_ms, out);
    add_ran(slice, args, out);
    add_cell(NULL, doc_text(args, "reason"), out);
    add_cell(NULL, doc_text(args, "message"), out);
    add_cell(NULL, codes_text, out);
    buf_str(out, "</tr>\n");
    free(codes_text);
}

static void add_attempts(const struct report *report, size_t number, struct buf *out)
{
    static const char *const titles[] = {"Step",    "Attempt",         "State", "Made",
                                         "Held",    "Waited for room", "Ran",   "Reason",
                                         "Message", "Exit codes",      NULL};
    const struct trace *trace = report->trace;
    size_t count = trace->of[TRACE_STEPS].count;
    size_t shown = count < ROWS_MAX ? count : ROWS_MAX;

    buf_str(out, "<h2>Attempts</h2>\n");
    begin_table("attempts", number, titles, out);
    for (size_t i = 0; i < shown; i++)
        add_attempt(report, &trace->of[TRACE_STEPS].items[i], out);
    end_table(count - shown, "attempts", out);
    if (trace->untimed)
        buf_printf(out,
                   "<p class=\"note\">%u attempts whose times are not known are left out.</p>\n",
                   trace->untimed);
}

static void add_logs(const struct report *report, struct buf *out)
{
    if (!report->n_logs && !report->logs_left_out)
        return;
    buf_str(out, "<h2>Logs</h2>\n");
    for (size_t i = 0; i < report->n_logs; i++) {
        const struct report_log *log = &report->logs[i];

        buf_str(out, "<details open><summary><bdi>");
        add_text(log->pod, out);
        buf_char(out, '/');
        add_text(log->container, out);
        buf_printf(out, "</bdi>%s</summary><pre><bdi>",
                   log->cut ? " (earlier lines are left out)" : "");
        html_text(log->text.data ? log->text.data : "", log->text.len, out);
        buf_str(out, "</bdi></pre></details>\n");
    }
    if (report->logs_left_out)
        buf_printf(out, "<p class=\"note\">%zu more logs are left out.</p>\n",
                   report->logs_left_out);
}

static void add_flow(const struct report_file *file, size_t i, const char *graph, struct buf *out)
{
    const struct report *report = &file->flows[i];

    add_summary(report, file->made_ms, out);
    buf_printf(out, "<h2>Graph</h2>\n<div class=\"scroll\">%s</div>\n", graph);
    add_timeline(report, out);
    add_steps(report, i, out);
    add_attempts(report, i, out);
    add_logs(report, out);
}

/* Returns whether the pods or the PodGroup of the step's job are read for its sentence. */
static bool is_asked_about(const struct flow_view_step *step)
{
    return flow_view_step_failed(step) || step->state == VIEW_PENDING;
}

void report_explain(struct report *report)
{
    const struct explain *about = report->about;
    const struct flow_view *view = about->view;
    struct explain by_status = {
        .view = about->view, .now_ms = about->now_ms, .hides_specs = about->hides_specs};
    uint32_t asked = 0;

    report->why = json_object();
    for (uint32_t i = 0; i < view->n_steps; i++) {
        bool too_many = is_asked_about(&view->steps[i]) && asked++ >= ASKED_MAX;
        scoped(buf) struct buf why = {0};

        explain_step(too_many ? &by_status : report->about, i, &why);
        if (why.len)
            json_object_set_new(report->why, view->steps[i].name, json_string(why.data));
    }
    explain_release(&by_status);
}

void report_page(const struct report_file *file, struct buf *out)
{
    struct buf *graphs = mem_array(file->count, sizeof *graphs);

    for (size_t i = 0; i < file->count; i++)
        draw_graph(&file->flows[i], &graphs[i]);
    add_head(file, graphs, out);
    if (file->views.script.len)
        buf_str(out, "<div id=\"app\"></div>\n");
    buf_str(out, "<div id=\"report\">\n");
    for (size_t i = 0; i < file->count; i++) {
        add_flow(file, i, graphs[i].data, out);
        buf_release(&graphs[i]);
    }
    buf_str(out, "</div>\n");
    if (file->views.script.len)
        buf_printf(out, "<script type=\"application/gzip\" id=\"report-data\">%s</script>\n",
                   file->views.data.data);
    buf_str(out, "</body>\n</html>\n");
    mem_free(graphs);
}

void report_views_release(struct report_views *views)
{
    buf_release(&views->script);
    buf_release(&views->style);
    buf_release(&views->data);
}
