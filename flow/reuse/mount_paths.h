#pragma once
/*
 * What a path in a job means on this machine. A path below a mount of the job's first container is
 * that of the volume; any other is a path of the machine. Ref: spec/everyday.md 4.1.
 */
#include <jansson.h>

#include "base/collections/arena.h"

/** Returns the absolute path of the machine that an absolute path or pattern of the job stands for;
 * from `arena` or borrowed from `path`. NULL with the reason in `out_problem` if it stands for none. */
const char *reuse_mount_path(const json_t *job_spec, const char *path, struct arena *arena,
                             const char **out_problem);
