#pragma once
/*
 * The state of a run, shared by session.c, which leads from the manifests to the exit code,
 * session_open.c, which opens the data directory, and session_end.c, which ends a run early (signal,
 * timeout, stalled simulation) or waits for its last pods.
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
    struct edits *edits; /* manifests beside what is stored; NULL: nothing runs again in part */
    struct backend *backend;
    struct engine *engine; /* engine of this process; NULL: the run happens in the daemon behind
                            * `client` */
    struct client *client;
    struct serving *serving;
    struct page *page; /* of --ui; NULL: none */
    struct flow_tracker *tracker;
    struct pod_logs *logs;
    const struct output_ops *output;
    void *output_state;
    struct output_context context;
    uv_signal_t signals[3];
    struct timer timeout, abort_poll, failed_check, waiting_check, leaving_check;
    struct task durable, output_closed, idle;
    uint64_t changes, seen_changes; /* events so far; at the last check */
    uint32_t quiet_turns;           /* turns since the last event */
    struct turn_hook flush;
    int interrupts;
    unsigned leaving_checks; /* checks since only deleted pods are left */
    bool pods_gone;          /* the pods have ended; the consequences are being stored */
    bool storing;            /* aborted, no pod is alive, the decisions are being stored */
    int stop_tries;          /* aborted: consecutive times that the daemon refused to stop a flow */
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

/* What opening a data directory led to: an engine in this process, a client of a daemon, or a refusal
 * that was printed. */
enum session_opened { OPENED_HERE, OPENED_CLIENT, OPENED_REFUSED, OPENED_FAILED };
/** Opens an engine in this process, or a client of the daemon that has the data directory. A process
 * that has it and answers no client yet, or is just ending, is waited for. OPENED_FAILED with `err`
 * set. */
enum session_opened session_open(struct session *session, struct error *err);
/** Says why the data directory could not be opened. Returns the exit code. */
int session_say_failed(const struct error *err);

/** Ends the run with this exit code; its loop stops. */
void session_finish(struct session *session, int exit_code);
/** Returns the exit code for the results of the finished flows. */
int session_outcome(const struct session *session);
void session_note(struct session *session, const char *text);

/** Returns whether deleted pods are still ending; the session is checked again when they may be
 * gone. */
bool session_end_waits(struct session *session);
/** Begins to watch for the reasons to end early: signals, the timeout, a closed output, a
 * simulation that can never go on. */
void session_end_watch(struct session *session);
void session_end_rest(struct session *session);
