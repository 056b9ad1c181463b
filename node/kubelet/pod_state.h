#pragma once
/*
 * The states of one pod in the kubelet, and which may follow which.
 *
 * A pod has four states that change independently: the step of its own life, the write to its
 * object that is queued or in flight, its place among the changes that wait to be durable, and
 * whether its object still exists. Each has one table of legal edges. The setters are the only
 * writers; they assert the edge, so a wrong order of events stops the program instead of starting
 * a pod twice.
 */
#include <stdbool.h>

/* clang-format off */
/* The steps of a pod's own life. Pods in QUEUED, INTENT and READY are in the start queue. */
#define POD_STEPS(X)                                                                        \
    X(STEP_ADOPTING)       /* not compared yet with the pods that the runtime found */      \
    X(STEP_ADOPTING_ENDED) /* as ADOPTING, and the runtime's last report has come */        \
    X(STEP_QUEUED)         /* the pod waits to get a start intent */                        \
    X(STEP_INTENT)         /* the pod's start intent is on the way to the disk */           \
    X(STEP_READY)          /* the pod's start intent is durable */                          \
    X(STEP_DEVICES)        /* the pod's devices are on the way to the disk */              \
    X(STEP_BLOCKED)        /* the pod waits for a missing object or a port in use */        \
    X(STEP_STARTED)        /* the runtime has the pod */                                    \
    X(STEP_ENDED)          /* the pod's final status is on the way to the disk */           \
    X(STEP_RELEASED)       /* the pod's final status is durable */                          \
    X(STEP_DELETING)       /* never started, and the object is being deleted */

/* The states of writes to the pod's object. There is one call at a time. */
#define POD_WRITES(X)                                                                       \
    X(WRITE_IDLE)                                                                           \
    X(WRITE_QUEUED)        /* in kubelet.dirty: the end of the turn sends the write */      \
    X(WRITE_RETRY)         /* the write failed and waits for kubelet.retry */               \
    X(WRITE_MARK)          /* an update of its annotations is in flight */                  \
    X(WRITE_STATUS)        /* a status update is in flight */                               \
    X(WRITE_DELETE)        /* a deletion is in flight */

/* The states of accepted changes on their way to the disk. */
#define POD_COMMITS(X)                                                                      \
    X(COMMIT_IDLE)                                                                          \
    X(COMMIT_ACCEPTED)     /* in kubelet.accepted: the end of the turn makes a batch */     \
    X(COMMIT_BATCHED)      /* the changes are in a batch that is not durable yet */         \
    X(COMMIT_BATCHED_AGAIN) /* as BATCHED, and something was accepted since */

/* The states of the pod's object. */
#define POD_OBJECTS(X)                                                                      \
    X(OBJECT_PRESENT)                                                                       \
    X(OBJECT_DELETED)                                                                       \
    X(OBJECT_DELETED_DURABLY)
/* clang-format on */

#define STATE_ENUM(name) name,
enum pod_step { POD_STEPS(STATE_ENUM) STEP_N };
enum pod_write { POD_WRITES(STATE_ENUM) WRITE_N };
enum pod_commit { POD_COMMITS(STATE_ENUM) COMMIT_N };
enum pod_object { POD_OBJECTS(STATE_ENUM) OBJECT_N };
#undef STATE_ENUM

/** Returns whether `to` may follow `from`. No state follows itself. */
bool pod_step_follows(enum pod_step from, enum pod_step to);
bool pod_write_follows(enum pod_write from, enum pod_write to);
bool pod_commit_follows(enum pod_commit from, enum pod_commit to);
bool pod_object_follows(enum pod_object from, enum pod_object to);

/** Sets a state. An edge that is not legal stops the program. */
void pod_step_set(enum pod_step *step, enum pod_step to);
void pod_write_set(enum pod_write *write, enum pod_write to);
void pod_commit_set(enum pod_commit *commit, enum pod_commit to);
void pod_object_set(enum pod_object *object, enum pod_object to);
