#pragma once
/*
 * The state of a random test of a flow: what was done, what watchers saw, and what the rules say.
 * Only for tests/support/flow_walk*.c.
 */
#include "tests/support/flow_fixture.h"
#include "tests/support/flow_rules.h"
#include "tests/support/flow_walk.h"

enum { WALK_JOBS_MAX = GEN_STEPS_MAX * GEN_LOOP_JOBS_MAX, NAME_MAX_HERE = 24 };

/* A job of the flow, identified by name, in its newest attempt. */
struct seen_job {
    char name[NAME_MAX_HERE];
    char uid[40];
    uint32_t step, iteration;
    unsigned attempt;
    unsigned created;     /* how often the job was created */
    unsigned since_retry; /* how often the job was created since the last manual retry, without
                           * replacements */
    int retried;          /* failures since the last manual retry that were followed by another
                           * attempt */
    int64_t ended_ms;
    struct gen_end end; /* how the attempt is to end */
    enum job_phase phase;
    bool there, ended_well;
    bool spent;    /* the job was aborted, which ended the attempt; another attempt follows */
    bool replaces; /* the job replaces a deleted one; a restart before that is stored counts it as a
                    * retry */
    bool blurred;  /* there was such a restart, so the job's number of retries is not certain */
    int64_t made_ms;
    bool foreign; /* the name is taken by a job that does not belong to the flow */
};

struct flow_walk {
    uint64_t seed;
    struct gen_flow flow;
    struct rules rules;
    struct flow_fixture *fixture;
    struct cluster *faulty;
    struct cluster_watcher flows, jobs, pods;
    struct dice dice;
    struct seen_job seen[WALK_JOBS_MAX];
    uint32_t n_seen;
    char uid[40];          /* uid of the flow */
    enum flow_phase phase; /* the stored phase of the flow */
    int64_t first_made_ms, finished_ms;
    bool exists, deleting;
    bool retry_asked, aborted;
    bool reruns;       /* flows also run some of their steps again */
    uint32_t named;    /* steps of the rerun that is asked for, as bits; 0: a retry is */
    bool only;         /* nothing but these steps runs again */
    bool disturbed;    /* the result may differ from that of the twin */
    bool faults, away; /* writes may fail; no controller runs */
    bool suspended, trace;
    bool no_template; /* template t does not exist */
    struct walk_template {
        int version;                /* how many versions of the template were created */
        int oldest;                 /* the oldest version that the flow may have pinned */
        int pinned;                 /* the version that the flow has pinned; 0: none yet, or
                                     * unknown */
    } templates[2];                 /* one element for each of the templates t and u */
    uint64_t hashes[WALK_JOBS_MAX]; /* specHash of each job seen; 0 = none yet */
    int retries;
    unsigned (*syncs)(void); /* returns the number of syncs of the controller so far; or NULL */
    uint64_t hash;           /* hash of all events */
    char *violation;
    const char *event; /* the last event, as text */
    char about[64];
};

void PRINTF_LIKE(2, 3) walk_violated(struct flow_walk *w, const char *format, ...);
void walk_did(struct flow_walk *w, const char *event, const char *about);
int64_t walk_now_ms(const struct flow_walk *w);

/* Functions of flow_walk_watch.c, which checks every change that watchers see. */
void walk_watch(struct flow_walk *w);
void walk_unwatch(struct flow_walk *w);
struct seen_job *walk_seen(struct flow_walk *w, const char *name); /* Returns NULL if the name is
                                                                    * not a job of the flow. */
struct rule_job *walk_fact(struct flow_walk *w, const struct seen_job *job);
/** Evaluates the rules again after a job changed or time passed. */
void walk_judge(struct flow_walk *w);
struct rule_step walk_new_step(void); /* returns a step of which nothing is known yet */
/** Resets the state for a new flow of the same name. */
void walk_forget(struct flow_walk *w);

/* Functions of flow_walk_body.c, which checks the content of created jobs. */
/** Returns the template that the step is made from; its version may be unknown. */
struct walk_template *walk_template_of(struct flow_walk *w, uint32_t step);
/** Checks that a created job contains its template, its patch and the flow's settings (6.3, 13.5,
 * 13.7). */
void walk_check_body(struct flow_walk *w, const struct seen_job *job, const struct object *object);

/* Functions of flow_walk_check.c, which checks what must hold when nothing is in flight. */
void walk_check_status(struct flow_walk *w);
/** Checks that a created job names its gang (13.6). */
void walk_check_gang(struct flow_walk *w, const struct seen_job *job, const struct object *object);
void walk_check_calm(struct flow_walk *w);
void walk_check_rest(struct flow_walk *w);
/** Returns whether the next job of the step may be created now and nothing holds it back. */
bool walk_is_due(struct flow_walk *w, uint32_t step, uint32_t iteration);

/* Functions of flow_walk_abort.c, which aborts and resumes jobs. */
/** Returns whether the job is in an aborted phase: it neither runs nor has ended. */
bool walk_is_aborted(const struct seen_job *job);
/** Returns whether the flow treats the job as ended. */
bool walk_has_ended(const struct seen_job *job);
void walk_abort_a_job(struct flow_walk *w);
void walk_take_up_a_job(struct flow_walk *w);
/** Suspends the flow with its jobs, or resumes them, as `suspend --jobs` and `resume --jobs` do. */
void walk_suspend_all(struct flow_walk *w);
/** Resumes every aborted job that needs it; returns false when there is none. */
bool walk_resume_all(struct flow_walk *w);

/* Functions of flow_walk_events.c, which has the events: of the controller, the user, or random. */
void walk_stop(struct flow_walk *w);
void walk_start(struct flow_walk *w);
/** Notes that probes pass for the pods that run now: RULE_YES when probes look at them, RULE_PERHAPS
 * when that is not sure. */
void walk_see_pods(struct flow_walk *w, enum rule_sure sees);
void walk_restart(struct flow_walk *w);
/** Creates or replaces the flow; returns false when it was refused. */
bool walk_apply(struct flow_walk *w, bool suspend);
void walk_execute_commands(struct flow_walk *w); /* executes Commands as the job controller does */
void walk_clear_faults(struct flow_walk *w);  /* ends the write faults and waits until the writes in
                                         * flight have ended */
void walk_settle_writes(struct flow_walk *w); /* waits until the writes in flight have ended */
struct seen_job *walk_some_job(struct flow_walk *w,
                               bool unfinished); /* returns a random job, or NULL */
void walk_end_a_job(struct flow_walk *w);
void walk_suspend(struct flow_walk *w);         /* suspends or resumes the flow */
void walk_retry_flow(struct flow_walk *w);      /* retries a flow that has failed */
void walk_toggle_template(struct flow_walk *w); /* deletes the template or creates it again */
void walk_write_template(struct flow_walk *w, bool other);
void walk_tell_flow(const struct flow_walk *w);
void walk_random_event(struct flow_walk *w); /* executes one random event */
