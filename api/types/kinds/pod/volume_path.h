#pragma once
/*
 * Rules of the paths in volumes and mounts, for admission and for the node that mounts them.
 * Ref: spec/reliability.md SEC-19.
 */
#include <stdbool.h>

/** Returns whether a path stays below its starting point: it is relative and no component is
 * "..". */
bool path_descends(const char *path);

/** Describes the problem of a mount path; NULL when it is valid. The text is static. */
const char *mount_path_problem(const char *path);
