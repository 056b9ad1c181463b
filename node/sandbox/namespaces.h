#pragma once
/*
 * Moving this process into namespaces, and giving up its ids and capabilities.
 *
 * All functions act on the calling process, which must have a single thread. None can be undone.
 */
#include <sys/types.h>

#include "node/sandbox/isolation_level.h"

/**
 * Enter new uts and ipc namespaces, and at level USER a user namespace in which this process has
 * the ids given. At level FULL it keeps its ids: only programs change theirs
 * (namespaces_enter_user_range).
 */
bool namespaces_enter(enum isolation_level level, uid_t uid, gid_t gid, struct error *err);

/** Enter a new mount namespace. Mounts made in it are private; mounts made outside still show up.
 */
bool namespaces_enter_mounts(struct error *err);

/** Make the mounts of this process's mount namespace private in the same way. */
bool namespaces_detach_mounts(struct error *err);

/** Enter a user namespace in which the effective ids of this process are `uid` and `gid`. */
bool namespaces_enter_user(uid_t uid, gid_t gid, struct error *err);

enum { USER_RANGE_IDS = 65536 };

/** Make a user namespace whose ids 0 to USER_RANGE_IDS - 1 are those from `base` on outside. Needs
 * root. Returns its descriptor; -1 with `err`. */
int namespaces_user_range(unsigned base, struct error *err);

/** Become root of that namespace, which is an ordinary user outside. */
bool namespaces_enter_user_range(int user_fd, struct error *err);

/** Give up all capabilities; `keep_for_sshd`: all but those with which sshd changes users. */
void namespaces_drop_capabilities(bool keep_for_sshd);
