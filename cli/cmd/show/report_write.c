/*
 * Reads the flows of a report one after the other, adds the views that this program carries, and
 * writes the file.
 */
#include "cli/cmd/show/report_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/server/message/gzip.h"
#include "api/types/text/json_text.h"
#include "base/encoding/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/version.h"
#include "cli/command/command.h"
#include "cli/inspect/report_logs.h"
#include "cli/inspect/trace_fetch.h"
#include "web/assets.h"

enum { REPORT_MAX = 64 << 20 };

/* The time that the report names: that of SOURCE_DATE_EPOCH, in seconds, else now. */
static int64_t made_ms(int64_t now_ms)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    long long seconds = text ? strtoll(text, &end, 10) : -1;

    return text && end != text && !*end && seconds >= 0 && seconds < INT32_MAX ? seconds * 1000
                                                                               : now_ms;
}

/* Returns whether this program carries the views of the page, and reads them. */
static bool read_views(struct report_views *out, struct error *err)
{
    size_t len;
    const unsigned char *bytes = assets_built_in(&len);
    struct assets *assets = bytes ? assets_new(bytes, len, "", false, err) : NULL;
    const struct asset *script = assets ? assets_find(assets, "report.js") : NULL;
    const struct asset *style = assets ? assets_find(assets, "report.css") : NULL;
    bool ok = !bytes || (script && style && assets_inflate(script, &out->script) &&
                         assets_inflate(style, &out->style));

    assets_free(assets);
    return ok;
}

/* Appends a document as gzip in base64. */
static void pack(const json_t *data, struct buf *out)
{
    scoped(buf) struct buf text = {0}, packed = {0};
    scoped(gzip) struct gzip *gzip = gzip_new();

    json_text(data, &text);
    gzip_add(gzip, text.data, text.len, GZIP_LAST, &packed);
    base64_encode(packed.data, packed.len, out);
}

static int write_file(const struct report_request *request, const struct report_file *file)
{
    scoped(buf) struct buf page = {0};
    struct error err = {0};

    report_page(file, &page);
    if (page.len > REPORT_MAX) {
        cli_errorf("the report has more than 64Mi: --logs none or a smaller --tail leave out logs");
        return EXIT_REFUSED;
    }
    if (strcmp(request->output, "-") == 0) {
        fwrite(page.data, 1, page.len, stdout); /* main reports a failure */
        return EXIT_OK;
    }
    if (file_write_atomic(request->output, page.data, page.len, 0644, &err))
        return EXIT_OK;
    cli_error(&err);
    return EXIT_FAILED;
}

/* A flow of the report, and what its parts borrow. */
struct reported {
    struct flow_view *view;
    struct trace trace;
    struct explain about;
};

static void release_reported(struct reported *reported, struct report *report)
{
    report_release(report);
    explain_release(&reported->about);
    trace_release(&reported->trace);
    flow_view_free(reported->view);
}

/* Reads a flow. Returns its data for the views, owned, or NULL after printing what is wrong. */
static json_t *read_flow(const struct report_request *request, struct flow_sources *sources,
                         size_t i, int64_t now_ms, struct reported *reported, struct report *out)
{
    struct client *client = sources->client;
    struct error err = {0};
    json_t *data = NULL;

    reported->view = flow_source_view(&sources->items[i], now_ms);
    if (!reported->view)
        return NULL;
    reported->trace = (struct trace){.view = reported->view, .now_ms = now_ms};
    reported->about = (struct explain){.view = reported->view,
                                       .client = client,
                                       .now_ms = now_ms,
                                       .hides_specs = request->specs == REPORT_WITHOUT_SPECS};
    *out = (struct report){.about = &reported->about, .trace = &reported->trace};
    if (trace_fetch(&reported->trace, client, &err)) {
        if (strcmp(request->logs, "none") != 0)
            report_logs_fetch(out, client, strcmp(request->logs, "all") == 0, request->tail_bytes);
        report_explain(out);
        data = report_data(out, client, request->specs, &err);
    }
    if (!data)
        cli_error(&err);
    return data;
}

/* Returns the time that the views take for now: it matters only while a flow runs, and what is over
 * gives the same report at any time. */
static int64_t shown_now_ms(const struct reported *reported, size_t count, int64_t now_ms)
{
    int64_t ended_ms = 0;

    for (size_t i = 0; i < count; i++) {
        const struct flow_view *view = reported[i].view;

        if (!flow_view_is_over(view) || !view->ended_ms)
            return now_ms;
        ended_ms = view->ended_ms > ended_ms ? view->ended_ms : ended_ms;
    }
    return ended_ms;
}

/* A report that is being made. */
struct making {
    int64_t now_ms;
    struct reported *reported; /* [count] */
    struct report *reports;    /* [count] */
    size_t count;
};

static void making_release(struct making *making)
{
    for (size_t i = 0; i < making->count; i++)
        release_reported(&making->reported[i], &making->reports[i]);
    mem_free(making->reports);
    mem_free(making->reported);
}
SCOPED_DEFINE(making, struct making, making_release)

/* Reads all flows. Returns their data for the views, owned, or NULL after printing what is wrong. */
static json_t *read_flows(const struct report_request *request, struct flow_sources *sources,
                          struct making *making)
{
    json_t *flows = json_array();

    for (size_t i = 0; i < making->count; i++) {
        json_t *flow = read_flow(request, sources, i, making->now_ms, &making->reported[i],
                                 &making->reports[i]);

        if (!flow) {
            json_decref(flows);
            return NULL;
        }
        json_array_append_new(flows, flow);
    }
    return flows;
}

int report_write(const struct report_request *request, struct flow_sources *sources)
{
    scoped(making) struct making making = {
        .now_ms = flow_source_now_ms(),
        .reported = mem_array(sources->count + 1, sizeof *making.reported),
        .reports = mem_array(sources->count + 1, sizeof *making.reports),
        .count = sources->count,
    };
    struct report_file file = {
        .flows = making.reports, .count = making.count, .made_ms = made_ms(making.now_ms)};
    scoped(report_views) struct report_views views = {0};
    scoped(json) json_t *flows = NULL, *data = NULL;
    struct error err = {0};

    if (sources->set.count || !sources->count) {
        cli_errorf("a report shows stored flows: jf/NAME");
        return EXIT_REFUSED;
    }
    flows = read_flows(request, sources, &making);
    if (!flows)
        return EXIT_FAILED;
    if (!read_views(&views, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    data = json_pack("{s:s, s:I, s:I, s:b, s:O}", "version", JOBFLOW_VERSION, "madeMs",
                     (json_int_t)file.made_ms, "nowMs",
                     (json_int_t)shown_now_ms(making.reported, making.count, making.now_ms),
                     "specs", request->specs == REPORT_WITH_SPECS, "flows", flows);
    pack(data, &views.data);
    file.views = views;
    return write_file(request, &file);
}
