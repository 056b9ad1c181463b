#pragma once
/*
 * The state of a run, shared by session.c, which leads from the manifests to the exit code, and
 * session_end.c, which ends a run early (signal, timeout, stalled simulation) or waits for its last
 * pods.
 */
#include <string.h>
#include <uv.h>

#include "cli/client/client.h"
#include "cli/engine/serving.h"
#include "cli/run/backend.h"
#include "cli/run/output.h"
#include "cli/run/pod_logs.h"
#include "cli/run/session.h"

struct session {
    const struct session_options *options;
    struct manifests *set;
    struct backend *backend;
    struct engine *engine; /* engine of this process; NULL: the run happens in the daemon behind
                            * `client` */
    struct client *client;
    struct serving *serving;
    struct flow_tracker *tracker;
    struct pod_logs *logs;
    const struct output_ops *output;
    void *output_state;
    struct output_context context;
    uv_signal_t signals[3];
    struct timer timeout, abort_poll, failed_check, leaving_check;
    struct task durable, output_closed, idle;
    uint64_t changes, seen_changes; /* events so far; at the last check */
    uint32_t quiet_turns;           /* turns since the last event */
    struct turn_hook flush;
    int interrupts;
    unsigned leaving_checks; /* checks since only deleted pods are left */
    bool pods_gone;          /* the pods have ended; the consequences are being stored */
    bool storing;            /* aborted, no pod is alive, the decisions are being stored */
    int disk_full_checks;    /* aborted: consecutive checks that found the disk full */
    bool plain_isolation_noted;
    bool store_existed; /* the data directory held a store before the run */
    const char *ended;  /* "interrupted" or "timed out"; NULL: the run came to its own end */
    int exit_code;      /* exit code of the command; -1 while running */
};

static inline bool session_simulated(const struct session_options *options)
{
    return strcmp(options->runtime, "sim") == 0;
}

/** End the run with this exit code; its loop stops. */
void session_finish(struct session *session, int exit_code);
/** The exit code for the results of the finished flows. */
int session_outcome(const struct session *session);
void session_note(struct session *session, const char *text);

/** Returns whether deleted pods are still ending; the session is checked again when they may be
 * gone. */
bool session_end_waits(struct session *session);
/** Begin to watch for the reasons to end early: signals, the timeout, a closed output, a simulation
 * that can never go on. */
void session_end_watch(struct session *session);
void session_end_rest(struct session *session);
