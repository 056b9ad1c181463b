#pragma once
/*
 * Somebody who listens on a loopback port and answers whatever comes with one fixed text, or never.
 */
#include "base/loop.h"

struct peer;

/** Listens on a free port of 127.0.0.1. `answer` NULL: takes connections and says nothing; it is
 * sent after the first bytes came. */
struct peer *peer_new(struct loop *loop, const char *answer);
/** Closes everything at once; memory goes with the loop's next pass. */
void peer_free(struct peer *peer);
int peer_port(const struct peer *peer);
void peer_answer(struct peer *peer, const char *answer); /* from now on */
/** What may have zeroes in it, and only when `after` has come. */
void peer_answer_bytes(struct peer *peer, const void *bytes, size_t len, const char *after);
void peer_keep_open(struct peer *peer);             /* after the answer; default: close */
const char *peer_received(const struct peer *peer); /* all bytes of all connections */
int peer_connections(const struct peer *peer);      /* taken so far */
