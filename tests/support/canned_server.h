#pragma once
/*
 * Somebody who listens on a loopback port and answers whatever comes with one fixed text, or never.
 */
#include "base/loop.h"

struct canned_server;

/** Listens on a free port of 127.0.0.1. `answer` NULL: takes connections and says nothing; it is
 * sent after the first bytes came. */
struct canned_server *canned_server_new(struct loop *loop, const char *answer);
/** Closes everything at once; memory goes with the loop's next pass. */
void canned_server_free(struct canned_server *peer);
int canned_server_port(const struct canned_server *peer);
void canned_server_set_answer(struct canned_server *peer, const char *answer); /* from now on */
/** What may have zeroes in it, and only when `after` has come. */
void canned_server_set_answer_bytes(struct canned_server *peer, const void *bytes, size_t len,
                                    const char *after);
void canned_server_keep_open(struct canned_server *peer); /* after the answer; default: close */
const char *
canned_server_received(const struct canned_server *peer);        /* all bytes of all connections */
int canned_server_connections(const struct canned_server *peer); /* taken so far */
