#pragma once
/*
 * One flow as people look at it: its steps with states, times, attempts and reasons, what each step
 * waits for, counts, and the critical path.
 *
 *   jobs and flows that change ──► flow_tracker ──┐
 *                                                 ├──► struct flow_view ──► run, graph, explain, …
 *   a JobFlow document, of a file or stored ──────┘
 *
 * Every command that shows a flow reads this model through the functions below, so all of them
 * agree. Two feeders fill it: flow_tracker, from the changes of a run (one look-up per change of a
 * job, whatever the size of the flow), and flow_view_from_document or flow_view_from_text, from a
 * JobFlow with its stored status.
 *
 * A flow of 100,000 steps is read from its text: a step's entry in spec.flows becomes a document
 * only when it is asked for. What steps wait for is looked up when it is first needed
 * (flow_view_link).
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/dag.h"
#include "base/error.h"
#include "base/name_index.h"
#include "base/scoped.h"

/* States that are no phase of a job. */
/* clang-format off */
#define VIEW_STATES(X)                                                                    \
    X(WAITING,  "Waiting")  /* for its targets, or for room */                            \
    X(BLOCKED,  "Blocked")  /* its job cannot be created */                               \
    X(RETRYING, "Retrying") /* an attempt has failed, the next one follows */             \
    X(SKIPPED,  "Skipped")  /* by a condition, a switch, or because its targets were */   \
    X(UNKNOWN,  "Unknown")  /* its job has a phase this version does not know */          \
    X(STOPPED,  "Stopped")  /* its job was deleted, or the flow of its loop ended, before it did */
/* clang-format on */

/* The state of a step. The phases of its job come first, with the numbers of enum job_phase;
 * VIEW_NONE: the flow has no status. */
#define VIEW_ENUM(name, text) VIEW_##name,
enum view_state { JOB_PHASES(VIEW_ENUM) VIEW_STATES(VIEW_ENUM) VIEW_STATE_N };
#undef VIEW_ENUM

/* Where the expected duration of a step comes from. */
enum estimate_source {
    ESTIMATE_NONE, /* not known */
    ESTIMATE_SPEC, /* runningEstimate of the template or patch */
    ESTIMATE_PAST, /* completed attempts and jobs of the same template */
};

struct flow_view;

struct flow_view_step {
    const char *name;     /* of an iteration "<loop>-<number>"; of a bare Job the Job's */
    const char *template; /* NULL: the step makes no job (switch) */
    struct flow_view *flow;
    uint8_t state; /* enum view_state; written by flow_view_set_state */
    /* members of its entry in spec.flows */
    bool any;          /* dependsOn.strategy: any of its targets is enough */
    bool loops;        /* for */
    bool final;        /* when: always, or behind such a step */
    bool estimate;     /* the patch may have a runningEstimate */
    bool resumed;      /* its newest job was over before the tracker began */
    uint8_t estimated; /* enum estimate_source */
    int32_t attempts;  /* jobs made for it; of a loop, for all its iterations */
    int32_t restarts;  /* within the newest job */
    int32_t pods_ready,
        pods;           /* running or succeeded, of all of the newest job; 0 in a stored flow */
    int64_t created_ms; /* when the newest job was made; 0 = not yet */
    int64_t started_ms; /* when its pods ran for the first time; 0 = not yet or not known */
    int64_t ended_ms;   /* when it was over; 0 = not yet or not known */
    int64_t ran_ms;     /* how long the newest job was Running, or the loop took; -1 = not known */
    uint32_t iterations_over;     /* of a loop: those whose job is over */
    uint32_t iterations_active;   /* those with a job that is not over */
    uint32_t iterations_listed;   /* those that the status lists; 0: none, or it does not tell */
    const char *reason, *message; /* of the status, borrowed; NULL */
    char *told;         /* by the tracker: why it failed, restarts or waits, for people; NULL */
    const json_t *node; /* its entry in status.nodes, borrowed; NULL */

    /* by flow_view_link */
    uint32_t layer; /* longest way from a step that waits for nothing; final steps come last */
    /* by flow_view_estimate and flow_view_expect */
    int64_t estimate_ms;                        /* meaningful unless ESTIMATE_NONE */
    int64_t expected_start_ms, expected_end_ms; /* wall clock, or from 0 of a flow without status;
                                                   -1 = not known, or never */
    uint32_t path_place; /* on the critical path, counted from 1; 0: not on it */

    /* by the tracker */
    struct flow_view_step *loop;        /* of an iteration; else NULL */
    struct flow_view_step **iterations; /* of a loop, [n_iterations] by number; NULL: not begun */
    uint32_t n_iterations;
    TAILQ_ENTRY(flow_view_step) active; /* list of steps with a job at work */
    char job_uid[37];                   /* of the newest job */

    /* private: flow_view_step_spec */
    const char *text, *targets; /* where its entry and its list of targets begin */
    size_t text_len;
    json_t *spec;
};

struct flow_view {
    const char *name, *ns, *uid;
    bool bare_job;              /* a Job without a flow, shown as a flow of one step */
    enum flow_phase phase;      /* FLOW_NONE: it has no status */
    int64_t began_ms, ended_ms; /* 0 = not yet */
    int64_t took_ms;            /* of a flow that is over, as its status tells it; -1 = not known */
    const char *reason, *message; /* status.state; NULL */
    struct flow_view_step *steps; /* [n_steps] in the order of the spec */
    uint32_t n_steps;
    json_t *doc;    /* owned reference: the JobFlow; made from text without its steps; NULL */
    json_t *status; /* owned reference: its status as last read; NULL */

    /* by flow_view_link */
    uint32_t n_layers;
    struct dag dag;     /* target → step, each pair once */
    struct dag targets; /* step → targets, in the order written */
    uint32_t *order;    /* topological; NULL: not linked */

    /* the critical path */
    uint32_t *path; /* [path_listed] steps */
    uint32_t path_listed;
    uint32_t path_len; /* steps it has; more than are listed: the middle is left out */
    bool path_cut;     /* what came before its first step is not known */
    int64_t path_ms;   /* time spent, or expected to be spent, in its steps */
    bool path_known;   /* every step of it has a duration */

    /* by the tracker */
    bool resumed;                /* it had begun before the tracker did */
    bool has_jobless;            /* one of its steps is a loop or a switch */
    const struct object *object; /* owned reference: the newest version */
    struct flow_view *next;

    /* private */
    uint32_t n_in[VIEW_STATE_N]; /* steps by state */
    struct name_index names;
    const struct object *source; /* reference to the version whose text the steps point into */
    struct buf text;
    struct arena *words;
};

/* flow_document.c, flow_text.c: making a view */

/** A view of a JobFlow's document, of which a reference is kept. NULL with INVALID at the field: a
 * step without name or of a name used twice, an unknown target, a cycle (named in order). */
struct flow_view *flow_view_from_document(json_t *doc, struct error *err);
/** A view of a JobFlow as a server answers it, not linked yet; the buffer is emptied. Also
 * BAD_REQUEST for text that is no JSON. */
struct flow_view *flow_view_from_text(struct buf *text, struct error *err);
/** A view of an object's spec, without the states of its status; not linked. A Job becomes a flow
 * of one step. Never NULL for an admitted object; a reference is kept. */
struct flow_view *flow_view_from_object(const struct object *flow_or_job);
void flow_view_free(struct flow_view *view); /* NULL is fine */
SCOPED_DEFINE_PTR(flow_view, struct flow_view *, flow_view_free)

/* flow_status.c: what a status says */

/** Take states, times and reasons of all steps, and those of the flow, from a status; what an
 * earlier status said is forgotten. A reference is kept. */
void flow_view_take_status(struct flow_view *view, json_t *status);
/** Take from a status the states and reasons of steps that have had no job so far; everything else
 * stays as the tracker saw it. A reference is kept. */
void flow_view_complete(struct flow_view *view, json_t *status);
/** Take a step's entry of …/jobflows/NAME/steps, when the status has none: its times and attempts.
 * Before flow_view_expect. */
void flow_view_take_step(struct flow_view *view, const json_t *item);

/* flow_edges.c */

/** Look up what steps wait for, and put them in order; once, then it returns true at once. When
 * false, with the errors of flow_view_from_document about targets: the steps wait for nothing. */
bool flow_view_link(struct flow_view *view, struct error *err);

/* critical_path.c */

/** Take expected durations from templates ({name: JobTemplate}) and from completed jobs
 * ({template: [milliseconds]}); either may be NULL. */
void flow_view_estimate(struct flow_view *view, const json_t *templates, const json_t *past);
/**
 * Expected times and the critical path of a view that is linked. Of a flow that is over the path is
 * the chain that decided its length: as its status tells it, else by the times of the steps. Of
 * another flow it is the longest chain to the expected end; steps of unknown duration count 1 s
 * among each other and make path_known false. `now_ms` is 0 for a flow that is not stored.
 */
void flow_view_expect(struct flow_view *view, int64_t now_ms);
/** The critical path as the status of a flow that is over tells it; false when it does not. Once;
 * the view need not be linked. */
bool flow_view_take_path(struct flow_view *view);
/** Put steps before the first of the critical path; they are given backwards. `whole`: the path now
 * begins where the flow began. */
void flow_view_extend_path(struct flow_view *view, const uint32_t *steps, uint32_t count,
                           bool whole);
/** Whether the critical path leads from step `from` straight to step `to`. */
bool flow_view_path_goes(const struct flow_view *view, uint32_t from, uint32_t to);
/** Whether a step is on a critical path worth marking, which has more than one step. */
bool flow_view_step_critical(const struct flow_view_step *step);

/* flow_view.c: questions about a view */

bool flow_view_is_over(const struct flow_view *view);
/** How long the flow took, or has taken by now, in milliseconds; -1 when it has not begun. */
int64_t flow_view_ms(const struct flow_view *view, int64_t now_ms);
/** Append it for people: "3.22s", of a flow that is not over "12s"; nothing for -1. */
void flow_view_took(const struct flow_view *view, int64_t now_ms, struct buf *out);

/** Append why a flow is held or was ended, where no step says so ("Suspended: …"); nothing for any
 * other flow. */
void flow_view_remark(const struct flow_view *view, struct buf *out);

/* Steps by what became of them; a loop counts as one step. */
struct flow_view_counts {
    uint32_t steps, completed, failed, skipped;
    uint32_t active;  /* with a job that is not over */
    uint32_t waiting; /* the rest */
};
struct flow_view_counts flow_view_count(const struct flow_view *view);
/** How many steps are in a state. */
uint32_t flow_view_count_state(const struct flow_view *view, enum view_state state);
/** Append "4 of 6 steps completed, 1 failed, 1 not run". */
void flow_view_write_counts(const struct flow_view *view, struct buf *out);

/** Position of a step by name; UINT32_MAX. O(1). */
uint32_t flow_view_find(const struct flow_view *view, const char *name);
uint32_t flow_view_position(const struct flow_view_step *step); /* of an iteration, its loop's */
/** The entry of spec.flows. Borrowed. */
const json_t *flow_view_step_spec(const struct flow_view_step *step);

/** The state as it is stored ("Waiting"); NULL for VIEW_NONE. */
const char *view_state_text(enum view_state state);
/** The state of a stored text; VIEW_UNKNOWN for one that is not known. */
enum view_state view_state_parse(const char *text);
/** The state for people: as it is stored, but "Not run" for a step that waits in a flow that starts
 * nothing any more; NULL when the flow has no status. */
const char *flow_view_step_state(const struct flow_view_step *step);
bool flow_view_step_over(const struct flow_view_step *step);   /* ended or skipped */
bool flow_view_step_failed(const struct flow_view_step *step); /* over, and badly */
bool flow_view_step_active(const struct flow_view_step *step); /* it has a job that is not over */
/** A loop or a switch: no job is its own. */
bool flow_view_step_jobless(const struct flow_view_step *step);

/** How long the newest attempt ran, or has run by now, in milliseconds: of a job the time it was
 * Running, of a loop from its first iteration to its last, of a switch 0. Before its pods run, how
 * long it waits for them. Of a step that is over it is a whole second or the time that the status
 * tells, so that all who ask get the same. -1 when it has not begun or its times are not known. */
int64_t flow_view_step_ms(const struct flow_view_step *step, int64_t now_ms);
/** Append it for people: "0.28s", of a step that is at work "12s" or "3m12s"; nothing for -1. */
void flow_view_step_took(const struct flow_view_step *step, int64_t now_ms, struct buf *out);
/** Append a duration that is known to the millisecond: "0.28s" below a minute, then "3m12s". */
void flow_view_write_ms(int64_t ms, struct buf *out);

/** Append why the step is in its state: what the tracker was told, else "reason: message" of the
 * status, either alone, or nothing. */
void flow_view_step_why(const struct flow_view_step *step, struct buf *out);
/** How many iterations its loop has by its spec; 0 without a loop. */
uint32_t flow_view_step_iterations(const struct flow_view_step *step);
/** How many it may have as far as that is known: items of an output are counted when they are. */
uint32_t flow_view_step_iterations_known(const struct flow_view_step *step);
/** Append how far a loop has come, "226/500"; nothing without a loop. */
void flow_view_step_progress(const struct flow_view_step *step, struct buf *out);
/** What a step has beyond targets: "any of", "always", "probe", "if", "switch", "for 3"; several
 * with commas; nothing for a plain step. */
void flow_view_step_marks(const struct flow_view_step *step, struct buf *out);

/** Come to a state; the only writer of it, so that the counts hold. */
void flow_view_set_state(struct flow_view_step *step, enum view_state state);
