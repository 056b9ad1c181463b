#pragma once
/*
 * A server on a loopback port that sends one fixed answer to every connection, or never answers.
 */
#include "base/loop/loop.h"

struct canned_server;

/** Listens on a free port of 127.0.0.1. The answer is sent after the first bytes of a connection;
 * with `answer` NULL connections are accepted and get none. */
struct canned_server *canned_server_new(struct loop *loop, const char *answer);
/** Closes every connection at once; the memory is freed in the loop's next turn. */
void canned_server_free(struct canned_server *server);
int canned_server_port(const struct canned_server *server);
/** Sets the answer for further connections. */
void canned_server_set_answer(struct canned_server *server, const char *answer);
/** Sets an answer that may contain NULs; it is sent once `after` has been received. */
void canned_server_set_answer_bytes(struct canned_server *server, const void *bytes, size_t len,
                                    const char *after);
/** Keeps connections open after the answer; the default is to close them. */
void canned_server_keep_open(struct canned_server *server);
/** Returns all bytes received on all connections. */
const char *canned_server_received(const struct canned_server *server);
/** Returns the number of connections accepted. */
int canned_server_connections(const struct canned_server *server);
