#pragma once
/*
 * The forms in which `run` tells what happens. A form is one constant table; `run` picks one.
 */
#include "base/term.h"
#include "view/flow_tracker.h"

struct output_context {
    struct loop *loop;
    const struct flow_tracker *tracker;
    struct term term;
    int64_t began_ms;
    const char *where; /* flags with which other commands find this run, each after a blank; "" */
    bool kept;         /* records stay after the end */
};

struct output_ops {
    const char *name;
    void *(*begin)(const struct output_context *context); /* its own state, or NULL */
    void (*step)(void *state, const struct flow_view_step *step, enum view_state before);
    void (*flow)(void *state, const struct flow_view *flow, enum flow_phase before);
    /** One line of a container's output (without newline), with the pod's short name. */
    void (*log)(void *state, const char *source, const char *line, size_t len);
    /** A remark of the program itself: "resuming …", "interrupted, …". */
    void (*note)(void *state, const char *text);
    /** Everything is over: leave the screen clean. Frees the state. */
    void (*end)(void *state);
    bool summary; /* print the final table afterwards */
};

extern const struct output_ops output_live, output_plain, output_json, output_quiet;
/** By name; "auto" gives live on a terminal and plain elsewhere. */
const struct output_ops *output_by_name(const char *name, const struct term *term);

/** The colour of a step in a state. */
enum color output_state_color(const struct flow_view_step *step);

/** The flow's name before the step's, where there are several. Of a bare job only its own. */
void output_step_name(const struct output_context *context, const struct flow_view_step *step,
                      struct buf *out);

#define OUTPUT_STALLED "stuck" /* how a simulation ends in which nothing can happen any more */
/* summary.c: the final table with the critical path, and where to see more about a failure.
 * `ended`: "interrupted", "timed out" or OUTPUT_STALLED, NULL when the run came to its own end. */
void summary_print(const struct output_context *context, const char *ended, FILE *out);
