/*
 * Parses command lines, reports usage errors and prints help, all from the tables of flags.
 */
#include "cli/command/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "api/types/text/suggest.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command/flag_values.h"
#include "cli/command/settings.h"

const char cli_program[] = "jobflow";

enum { FLAGS_MAX = 48, HELP_COLUMN = 30 };

void cli_errorf(const char *format, ...)
{
    va_list args;

    fputs("error: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_warnf(const char *format, ...)
{
    va_list args;

    fputs("warning: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_error(const struct error *err)
{
    if (err->field[0])
        cli_errorf("%s: %s", err->field, err->message);
    else
        cli_errorf("%s", err->message);
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Words that other programs have for what a command here does. */
static const struct {
    const char *word, *command;
} other_words[] = {
    /* clang-format off */
    {"list", "get"},        {"ls", "get"},         {"ps", "get pods"},   {"status", "describe"},
    {"show", "describe"},   {"info", "describe"},  {"inspect", "describe"}, {"top", "describe node"},
    {"stop", "abort"},      {"kill", "abort"},     {"terminate", "abort"},
    {"pause", "suspend"},   {"hold", "suspend"},   {"continue", "resume"}, {"unsuspend", "resume"},
    {"rerun", "retry"},     {"restart", "retry"},  {"start", "run"},     {"exec", "run"},
    {"create", "apply"},   {"rm", "delete"},     {"remove", "delete"},
    {"lint", "validate"},   {"check", "validate"}, {"verify", "validate"}, {"diff", "plan"},
    {"dry-run", "plan"},    {"dag", "graph"},      {"tree", "graph"},    {"draw", "graph"},
    {"why", "explain"},     {"tail", "logs"},      {"output", "logs"},   {"watch", "get --watch"},
    {"daemon", "serve"},    {"server", "serve"},   {"man", "help man"},
    /* clang-format on */
};

const char *command_suggested(const char *name)
{
    struct suggest near = {0};

    for (size_t i = 0; i < countof(other_words); i++)
        if (strcasecmp(other_words[i].word, name) == 0)
            return other_words[i].command;
    for (size_t i = 0; commands[i]; i++)
        suggest_offer(&near, name, commands[i]->name);
    return near.word;
}

int command_unknown(const char *name)
{
    const char *near = command_suggested(name);

    cli_errorf("no command \"%s\"%s%s%s", name, near ? "; did you mean \"" : "", near ? near : "",
               near ? "\"?" : "");
    fprintf(stderr, "See '%s help'.\n", cli_program);
    return EXIT_REFUSED;
}

static bool takes_value(const struct flag *flag)
{
    return flag->type != FLAG_BOOL;
}

static bool needs_value(const struct flag *flag)
{
    return takes_value(flag) && !flag->bare;
}

static int usage_hint(const struct command *command)
{
    fprintf(stderr, "See '%s %s --help'.\n", cli_program, command->name);
    return EXIT_REFUSED;
}

/* A command's flags in the form that getopt_long needs. */
struct getopt_table {
    struct option longs[FLAGS_MAX + 2];
    char shorts[2 * FLAGS_MAX + 4];
    size_t n_flags;
};

static void make_table(const struct command *command, struct getopt_table *out)
{
    size_t n_flags = 0, n_short = 2;

    *out = (struct getopt_table){.shorts = ":h"};
    for (; command->flags && command->flags[n_flags].type != FLAG_END; n_flags++) {
        const struct flag *flag = &command->flags[n_flags];

        out->longs[n_flags] = (struct option){
            flag->name, needs_value(flag) ? required_argument : optional_argument, NULL, 0};
        if (flag->letter) {
            out->shorts[n_short++] = flag->letter;
            if (takes_value(flag))
                out->shorts[n_short++] = ':';
        }
    }
    out->longs[n_flags] = (struct option){"help", no_argument, NULL, 'h'};
    out->n_flags = n_flags;
}

/* Clears a list flag on its first use: values on the command line replace previous ones. */
static void begin_list(const struct flag *flag, bool *begun, char *options)
{
    if (flag->type == FLAG_LIST && !*begun)
        ((struct flag_list *)(void *)(options + flag->offset))->count = 0;
    *begun = true;
}

/* Reports an invalid flag; `word` is the flag as typed. */
static void report_bad_flag(const struct command *command, const char *word, bool lacks_value)
{
    scoped_str name = mem_printf("%.*s", (int)strcspn(word, "="), word);
    struct suggest near = {0};

    if (lacks_value) {
        cli_errorf("%s: needs a value", word);
        return;
    }
    for (const struct flag *flag = command->flags; flag && flag->type != FLAG_END; flag++)
        if (strncmp(name, "--", 2) == 0)
            suggest_offer(&near, name + 2, flag->name);
    cli_errorf("%s: no such flag%s%s%s", name, near.word ? "; did you mean \"--" : "",
               near.word ? near.word : "", near.word ? "\"?" : "");
}

/* Returns -1 when all flags have been stored, otherwise the exit code. */
static int parse_flags(const struct command *command, const struct getopt_table *table, int argc,
                       char **argv, char *options)
{
    bool begun[FLAGS_MAX] = {0};
    struct error err = {0};

    optind = 1;
    for (;;) {
        int index = -1, letter = getopt_long(argc, argv, table->shorts, table->longs, &index);
        const struct flag *flag = NULL;

        if (letter == -1)
            return -1;
        if (letter == 'h' && (index == -1 || (size_t)index == table->n_flags)) {
            command_help(command, stdout);
            return EXIT_OK;
        }
        if (letter == '?' || letter == ':') {
            report_bad_flag(command, argv[optind - 1], letter == ':');
            return usage_hint(command);
        }
        for (size_t i = 0; i < table->n_flags && !flag; i++)
            if (index >= 0 ? (size_t)index == i : command->flags[i].letter == letter)
                flag = &command->flags[i];
        if (!flag)
            return usage_hint(command);
        begin_list(flag, &begun[flag - command->flags], options);
        if (!flag_store(flag, optarg ? optarg : flag->bare, options, &err)) {
            if (index < 0) /* the flag was typed by its letter */
                cli_errorf("-%c: %s", flag->letter, err.message);
            else
                cli_errorf("--%s: %s", flag->name, err.message);
            return usage_hint(command);
        }
    }
}

static void set_defaults(const struct command *command, char *options)
{
    if (command->defaults)
        memcpy(options, command->defaults, command->options_size);
    else
        memset(options, 0, command->options_size);
}

/* Returns the file that --config names, or NULL. Only some commands have this flag. */
static const char *config_file(const struct command *command, const char *options)
{
    const struct flag *flag = flag_named(command->flags, "config");

    return flag ? *(const char *const *)(const void *)(options + flag->offset) : NULL;
}

/* The running command and its arguments. */
static struct command_line {
    const struct command *command;
    int argc;
    char **argv;
} line;

/* Sets options from the defaults, then the settings file, then the command line. Errors of the file
 * are returned in `err`; errors of the command line are printed. */
static int parse_all(char *options, struct arena *arena, struct error *err)
{
    const struct command *command = line.command;
    struct getopt_table table;
    const char *file;
    int code;

    make_table(command, &table);
    set_defaults(command, options);
    code = parse_flags(command, &table, line.argc, line.argv, options);
    file = config_file(command, options);
    if (code != -1 || !file)
        return code;
    set_defaults(command, options);
    if (!settings_load(file, command->flags, options, arena, err))
        return EXIT_REFUSED;
    return parse_flags(command, &table, line.argc, line.argv, options);
}

bool command_options_again(void *options, struct arena *arena, struct error *err)
{
    return parse_all(options, arena, err) == -1;
}

bool command_follows_dashes(char **operands)
{
    return strcmp(operands[-1], "--") == 0;
}

int command_run(const struct command *command, int argc, char **argv)
{
    scoped(arena) struct arena *arena = arena_new(0);
    char *options = mem_alloc(command->options_size ? command->options_size : 1);
    struct error err = {0};
    int code, n;

    line = (struct command_line){command, argc, argv};
    code = parse_all(options, arena, &err);
    n = argc - optind;
    if (err.code != ERR_NONE)
        cli_error(&err);
    if (code == -1 && n < command->min_operands) {
        cli_errorf("%s needs %s", command->name, command->operands);
        code = usage_hint(command);
    } else if (code == -1 && command->max_operands >= 0 && n > command->max_operands) {
        cli_errorf("%s: unexpected \"%s\"", command->name, argv[optind + command->max_operands]);
        code = usage_hint(command);
    }
    if (code == -1)
        code = command->run(options, n, argv + optind);
    mem_free(options);
    return code;
}

/* Returns the width of help texts: that of the terminal, limited to a readable width. */
static int help_columns(FILE *out)
{
    enum { NARROW = 60, WIDE = 100 };
    struct term term;

    term_look(&term, out);
    if (!term.is_tty || term.columns > WIDE)
        return WIDE;
    return term.columns < NARROW ? NARROW : term.columns;
}

/* Prints words from column `at` on, with further lines indented by `indent`. A single line break in
 * the text counts as a space; an empty line starts a paragraph. */
static void print_wrapped(const char *text, int at, int indent, FILE *out)
{
    int columns = help_columns(out);
    bool first = true;

    while (*text) {
        size_t len = strcspn(text, " \n");
        char word[256];
        int width;

        snprintf(word, sizeof word, "%.*s", (int)len, text);
        width = term_text_width(word);
        if (!first && at + 1 + width > columns) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        at += fprintf(out, "%s%s", first ? "" : " ", word) - (int)strlen(word) + width;
        first = false;
        text += len;
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", indent, "");
            at = indent;
            first = true;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

static void print_flag(const struct flag *flag, FILE *out)
{
    int width = fprintf(out, flag->letter ? "  -%c, " : "      ", flag->letter);
    scoped(buf) struct buf help = {0};

    width += fprintf(out, "--%s", flag->name);
    if (takes_value(flag))
        width += fprintf(out, flag->bare ? "[=%s]" : " %s",
                         flag->placeholder ? flag->placeholder : "VALUE");
    if (width >= HELP_COLUMN - 1) {
        fputc('\n', out);
        width = 0;
    }
    buf_str(&help, flag->help);
    for (size_t i = 0; flag->choices && flag->choices[i]; i++)
        buf_printf(&help, "%s%s%s", i ? ", " : " (", flag->choices[i],
                   flag->choices[i + 1] ? "" : ")");
    fprintf(out, "%*s", HELP_COLUMN - width, "");
    print_wrapped(help.data, HELP_COLUMN, HELP_COLUMN, out);
}

static void overview(FILE *out)
{
    fprintf(
        out,
        "Runs DAGs of batch jobs written as Kubernetes resources (JobFlow, JobTemplate, Job).\n\n"
        "Usage: %s COMMAND [FLAGS] [OPERANDS]\n\nCommands:\n",
        cli_program);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n'%s COMMAND --help' tells more about one.\n", cli_program);
}

void command_help(const struct command *command, FILE *out)
{
    if (!command) {
        overview(out);
        return;
    }
    fprintf(out, "%s\n\nUsage: %s %s [FLAGS]%s%s\n", command->summary, cli_program, command->name,
            command->operands ? " " : "", command->operands ? command->operands : "");
    if (command->details) {
        fputc('\n', out);
        print_wrapped(command->details, 0, 0, out);
    }
    fputs("\nFlags:\n", out);
    for (size_t i = 0; command->flags && command->flags[i].type != FLAG_END; i++)
        print_flag(&command->flags[i], out);
    fprintf(out, "  -h, --help%*sshow this text\n", HELP_COLUMN - 12, "");
    if (command->examples)
        fprintf(out, "\nExamples:\n%s\n", command->examples);
}
