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
#include "base/buf.h"
#include "base/collections/arena.h"
#include "base/collections/dag.h"
#include "base/collections/name_index.h"
#include "base/error.h"
#include "base/scoped.h"

/* States of steps that are no phases of a job. */
/* clang-format off */
#define VIEW_STATES(X)                                                                    \
    X(WAITING,  "Waiting")  /* it waits for its targets, or for room */              \
    X(BLOCKED,  "Blocked")  /* its job cannot be created */                          \
    X(RETRYING, "Retrying") /* an attempt has failed, and the next one will start */ \
    X(SKIPPED,  "Skipped")  /* by a condition, by a switch, or like all its targets */ \
    X(UNKNOWN,  "Unknown")  /* its job has a phase this version does not know */     \
    X(STOPPED,  "Stopped")  /* its job was deleted, or the flow of its loop ended, before it did */
/* clang-format on */

/* The state of a step. The phases of its job come first, with the numbers of enum job_phase;
 * VIEW_NONE: the flow has no status. */
#define VIEW_ENUM(name, text) VIEW_##name,
enum view_state { JOB_PHASES(VIEW_ENUM) VIEW_STATES(VIEW_ENUM) VIEW_STATE_N };
#undef VIEW_ENUM

/* The source of a step's expected duration. */
enum estimate_source {
    ESTIMATE_NONE, /* the duration is not known */
    ESTIMATE_SPEC, /* runningEstimate of the template or patch */
    ESTIMATE_PAST, /* completed attempts and jobs of the same template */
};

struct flow_view;

struct flow_view_step {
    const char *name;     /* the step's name; of an iteration "<loop>-<number>"; of a bare Job the
                           * name of the Job */
    const char *template; /* the step's own name when it contains its template; NULL: the step makes
                           * no job (switch) */
    struct flow_view *flow;
    uint8_t state; /* enum view_state; written by flow_view_set_state */
    /* Members of the step's entry in spec.flows. */
    bool any;          /* dependsOn.strategy: any of its targets is enough */
    bool loops;        /* has a `for` */
    bool inlined;      /* contains its template (run or jobTemplate) */
    bool final;        /* has `when: always`, or is behind such a step */
    bool estimate;     /* the patch may have a runningEstimate */
    bool plain;        /* known to have no marks: see flow_view_step_marks */
    bool resumed;      /* the newest job had ended before the tracker started */
    uint8_t estimated; /* an enum estimate_source */
    int32_t attempts;  /* number of jobs made for it; of a loop, for all its iterations */
    int32_t restarts;  /* restarts of the newest job */
    int32_t pods_ready,
        pods;           /* pods of the newest job that run or succeeded, and all of them; 0 in a
                         * stored flow */
    int64_t created_ms; /* time at which the newest job was made; 0 = not yet */
    int64_t started_ms; /* time at which its pods ran for the first time; 0 = not yet or not
                         * known */
    int64_t ended_ms;   /* time at which the newest job ended; 0 = not yet or not known */
    int64_t ran_ms;     /* how long the newest job was Running, or the loop took; -1 = not known */
    uint32_t iterations_over;     /* loop: number of iterations whose job is over */
    uint32_t iterations_active;   /* loop: number of iterations with a job that is not over */
    uint32_t iterations_listed;   /* loop: number of iterations that the status lists; 0: none, or
                                   * it does not tell */
    const char *reason, *message; /* reason and message in the status, borrowed; NULL */
    char *told;         /* why it failed, restarts or waits, as text for people; set by the tracker;
                         * NULL */
    const json_t *node; /* entry of the step in status.nodes, borrowed; NULL: none */

    /* Set by flow_view_link. */
    uint32_t layer; /* length of the longest way from a step without targets; final steps come
                     * last */
    /* Set by flow_view_estimate and flow_view_expect. */
    int64_t estimate_ms;                        /* expected duration; meaningful unless
                                                 * ESTIMATE_NONE */
    int64_t expected_start_ms, expected_end_ms; /* expected times by the wall clock, or from 0 for a
                                                 * flow without status; -1 = not known, or never */
    uint32_t path_place; /* position on the critical path, from 1; 0: not on it */

    /* Set by the tracker. */
    struct flow_view_step *loop;        /* the loop of an iteration; NULL for any other step */
    struct flow_view_step **iterations; /* the iterations of a loop: [n_iterations] by number; NULL:
                                         * not begun */
    uint32_t n_iterations;
    bool inferred; /* loop or switch: its end is known by a step behind it, not yet by the status */
    TAILQ_ENTRY(flow_view_step) active; /* list of steps with an active job */
    char job_uid[37];                   /* uid of the newest job */

    /* These members are private to flow_view_step_spec. */
    const char *text, *targets; /* where its entry and its list of targets begin */
    size_t text_len;
    json_t *spec;
};

struct flow_view {
    const char *name, *ns, *uid;
    bool bare_job;                /* a Job without a flow, shown as a flow of one step */
    enum flow_phase phase;        /* FLOW_NONE: the flow has no status */
    int64_t began_ms, ended_ms;   /* times of the flow; 0 = not yet */
    int64_t took_ms;              /* how long a flow took that is over; -1 = not known */
    const char *reason, *message; /* reason and message of status.state; NULL */
    struct flow_view_step *steps; /* the steps in the order of the spec, [n_steps] */
    uint32_t n_steps;
    json_t *doc;    /* reference to the JobFlow, owned; without its steps when made from text; NULL:
                     * none */
    json_t *status; /* reference to the status that was read last, owned; NULL: none */

    /* Set by flow_view_link. */
    uint32_t n_layers;
    struct dag dag;     /* target → step, each pair once */
    struct dag targets; /* step → targets, in the order written */
    uint32_t *order;    /* topological order of the steps; NULL: not linked */

    /* The members of the critical path. */
    uint32_t *path; /* steps of the path, [path_listed] */
    uint32_t path_listed;
    uint32_t path_len; /* number of its steps; when more than path_listed, the middle is left out */
    bool path_cut;     /* the steps before its first one are not known */
    int64_t path_ms;   /* time spent, or expected to be spent, in the steps of the path */
    bool path_known;   /* the duration of each of its steps is known */

    /* Set by the tracker. */
    bool resumed;                /* the flow had begun before the tracker started */
    bool has_jobless;            /* a step of the flow is a loop or a switch */
    const struct object *object; /* reference to the newest version of the flow, owned */
    struct flow_view *next;

    /* The members from here on are private. */
    uint32_t n_in[VIEW_STATE_N]; /* number of steps in each state */
    struct name_index names;
    const struct object *source; /* reference to the version of the flow whose text the steps point
                                  * into */
    struct buf text;
    struct arena *words;
};

/* Functions that make a view: flow_document.c, flow_text.c. */

/** Makes a view of a JobFlow's document, of which a reference is kept. NULL with INVALID at the
 * field: a step without a name, a name used twice, an unknown target, or a cycle (its steps named
 * in order). */
struct flow_view *flow_view_from_document(json_t *doc, struct error *err);
/** Makes a view, not linked yet, of a JobFlow as a server returns it. The buffer is emptied. Errors
 * are those of flow_view_from_document, and BAD_REQUEST for text that is no JSON. */
struct flow_view *flow_view_from_text(struct buf *text, struct error *err);
/** Makes a view of an object's spec, without the states of its status; not linked. A Job becomes a
 * flow of one step. Never NULL for an admitted object; a reference is kept. */
struct flow_view *flow_view_from_object(const struct object *flow_or_job);
void flow_view_free(struct flow_view *view); /* NULL is ignored */
SCOPED_DEFINE_PTR(flow_view, struct flow_view *, flow_view_free)

/* Functions that read a status: flow_status.c. */

/** Reads the states, times and reasons of all steps and of the flow from a status. What an earlier
 * status said is dropped. A reference is kept. */
void flow_view_take_status(struct flow_view *view, json_t *status);
/** Reads from a status the states and reasons of steps that have had no job yet. Everything else
 * stays as the tracker saw it. A reference is kept. */
void flow_view_complete(struct flow_view *view, json_t *status);
/** Reads times and attempts of a step from its entry of …/jobflows/NAME/steps, when the status has
 * no entry for it. Call it before flow_view_expect. */
void flow_view_take_step(struct flow_view *view, const json_t *item);

/* Defined in flow_edges.c. */

/** Looks up what steps wait for, and sorts the steps in topological order. Further calls return
 * true at once. False with the errors of flow_view_from_document about targets; the steps then have
 * no targets. */
bool flow_view_link(struct flow_view *view, struct error *err);

/* Defined in critical_path.c. */

/** Takes expected durations from templates ({name: JobTemplate}) and from completed jobs
 * ({template: [milliseconds]}); either may be NULL. */
void flow_view_estimate(struct flow_view *view, const json_t *templates, const json_t *past);
/**
 * Expected times and the critical path of a view that is linked. Of a flow that is over the path is
 * the chain that decided its length: as its status tells it, else by the times of the steps. Of
 * another flow it is the longest chain to the expected end; steps of unknown duration count 1 s
 * among each other and make path_known false. `now_ms` is 0 for a flow that is not stored.
 */
void flow_view_expect(struct flow_view *view, int64_t now_ms);
/** Reads the critical path from the status of a flow that is over; false when the status has none.
 * The view need not be linked. Further calls do nothing. */
bool flow_view_take_path(struct flow_view *view);
/** Adds steps before the first one of the critical path. They are given backwards. `whole`: the
 * path now begins where the flow began. */
void flow_view_extend_path(struct flow_view *view, const uint32_t *steps, uint32_t count,
                           bool whole);
/** Returns whether step `to` follows step `from` directly on the critical path. */
bool flow_view_edge_is_critical(const struct flow_view *view, uint32_t from, uint32_t to);
/** Returns whether a step is on a critical path worth marking, which has more than one step. */
bool flow_view_step_critical(const struct flow_view_step *step);

/* Functions that answer questions about a view: flow_view.c. */

bool flow_view_is_over(const struct flow_view *view);
/** Returns how long the flow took, or has taken until now; -1 when it has not begun. */
int64_t flow_view_ms(const struct flow_view *view, int64_t now_ms);
/** Appends the duration of the flow as text: "3.22s", or "12s" for a flow that is not over; nothing
 * for -1. */
void flow_view_took(const struct flow_view *view, int64_t now_ms, struct buf *out);

/** Appends why a flow is held or was ended ("Suspended: …") when no step says so; nothing for any
 * other flow. */
void flow_view_remark(const struct flow_view *view, struct buf *out);

/* Numbers of steps by their result. A loop counts as one step. */
struct flow_view_counts {
    uint32_t steps, completed, failed, skipped;
    uint32_t active;  /* steps with an unfinished job */
    uint32_t waiting; /* number of all other steps */
};
struct flow_view_counts flow_view_count(const struct flow_view *view);
/** Appends "4 of 6 steps completed, 1 failed, 1 not run". */
void flow_view_write_counts(const struct flow_view *view, struct buf *out);

/** Returns the position of a step by name; UINT32_MAX: unknown. O(1). */
uint32_t flow_view_find(const struct flow_view *view, const char *name);
/** Sets `err` to say that the flow has no step of that name, with the nearest name if one is near.
 * Returns false. */
bool flow_view_no_step(const struct flow_view *view, const char *name, struct error *err);
/* Returns the position of a step in the spec; of an iteration, the position of its loop. */
uint32_t flow_view_position(const struct flow_view_step *step);
/** Returns the step's entry of spec.flows, borrowed. */
const json_t *flow_view_step_spec(const struct flow_view_step *step);

/** Returns the state as it is stored ("Waiting"); NULL for VIEW_NONE. */
const char *view_state_text(enum view_state state);
/** Returns the state of a stored text; VIEW_UNKNOWN for an unknown one. */
enum view_state view_state_parse(const char *text);
/** Returns whether the step has completed without running: earlier work was reused. */
bool flow_view_step_cached(const struct flow_view_step *step);
/** Returns the state of a step as text for people: the stored text, "Cached" for a step that was
 * reused, or "Not run" for a waiting step that its flow will never start. NULL when the flow has no status. */
const char *flow_view_step_state(const struct flow_view_step *step);
/** Returns whether the step has ended or is skipped. */
bool flow_view_step_over(const struct flow_view_step *step);
bool flow_view_step_failed(const struct flow_view_step *step); /* over, and failed or terminated */
/** Returns whether the step has a job that is not over. */
bool flow_view_step_active(const struct flow_view_step *step);
/** Returns whether the step, which waits, still waits for this target. */
bool flow_view_target_open(const struct flow_view_step *step, const struct flow_view_step *target);
/** Returns the target for which a waiting step waits in vain: it has completed, and the step's probe
 * waits for its failure. NULL when the step may still start. The view must be linked. */
const struct flow_view_step *flow_view_missed_target(const struct flow_view *view, uint32_t i);
/** Returns whether the step is a loop or a switch, which has no job of its own. */
bool flow_view_step_jobless(const struct flow_view_step *step);
/** Returns whether the step ends with those that depend on it (`until: dependents`). */
bool flow_view_step_serves(const struct flow_view_step *step);
/** Returns whether the step waits for its approval. */
bool flow_view_step_asks(const struct flow_view_step *step);

/** Returns how long the newest attempt ran, or has run until now, in milliseconds: of a job the
 * time that it was Running, of a loop the time from its first iteration to its last, of a switch 0.
 * Before the pods run, it is the time that the job has waited for them. -1 when the step has not
 * begun or its times are not known. */
int64_t flow_view_step_ms(const struct flow_view_step *step, int64_t now_ms);
/** Appends the duration of the step as text: "0.28s", or "12s" or "3m12s" for an active step;
 * nothing for -1. */
void flow_view_step_took(const struct flow_view_step *step, int64_t now_ms, struct buf *out);
/** Appends a duration in milliseconds as text: "0.28s" below a minute, above it "3m12s". */
void flow_view_write_ms(int64_t ms, struct buf *out);

/** Appends why the step is in its state: the tracker's text, else reason and message of the status,
 * or nothing. */
void flow_view_step_reason(const struct flow_view_step *step, struct buf *out);
/** Returns how many iterations the loop has by its spec; 0 for a step without a loop. */
uint32_t flow_view_step_iterations(const struct flow_view_step *step);
/** Returns how many iterations a step may have as far as that is known: items of an output are
 * counted when they are. */
uint32_t flow_view_step_iterations_known(const struct flow_view_step *step);
/** Appends how far a loop has come, "226/500"; nothing without a loop. */
void flow_view_step_progress(const struct flow_view_step *step, struct buf *out);
/** Appends what a step has beside targets: "any of", "always", "probe", "if", "switch", "for 3",
 * separated by commas; nothing for a plain step. */
void flow_view_step_marks(const struct flow_view_step *step, struct buf *out);

/** Sets the state. No other function writes it, so the counts stay right. */
void flow_view_set_state(struct flow_view_step *step, enum view_state state);
