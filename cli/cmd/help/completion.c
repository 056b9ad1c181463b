/*
 * The command `jobflow completion`: prints the completion script of a shell.
 */
#include "cli/cmd/commands.h"

static int run_completion(const void *options, int n_operands, char **operands)
{
    if (command_completion(operands[0], stdout))
        return EXIT_OK;
    cli_errorf("there is no completion for \"%s\": use bash, zsh or fish", operands[0]);
    return EXIT_REFUSED;
}

const struct command cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary = "Print the shell's completion script",
    .examples = "  source <(jobflow completion bash)        # this shell\n"
                "  jobflow completion fish | source\n"
                "  jobflow completion zsh > \"${fpath[1]}/_jobflow\"",
    .min_operands = 1,
    .max_operands = 1,
    .operand_kind = "shell",
    .run = run_completion,
};
