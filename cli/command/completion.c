/*
 * Generates shell completion from the command tables.
 *
 * bash and zsh get one function, fish gets rules. The first word completes to a command, a word
 * that starts with a dash to a flag of the command, a word after a flag with choices to one of
 * them. Other words complete to operands of the command: files, commands, kinds, after "KIND/" the
 * names of stored objects, and behind a flow's name the names of its steps.
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

/* Returns the shell code that completes the command's operands in bash and zsh. */
static const char *operand_words(const struct command *command)
{
    static const struct {
        const char *kind, *words;
    } rows[] = {
        {"command", "candidates=\"$commands\""},
        {"resource", "resources=1"},
        {"step", "if [ -n \"$named\" ]; then steps=1; else resources=1; fi"},
        {"shell", "candidates=\"bash zsh fish\""},
        {"file", "files=1"},
    };

    for (size_t i = 0; command->operand_kind && i < countof(rows); i++)
        if (strcmp(rows[i].kind, command->operand_kind) == 0)
            return rows[i].words;
    return "files=1";
}

/* Returns the word that users type for a kind. */
static const char *kind_word(const struct kind *kind)
{
    return kind->short_names ? kind->short_names[0] : kind->plural;
}

static void print_kinds(FILE *out)
{
    fputs("  local kinds=\"", out);
    for (size_t i = 0; i < KIND_N; i++)
        fprintf(out, "%s%s", i ? " " : "", kind_word(kind_by_id((enum kind_id)i)));
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
    fputs("  local word='' named='' steps=''\n"
          "  for word in \"${typed[@]}\"; do case \"$word\" in */*) named=\"$word\" ;; esac; done\n"
          "  local commands=\"",
          out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fputs("\"\n", out);
    print_kinds(out);
    fputs("  case \"$command\" in\n    '') candidates=\"$commands\" ;;\n", out);
    for (size_t i = 0; commands[i]; i++)
        print_command_case(commands[i], out);
    fprintf(
        out,
        "  esac\n"
        "  if [ -n \"$steps\" ]; then\n"
        "    candidates=\"$(%s get \"$named\" -o jsonpath='{.spec.flows[*].name}' 2>/dev/null)\"\n"
        "  fi\n"
        "  if [ -n \"$resources\" ]; then\n"
        "    case \"$current\" in\n"
        "      */*) candidates=\"$(%s get \"${current%%%%/*}\" -o name 2>/dev/null | sed "
        "\"s|.*/|${current%%%%/*}/|\")\" ;;\n"
        "      *) candidates=\"$kinds\" ;;\n"
        "    esac\n"
        "  fi\n",
        cli_program, cli_program);
}

static void completion_bash(FILE *out)
{
    fprintf(
        out,
        "_%s() {\n"
        "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "  local command='' candidates='' files='' resources=''\n"
        "  local -a typed=()\n"
        "  if [ \"$COMP_CWORD\" -gt 1 ]; then\n"
        "    command=\"${COMP_WORDS[1]}\" typed=(\"${COMP_WORDS[@]:2:COMP_CWORD-2}\")\n"
        "  fi\n",
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
            "  local -a typed=()\n"
            "  (( CURRENT > 2 )) && command=\"${words[2]}\" typed=(\"${(@)words[3,CURRENT-1]}\")\n"
            "  local candidates=''\n",
            cli_program, cli_program);
    print_body(out);
    fprintf(out,
            "  if [ -n \"$files\" ]; then _files; else compadd -- ${=candidates}; fi\n}\ncompdef "
            "_%s %s\n",
            cli_program, cli_program);
}

/* Prints text escaped for single quotes in fish. */
static void fish_quoted(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void fish_rule(const struct command *command, FILE *out)
{
    fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' ", cli_program, command->name);
}

static void fish_flag(const struct command *command, const struct flag *flag, FILE *out)
{
    fish_rule(command, out);
    fprintf(out, "-l %s", flag->name);
    if (flag->letter)
        fprintf(out, " -s %c", flag->letter);
    if (flag->type != FLAG_BOOL)
        fputs(flag->choices ? " -x" : " -r", out);
    if (flag->choices) {
        fputs(" -a '", out);
        for (size_t i = 0; flag->choices[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", flag->choices[i]);
        fputc('\'', out);
    }
    fputs(" -d ", out);
    fish_quoted(flag->help, out);
    fputc('\n', out);
}

/* Returns the fish code that completes the command's operands. */
static const char *fish_operand_words(const struct command *command)
{
    static const struct {
        const char *kind, *words;
    } rows[] = {
        {"command", "-f -a '(__jobflow_commands)'"},
        {"resource", "-f -a '(__jobflow_resources)'"},
        {"step", "-f -a '(__jobflow_steps)'"},
        {"shell", "-f -a 'bash zsh fish'"},
    };

    for (size_t i = 0; command->operand_kind && i < countof(rows); i++)
        if (strcmp(rows[i].kind, command->operand_kind) == 0)
            return rows[i].words;
    return "-F";
}

static void completion_fish(FILE *out)
{
    fputs("function __jobflow_commands\n  printf '%s\\n'", out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, " %s", commands[i]->name);
    fprintf(out,
            "\nend\n"
            "function __jobflow_resources\n"
            "  set -l current (commandline -ct)\n"
            "  if string match -q '*/*' -- $current\n"
            "    set -l kind (string split -m1 / -- $current)[1]\n"
            "    %s get $kind -o name 2>/dev/null | string replace -r '.*/' \"$kind/\"\n"
            "  else\n"
            "    printf '%%s\\n'",
            cli_program);
    for (size_t i = 0; i < KIND_N; i++)
        fprintf(out, " %s", kind_word(kind_by_id((enum kind_id)i)));
    fprintf(
        out,
        "\n  end\nend\n"
        "function __jobflow_steps\n"
        "  for word in (commandline -opc)[3..]\n"
        "    if string match -q '*/*' -- $word\n"
        "      %s get $word -o jsonpath='{.spec.flows[*].name}' 2>/dev/null | string split ' '\n"
        "      return\n"
        "    end\n"
        "  end\n"
        "  __jobflow_resources\n"
        "end\n",
        cli_program);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, "complete -c %s -f -n __fish_use_subcommand -a %s -d ", cli_program,
                commands[i]->name);
        fish_quoted(commands[i]->summary, out);
        fputc('\n', out);
        for (const struct flag *flag = commands[i]->flags; flag && flag->type != FLAG_END; flag++)
            fish_flag(commands[i], flag, out);
        fish_rule(commands[i], out);
        fputs("-s h -l help -d 'show a short help text'\n", out);
        fish_rule(commands[i], out);
        fprintf(out, "%s\n", fish_operand_words(commands[i]));
    }
}

bool command_completion(const char *shell, FILE *out)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

    for (size_t i = 0; i < countof(shells); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(out);
            return true;
        }
    }
    return false;
}
