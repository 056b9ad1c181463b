#pragma once
/*
 * One constant per subcommand. A new subcommand needs a file with its constant in a folder beside
 * this header, a line here and a line in cli/main.c.
 */
#include "cli/command/command.h"

extern const struct command cmd_init;
extern const struct command cmd_run;
extern const struct command cmd_serve;
extern const struct command cmd_controller;
extern const struct command cmd_manifests;
extern const struct command cmd_token;
extern const struct command cmd_backup;
extern const struct command cmd_apply;
extern const struct command cmd_get;
extern const struct command cmd_delete;
extern const struct command cmd_repair;
extern const struct command cmd_retry;
extern const struct command cmd_rerun;
extern const struct command cmd_trigger;
extern const struct command cmd_backfill;
extern const struct command cmd_approve;
extern const struct command cmd_reject;
extern const struct command cmd_cache;
extern const struct command cmd_submit;
extern const struct command cmd_cancel;
extern const struct command cmd_reprioritize;
extern const struct command cmd_history;
extern const struct command cmd_suspend;
extern const struct command cmd_resume;
extern const struct command cmd_abort;
extern const struct command cmd_describe;
extern const struct command cmd_logs;
extern const struct command cmd_events;
extern const struct command cmd_wait;
extern const struct command cmd_validate;
extern const struct command cmd_graph;
extern const struct command cmd_report;
extern const struct command cmd_ui;
extern const struct command cmd_convert;
extern const struct command cmd_schema;
extern const struct command cmd_plan;
extern const struct command cmd_doctor;
extern const struct command cmd_test;
extern const struct command cmd_explain;
extern const struct command cmd_vcctl;
extern const struct command cmd_version;
extern const struct command cmd_help;
extern const struct command cmd_completion;

struct client_endpoint;

/** Waits until the objects, operands as those of `wait`, have ended. Returns the exit code. */
int wait_for_the_end(const struct client_endpoint *endpoint, const char *namespace, int n_operands,
                     char **operands);

struct resource;

/**
 * Waits until the Command has been carried out, and then until the object that it makes has ended.
 * `timeout_ms` -1: without limit. Returns the exit code of `wait`, or -1 when the Command is gone and
 * made no such object.
 */
int wait_for_made(const struct client_endpoint *endpoint, const char *namespace,
                  const char *command, const struct resource *made, int64_t timeout_ms);

/** Runs the command line of Volcano's vcctl; argv[0] is the program's name. */
int vcctl_main(int argc, char **argv);
