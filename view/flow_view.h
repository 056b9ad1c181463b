#pragma once
/*
 * A flow as people look at it: its steps, what each waits for, and, where the flow has a status,
 * the state, times and reasons of each.
 *
 * Made from the JSON document of a JobFlow, of a file or as stored, so it also shows fields the
 * engine of this version may not know. `graph`, `explain` and `plan` are drawn from it. A stored
 * flow of very many steps is taken from its text, of which only that becomes a document which
 * somebody asks for: of 100,000 steps people read a few.
 *
 * What steps wait for is looked up when it is needed (flowview_link): where a flow stands can be
 * said without.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/types/text/json_text.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/dag.h"
#include "base/error.h"
#include "base/name_index.h"
#include "base/scoped.h"

/* Where the expected duration of a step comes from. */
enum estimate_source {
    ESTIMATE_NONE, /* not known */
    ESTIMATE_SPEC, /* runningEstimate of the template or patch */
    ESTIMATE_PAST, /* completed attempts and jobs of the same template */
};

struct flowview_step {
    const char *name;
    const char *template_;         /* NULL: the step makes no job (switch) */
    const char *phase;             /* "Waiting", "Running", …; NULL: the flow has no status */
    bool settled, failed, running; /* what the phase means: ended or skipped; badly; it has a job
                                      that is not over */
    const char *reason, *message;
    const json_t *node; /* the entry of status.nodes; NULL */
    /* what its entry in spec.flows has */
    bool any;      /* any of its targets is enough */
    bool loops;    /* for */
    bool final;    /* when: always */
    bool estimate; /* perhaps a runningEstimate of its own */
    int64_t attempt;
    int64_t began_ms, ended_ms; /* of the newest attempt; 0 = not */
    int64_t estimate_ms;        /* meaningful unless ESTIMATE_NONE */
    enum estimate_source estimated;
    uint32_t layer; /* by flowview_link: longest way from a step that waits for nothing; of final
                       steps behind all others */
    /* by flowview_expect */
    int64_t expected_start_ms, expected_end_ms; /* wall clock, or from 0 without status; -1 = not
                                                   known, or never */
    uint32_t path_place;                        /* on the critical path, from 1; 0: not on it */
    /* private: flowview_step_spec */
    const char *text, *targets; /* where its entry and its list of targets begin */
    size_t text_len;
    json_t *spec;
};

struct flowview {
    json_t *doc; /* owned reference: the JobFlow; made from text: without its steps */
    const char *name, *ns;
    const char *phase; /* of the flow; NULL: it has no status */
    struct flowview_step *steps;
    uint32_t n_steps;
    /* by flowview_link */
    uint32_t n_layers;
    struct dag dag;     /* target → step, each pair once */
    struct dag targets; /* step → what it waits for, in the order written */
    uint32_t *order;    /* topological; NULL: not linked */
    /* by flowview_expect */
    uint32_t *path; /* [path_listed] the critical path */
    uint32_t path_listed;
    uint32_t path_len; /* steps it has; more than are listed: the middle is left out */
    bool path_cut;     /* what came before its first step is not known */
    int64_t path_ms;   /* time spent, or expected to be spent, in its steps */
    bool path_known;   /* every step of it has a duration */
    /* private */
    struct name_index names;
    struct buf text; /* made from text */
    struct arena *words;
};

/**
 * Borrowed parts come from `doc`, of which a reference is kept. NULL with INVALID at the field:
 * a step without name or of a name used twice, an unknown target, a cycle (named in order).
 */
struct flowview *flowview_new(json_t *doc, struct error *err);
/** The same of a flow as a server gives it, not linked yet; the buffer is emptied. Also BAD_REQUEST
 * for what is no JSON. */
struct flowview *flowview_from_text(struct buf *text, struct error *err);
void flowview_free(struct flowview *view); /* NULL is fine */
SCOPED_DEFINE_PTR(flowview, struct flowview *, flowview_free)

/** It has come to its end. */
bool flowview_is_over(const struct flowview *view);

/** Look up what steps wait for, and put them in order; once, the next time it is true at once. When
 * false, the errors of flowview_new about targets: the steps wait for nothing. */
bool flowview_link(struct flowview *view, struct error *err);

/** Position of a step by name; UINT32_MAX. */
uint32_t flowview_find(const struct flowview *view, const char *name);

/** Take expected durations from templates ({name: JobTemplate}) and from completed jobs
 * ({template: [milliseconds]}); either may be NULL. */
void flowview_estimate(struct flowview *view, const json_t *templates, const json_t *past);
/**
 * Expected times and the critical path of a view that is linked: of a flow that is over the chain
 * that decided its length; else the longest chain to its expected end. Steps of unknown duration
 * count 1 s among each other and make path_known false. `now_ms` is 0 for a flow that is not
 * stored.
 */
void flowview_expect(struct flowview *view, int64_t now_ms);

/** The critical path as the status of a large flow that is over tells it; false when it does not.
 * Nothing need be linked. */
bool flowview_path_told(struct flowview *view);
/** Steps that lie before the first of the critical path, backwards; `whole`: with them it is. */
void flowview_path_before(struct flowview *view, const uint32_t *steps, uint32_t count, bool whole);
/** The critical path goes from step `from` straight to step `to`. */
bool flowview_path_goes(const struct flowview *view, uint32_t from, uint32_t to);
/** What …/jobflows/NAME/steps says of a step that the status of a large flow does not name: when it
 * began and ended. Before flowview_expect. */
void flowview_take_step(struct flowview *view, const json_t *item);

/** The entry of spec.flows. Borrowed. */
const json_t *flowview_step_spec(const struct flowview_step *step);

/* ---- words ---- */

/** Milliseconds the newest attempt took, or has taken by now; -1 when it has not begun. */
int64_t flowview_step_ms(const struct flowview_step *step, int64_t now_ms);
/** How many iterations its loop has by its spec; 0 without a loop. */
uint32_t flowview_step_iterations(const struct flowview_step *step);
/** What a step has beyond targets: "any of", "always", "probe", "if", "switch", "for"; several with
 * blanks,
 * "" for none. Static texts are joined into `out`. */
void flowview_step_marks(const struct flowview_step *step, struct buf *out);
