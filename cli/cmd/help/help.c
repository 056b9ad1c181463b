/*
 * The command `jobflow help`: prints help texts, manual pages and the API reference, all generated
 * from tables.
 */
#include <string.h>

#include "cli/cmd/commands.h"

/* Prints a manual page: `help man` prints jobflow(1), `help man run` prints jobflow-run(1). */
static int run_man(int n_operands, char **operands)
{
    const struct command *command = n_operands > 1 ? command_find(operands[1]) : NULL;

    if (n_operands > 1 && !command)
        return command_unknown(operands[1]);
    command_man_page(command, stdout);
    return EXIT_OK;
}

static int run_help(const void *options, int n_operands, char **operands)
{
    const struct command *command;

    if (n_operands == 0) {
        command_help(NULL, stdout);
        return EXIT_OK;
    }
    if (strcmp(operands[0], "man") == 0)
        return run_man(n_operands, operands);
    if (n_operands > 1) {
        cli_errorf("help takes one command, not \"%s\" as well", operands[1]);
        return EXIT_REFUSED;
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
    .operands = "[COMMAND|man [COMMAND]|reference]",
    .summary = "Explain a command; 'help man' and 'help reference' print the manuals",
    .max_operands = 2,
    .operand_kind = "command",
    .run = run_help,
};
