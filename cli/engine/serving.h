#pragma once
/*
 * The API of an engine on the socket of its data directory, so that other commands can look at a
 * run and change it while it is at work.
 */
#include "api/server/http/listener.h"
#include "cli/engine/engine.h"

#define SERVING_SOCKET "api.sock" /* in the data directory */

struct serving;

/** How every API of the program converts. */
extern const struct api_conversions serving_conversions;

/** The API of `engine` (borrowed; with a node), on no socket yet. `options` NULL: for the user of
 * this process alone. */
struct serving *serving_new(struct engine *engine, const struct listener_options *options);
struct api *serving_api(struct serving *serving);
struct listener *serving_listener(struct serving *serving);

/** The same on `<data_dir>/api.sock`. */
struct serving *serving_start(struct engine *engine, const char *data_dir, struct error *err);
/** End every answer, close the connections, remove the socket. NULL is fine. */
void serving_stop(struct serving *serving);
