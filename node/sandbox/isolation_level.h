#pragma once
/*
 * How far pods are isolated from this machine. The levels, from the least to the most:
 *
 *   plain   no isolation: a process with an environment
 *   mounts  root (or CAP_SYS_ADMIN) with its own ids: private mounts and pid, uts, ipc namespaces
 *   user    an ordinary user: the same in a user namespace that maps this user's single id
 *   full    root; programs have ids of a range that belongs to their Kubernetes namespace
 *
 * A level is available if it works when tried once in a child process. Version numbers of the
 * kernel say too little: distributions and container engines switch features off.
 */
#include "base/error.h"

/* clang-format off */
#define ISOLATION_LEVELS(X) X(PLAIN, "plain") X(MOUNTS, "mounts") X(USER, "user") X(FULL, "full")
/* clang-format on */
#define ISOLATION_ENUM(name, text) ISOLATION_##name,
enum isolation_level { ISOLATION_LEVELS(ISOLATION_ENUM) ISOLATION_LEVEL_N };
#undef ISOLATION_ENUM

const char *isolation_level_text(enum isolation_level level);
bool isolation_level_parse(const char *text, enum isolation_level *out);

/**
 * Finds the level that `wanted` names; "auto" or NULL stand for the best level that works here.
 * Levels are tried (capability_check.h) in `scratch`, an absolute path that is made and removed.
 * `out_why` (owned) says in a line what was chosen and why nothing better. Returns false when the
 * named level does not work here (UNAVAILABLE, with the step that failed) or there is no level of
 * that name (INVALID).
 */
bool isolation_level_choose(const char *wanted, const char *scratch, enum isolation_level *out,
                            char **out_why, struct error *err);

/** Returns the level of pods whose authors may not do what the user who runs jobflow may: FULL for
 * root, USER for others. At lower levels their programs have rights of that user outside. */
enum isolation_level isolation_level_confining(void);

/** Tries a level: enters its namespaces and builds a container's root in a child process. The
 * calling process stays in the namespaces. */
bool isolation_level_try(enum isolation_level level, const char *scratch, struct error *err);
