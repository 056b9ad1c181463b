#pragma once
/*
 * Subcommands and their flags as tables.
 *
 * A command is one constant in its own file below cli/cmd and one line in cli/main.c. The rows that
 * parse the command line also produce help, usage errors, shell completion and the manual page, so
 * they always agree.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/collections/arena.h"
#include "base/error.h"

/* Exit codes, which scripts rely on. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,  /* a flow or job failed; a query found nothing */
    EXIT_REFUSED = 2, /* the input or the command line was refused; nothing was started */
    EXIT_INTERNAL = 3,
    EXIT_TIMED_OUT = 4,
    EXIT_INTERRUPTED = 130,
};

enum flag_type {
    FLAG_END = 0,
    FLAG_BOOL,     /* the member is a bool */
    FLAG_STR,      /* the member is a const char * */
    FLAG_INT,      /* int64_t, within min and max */
    FLAG_DURATION, /* int64_t milliseconds; "90s", "1h30m", bare numbers are seconds */
    FLAG_CHOICE,   /* const char *, one of `choices` */
    FLAG_LIST,     /* struct flag_list; may be given several times */
};

struct flag_list {
    const char *items[64];
    size_t count;
};

struct flag {
    enum flag_type type;
    const char *name; /* name of the flag without dashes */
    char letter;      /* letter of the short form; 0 = none */
    const char *placeholder;
    const char *help;                                   /* one sentence, lower case, no full stop */
    size_t offset;                                      /* into the command's options struct */
    const char *const *choices;                         /* texts that are allowed, ended by NULL */
    int64_t min, max;                                   /* FLAG_INT; both 0 = non-negative */
    bool (*check)(const char *text, struct error *err); /* further check of the text; NULL: none */
    const char *bare; /* FLAG_CHOICE: value of the flag without "=VALUE"; NULL: it needs one */
    bool live;        /* a running command accepts a new value from its settings file */
};

struct command {
    const char *name;
    const char *operands;     /* operands in the help, such as "FILE…" */
    const char *summary;      /* summary in one line */
    const char *details;      /* paragraphs of the help, or NULL */
    const char *examples;     /* lines of "command   # what it does", or NULL */
    const struct flag *flags; /* ends with {0}; global flags are added */
    size_t options_size;
    const void *defaults;           /* initial value of the options struct, or NULL for zeroes */
    int min_operands, max_operands; /* max -1 = any number */
    /* The kind of operands for completion: "file", "resource", "step" (a flow, then one of its
     * steps), "command", "shell", or NULL. */
    const char *operand_kind;
    int (*run)(const void *options, int n_operands, char **operands);
};

/* Every command, in the order of `help`; ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name); /* returns NULL for an unknown name */
/** Returns the command that an unknown word probably means, as it is typed; NULL: none.
 * The command has nearly the same letters, or does what other programs call by that word. */
const char *command_suggested(const char *name);
/** Reports an unknown command and suggests the nearest one. Returns the exit code. */
int command_unknown(const char *name);

/** Parses the arguments, prints usage errors, and runs the command. `argv[0]` is the command's own
 * name. Returns the exit code. */
int command_run(const struct command *command, int argc, char **argv);
/** Returns whether "--" stands right before the operands of the running command, so that they are
 * a program with its arguments. */
bool command_follows_dashes(char **operands);
/** Fills `options` as if the running command were started now, reading its settings file again.
 * Texts live in `arena`. Returns false with `err` set when the file has an error. */
bool command_options_again(void *options, struct arena *arena, struct error *err);

/** Prints the help of a command; NULL: the overview of all commands. */
void command_help(const struct command *command, FILE *out);
/** Prints the completion script for bash, zsh or fish. Returns false for any other shell. */
bool command_completion(const char *shell, FILE *out);
void command_reference(FILE *out); /* prints the API reference as Markdown */
/** Prints a manual page as roff: of one command, or jobflow(1) for NULL. */
void command_man_page(const struct command *command, FILE *out);

/** Prints "error: …" in the program's common format, with the field when there is one. */
void cli_error(const struct error *err);
void cli_errorf(const char *format, ...) PRINTF_LIKE(1, 2);
void cli_warnf(const char *format, ...) PRINTF_LIKE(1, 2);

extern const char cli_program[]; /* name of the program, "jobflow" */
