#pragma once
/*
 * Controller of PersistentVolumeClaims on one machine: binds every claim as soon as it exists, and
 * removes its directory after the claim is deleted. The shim creates the directory when a pod first
 * mounts it. Ref: spec/local-runtime.md 4.4.
 */
#include "api/cluster.h"

struct claims;

/** Starts the controller. `data_dir` is as in struct volume_rules and is borrowed until
 * claims_stop; NULL: nothing on disk is touched. */
struct claims *claims_start(struct cluster *cluster, const char *data_dir);
void claims_stop(struct claims *claims); /* NULL is ignored */
