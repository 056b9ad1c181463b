#pragma once
/*
 * What is known of the reuse of a step: the work that stands for it, or what is to be recorded of
 * it. Only flows whose steps may be reused have this. Ref: spec/everyday.md 4.
 */
#include "base/buf.h"
#include "probes/results.h"

struct flow_model;
struct blob;

/* The work that a reused step stands for. */
struct reused_work {
    char *entry, *key;      /* name and key of the CacheEntry */
    char *flow, *job, *uid; /* flow whose step did it, its job, and the uid of that */
    int64_t made_ms;        /* time at which the job had completed */
};

/* What becomes a pending CacheEntry when the job of the step is created. */
struct reuse_draft {
    char *key;  /* NULL: the step will not be recorded */
    char *body; /* text of the entry's body */
    struct blob *status;
};

struct step_reuse {
    struct reused_work from;  /* the work that a `cached` step has reused */
    struct reuse_draft draft; /* the entry to be, for a step that was looked up and runs */
    char *note;               /* why it runs, or why its result was not recorded; or NULL */
    uint32_t task;            /* number of the look-up or recording in flight; 0: none */
};

/* Which steps of a flow may be reused. */
enum reuse_scope {
    REUSE_OFF,      /* no step: a cluster of other machines, or upstream's semantics */
    REUSE_DECLARED, /* steps with `cache` */
    REUSE_ALL       /* steps with `cache`, and all others whose inputs are known */
};

/** Marks the steps that may be reused. It is called before any state is loaded into the model. */
void flow_model_init_reuse(struct flow_model *m, enum reuse_scope scope);
/** Takes over what is known of step `from` of an earlier spec's model, which is step `i` now. */
void flow_model_take_over_reuse(struct flow_model *m, uint32_t i, struct flow_model *old,
                                uint32_t from);
void flow_model_release_reuse(struct flow_model *m);

/** Completes a step without a job. Takes over the texts of `from`; `results` is consumed. */
void flow_model_complete_cached(struct flow_model *m, uint32_t step, struct reused_work *from,
                                struct job_results *results);
/** Restores the mark of a cached step after a restart. Takes over the texts of `from`, which may be
 * empty. */
void flow_model_restore_cached(struct flow_model *m, uint32_t step, struct reused_work *from);
/** Sets the note of a step; the text is copied. */
void flow_model_set_reuse_note(struct flow_model *m, uint32_t step, const char *note);
/** Appends what the status says of a cached step: "reused: made by job x on 2026-10-24T00:41:07Z". */
void flow_model_write_reused(const struct flow_model *m, uint32_t step, struct buf *out);
void reused_work_release(struct reused_work *work);
void reuse_draft_release(struct reuse_draft *draft);
