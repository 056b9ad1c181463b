#pragma once
/*
 * A run from inside: session.c is its way from the manifests to the exit code, session_end.c the
 * ways out before that.
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
    struct engine *engine; /* NULL: the run is in a daemon, at the other end of `client` */
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
    uint64_t changes, seen_changes; /* changes told of; at the last look */
    uint32_t quiet_turns;           /* since then */
    struct turn_hook flush;
    int interrupts;
    unsigned leaving_checks; /* since all is over but for pods that are on their way out */
    bool pods_gone;          /* they are gone, and what follows from that is being stored */
    bool storing;            /* after one, with nothing left alive: what was decided */
    int disk_full_checks;    /* after one, in a row, at a full disk */
    bool plain_isolation_noted;
    bool store_existed; /* the data directory was there before */
    const char *ended;  /* "interrupted", "timed out"; NULL = in its own time */
    int exit_code;      /* -1 while running */
};

static inline bool session_simulated(const struct session_options *options)
{
    return strcmp(options->runtime, "sim") == 0;
}

/** The run is over with this code; its loop stops. */
void session_finish(struct session *session, int exit_code);
/** The exit code of what has come to its end. */
int session_outcome(const struct session *session);
void session_note(struct session *session, const char *text);

/* session_end.c */
/** Whether pods are still on their way out; the session is settled again when they may be gone. */
bool session_end_waits(struct session *session);
/** From now on signals, the timeout, a reader that went away and a simulation that cannot go on end
 * the run. */
void session_end_watch(struct session *session);
void session_end_rest(struct session *session);
