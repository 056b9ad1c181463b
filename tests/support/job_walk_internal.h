#pragma once
/*
 * The parts of a random walk: what is remembered of the job, what a step is expected to bring
 * about, and what it did. For tests/support/job_walk*.c alone.
 */
#include "tests/support/job_fixture.h"
#include "tests/support/job_rules.h"
#include "tests/support/job_walk.h"

enum { PODS_MAX = 64, MOVES_MAX = 32, SLACK_MS = 100 };
/* Restarts of a slot that was scaled away: forgotten with the next status. */
enum { SLOT_ANEW = -1 };

/* A change of phase, as a watcher sees it. */
struct move {
    enum job_phase from, to;
    char reason[48];
    int64_t at_ms;
};

/* What a step may lead to: nothing by policies, this result, or something not predicted. */
struct expectation {
    enum { EXPECT_SYNC, EXPECT_ACTION, EXPECT_ANY } what;
    enum job_action action;
    const char *reason;
    int task, index; /* what a targeted action is about */
};

/* Something that a delayed policy may answer later. */
struct cause {
    enum job_event event;
    enum job_action action;
    int task;
    int64_t due_ms;
    int64_t late_ms; /* when it must have been answered, if nothing intervenes; 0 = it may be */
};

/* The pods of the job at a moment. */
struct sight {
    const struct walk *walk;
    struct rule_pod pods[PODS_MAX];
    struct object *objects[PODS_MAX];
    int count;
};

struct walk {
    struct job_fixture *fixture;
    struct cluster_watcher jobs, pods, services;
    struct dice dice;
    struct gen_job spec;
    bool strict, slow, hold, trace;
    bool crowded;  /* its jobs are crowds (gen_job_crowd) */
    bool mourning; /* its jobs miss their pods (gen_job_mourn): new ones are slow, processes many */
    char *violation;
    int step;

    /* the job, as its history went so far */
    char uid[64];
    enum job_phase phase;
    int32_t version, retries, resumes;
    int64_t finished_ms;
    unsigned rests; /* times it came to rest */
    unsigned services_made;
    bool resumed;      /* the present epoch began with a resume */
    bool meddled;      /* pods of a job at its end were deleted: what it counted stays */
    bool full_kill;    /* in this step */
    bool user_deletes; /* the job, now */

    /* this step */
    struct expectation expected;
    struct move moves[MOVES_MAX];
    int n_moves, n_kills;
    struct cause causes[4 * PODS_MAX];
    int n_causes;
    struct rule_counts before;

    struct sight sight; /* the pods before the step, later after it */

    /* causes that outlive their pod: by slot, when */
    int64_t evicted_ms[GEN_TASKS][GEN_REPLICAS + 1], failed_ms[GEN_TASKS][GEN_REPLICAS + 1];
    int64_t appeared_ms[GEN_TASKS][GEN_REPLICAS + 1];
    int failed_code[GEN_TASKS][GEN_REPLICAS + 1];
    /* what is remembered of slots beyond their pods (job_walk_annotations.c) */
    bool kept[GEN_TASKS][GEN_REPLICAS + 1];
    int slot_restarts[GEN_TASKS][GEN_REPLICAS + 1];
    int targeted, most_slot_restarts;
    /* evictions that nothing has answered for since: while their slot waits they must be */
    bool evicted_surely[GEN_TASKS][GEN_REPLICAS + 1];
};

/* ---- job_walk_watch.c: what happened ---- */
void walk_watch(struct walk *walk);
void walk_unwatch(struct walk *walk);
/** The first violation counts. */
void walk_violated(struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);
/** A line of the trace. */
void walk_tell(const struct walk *walk, const char *format, ...) PRINTF_LIKE(2, 3);
int64_t walk_now_ms(const struct walk *walk);
bool walk_active(enum job_phase phase);
bool walk_at_rest(enum job_phase phase);
/** The pods of the job as they are; the sight is used again. */
void walk_look(struct walk *walk, struct sight *sight, struct rule_counts *counts);
void walk_sight_release(struct sight *sight);
const struct object *walk_job_of(const struct walk *walk); /* NULL when it is gone */
bool walk_gang_admitted(struct walk *walk);

/* ---- job_walk_annotations.c: what is remembered of slots ---- */
/** Successes without a pod count as their pods would. */
void walk_count_kept(const struct sight *sight, struct rule_counts *counts);
/** Restarts charged to the job as a whole, and the most charged to one slot. */
int walk_failures(const struct walk *walk);
int walk_worst(const struct walk *walk);
/** A restart of targets, or a new epoch, is stored. Called with walk's versions and retries new,
 * and its phase old. */
void walk_notes_restarted(struct walk *walk, const struct job_status *now, bool new_epoch);
void walk_notes_clear(struct walk *walk);

/* ---- job_walk_check.c: what should have happened ---- */
/** Around each step; the end checks everything in a walk without faults. */
void walk_begin_step(struct walk *walk);
void walk_end_step(struct walk *walk);
/** Everything that must hold when nothing is on its way. */
void walk_check_state(struct walk *walk);
/** What delayed policies may answer, from the pods as they were seen last. */
void walk_gather_causes(struct walk *walk);
/** `task` -1: nothing to aim at. `but_one`: a target that is gone already. */
void walk_expect_action(struct walk *walk, enum job_action action, const char *reason, int task,
                        int index, bool but_one);
void walk_expect_event(struct walk *walk, enum job_event event, int task, int index, int version,
                       int exit_code, bool gone);
