#pragma once
/*
 * The state of a random walk of a flow: what was done, what was seen, and what the rules say. Only
 * for tests/support/flow_walk*.c.
 */
#include "tests/support/flow_fixture.h"
#include "tests/support/flow_rules.h"
#include "tests/support/flow_walk.h"

enum { WALK_JOBS_MAX = GEN_STEPS_MAX * GEN_LOOP_JOBS_MAX, NAME_MAX_HERE = 24 };

/* A job of the flow, by name, in its newest attempt. */
struct seen_job {
    char name[NAME_MAX_HERE];
    char uid[40];
    uint32_t step, iteration;
    unsigned attempt;
    unsigned created;     /* times created */
    unsigned since_retry; /* the same since the last manual retry, without replacements */
    int retried;          /* failures with another attempt, since the last manual retry */
    int64_t ended_ms;
    struct gen_end end; /* how the attempt is to end */
    enum job_phase phase;
    bool there, ended_well;
    bool spent;    /* it was aborted, which ended the attempt: another follows */
    bool replaces; /* a deleted job; a restart before that is stored counts it as a retry */
    bool blurred;  /* there was such a restart */
    int64_t made_ms;
    bool foreign; /* the name is taken by a foreign job */
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
    char uid[40];          /* of the flow */
    enum flow_phase phase; /* as stored */
    int64_t first_made_ms, finished_ms;
    bool exists, deleting;
    bool retry_asked, aborted;
    bool disturbed;    /* the end may differ from that of the twin */
    bool faults, away; /* writes may fail; no controller runs */
    bool suspended, trace;
    bool no_template; /* template t does not exist */
    struct walk_template {
        int version;                /* versions of the templates so far */
        int oldest;                 /* versions that the flow may have pinned */
        int pinned;                 /* 0: none yet, or unknown */
    } templates[2];                 /* of templates t and u */
    uint64_t hashes[WALK_JOBS_MAX]; /* specHash of each job seen; 0 = none yet */
    int retries;
    unsigned (*syncs)(void); /* syncs of the controller so far, or NULL */
    uint64_t hash;           /* hash of all events */
    char *violation;
    const char *event; /* the last event */
    char about[64];
};

void PRINTF_LIKE(2, 3) walk_violated(struct flow_walk *w, const char *format, ...);
void walk_did(struct flow_walk *w, const char *event, const char *about);
int64_t walk_now_ms(const struct flow_walk *w);

/* flow_walk_watch.c: what watchers see, and what must hold of every change */
void walk_watch(struct flow_walk *w);
void walk_unwatch(struct flow_walk *w);
struct seen_job *walk_seen(struct flow_walk *w, const char *name); /* NULL: not a job of the flow */
struct rule_job *walk_fact(struct flow_walk *w, const struct seen_job *job);
/** Evaluates the rules again: a job changed, or time has passed. */
void walk_judge(struct flow_walk *w);
struct rule_step walk_new_step(void); /* sets it to unknown */
/** Begins a new flow of the same name. */
void walk_forget(struct flow_walk *w);

/* flow_walk_body.c */
/** The template that the step is made from, if known. */
struct walk_template *walk_template_of(struct flow_walk *w, uint32_t step);
/** 6.3, 13.5, 13.7: a created job contains what it should. */
void walk_check_body(struct flow_walk *w, const struct seen_job *job, const struct object *object);

/* flow_walk_check.c: what must hold when nothing is in flight */
void walk_check_status(struct flow_walk *w);
/** 13.6: a created job names its gang. */
void walk_check_gang(struct flow_walk *w, const struct seen_job *job, const struct object *object);
void walk_check_calm(struct flow_walk *w);
void walk_check_rest(struct flow_walk *w);
/** Whether the next job of the step may be created now and nothing holds it back. */
bool walk_is_due(struct flow_walk *w, uint32_t step, uint32_t iteration);

/* flow_walk_abort.c: jobs that are aborted and resumed */
/** Whether a job in this phase neither runs nor has ended. */
bool walk_is_aborted(const struct seen_job *job);
/** Whether the job has ended for its flow. */
bool walk_has_ended(const struct seen_job *job);
void walk_abort_a_job(struct flow_walk *w);
void walk_take_up_a_job(struct flow_walk *w);
/** Does suspend --jobs or resume --jobs. */
void walk_suspend_all(struct flow_walk *w);
/** Resumes every job that needs it; false when there is none. */
bool walk_take_up_all(struct flow_walk *w);

/* flow_walk_events.c: controller, user and random events */
void walk_stop(struct flow_walk *w);
void walk_start(struct flow_walk *w);
void walk_restart(struct flow_walk *w);
/** Creates or replaces the flow; false when it was refused. */
bool walk_apply(struct flow_walk *w, bool suspend);
void walk_obey(struct flow_walk *w);    /* carries out Commands */
void walk_calm(struct flow_walk *w);    /* no faults for a while */
void walk_breathe(struct flow_walk *w); /* lets writes in flight end */
struct seen_job *walk_some_job(struct flow_walk *w, bool unfinished); /* or NULL */
void walk_end_a_job(struct flow_walk *w);
void walk_suspend(struct flow_walk *w);       /* or resume */
void walk_template_goes(struct flow_walk *w); /* or is created again */
void walk_write_template(struct flow_walk *w, bool other);
void walk_tell_flow(const struct flow_walk *w);
void walk_happen(struct flow_walk *w); /* one random event */
