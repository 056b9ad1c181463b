#pragma once
/*
 * Writes flows as one HTML file that needs no server and no other file.
 */
#include "cli/inspect/explain.h"
#include "view/trace.h"

/* The last lines of the log of one container. */
struct report_log {
    char *pod, *container;
    struct buf text;
    bool cut; /* earlier lines are left out */
};

struct report {
    struct explain *about;     /* the view, linked */
    const struct trace *trace; /* its tracks need not be assigned */
    struct report_log *logs;   /* [n_logs] */
    size_t n_logs, logs_cap;
    size_t log_bytes;     /* bytes of all logs */
    size_t logs_left_out; /* number of logs that were requested but exceed the limits */
    json_t *why;          /* {step: sentence}, set by report_explain, owned */
};
void report_release(struct report *report);
SCOPED_DEFINE(report, struct report, report_release)

/** Sets the sentence of each step: why it is in its state. Of very many steps that have failed or
 * wait for their pods, those after the first ones have what the status of the flow tells. */
void report_explain(struct report *report);

/* The views of the page inside a report. */
struct report_views {
    struct buf script, style; /* without "</script" and "</style"; the script is empty in a program
                               * without the page, and the rest is then not used */
    struct buf data;          /* gzip in base64 of what the script reads */
};
void report_views_release(struct report_views *views);
SCOPED_DEFINE(report_views, struct report_views, report_views_release)

struct report_file {
    const struct report *flows; /* [count], explained */
    size_t count;               /* at least 1 */
    struct report_views views;  /* borrowed */
    int64_t made_ms;            /* the time that the report names */
};

/** Appends the report as one HTML page. */
void report_page(const struct report_file *file, struct buf *out);
