#pragma once
/*
 * Where the hierarchies of control groups are mounted, and where in them groups of ours can be.
 */
#include <stdbool.h>
#include <stddef.h>

enum cgroup_limit { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_LIMITS };

/* Directories in which ours are made; NULL: there is none. */
struct cgroup_parents {
    char *old[CGROUP_LIMITS]; /* of the hierarchy of that controller alone */
    char *unified;
};

/* The names of ours begin so. */
#define CGROUP_PREFIX "jobflow-"

/** Looked up once in the life of a process, by any thread; those it forks have it, too. */
const struct cgroup_parents *cgroup_find(void);

bool cgroup_write(const char *dir, const char *file, const char *value);
/** The file by which one thread joins the group in `dir` (owned). */
char *cgroup_joining_file(const char *dir, bool unified);
