#pragma once
/*
 * A path of the host that a pod mounts: a hostPath, or the directory of a claim.
 *
 * Beneath its base, every step goes by descriptor and no link leads out; without one the path is
 * taken as the user sees it (DC-08). What is kept is never shown: neither a path in it nor one that
 * it lies in. Ref: spec/reliability.md SEC-18, SEC-20.
 */
#include "node/wire/message.h"

/** Is it there, and of the type that was asked for? Where the type says so, a missing one is made.
 * Before the pod's first container. */
bool host_path_ready(const struct shim_volume *volume, struct error *err);
/** Its descriptor (O_PATH), or -1. */
int host_path_open(const struct shim_volume *volume, struct error *err);
