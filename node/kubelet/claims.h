#pragma once
/*
 * PersistentVolumeClaims of one machine: every claim is bound as soon as it exists, its directory
 * is made when a pod first mounts it and removed with the claim. Ref: spec/local-runtime.md 4.4.
 */
#include "api/cluster.h"

struct claims;

/** `data_dir` as in volume_rules; NULL keeps off the disk. Borrowed for the life. */
struct claims *claims_start(struct cluster *cluster, const char *data_dir);
void claims_stop(struct claims *claims); /* NULL is fine */
