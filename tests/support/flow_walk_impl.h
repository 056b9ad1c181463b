#pragma once
/*
 * The parts of a random walk through a flow: what was done, what was seen, and what the rules make
 * of it. For tests/support/flow_walk*.c alone.
 */
#include "tests/support/flow_fixture.h"
#include "tests/support/flow_rules.h"
#include "tests/support/flow_walk.h"

enum { WALK_JOBS_MAX = GEN_STEPS_MAX * GEN_LOOP_JOBS_MAX, NAME_MAX_HERE = 24 };

/* A job of the flow, by name; its newest attempt. */
struct seen_job {
    char name[NAME_MAX_HERE];
    char uid[40];
    uint32_t step, iteration;
    unsigned attempt;
    unsigned created;     /* in all */
    unsigned since_retry; /* created, without what was deleted by hand, since the last retry */
    int retried;          /* failures after which another attempt follows, since the last retry */
    int64_t ended_ms;
    struct gen_end end; /* what it was made to come to */
    enum job_phase phase;
    bool there, ended_well;
    bool spent;    /* it was aborted, and that was an attempt: another follows */
    bool replaces; /* one deleted by hand: after a restart it counts as a retry until that is stored
                    */
    bool blurred;  /* and there was such a restart */
    int64_t made_ms;
    bool foreign; /* the name is taken by somebody else's */
};

struct flow_walk {
    uint64_t seed;
    struct gen_flow flow;
    struct rules rules;
    struct flow_bed *bed;
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
    bool disturbed;    /* the end may differ from that of an undisturbed run */
    bool faults, away; /* writes may go wrong; no controller runs */
    bool suspended, trace;
    bool no_template; /* t is not there */
    struct walk_template {
        int version;                /* of the template as it is, or was */
        int oldest;                 /* that the flow can have pinned */
        int pinned;                 /* 0: none yet, or nobody knows */
    } templates[2];                 /* t, u */
    uint64_t hashes[WALK_JOBS_MAX]; /* specHash of each job seen; 0 = none yet */
    int retries;
    unsigned (*syncs)(void); /* decisions of the engine so far, or NULL */
    uint64_t hash;           /* of all that happened */
    char *violation;
    const char *event; /* what was done last */
    char about[64];
};

void PRINTF_LIKE(2, 3) walk_violated(struct flow_walk *w, const char *format, ...);
void walk_did(struct flow_walk *w, const char *event, const char *about);
int64_t walk_now_ms(const struct flow_walk *w);

/* flow_walk_watch.c: what is seen, and what must hold of every single change */
void walk_watch(struct flow_walk *w);
void walk_unwatch(struct flow_walk *w);
struct seen_job *walk_seen(struct flow_walk *w, const char *name); /* NULL: no job of the flow */
struct rule_job *walk_fact(struct flow_walk *w, const struct seen_job *job);
/** Judge anew: a job changed, or time has passed. */
void walk_judge(struct flow_walk *w);
struct rule_step walk_new_step(void); /* nothing is known of it */
/** A new flow of the name. */
void walk_forget(struct flow_walk *w);

/* flow_walk_body.c */
/** The template that the step is made from, as far as it is known. */
struct walk_template *walk_template_of(struct flow_walk *w, uint32_t step);
/** 6.3, 13.5, 13.7: a job that is made is made of what it should be. */
void walk_check_body(struct flow_walk *w, const struct seen_job *job, const struct object *object);

/* flow_walk_check.c: what must hold when all is quiet */
void walk_check_status(struct flow_walk *w);
/** 13.6: what a job that is made says of its gang. */
void walk_check_gang(struct flow_walk *w, const struct seen_job *job, const struct object *object);
void walk_check_calm(struct flow_walk *w);
void walk_check_rest(struct flow_walk *w);
/** The next job of the step may be made now, and nothing holds it up. */
bool walk_is_due(struct flow_walk *w, uint32_t step, uint32_t iteration);

/* flow_walk_abort.c: jobs that are put aside, and taken up again */
/** The phases in which a job neither runs nor has ended. */
bool walk_is_aborted(const struct seen_job *job);
/** It has ended, as far as its flow is concerned. */
bool walk_has_ended(const struct seen_job *job);
void walk_abort_a_job(struct flow_walk *w);
void walk_take_up_a_job(struct flow_walk *w);
/** suspend --jobs, or resume --jobs. */
void walk_suspend_all(struct flow_walk *w);
/** Every job that only somebody can take up again is; false: there is none. */
bool walk_take_up_all(struct flow_walk *w);

/* flow_walk_events.c: the controller, the user, and what happens */
void walk_stop(struct flow_walk *w);
void walk_start(struct flow_walk *w);
void walk_restart(struct flow_walk *w);
/** Create or replace the flow; false when it was refused. */
bool walk_apply(struct flow_walk *w, bool suspend);
void walk_obey(struct flow_walk *w);    /* Commands are carried out */
void walk_calm(struct flow_walk *w);    /* nothing goes wrong for a while */
void walk_breathe(struct flow_walk *w); /* writes under way come to their ends */
struct seen_job *walk_some_job(struct flow_walk *w, bool unfinished); /* or NULL */
void walk_end_a_job(struct flow_walk *w);
void walk_suspend(struct flow_walk *w);       /* or resume */
void walk_template_goes(struct flow_walk *w); /* or comes back */
void walk_write_template(struct flow_walk *w, bool other);
void walk_tell_flow(const struct flow_walk *w);
void walk_happen(struct flow_walk *w); /* one of everything */
