#pragma once
/*
 * Whose a data directory is. A flow in the store of another user would run that user's programs
 * with our rights, so no command uses a directory that another user made or can change.
 */
#include <sys/types.h>

#include "base/error.h"

/**
 * Refuses a data directory that another user could have filled. FORBIDDEN with `err` when
 *
 *   - it is a symbolic link, whose target another user may have chosen,
 *   - it belongs to another user, or its group or others may write to it,
 *   - the directory above lets every user rename entries (world-writable without the sticky bit),
 *   - for root: the directory above belongs to a user other than root and dir_owner_trust_above.
 *
 * A directory that does not exist yet passes when the one above does. Source: git's check of
 * ownership ("dubious ownership"), ssh's StrictModes.
 */
bool dir_owner_check(const char *directory, struct error *err);

/** Names the user besides root that may own the directory above one of root's: the one that called
 * sudo(8). Called once, at the start of the program. */
void dir_owner_trust_above(uid_t uid);
