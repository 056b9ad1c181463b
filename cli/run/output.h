#pragma once
/*
 * The output forms of `run`: live, plain, json and quiet. A form is one constant table of functions
 * that are called for each change; `run` picks one form.
 */
#include "base/term.h"
#include "cli/client/log_print.h"
#include "view/flow_tracker.h"

struct output_context {
    struct loop *loop;
    const struct flow_tracker *tracker;
    struct term term;
    int64_t began_ms;
    const char *where; /* flags that lead other commands to this run, each after a blank; "" */
    bool kept;         /* records stay after the end */
};

struct output_ops {
    const char *name;
    void *(*begin)(const struct output_context *context); /* returns the form's own state, or
                                                           * NULL */
    void (*step)(void *state, const struct flow_view_step *step, enum view_state before);
    void (*flow)(void *state, const struct flow_view *flow, enum flow_phase before);
    /** One line of a container's output, without newline. */
    void (*log)(void *state, struct log_line *line, const char *text, size_t len);
    /** A line that its container has not ended yet, each time it has grown; `log` follows. NULL:
     * only whole lines are wanted. */
    void (*log_growing)(void *state, struct log_line *line, const char *text, size_t len);
    /** A message of the program: "resuming …", "interrupted, …". */
    void (*note)(void *state, const char *text);
    /** The run is over: clean up the screen. Frees the state. */
    void (*end)(void *state);
    bool summary; /* print the final table afterwards */
};

extern const struct output_ops output_live, output_plain, output_json, output_quiet;
/** Returns the form of that name; "auto" is live on a terminal and plain elsewhere. */
const struct output_ops *output_by_name(const char *name, const struct term *term);

/** Returns the colour of a step in a state. */
enum color output_state_color(const struct flow_view_step *step);

/** Appends the step's name, after the flow's name when several flows run. */
void output_step_name(const struct output_context *context, const struct flow_view_step *step,
                      struct buf *out);

#define OUTPUT_STALLED "stuck" /* how a simulation ends in which nothing can happen any more */
/* Function of summary.c: prints the final table, the critical path, and where to see more about a
 * failure. `ended`: "interrupted", "timed out" or OUTPUT_STALLED, NULL when the run came to its own
 * end. */
void summary_print(const struct output_context *context, const char *ended, FILE *out);
