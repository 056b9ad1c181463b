#pragma once
/*
 * One constant per subcommand. A new subcommand needs a file in this directory with its constant, a
 * line here and a line in cli/main.c.
 */
#include "cli/command/command.h"

extern const struct command cmd_init;
extern const struct command cmd_run;
extern const struct command cmd_serve;
extern const struct command cmd_token;
extern const struct command cmd_backup;
extern const struct command cmd_apply;
extern const struct command cmd_get;
extern const struct command cmd_delete;
extern const struct command cmd_repair;
extern const struct command cmd_retry;
extern const struct command cmd_suspend;
extern const struct command cmd_resume;
extern const struct command cmd_abort;
extern const struct command cmd_describe;
extern const struct command cmd_logs;
extern const struct command cmd_events;
extern const struct command cmd_wait;
extern const struct command cmd_validate;
extern const struct command cmd_graph;
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

/** Runs the command line of Volcano's vcctl; argv[0] is the program's name. */
int vcctl_main(int argc, char **argv);
