#pragma once
/*
 * How the pods of a job become a gang: pods that start together or not at all. It depends on the
 * scheduler of the cluster what must be created for that: an object that describes the gang, labels
 * and annotations of the pods that name it, or both. Ref: spec/cluster.md 1.6.
 */
#include "api/types/kinds/scheduling/podgroup.h"

struct job_model;

enum job_gang {
    JOB_GANG_VOLCANO,      /* a PodGroup of Volcano, which admits the job before its pods exist */
    JOB_GANG_NONE,         /* pods are placed one by one */
    JOB_GANG_COSCHEDULING, /* a PodGroup of the scheduler plugin coscheduling */
    JOB_GANG_KUEUE,        /* a plain pod group of Kueue, known by marks of its pods alone */
    JOB_GANG_WORKLOAD,     /* a PodGroup of Kubernetes 1.36 */
    JOB_GANG_WORKLOAD_135, /* a Workload of Kubernetes 1.35 */
    JOB_GANG_N
};

enum { JOB_GANG_LABELS = 2, JOB_GANG_COUNT_BYTES = 16 };

/* The labels and the annotation that make a pod a member of its gang. A pair without a key is not
 * used. */
struct job_gang_marks {
    struct kv labels[JOB_GANG_LABELS];
    struct kv annotation;
    char *group;                      /* name of the gang, which a pair has as its value; owned */
    char count[JOB_GANG_COUNT_BYTES]; /* number of its pods, which a pair has as its value */
};

struct job_gang_form {
    const struct kind *kind; /* the object that makes the pods a gang; NULL: there is none */
    bool admits;             /* pods are created when the status of the object admits them */
    bool fixed;              /* the spec of the object cannot be changed */
    bool whole;              /* all pods are created at once, and none joins later */
    bool has_queues;         /* the queue that a job names means something to the scheduler */
    /** Returns the name of the object, owned. */
    char *(*name)(const struct object *job);
    /** Returns the body of the object (an owned reference) for what Volcano's PodGroup would say.
     * NULL: that body is used itself. */
    struct blob *(*body)(const struct podgroup_spec *group);
    /** Sets the marks of the pods; NULL: they have none. */
    void (*mark)(const struct job_model *model, struct job_gang_marks *out);
    /** Adds what names the gang to the spec of a pod; NULL: nothing does. */
    void (*mark_spec)(const struct job_model *model, json_t *spec);
};
