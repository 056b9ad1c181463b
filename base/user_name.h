#pragma once
/*
 * The name of the user that this process runs as.
 */

/** Returns the name in the user database, or "uid 1000" for a user that is not in it. Owned. Not safe
 * beside other threads that read that database. */
char *user_name(void);
