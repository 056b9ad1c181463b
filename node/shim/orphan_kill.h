#pragma once
/*
 * Processes of pods that outlived their shim, known by their mark (pod_mark.h).
 */
#include <stddef.h>

/** Kill whoever carries the mark of one of the pods, and whom he may have forked meanwhile. Reads
 * all of /proc. */
void orphan_kill(const char *const *uids, size_t count);
