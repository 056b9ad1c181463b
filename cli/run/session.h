#pragma once
/*
 * One `jobflow run`: applies manifests to a data directory, follows their flows and jobs to the
 * end, and stops them when it is interrupted.
 */
#include <stdint.h>

#include "cli/command/command.h"
#include "cli/manifest/environment.h"
#include "cli/manifest/manifests.h"

struct session_options {
    struct flag_list parameters; /* parameters of the flow as NAME=VALUE */
    const char *data_dir;        /* data directory; NULL = nothing is kept (simulation only) */
    const char *namespace;
    const char *output;    /* auto | live | plain | json | quiet */
    const char *runtime;   /* sandbox | host | sim */
    const char *isolation; /* NULL = as each pod asks for */
    const char *scratch_limit;
    const char *network;
    bool hosts_as_addresses;
    const char *durability;     /* strict or relaxed */
    const char *node_resources; /* resources that pods may use; NULL = those of the machine */
    const char *devices;        /* file that describes devices; NULL = none */
    int64_t max_flow_steps;     /* largest number of steps of a flow; 0 = the default */
    int64_t max_pods;           /* how many pods may run at once; 0 = one per CPU */
    int64_t timeout_ms;         /* time limit of the run; 0 = none */
    const char *keep_logs, *keep_logs_total; /* sizes; NULL: the defaults */
    int64_t restart_backoff_ms;
    bool wait_for_resources; /* start jobs that can never run on this machine, too */
    bool logs;
    bool ui;         /* starts the page */
    bool fresh;      /* forget an unfinished run of the same flows */
    bool keep_going; /* failurePolicy: continue for all flows */
    const char *from,
        *only;         /* names of the steps that run again, separated by commas; NULL: none */
    bool only_changed; /* steps whose inputs and results are as they were are left out */
    bool no_cache;     /* nothing is reused */
    bool retry_failed; /* failed flows start again where they failed, succeeded ones are kept */
    struct environment_flags environment; /* variables for the containers of all pods */
    const struct environment *collected;  /* what they are; set by session_run */
    struct flag_list approve;             /* steps that are approved beforehand */
    const struct flow_answers *answers;   /* what that means; set by session_run */
    const char *compat;                   /* design or upstream */
};

/** Lets a signal end the program with EXIT_INTERRUPTED, until the run watches for signals itself:
 * nothing is under way yet that would have to be stopped. Called first, before manifests are read. */
void session_end_early(void);

/** Runs to the end. Returns the program's exit code; all output has been printed. */
int session_run(const struct session_options *options, struct manifests *set);
