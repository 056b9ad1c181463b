#pragma once
/*
 * A job and its pods in memory: one slot per (task, index), and counters that every change of a
 * slot keeps up to date. Decisions are made from the counters.
 *
 *   job_model ─┬─ state      phase, version, retries: as decided (job/state/phase.h)
 *              ├─ compiled   what follows from the body alone (job/model/compiled_spec.h)
 *              └─ tasks[] ── slots[]   the pod, what its status says, the write in flight for it
 *
 * A pod that must be removed is *doomed*. Which pods are doomed follows from stored state alone:
 * marked pods, pods beyond the task's replicas, pods of an older kill epoch, and every unfinished
 * pod in phases that want no pods. Companions (api/types/kinds/job/lifecycle.h) are the exception:
 * at the end of the job they are doomed when no other pod is left, and before it when they have ended. Therefore a decided kill goes on after a crash, and repeating it
 * changes nothing (O-29, O-30). A doomed pod counts as terminating and as nothing else (O-45).
 *
 * The model does no I/O: it takes over versions of pods and answers questions. One change of a pod
 * costs O(1) (O-40); a change of epoch or of the spec costs O(pods).
 */
#include "api/types/kinds/job/lifecycle.h"
#include "job/model/compiled_spec.h"
#include "job/model/event.h"
#include "job/model/gang.h"
#include "job/state/phase.h"
#include "job/state/verdicts.h"

enum slot_op { SLOT_IDLE, SLOT_CREATING, SLOT_MARKING, SLOT_REMOVING };

/* The counter that a slot is in. The middle ones are the pod phases, shifted by one. */
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
    int32_t restarts; /* number of targeted restarts, when each slot has its own budget
                       * (job/model/slot_annotations.h) */
    uint8_t op;       /* an enum slot_op */
    uint8_t class;    /* an enum slot_class */
    bool doomed;      /* has a pod that must go */
    bool kept;        /* the pod succeeded and was deleted; `facts` are those of that pod */
};

struct job_task_model {
    struct job_slot *slots; /* the slots, [n_slots]; more than replicas while a scale-down lasts */
    int32_t n_slots;
    int32_t replicas;
    int32_t by_class[SLOT_CLASS_N];
    int64_t restarts;     /* container restarts of pending and running pods */
    int32_t ready;        /* pods dependents may count */
    int32_t vacant;       /* slots that want a pod and have none */
    int32_t vacant_from;  /* lowest index that may be vacant */
    int32_t to_remove;    /* doomed pods with no write in flight */
    int32_t to_remove_to; /* highest index that may be in `to_remove` */
    int32_t absent;       /* kept successes whose pod is deleted */
    bool unlocked;        /* dependencies are met (or there are none) */
    bool companion;       /* its pods run as long as the job and do not count for its end */
    bool started;         /* counts in a staged gang (O-57): is_started */
    bool below_minimum;   /* fewer pods succeeded than the task's own minimum */
};

struct job_model {
    struct object *job;   /* the newest version of the Job */
    struct object *group; /* newest version of the PodGroup, or NULL */
    struct job_compiled_spec *compiled;
    const struct job_gang_form *gang; /* NULL: that of Volcano */
    struct job_state state;
    struct job_task_model *tasks; /* the tasks, [compiled->spec->tasks.count] */
    struct job_lifecycle lifecycle;
    int32_t totals[SLOT_CLASS_N];
    int32_t companions[SLOT_CLASS_N]; /* the part of `totals` that are companions */
    bool companions_leave;            /* no other pod is left that is or becomes alive */
    int32_t tasks_below_minimum;
    int32_t vacant; /* number of vacant slots in unlocked tasks */
    int32_t absent; /* kept successes of all tasks whose pod is deleted */
    int32_t to_remove;
    int32_t counted_version;    /* the version for which doomed pods were last determined */
    int32_t resumes;            /* number of resumes, which are part of state.retry_count */
    bool resumed;               /* the current epoch began with a resume */
    bool own_network;           /* pods have a network of their own, not the host's loopback */
    bool local_pods;            /* pods run on this machine (job/controller.h) */
    int32_t targeted;           /* part of state.retry_count that slots answer for */
    int32_t most_slot_restarts; /* most restarts of any slot */
    bool keeps_by_default;      /* a job without the annotation keeps successes, too */
    bool keeps_succeeded, slot_budget; /* facts about slots that are kept
                                        * (job/model/slot_annotations.h) */
    bool annotations_changed, annotations_written;
    bool gang_changed; /* a task was unlocked since the PodGroup was last compared */
};

struct slot_id {
    uint32_t task;
    int32_t index;
};

/* Where the pods of a job run. */
struct job_model_options {
    bool local_pods, own_network;     /* as in struct job_model */
    bool keeps_succeeded;             /* unless the job's annotation says otherwise */
    const struct job_gang_form *gang; /* NULL: that of Volcano */
};

/** Makes a model without pods from the stored job. Consumes `compiled`. `options` may be NULL: pods
 * of a cluster, of which nothing is kept. */
void job_model_init(struct job_model *model, const struct object *job,
                    struct job_compiled_spec *compiled, const struct job_model_options *options);
void job_model_release(struct job_model *model);

/** Takes over a newer version of the job with the same body. */
void job_model_set_job(struct job_model *model, const struct object *job);
/** Takes over a newer version with another body: replicas and minimums follow. Consumes `compiled`.
 * O(pods). */
void job_model_set_spec(struct job_model *model, const struct object *job,
                        struct job_compiled_spec *compiled);
/** Phase or version of `state` changed: determine the doomed pods and count anew. O(pods). */
void job_model_new_epoch(struct job_model *model);

/** Finds the slot of a pod by its name and annotation. False when the job has no such task or
 * index. */
bool job_model_locate(const struct job_model *model, const struct object *pod, struct slot_id *out);
struct job_slot *job_model_slot(const struct job_model *model,
                                struct slot_id at); /* returns NULL if the slot was never used */
/** Returns the partition a slot is in; -1 in a task without partitions. */
int32_t job_model_partition(const struct job_model *model, struct slot_id at);

/** Takes over a version of the pod in a slot (a reference is kept); NULL = it is gone. Returns the
 * event that this raises. Older versions of the known pod are ignored. */
enum job_event job_model_set_pod(struct job_model *model, struct slot_id at,
                                 const struct object *pod, const struct pod_facts *facts);
void job_model_set_op(struct job_model *model, struct slot_id at, enum slot_op op);
/** A vacant slot counts as succeeded: its pod was collected while no controller ran. */
void job_model_keep_success(struct job_model *model, struct slot_id at);
/** Forgets that a slot's deleted pod succeeded: the slot needs a pod again. */
void job_model_forget_success(struct job_model *model, struct slot_id at);

/** The lowest slot that wants a pod; the highest doomed pod with no write in flight. False when
 * there is none. */
bool job_model_next_vacant(struct job_model *model, uint32_t task, struct slot_id *out);
bool job_model_next_removal(struct job_model *model, uint32_t task, struct slot_id *out);

struct job_counts job_model_counts(const struct job_model *model);
/** Returns whether the task waits for others before its pods are created. */
bool job_model_task_waits(const struct job_model *model, uint32_t task);
/** Returns whether the task has as many ready pods as tasks that depend on it wait for (13). */
bool job_model_task_ready(const struct job_model *model, uint32_t task);
