#pragma once
/*
 * Prints the logs of many pods: of those that exist and of those that are gone, in order of time;
 * and follows pods as they start.
 */
#include "api/types/kind.h"
#include "cli/client/log_jobs.h"
#include "cli/client/log_select.h"
#include "cli/client/log_tail.h"

struct log_request {
    /* Where the logs are when the process that answers has exited. */
    const struct client_endpoint *endpoint;
    const char *ns;
    const char *labels;          /* label selector of the pods; NULL: any */
    const struct log_jobs *jobs; /* show only pods of these jobs; NULL: any */
    const char *pod;             /* show only pods of this name; NULL: any */
    const char *container;       /* container whose logs are shown; NULL: every one */
    bool first_container;        /* show only the first container that is no init container */
    int64_t attempt;             /* attempt whose logs are shown; 0: the newest that has run */
    bool previous;
    const struct kind *until; /* following ends with this object; NULL: when its logs end */
    const char *until_name;
    bool ended; /* the pod has ended already */
};

struct log_found {
    size_t pods;         /* pods and kept logs that were asked for */
    size_t logs;         /* number of logs of their containers that have run */
    int64_t attempts[8]; /* the first that have logs, in order */
    size_t n_attempts;
};

/** Prints to the end of what there is, or with `tail.follow` until all has ended. `*client` may be
 * replaced by another one when the answering process exits. False with an error that is not
 * printed yet. */
bool log_show(struct client **client, const struct log_request *request,
              const struct logtail_options *tail, struct log_found *out, bool *out_failed,
              struct error *err);
