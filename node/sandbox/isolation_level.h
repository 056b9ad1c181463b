#pragma once
/*
 * What this machine lets us put around a pod, from the most to the least.
 *
 *   full    root; programs have ids of a range that belongs to their namespace of objects
 *   user    an ordinary user: user namespace with that one id, private mounts, pid, uts, ipc
 *   mounts  root (or CAP_SYS_ADMIN) as itself: the same without the user namespace
 *   plain   nothing: a process with an environment
 *
 * Which one holds is found by doing it once in a child (probe), never by version numbers.
 */
#include <sys/types.h>

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
 * The level `wanted` names ("auto", NULL: the best that works), found by trying it
 * (capability_check.h), with `scratch` (an absolute path; made and removed) to build in. `out_why`
 * (owned) says in a line what was chosen and why nothing else. False when a named level does not
 * work here: UNAVAILABLE, with the step that failed; INVALID for a name that is none.
 */
bool isolation_level_choose(const char *wanted, const char *scratch, enum isolation_level *out,
                            char **out_why, struct error *err);

/** The capability_check of a level: this process is in its namespaces from then on. */
bool isolation_level_try(enum isolation_level level, const char *scratch, struct error *err);

/**
 * Move this process into namespaces of its own: uts, ipc, and at level USER a user namespace in
 * which it has the ids given. At level FULL it keeps its ids: only programs get others
 * (namespaces_enter_user_range).
 */
bool namespaces_enter(enum isolation_level level, uid_t uid, gid_t gid, struct error *err);
/** And into a mount namespace: mounts made from now on are private; those of the host come in. */
bool namespaces_enter_mounts(struct error *err);
/** The same of this process's, where it has been put into one. */
bool namespaces_detach_mounts(struct error *err);
/** A user namespace in which the one id we have is `uid`, and the one group `gid`. */
bool namespaces_enter_user(uid_t uid, gid_t gid, struct error *err);

/** A user namespace whose ids 0 to USER_RANGE_IDS - 1 are those from `base` on outside. Takes root.
 * Its descriptor; -1 with `err`. */
enum { USER_RANGE_IDS = 65536 };
int namespaces_user_range(unsigned base, struct error *err);
/** Become root of that namespace, and nothing else. */
bool namespaces_enter_user_range(int user_fd, struct error *err);

/** Give up all capabilities, or all but the few that sshd needs: where uid 0 is no real root. */
void namespaces_drop_capabilities(bool keep_few);
