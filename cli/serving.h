#pragma once
/*
 * The API of an engine on the socket of its data directory, so that other commands can look at a
 * run and change it while it is at work.
 */
#include "cli/engine.h"

#define SERVING_SOCKET "api.sock" /* in the data directory */

struct serving;

/** Serve `engine` (borrowed; with a node) on `<data_dir>/api.sock`. */
struct serving *serving_start(struct engine *engine, const char *data_dir, struct error *err);
/** End every answer, close the connections, remove the socket. NULL is fine. */
void serving_stop(struct serving *serving);
