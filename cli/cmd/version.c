/*
 * The commands `jobflow version`, `help` and `completion`.
 */
#include <string.h>

#include "base/version.h"
#include "cli/cmd/commands.h"

static int run_version(const void *options, int n_operands, char **operands)
{
    printf("%s %s\n", cli_program, JOBFLOW_VERSION_FULL);
    return EXIT_OK;
}

const struct command cmd_version = {
    .name = "version",
    .summary = "Print the version",
    .run = run_version,
};

static int run_help(const void *options, int n_operands, char **operands)
{
    const struct command *command;

    if (n_operands == 0) {
        command_help(NULL, stdout);
        return EXIT_OK;
    }
    if (strcmp(operands[0], "man") == 0) {
        command_man_page(stdout);
        return EXIT_OK;
    }
    if (strcmp(operands[0], "reference") == 0) {
        command_reference(stdout);
        return EXIT_OK;
    }
    command = command_find(operands[0]);
    if (!command)
        return command_unknown(operands[0]);
    command_help(command, stdout);
    return EXIT_OK;
}

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND|man|reference]",
    .summary = "Explain a command; 'help man' and 'help reference' print the manuals",
    .max_operands = 1,
    .operand_kind = "command",
    .run = run_help,
};

static int run_completion(const void *options, int n_operands, char **operands)
{
    if (strcmp(operands[0], "bash") != 0 && strcmp(operands[0], "zsh") != 0) {
        cli_errorf("no completion for \"%s\"; there is one for bash and one for zsh", operands[0]);
        return EXIT_REFUSED;
    }
    command_completion(operands[0], stdout);
    return EXIT_OK;
}

const struct command cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh",
    .summary = "Print the shell's completion script",
    .examples = "  source <(jobflow completion bash)",
    .min_operands = 1,
    .max_operands = 1,
    .operand_kind = "shell",
    .run = run_completion,
};
