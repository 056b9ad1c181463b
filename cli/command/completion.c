/*
 * Shell completion, made from the command tables.
 *
 * Both shells get one function: the first word completes to a command, a word that begins with a
 * dash to the command's flags, a word after a flag with choices to those, and everything else by
 * the command's operands: files, commands, kinds, and behind "KIND/" the names there are.
 */
#include <string.h>

#include "api/types/kind.h"
#include "cli/command/command.h"

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

/* What the operands of a kind complete to, in shell. */
static const char *operand_words(const struct command *command)
{
    static const struct {
        const char *kind, *words;
    } rows[] = {
        {"command", "candidates=\"$commands\""},
        {"resource", "resources=1"},
        {"shell", "candidates=\"bash zsh\""},
        {"file", "files=1"},
    };

    for (size_t i = 0; command->operand_kind && i < countof(rows); i++)
        if (strcmp(rows[i].kind, command->operand_kind) == 0)
            return rows[i].words;
    return "files=1";
}

static void print_kinds(FILE *out)
{
    fputs("  local kinds=\"", out);
    for (size_t i = 0; i < KIND_N; i++) {
        const struct kind *kind = kind_by_id((enum kind_id)i);

        fprintf(out, "%s%s", i ? " " : "", kind->short_names ? kind->short_names[0] : kind->plural);
    }
    fputs("\"\n", out);
}

static void print_command_case(const struct command *command, FILE *out)
{
    fprintf(out, "    %s)\n      case \"$previous\" in\n", command->name);
    for (const struct flag *flag = command->flags; flag && flag->type != FLAG_END; flag++)
        if (flag->choices)
            print_choices(flag, "        ", out);
    fputs("        *) case \"$current\" in -*) candidates=\"", out);
    print_flags(command, out);
    fprintf(out, "\" ;; *) %s ;; esac ;;\n      esac ;;\n", operand_words(command));
}

static void print_body(FILE *out)
{
    fputs("  local commands=\"", out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fputs("\"\n", out);
    print_kinds(out);
    fputs("  case \"$command\" in\n    '') candidates=\"$commands\" ;;\n", out);
    for (size_t i = 0; commands[i]; i++)
        print_command_case(commands[i], out);
    fprintf(out,
            "  esac\n"
            "  if [ -n \"$resources\" ]; then\n"
            "    case \"$current\" in\n"
            "      */*) candidates=\"$(%s get \"${current%%%%/*}\" -o name 2>/dev/null | sed "
            "\"s|.*/|${current%%%%/*}/|\")\" ;;\n"
            "      *) candidates=\"$kinds\" ;;\n"
            "    esac\n"
            "  fi\n",
            cli_program);
}

static void completion_bash(FILE *out)
{
    fprintf(
        out,
        "_%s() {\n"
        "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "  local command='' candidates='' files='' resources=''\n"
        "  [ \"$COMP_CWORD\" -gt 1 ] && command=\"${COMP_WORDS[1]}\"\n",
        cli_program);
    print_body(out);
    fprintf(out,
            "  if [ -n \"$files\" ]; then mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
            "  else mapfile -t COMPREPLY < <(compgen -W \"$candidates\" -- \"$current\"); fi\n"
            "}\ncomplete -o filenames -F _%s %s\n",
            cli_program, cli_program);
}

static void completion_zsh(FILE *out)
{
    fprintf(out,
            "#compdef %s\n_%s() {\n"
            "  local current=\"${words[CURRENT]}\" previous=\"${words[CURRENT-1]}\" command='' "
            "files='' resources=''\n"
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
