#pragma once
/*
 * A job and its pods, as deciding needs them: one slot per (task, index), and counters that every
 * change of a slot keeps right.
 *
 *   job_model ─┬─ state       phase, version, retries: as decided (job/state/phase.h)
 *             ├─ shape       what follows from the body (job/compiled_spec.h)
 *             └─ tasks[] ─── slots[]   pod, what we know of it, what we are doing to it
 *
 * A pod that has to go is *doomed*. Who is doomed follows from stored state alone: marked pods,
 * pods beyond the task's replicas, pods of an older kill epoch, and in phases that want no pods
 * every pod that has not finished. So a kill that was decided goes on after a crash, and a repeated
 * one does nothing twice (O-29, O-30). A doomed pod counts as terminating and nothing else (O-45).
 *
 * No I/O: the view is told about pods and asked for numbers. One pod change costs O(1) (O-40); a
 * change of epoch or of the spec costs O(pods).
 */
#include "job/compiled_spec.h"
#include "job/event.h"
#include "job/state/phase.h"
#include "job/state/verdicts.h"

enum slot_op { SLOT_IDLE, SLOT_CREATING, SLOT_MARKING, SLOT_REMOVING };

/* How a slot counts: the pod phases, shifted by one. */
enum slot_class {
    SLOT_EMPTY,
    SLOT_PENDING,
    SLOT_RUNNING,
    SLOT_SUCCEEDED,
    SLOT_FAILED,
    SLOT_UNKNOWN,
    SLOT_TERMINATING,
    SLOT_CLASS_N
};

struct job_slot {
    struct object *pod; /* the newest version seen; NULL = none */
    struct pod_facts facts;
    int32_t
        restarts;  /* targeted ones, where each slot has its own budget (job/slot_annotations.h) */
    uint8_t op;    /* enum slot_op */
    uint8_t class; /* enum slot_class */
    bool doomed;   /* has a pod that must go */
    bool kept;     /* its pod succeeded and was deleted; `facts` are what is left of it */
};

struct job_task_model {
    struct job_slot *slots; /* [n_slots]; more than replicas while a scale-down lasts */
    int32_t n_slots;
    int32_t replicas;
    int32_t by_class[SLOT_CLASS_N];
    int64_t restarts;    /* of pending and running pods */
    int32_t ready;       /* pods dependents may count */
    int32_t vacant;      /* slots that want a pod and have none */
    int32_t vacant_from; /* none below is vacant */
    int32_t reap;        /* doomed pods nobody works on yet */
    int32_t reap_to;     /* none above is such */
    bool unlocked;       /* dependencies are met (or there are none) */
    bool started;        /* was unlocked once, or has pods: counts in a staged gang (O-57) */
    bool below_minimum;  /* fewer pods succeeded than the task's own minimum */
};

struct job_model {
    struct object *job;   /* newest version */
    struct object *group; /* newest version of the PodGroup, or NULL */
    struct job_compiled_spec *compiled;
    struct job_state state;
    struct job_task_model *tasks; /* [shape->spec->tasks.count] */
    int32_t totals[SLOT_CLASS_N];
    int32_t tasks_below_minimum;
    int32_t vacant; /* in unlocked tasks */
    int32_t reap;
    int32_t counted_version;           /* the version that was last asked who must go */
    int32_t resumes;                   /* part of state.retry_count */
    bool resumed;                      /* the present epoch began with a resume */
    bool own_network;                  /* and do not share its loopback network */
    bool local_pods;                   /* they run on this machine (job/controller.h) */
    int32_t targeted;                  /* part of state.retry_count that slots answer for */
    int32_t most_slot_restarts;        /* most restarts of any slot */
    bool keeps_succeeded, slot_budget; /* job/slot_annotations.h */
    bool annotations_changed, annotations_written;
    bool gang_changed; /* a task was unlocked since the PodGroup was last compared */
};

struct slot_id {
    uint32_t task;
    int32_t index;
};

/** `shape` is owned by the view from here on. Reads state and resume annotations from the job. No
 * pods yet. */
void job_model_init(struct job_model *model, const struct object *job,
                    struct job_compiled_spec *compiled);
void job_model_release(struct job_model *model);

/** A newer version of the job with the same body. */
void job_model_set_job(struct job_model *model, const struct object *job);
/** A newer version with another body: replicas and minimums follow. `shape` is owned. O(pods). */
void job_model_set_spec(struct job_model *model, const struct object *job,
                        struct job_compiled_spec *compiled);
/** state changed phase or version: doom and count anew where the epoch rules say so. */
void job_model_new_epoch(struct job_model *model);

/** The slot of a pod of this job. False when task or index are none of this job's. */
bool job_model_locate(const struct job_model *model, const struct object *pod, struct slot_id *out);
struct job_slot *job_model_slot(const struct job_model *model,
                                struct slot_id at); /* NULL if never used */
/** The partition a slot is in; -1 in a task without partitions. */
int32_t job_model_partition(const struct job_model *model, struct slot_id at);

/** The pod as it is now (kept by reference), or gone with NULL. Returns the event. Older versions
 * of a known pod are ignored. */
enum job_event job_model_set_pod(struct job_model *model, struct slot_id at,
                                 const struct object *pod, const struct pod_facts *facts);
void job_model_set_op(struct job_model *model, struct slot_id at, enum slot_op op);
/** A success that was kept counts no more: the slot wants a pod. */
void job_model_forget_success(struct job_model *model, struct slot_id at);

/** The lowest slot that wants a pod; the highest doomed pod nobody works on. False when there is
 * none. */
bool job_model_next_vacant(struct job_model *model, uint32_t task, struct slot_id *out);
bool job_model_next_removal(struct job_model *model, uint32_t task, struct slot_id *out);

struct job_counts job_model_counts(const struct job_model *model);
/** Ready pods a dependent may count, against what it waits for (13). */
bool job_model_task_ready(const struct job_model *model, uint32_t task);
