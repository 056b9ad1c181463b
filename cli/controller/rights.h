#pragma once
/*
 * The rights of a controller process on the cluster, as the rules that `jobflow manifests` prints.
 * Ref: spec/cluster.md 6.4.
 */
#include <stdbool.h>
#include <stddef.h>

enum right_scope {
    RIGHT_CLUSTER, /* in all namespaces, or in those of --namespaces */
    RIGHT_WHOLE,   /* on objects that are in no namespace, or of a cluster as a whole */
    RIGHT_OWN,     /* in the namespace of the process */
};

/* The modes of a process and what flags add to them, as a set. */
enum right_mode {
    RIGHTS_FLOWS = 1,
    RIGHTS_JOBS = 2,
    RIGHTS_KUBE = 4,
    RIGHTS_COSCHEDULING = 8, /* kube with --gang=coscheduling adds this */
    RIGHTS_WORKLOAD = 16,    /* kube with --gang=workload */
};

struct right {
    enum right_scope scope;
    const char *group;     /* "" for the core group */
    const char *resources; /* names of resources, separated by blanks */
    const char *names;     /* names of the objects, separated by blanks; NULL: all */
    const char *verbs;     /* allowed verbs, separated by blanks */
    unsigned modes;        /* the modes that need it, a set of right_mode */
    bool optional;         /* without it this process works, but knows less of Volcano */
};

/* The rights in the order in which they are printed. */
extern const struct right rights[];
extern const size_t rights_count;
