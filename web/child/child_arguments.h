#pragma once
/*
 * The command line of a child: the command with its operands, then the flags of the server that
 * this process asks, so that the child asks the same server as the same user.
 */
#include "web/child/child.h"

enum { CHILD_TOKEN_FD = 3 }; /* descriptor from which a child reads the token of its queue */

/** Returns "jobflow", the texts up to NULL, and a flag for each member of the queue's endpoint that
 * is set; ended by NULL. Owned: child_arguments_free. */
char **child_arguments(char *const *texts, const struct child_queue *queue);
/** NULL is fine. */
void child_arguments_free(char **arguments);
