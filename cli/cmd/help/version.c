/*
 * The command `jobflow version`: prints the program's version.
 */
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
