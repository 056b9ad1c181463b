#pragma once
/*
 * Lives of a node that end with its process, or with its shared shim's; each data directory has one
 * shim at a time.
 */
#include <sys/types.h>

#include "tests/support/pods.h"
#include "tests/unit.h"

enum { LIMIT_MS = 60000, POLL_MS = 10 };

/** A new data directory; owned. */
char *life_directory(const char *name);
/** A life of the node in a process of its own, which is killed when `act` has returned. */
void life(const char *dir, void (*act)(struct bed *bed));
/** The test leaves no process behind: shims whose pods are done end with their last node. */
void life_finish(struct bed *bed, const char *dir);

void life_start(struct bed *bed, const char *uid, const char *script);
void life_start_long(struct bed *bed); /* the pod "long", which runs when this returns */
void life_release(struct bed *bed, const char *uid);
/** Its last report says that its supervisor was lost. Releases it. */
void life_check_lost(struct bed *bed, const char *uid);

pid_t life_shim(const char *dir);
void life_shims_leave(const char *dir); /* returns when they have */
void life_wait_for_end(long pid);
void life_kill_shim(const char *dir); /* returns when it is dead */
