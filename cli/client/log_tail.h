#pragma once
/*
 * Prints the logs of several containers to standard output. Each line may be prefixed with its
 * container's name. A few logs are read at once; the rest follow in the order in which they were
 * added.
 */
#include "base/term.h"
#include "cli/client/client.h"

struct logtail_options {
    bool follow, timestamps;
    int64_t tail;        /* lines; -1 = all */
    int64_t since_s;     /* only lines of the last seconds; 0 = all */
    int64_t limit_bytes; /* per container; 0 = no limit */
    bool prefix;         /* each line begins with [POD/CONTAINER] */
    size_t at_once;      /* logs read concurrently; 1 prints them one after another */
};

struct logtail;

/** Returns an owned log tail that prints to standard output and borrows the client. */
struct logtail *logtail_new(struct client *client, const struct logtail_options *options);
void logtail_free(struct logtail *tail); /* call after client_run; NULL is fine */

/* The log of one container; all texts are borrowed for the call. */
struct logtail_source {
    const char *ns, *pod, *uid; /* namespace, name and uid of the pod */
    const char *kept;           /* name of the PodLog; NULL: the pod exists */
    const char *container;
    int64_t run;   /* restarts of the container */
    bool previous; /* the log of the run before that, or of the pod before this one */
};

/** Adds a container's log, unless this run of the container was added before. When the pod turns
 * out to be gone its kept log is read. */
void logtail_add(struct logtail *tail, const struct logtail_source *source);
/** Continues with another client after the answering process has exited: reads logs that were cut
 * off, and logs added from now on, from `client`. */
void logtail_go_on(struct logtail *tail, struct client *client);
/** Returns true when no log is being read or waits to be read: each is complete or was cut off. */
bool logtail_is_idle(const struct logtail *tail);
/** Returns true when the answering process exited before every log was complete. */
bool logtail_is_cut(const struct logtail *tail);
bool logtail_failed(const struct logtail *tail); /* true when an error was printed */
