/*
 * Reads the logs of pods that still exist, container by container. The answer of a server arrives
 * in pieces, and only its end is kept, so a log of any size costs little memory.
 */
#include "cli/inspect/report_logs.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/client/resource.h"

enum { LOGS_MAX = 200, LINES_MAX = 10000, LOG_BYTES_MAX = 16 << 20 };

struct reading {
    struct client_call call;
    struct report_log *log;
    size_t tail_bytes;
};

/* Shortens the text of a log to its last `most` bytes, and then to the first line that begins in
 * them. The callers let the text grow to twice that size, so that its bytes are moved rarely. */
static void keep_end(struct report_log *log, size_t most)
{
    struct buf *text = &log->text;
    size_t extra = text->len > most ? text->len - most : 0;
    const char *line = extra ? memchr(text->data + extra, '\n', text->len - extra) : NULL;

    if (!extra)
        return;
    if (line && (size_t)(line + 1 - text->data) < text->len)
        extra = (size_t)(line + 1 - text->data);
    memmove(text->data, text->data + extra, text->len - extra + 1);
    text->len -= extra;
    log->cut = true;
}

static void take_piece(struct client_call *call, const char *bytes, size_t len)
{
    struct reading *reading = container_of(call, struct reading, call);

    buf_add(&reading->log->text, bytes, len);
    if (reading->log->text.len > 2 * reading->tail_bytes)
        keep_end(reading->log, reading->tail_bytes);
}

static void read_log(struct report *report, struct client *client, const char *pod,
                     const char *container, size_t tail_bytes)
{
    const struct flow_view *view = report->about->view;
    struct reading reading = {.tail_bytes = tail_bytes};
    scoped(buf) struct buf target = {0};
    scoped_str lines = mem_printf("%d", LINES_MAX);
    struct report_log log = {0};
    struct error err = {0};

    if (report->n_logs == LOGS_MAX || report->log_bytes + tail_bytes > LOG_BYTES_MAX) {
        report->logs_left_out++;
        return;
    }
    resource_write_path(&kind_pod, view->ns, pod, &target);
    buf_str(&target, "/log");
    resource_write_query("container", container, &target);
    resource_write_query("tailLines", lines, &target);
    reading.log = &log;
    reading.call.target = target.data;
    reading.call.data = take_piece;
    if (client_do(client, &reading.call, &err)) {
        keep_end(&log, tail_bytes);
        log.pod = mem_strdup(pod);
        log.container = mem_strdup(container);
        mem_grow(report->logs, report->n_logs, report->logs_cap);
        report->logs[report->n_logs++] = log;
        report->log_bytes += log.text.len;
    } else {
        buf_release(&log.text);
        report->logs_left_out++;
    }
    client_call_release(&reading.call);
}

static void read_pod(struct report *report, struct client *client, const char *name, bool all,
                     size_t tail_bytes)
{
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *pod = NULL;
    const char *phase;
    size_t i;
    json_t *container;

    resource_write_path(&kind_pod, report->about->view->ns, name, &path);
    pod = client_get(client, path.data, NULL);
    phase = doc_text(pod, "status.phase");
    if (!all && (!phase || strcmp(phase, "Failed") != 0))
        return;
    json_array_foreach(doc_at(pod, "status.containerStatuses"), i, container)
    {
        const char *of = doc_text(container, "name");

        if (of)
            read_log(report, client, name, of, tail_bytes);
    }
}

void report_logs_fetch(struct report *report, struct client *client, bool all, size_t tail_bytes)
{
    const struct trace *trace = report->trace;

    for (size_t i = 0; i < trace->of[TRACE_PODS].count; i++)
        read_pod(report, client, trace->words.data + trace->of[TRACE_PODS].items[i].name, all,
                 tail_bytes);
}
