#pragma once
/*
 * Moves this process into namespaces, and gives up its ids and capabilities.
 *
 * All functions act on the calling process, which must have a single thread. None can be undone.
 */
#include <sys/types.h>

#include "node/sandbox/isolation_level.h"

/**
 * Enters new uts and ipc namespaces, and at level USER also a user namespace in which this process
 * has the ids `uid` and `gid`. At level FULL the process keeps its ids: only programs change theirs
 * (namespaces_enter_user_range).
 */
bool namespaces_enter(enum isolation_level level, uid_t uid, gid_t gid, struct error *err);

/** Enters a new mount namespace. Mounts made in it are private; mounts made outside still show up
 * in it. */
bool namespaces_enter_mounts(struct error *err);

/** Makes the mounts of this process's mount namespace private: mounts made in it do not show up
 * outside, while mounts made outside still show up in it. */
bool namespaces_detach_mounts(struct error *err);

/** Enters a user namespace in which the effective ids of this process are `uid` and `gid`. */
bool namespaces_enter_user(uid_t uid, gid_t gid, struct error *err);

enum { USER_RANGE_IDS = 65536 };

/** Makes a user namespace whose ids 0 to USER_RANGE_IDS - 1 are those from `base` on outside. It
 * needs root. Returns the descriptor of the namespace, or -1 with `err`. */
int namespaces_user_range(unsigned base, struct error *err);

/** Makes this process root of the user namespace `user_fd`. Outside that root is an ordinary
 * user. */
bool namespaces_enter_user_range(int user_fd, struct error *err);

/** Gives up all capabilities. With `keep_for_sshd` those stay with which sshd changes users. */
void namespaces_drop_capabilities(bool keep_for_sshd);
