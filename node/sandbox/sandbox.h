#pragma once
/*
 * What this machine lets us put around a pod, from the most to the least.
 *
 *   full    root, each namespace of objects with its own range of ids
 *   user    an ordinary user: user namespace with that one id, private mounts, pid, uts, ipc
 *   mounts  root (or CAP_SYS_ADMIN) as itself: the same without the user namespace
 *   plain   nothing: a process with an environment
 *
 * Which one holds is found by doing it once in a child (probe), never by version numbers.
 */
#include "base/error.h"
#include <sys/types.h>

/* clang-format off */
#define SANDBOX_LEVELS(X) X(PLAIN, "plain") X(MOUNTS, "mounts") X(USER, "user") X(FULL, "full")
/* clang-format on */
#define SANDBOX_ENUM(name, text) SANDBOX_##name,
enum sandbox_level { SANDBOX_LEVELS(SANDBOX_ENUM) SANDBOX_LEVEL_N };
#undef SANDBOX_ENUM

const char *sandbox_level_text(enum sandbox_level level);

/**
 * The level `wanted` names ("auto", NULL: the best that works), found by trying it in a child, with
 * `scratch` (an absolute path; made and removed) to build in. `out_why` (owned) says in a line what
 * was chosen and why nothing else. False when a named level does not work here: UNAVAILABLE, with
 * the step that failed; INVALID for a name that is none.
 */
bool sandbox_probe(const char *wanted, const char *scratch, enum sandbox_level *out, char **out_why,
                   struct error *err);

/**
 * Move this process into namespaces of its own: mount, uts, ipc, and at level USER a user namespace
 * in which it has the ids given. Mounts made from now on are private; those of the host still come
 * in.
 */
bool sandbox_enter(enum sandbox_level level, uid_t uid, gid_t gid, struct error *err);

/** Give up all capabilities but the few that sshd needs, when uid 0 stands for an ordinary user. */
void sandbox_drop_capabilities(void);
