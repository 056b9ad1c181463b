#pragma once
/*
 * Subcommands and their flags as tables.
 *
 * A command is one constant in its own file of cli/cmd and one line in cli/main.c. Help, usage
 * errors, shell completion and the man page are made from the same rows that parse the command
 * line, so they cannot disagree.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"

/* The contract with scripts. */
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
    FLAG_BOOL,     /* bool */
    FLAG_STR,      /* const char * */
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
    const char *name; /* without dashes */
    char letter;      /* 0 = none */
    const char *placeholder;
    const char *help;                                   /* one sentence, lower case, no full stop */
    size_t offset;                                      /* into the command's options struct */
    const char *const *choices;                         /* NULL-terminated */
    int64_t min, max;                                   /* FLAG_INT; both 0 = non-negative */
    bool (*check)(const char *text, struct error *err); /* what else a text must be; NULL: any */
    bool live; /* a command at work takes another value from its settings file */
};

struct command {
    const char *name;
    const char *operands;     /* "FILE…" */
    const char *summary;      /* one line */
    const char *details;      /* paragraphs, or NULL */
    const char *examples;     /* lines of "command   # what it does", or NULL */
    const struct flag *flags; /* ends with {0}; global flags are added */
    size_t options_size;
    const void *defaults;           /* initial value of the options struct, or NULL for zeroes */
    int min_operands, max_operands; /* max -1 = any number */
    const char *operand_kind; /* for completion: "file", "resource", "command", "shell", NULL */
    int (*run)(const void *options, int n_operands, char **operands);
};

/* Every command, in the order of `help`; ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name); /* NULL if unknown */
/** Say that there is no such command, with the nearest one. Returns the exit code. */
int command_unknown(const char *name);

/** Parse and run. `argv[0]` is the command's own name. Returns the exit code; usage errors are
 * printed. */
int command_run(const struct command *command, int argc, char **argv);
/** The options of the running command as they would be if it were started now, its settings file
 * read again. Texts live in `arena`. False with what is wrong with the file. */
bool command_options_again(void *options, struct arena *arena, struct error *err);

void command_help(const struct command *command, FILE *out); /* NULL: the overview */
/** The completion script of bash, zsh or fish. False for any other shell. */
bool command_completion(const char *shell, FILE *out);
void command_reference(FILE *out); /* the API, as Markdown */
/** A manual page as roff: of one command, or jobflow(1) for NULL. */
void command_man_page(const struct command *command, FILE *out);

/** Print "error: …" the one way the program does it, with the field when there is one. */
void cli_error(const struct error *err);
void cli_errorf(const char *format, ...) PRINTF_LIKE(1, 2);
void cli_warnf(const char *format, ...) PRINTF_LIKE(1, 2);

extern const char cli_program[]; /* "jobflow" */
