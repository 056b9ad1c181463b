#pragma once
/*
 * The logs of several containers on one output: each line behind the name of its container, a few
 * read at once, the others in the order in which they were added.
 */
#include "base/term.h"
#include "cli/client/client.h"

struct logtail_options {
    bool follow, timestamps, previous;
    int64_t tail;        /* lines; -1 = all */
    int64_t since_s;     /* 0 = all */
    int64_t limit_bytes; /* of each; 0 = all */
    bool prefix;         /* [POD/CONTAINER] before each line */
    size_t at_once;      /* read concurrently; 1 keeps them apart */
};

struct logtail;

/** Output goes to standard output. Borrows the client. */
struct logtail *logtail_new(struct client *client, const struct logtail_options *options);
void logtail_free(struct logtail *tail); /* after client_run; NULL is fine */

/** Add a container's log, unless this run of it was added before. */
void logtail_add(struct logtail *tail, const char *ns, const char *pod, const char *uid,
                 const char *container, int64_t run);
/** The process that answered has gone: what was cut off, and what comes from now on, is read from
 * `client`. */
void logtail_go_on(struct logtail *tail, struct client *client);
/** None is being read any more, nor will be: all is read, or what is left was cut off. */
bool logtail_is_idle(const struct logtail *tail);
/** The process that answered has gone before all was read. */
bool logtail_is_cut(const struct logtail *tail);
bool logtail_failed(const struct logtail *tail); /* an error was printed */
