#pragma once
/*
 * Serves the API of an engine on the socket of its data directory, so that other commands can
 * inspect and change a run in progress.
 */
#include "api/server/http/listener.h"
#include "cli/engine/engine.h"

#define SERVING_SOCKET "api.sock" /* path in the data directory */

struct serving;

/** The version conversions of every API server in the program. */
extern const struct api_conversions serving_conversions;

/** Returns the API of `engine` (borrowed; must have a node), not yet on a socket. `options` NULL:
 * only the user of this process has access. */
struct serving *serving_new(struct engine *engine, const struct listener_options *options);
struct api *serving_api(struct serving *serving);
struct listener *serving_listener(struct serving *serving);

/** Creates the API and serves it on `<data_dir>/api.sock`. Returns NULL with `err` set on failure.
 */
struct serving *serving_start(struct engine *engine, const char *data_dir, struct error *err);
/** Ends every answer, closes the connections and removes the socket. NULL is fine. */
void serving_stop(struct serving *serving);
