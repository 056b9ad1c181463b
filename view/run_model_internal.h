#pragma once
/*
 * What is followed, from inside: run_model.c is jobs and flows, run_model_jobless.c loops and
 * switches.
 */
#include "base/hash.h"
#include "view/run_model.h"

struct step_name {
    const char *name;
    struct follow_step *step;
    UT_hash_handle hh;
};

struct flow_uid {
    const char *uid;
    struct follow_flow *flow;
    UT_hash_handle hh;
};

struct follow {
    struct loop *loop;
    struct store *store;
    struct follow_events events;
    struct follow_flow *flows, **flows_tail;
    struct flow_uid *by_uid;
    struct follow_step *running, *running_last;
    struct store_watch *flow_watch, *job_watch;
    struct task done_task;
    size_t n_flows, n_over, n_working; /* working: jobs begun and not yet over */
    bool finished;
};

/** A step comes to a phase: the flow's tallies and the list of steps at work follow. */
void follow_set_phase(struct follow *follow, struct follow_step *step, enum job_phase phase);
void follow_name_step(struct follow_flow *flow, struct follow_step *step, char *name);
struct follow_step *follow_named(const struct follow_flow *flow, const char *name);
void follow_set_text(const char **member, const char *text);

/* run_model_jobless.c */
/** The iteration of a loop that a job is of; made when it is seen for the first time. */
struct follow_step *follow_iteration(struct follow_step *loop, const char *number);
/** An iteration has a job, or has come to an end: so far this is its loop's state. */
void follow_loop_goes_on(struct follow *follow, struct follow_step *iteration, bool tell);
/** The flow's status tells what became of its loops and switches. */
void follow_read_jobless(struct follow *follow, struct follow_flow *flow, bool tell);
/** Why a flow stands still or has failed where no step of it says so. True when that is news. */
bool follow_read_reason(struct follow_flow *flow);
