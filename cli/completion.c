/*
 * Shell completion, made from the command tables.
 *
 * Both shells get one function: the first word completes to a command, a word that begins with a
 * dash to the command's flags, a word after a flag with choices to those, and everything else by
 * the command's operands.
 */
#include "cli/command.h"
#include <string.h>

static void print_flags(const struct command *command, FILE *out)
{
    for (const struct flag *flag = command->flags; flag && flag->type != FLAG_END; flag++)
        fprintf(out, " --%s", flag->name);
    fputs(" --help", out);
}

static void print_choices(const struct flag *flag, const char *indent, FILE *out)
{
    fprintf(out, "%s--%s", indent, flag->name);
    if (flag->letter)
        fprintf(out, "|-%c", flag->letter);
    fputs(") candidates=\"", out);
    for (size_t i = 0; flag->choices[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", flag->choices[i]);
    fputs("\" ;;\n", out);
}

static void print_command_case(const struct command *command, FILE *out)
{
    bool commands_wanted = command->operand_kind && strcmp(command->operand_kind, "command") == 0;

    fprintf(out, "    %s)\n      case \"$previous\" in\n", command->name);
    for (const struct flag *flag = command->flags; flag && flag->type != FLAG_END; flag++)
        if (flag->choices)
            print_choices(flag, "        ", out);
    fputs("        *) case \"$current\" in -*) candidates=\"", out);
    print_flags(command, out);
    fprintf(out, "\" ;; *) %s ;; esac ;;\n      esac ;;\n",
            commands_wanted ? "candidates=\"$commands\"" : "files=1");
}

static void print_body(FILE *out)
{
    fputs("  local commands=\"", out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fputs("\"\n  case \"$command\" in\n    '') candidates=\"$commands\" ;;\n", out);
    for (size_t i = 0; commands[i]; i++)
        print_command_case(commands[i], out);
    fputs("  esac\n", out);
}

static void completion_bash(FILE *out)
{
    fprintf(
        out,
        "_%s() {\n"
        "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "  local command='' candidates='' files=''\n"
        "  [ \"$COMP_CWORD\" -gt 1 ] && command=\"${COMP_WORDS[1]}\"\n",
        cli_program);
    print_body(out);
    fprintf(out,
            "  if [ -n \"$files\" ]; then COMPREPLY=($(compgen -f -- \"$current\"))\n"
            "  else COMPREPLY=($(compgen -W \"$candidates\" -- \"$current\")); fi\n"
            "}\ncomplete -o filenames -F _%s %s\n",
            cli_program, cli_program);
}

static void completion_zsh(FILE *out)
{
    fprintf(out,
            "#compdef %s\n_%s() {\n"
            "  local current=\"${words[CURRENT]}\" previous=\"${words[CURRENT-1]}\" command='' "
            "files=''\n"
            "  (( CURRENT > 2 )) && command=\"${words[2]}\"\n"
            "  local candidates=''\n",
            cli_program, cli_program);
    print_body(out);
    fprintf(out,
            "  if [ -n \"$files\" ]; then _files; else compadd -- ${=candidates}; fi\n}\ncompdef "
            "_%s %s\n",
            cli_program, cli_program);
}

void command_completion(const char *shell, FILE *out)
{
    if (strcmp(shell, "zsh") == 0)
        completion_zsh(out);
    else
        completion_bash(out);
}
