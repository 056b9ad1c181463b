#pragma once
/*
 * Runs one `jobflow serve`: the engine of a data directory and its API, until a signal stops it.
 */
#include "cli/command/command.h"
#include "cli/daemon/page.h"

struct daemon_options {
    const char *data_dir;             /* NULL = $XDG_STATE_HOME/jobflow, or …/jobflow-sim */
    struct flag_list listen;          /* addresses of TCP listeners: ADDRESS:PORT, or "none" */
    struct flag_list tls_names;       /* further names of the server */
    struct flag_list allow_host_path; /* host paths that pods may mount: PREFIX[:rw] (SEC-20) */
    const char *empty_dir_limit;      /* size limit of an emptyDir: a quantity, or "none" */
    const char *scratch_limit;        /* size limit of private directories: a quantity, or "none" */
    const char *runtime;              /* runtime of pods: sandbox or sim */
    int64_t sim_speed;                /* speed of simulated time; 0: not given */
    const char *keep_logs, *keep_logs_total; /* sizes; NULL: the defaults */
    const char *isolation, *network, *durability;
    const char *deletion_protection, *updates; /* settings of flows (DC-02) */
    const char *compat;                        /* compatibility: design or upstream */
    const char *controllers;                   /* controllers that run: cli/engine/controllers.h */
    const char *log_format;
    const char *ui;                       /* whether the page is served: on or off */
    const char *config;                   /* settings file, already read */
    int64_t max_connections, max_watches; /* limits of connections and watches; 0: the defaults */
    int64_t max_flow_steps;               /* largest number of steps of a flow; 0: the default */
    int64_t max_submission_items;         /* items of one submission; 0: the default */
    int64_t submission_retention_ms;      /* how long deduplication ids are remembered */
    int64_t max_pods;
    const char *node_resources; /* resources that pods may use; NULL = all of the machine */
    const char *devices;        /* file that describes devices; NULL = none */
    int64_t restart_backoff_ms;
    const char *backup_dir; /* directory for regular backups; NULL: no backups */
    int64_t backup_every_ms, backup_keep;
    bool trust_editors;           /* pods are not confined, whatever user wrote them (DC-27) */
    bool allow_key_arguments;     /* private keys in arguments of plugins are accepted (SEC-29) */
    bool strict_plugin_arguments; /* unknown arguments of job plugins are errors (O-P04) */
    bool gc_aborted;              /* aborted jobs count as finished for their time to live (O-62) */
    bool serve_damaged;           /* serve a damaged store for reading; nothing runs */
    bool verbose;
    bool hosts_as_addresses; /* always pass peer addresses instead of host names to pods */
};

/** Serves until SIGTERM or SIGINT and returns the program's exit code. `flags` describe the options
 * and are used when settings are reloaded. `page` is what is served below /ui/. */
int daemon_run(const struct daemon_options *options, const struct flag *flags,
               const struct daemon_page_ops *page);
