/*
 * Generates manual pages as roff from the same command tables as the help texts.
 */
#include <string.h>

#include "base/version.h"
#include "cli/command/command.h"

/* Decodes the UTF-8 character at `text` into `out` and returns its length; 0 when it is invalid. */
static size_t utf8_char(const char *text, unsigned *out)
{
    unsigned char lead = (unsigned char)*text;
    size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;

    *out = n ? lead & (0x7fu >> n) : 0;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *out = *out << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return n;
}

/* Prints text escaped for roff. A leading dot or quote would start a request, a backslash an
 * escape, and a plain dash may become a hyphen. Characters beyond ASCII are written as escapes,
 * which every roff accepts. */
static void roff_text(const char *text, FILE *out)
{
    bool line_start = true;

    while (*text) {
        unsigned code;
        size_t n = utf8_char(text, &code);

        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (n)
            fprintf(out, "\\[u%04X]", code);
        else if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        line_start = *text == '\n';
        text += n ? n : 1;
    }
}

static void roff_flag(const struct flag *flag, FILE *out)
{
    fputs(".TP\n", out);
    if (flag->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", flag->letter);
    fputs("\\fB\\-\\-", out);
    roff_text(flag->name, out);
    fputs("\\fR", out);
    if (flag->type != FLAG_BOOL)
        fprintf(out, flag->bare ? "[=\\fI%s\\fR]" : " \\fI%s\\fR",
                flag->placeholder ? flag->placeholder : "VALUE");
    fputc('\n', out);
    roff_text(flag->help, out);
    for (size_t i = 0; flag->choices && flag->choices[i]; i++) {
        fputs(i ? ", " : ": ", out);
        roff_text(flag->choices[i], out);
    }
    fputs(".\n", out);
}

static const char section_exit[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\nevery flow ended in Succeed\n"
    ".TP\n1\na flow or job failed, or a query found nothing\n"
    ".TP\n2\nthe input or the command line was refused; nothing was started\n"
    ".TP\n3\ninternal error\n"
    ".TP\n4\ntimed out\n"
    ".TP\n130\ninterrupted\n";

static void roff_title(const char *name, FILE *out)
{
    fputs(".TH ", out);
    for (; *name; name++)
        fputc(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, out);
    fprintf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n", cli_program, JOBFLOW_VERSION);
}

static void page_of_command(const struct command *command, FILE *out)
{
    char name[64];

    snprintf(name, sizeof name, "%s-%s", cli_program, command->name);
    roff_title(name, out);
    fputs(".SH NAME\n", out);
    roff_text(name, out);
    fputs(" \\- ", out);
    roff_text(command->summary, out);
    fprintf(out, "\n.SH SYNOPSIS\n.B %s %s\n[\\fIFLAGS\\fR]", cli_program, command->name);
    if (command->operands)
        fputc(' ', out);
    roff_text(command->operands ? command->operands : "", out);
    fputs("\n.SH DESCRIPTION\n", out);
    roff_text(command->details ? command->details : command->summary, out);
    fputs(command->details ? "\n" : ".\n", out);
    fputs(".SH OPTIONS\n", out);
    for (const struct flag *flag = command->flags; flag && flag->type != FLAG_END; flag++)
        roff_flag(flag, out);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow a short help text.\n", out);
    if (command->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        roff_text(command->examples, out);
        fputs("\n.fi\n", out);
    }
    fprintf(out, "%s.SH SEE ALSO\n.BR %s (1)\n", section_exit, cli_program);
}

static void page_of_program(FILE *out)
{
    roff_title(cli_program, out);
    fprintf(out,
            ".SH NAME\n%s \\- run DAGs of batch jobs written as Kubernetes resources\n"
            ".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [\\fIFLAGS\\fR] [\\fIOPERANDS\\fR]\n"
            ".SH DESCRIPTION\n"
            "Runs JobFlow, JobTemplate and Job resources of the Volcano API groups on one machine, "
            "as processes.\nEach command has a page of its own, such as\n.BR %s\\-run (1).\n"
            ".SH COMMANDS\n",
            cli_program, cli_program, cli_program);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, ".TP\n\\fB%s\\fR ", commands[i]->name);
        roff_text(commands[i]->operands ? commands[i]->operands : "", out);
        fputc('\n', out);
        roff_text(commands[i]->summary, out);
        fputs(".\n", out);
    }
    fputs(section_exit, out);
}

void command_man_page(const struct command *command, FILE *out)
{
    if (command)
        page_of_command(command, out);
    else
        page_of_program(out);
}
