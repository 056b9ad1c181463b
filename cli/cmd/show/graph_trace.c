/*
 * Prints the trace of a stored flow. A flow that never ran has no times, so it has no trace.
 */
#include "cli/cmd/show/graph_trace.h"

#include <stdio.h>

#include "api/server/message/gzip.h"
#include "cli/command/command.h"
#include "cli/inspect/trace_fetch.h"

struct output {
    struct gzip *gzip; /* NULL: the trace is not compressed */
    struct buf coded;
};

static void print(struct output *out, const void *bytes, size_t len, enum gzip_part part)
{
    gzip_add(out->gzip, bytes, len, part, &out->coded);
    fwrite(out->coded.data, 1, out->coded.len, stdout);
    buf_clear(&out->coded);
}

static void print_piece(void *ctx, const void *bytes, size_t len)
{
    struct output *out = ctx;

    if (out->gzip)
        print(out, bytes, len, GZIP_MORE);
    else
        fwrite(bytes, 1, len, stdout);
}

int graph_trace(struct flow_sources *sources, bool gzip)
{
    int64_t now_ms = flow_source_now_ms();
    scoped(flow_view) struct flow_view *view = flow_source_view(&sources->items[0], now_ms);
    scoped(trace) struct trace trace = {.view = view, .now_ms = now_ms};
    scoped(gzip) struct gzip *coder = NULL;
    struct output out = {0};
    struct error err = {0};

    if (!view)
        return sources->items[0].manifest ? EXIT_REFUSED : EXIT_FAILED;
    if (view->phase == FLOW_NONE || !sources->client) {
        cli_errorf("flow %s has not run, so there is no trace of it: 'jobflow run' runs it",
                   view->name);
        return EXIT_FAILED;
    }
    if (!trace_fetch(&trace, sources->client, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    trace_assign_tracks(&trace);
    out.gzip = coder = gzip ? gzip_new() : NULL;
    trace_write(&trace, print_piece, &out);
    if (coder)
        print(&out, "", 0, GZIP_LAST);
    buf_release(&out.coded);
    return EXIT_OK;
}
