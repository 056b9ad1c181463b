#pragma once
/*
 * The trace of a flow: its attempts and pods over time, as Perfetto and other readers of Chrome's
 * trace format show them.
 *
 * A track is a line on which no two slices overlap. Attempts of one template share as many tracks
 * as they need, and so do its pods (trace_tracks.c). trace.c writes the JSON.
 */
#include "view/flow_view.h"

/* One attempt of a step, or one pod. Times are milliseconds since 1970; 0 = not known. */
struct trace_slice {
    uint32_t step;     /* position in the view of the step that it belongs to; of an iteration, of
                        * its loop */
    uint32_t group;    /* slices of one group share tracks; set by trace_assign_tracks */
    uint32_t track;    /* from 1 on in each class; set by trace_assign_tracks */
    int64_t ready_ms;  /* everything that it waits for had ended */
    int64_t made_ms;   /* its object was created; always known */
    int64_t run_ms;    /* it began to run */
    int64_t end_ms;    /* it ended; the time of the trace when it has not */
    int64_t cpu_milli; /* CPU that a pod asks for, in thousandths */
    int64_t memory;    /* memory that a pod asks for, in bytes */
    size_t name, args; /* offsets in the words of the trace: a name, and a JSON object; both end
                        * with NUL */
};

enum trace_class { TRACE_STEPS, TRACE_PODS, TRACE_CLASSES };

struct trace_slices {
    struct trace_slice *items; /* [count] */
    size_t count, cap;
};

struct trace {
    const struct flow_view *view; /* linked; borrowed */
    int64_t now_ms;
    struct trace_slices of[TRACE_CLASSES];
    struct buf words;
    /* Numbers of attempts of which something is not known. */
    uint32_t untimed;      /* number of attempts that are left out for lack of times */
    uint32_t unknown_held; /* number of attempts without the time that the flow held them */
    uint32_t unknown_run;  /* number of attempts without the time at which they began to run */
    uint32_t unknown_pods; /* number of attempts without pods: the status does not tell their job */
};
void trace_release(struct trace *trace);
SCOPED_DEFINE(trace, struct trace, trace_release)

/** Appends a slice to a class. The pointer is valid until the next one is added. */
struct trace_slice *trace_add(struct trace *trace, enum trace_class class);
/** Returns the time at which a slice begins: when it was ready, else when it was made. */
int64_t trace_begin_ms(const struct trace_slice *slice);

/** Sorts the slices of each class by their begin and gives each a track on which nothing else
 * happens from its begin to its end. */
void trace_assign_tracks(struct trace *trace);

/** Writes the trace as JSON, piece by piece, through `write`. Tracks must be assigned. */
void trace_write(const struct trace *trace, void (*write)(void *ctx, const void *bytes, size_t len),
                 void *ctx);
