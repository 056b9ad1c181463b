#pragma once
/*
 * What the reuse of steps needs to know of this machine: where relative paths begin, which paths
 * pods may see, and the key of the digests of Secrets. Ref: spec/everyday.md 4.
 */
#include "cli/engine/engine.h"
#include "flow/controller.h"
#include "node/machine/host_paths.h"

struct reuse_machine;

/** `directory`: where relative paths begin, absolute, or NULL. `data_dir`: where the key is kept;
 * NULL: nowhere. Owned. */
struct reuse_machine *reuse_machine_new(const char *directory, const char *data_dir,
                                        const struct host_paths *paths);
/** As reuse_machine_new, for a forecast: pods see everything, no file is written. */
struct reuse_machine *reuse_machine_forecast(const char *directory,
                                             const struct reuse_forecast_options *forecast);
/** Sets a text, borrowed, that counts as part of the work of every step; or NULL. */
void reuse_machine_set_environment(struct reuse_machine *machine, const char *environment);
void reuse_machine_free(struct reuse_machine *machine); /* NULL is ignored */
/** Returns the options of the flow controller, borrowed from the machine. */
const struct flow_reuse_options *reuse_machine_options(const struct reuse_machine *machine);
