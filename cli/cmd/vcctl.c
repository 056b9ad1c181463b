/*
 * The command `jobflow vcctl`: the command line of Volcano's vcctl, also available through a
 * symlink of that name (`ln -s jobflow vcctl`).
 *
 * The verbs for flows and templates match upstream's output exactly (cli/cmd/vcctl_verbs.c). The
 * others are forwarded to the equivalent jobflow command, with `-N NAME` translated to KIND/NAME.
 */
#include <string.h>

#include "api/types/kind.h"
#include "base/mem.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/vcctl_verbs.h"

static const struct group {
    const char *name, *summary;
    const struct kind *kind;
    bool own_verbs; /* implemented in cli/cmd/vcctl_verbs.c */
} groups[] = {
    {"job", "jobs: list, view, run, delete, suspend, resume", &kind_job, false},
    {"jobflow", "flows: create, list, get, delete, describe, retry, suspend, resume, graph",
     &kind_job_flow, true},
    {"jobtemplate", "templates: create, list, get, delete, describe, convert", &kind_job_template,
     true},
    {"pod", "pods: list, describe", &kind_pod, false},
    {"queue", "queues: list, get, delete", &kind_queue, false},
};

/* clang-format off */
static const struct forward {
    const char *verb;
    const struct command *command;
    bool names_kind; /* without -N the verb applies to every object of the kind */
} forwards[] = {
    {"list",     &cmd_get,      true},
    {"get",      &cmd_get,      true},
    {"view",     &cmd_describe, true},
    {"describe", &cmd_describe, true},
    {"create",   &cmd_apply,    false},
    {"run",      &cmd_apply,    false},
    {"delete",   &cmd_delete,   true},
    {"suspend",  &cmd_suspend,  true},
    {"resume",   &cmd_resume,   true},
    {"abort",    &cmd_abort,    true},
    {"retry",    &cmd_retry,    true},
    {"graph",    &cmd_graph,    true},
    {"explain",  &cmd_explain,  true},
    {"convert",  &cmd_convert,  true},
};
/* clang-format on */

static void print_help(FILE *out)
{
    fprintf(out, "Volcano's command line.\n\nUsage: vcctl COMMAND VERB [FLAGS]\n\nCommands:\n");
    for (size_t i = 0; i < countof(groups); i++)
        fprintf(out, "  %-12s %s\n", groups[i].name, groups[i].summary);
    fprintf(out, "  %-12s print the version\n\n'vcctl COMMAND VERB --help' tells more about one.\n",
            "version");
}

static void print_group_help(const struct group *group, FILE *out)
{
    fprintf(out, "%s\n\nUsage: vcctl %s VERB [FLAGS]\n", group->summary, group->name);
}

/* Parses "-N NAME", "--name NAME" or "--name=NAME" at argv[i]. Returns the name, or NULL, and the
 * number of words it takes. */
static const char *name_at(int argc, char **argv, int i, int *out_words)
{
    bool flag = strcmp(argv[i], "-N") == 0 || strcmp(argv[i], "--name") == 0;

    *out_words = 1;
    if (strncmp(argv[i], "--name=", strlen("--name=")) == 0)
        return argv[i] + strlen("--name=");
    if (!flag || i + 1 >= argc)
        return NULL;
    *out_words = 2;
    return argv[i + 1];
}

/* Runs the jobflow command with the equivalent arguments; argv[0] is the verb. */
static int run_forward(const struct forward *forward, const struct kind *kind, int argc,
                       char **argv)
{
    char **words = mem_array((size_t)argc + 2, sizeof *words);
    scoped_str operand = NULL;
    int n = 0, taken, code;

    words[n++] = (char *)(size_t)forward->command->name;
    for (int i = 1; i < argc; i += taken) {
        const char *name = name_at(argc, argv, i, &taken);

        if (name && !operand)
            operand = mem_printf("%s/%s", kind->singular, name);
        else
            words[n++] = argv[i];
    }
    if (!operand && forward->names_kind)
        operand = mem_strdup(kind->plural);
    if (operand)
        words[n++] = operand;
    code = command_run(forward->command, n, words);
    mem_free(words);
    return code;
}

static int run_verb(const struct group *group, int argc, char **argv)
{
    for (const struct vcctl_verb *verb = vcctl_verbs; group->own_verbs && verb->name; verb++)
        if (strcmp(verb->name, argv[0]) == 0)
            return vcctl_run(verb, group->kind, argc, argv);
    for (size_t i = 0; i < countof(forwards); i++)
        if (strcmp(forwards[i].verb, argv[0]) == 0)
            return run_forward(&forwards[i], group->kind, argc, argv);
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        print_group_help(group, stdout);
        return EXIT_OK;
    }
    cli_errorf("vcctl %s: no verb \"%s\"", group->name, argv[0]);
    print_group_help(group, stderr);
    return EXIT_REFUSED;
}

int vcctl_main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_REFUSED : EXIT_OK;
    }
    if (strcmp(argv[1], "version") == 0)
        return command_run(&cmd_version, argc - 1, argv + 1);
    for (size_t i = 0; i < countof(groups); i++) {
        if (strcmp(groups[i].name, argv[1]) != 0)
            continue;
        if (argc > 2)
            return run_verb(&groups[i], argc - 2, argv + 2);
        print_group_help(&groups[i], stderr);
        return EXIT_REFUSED;
    }
    cli_errorf("vcctl: no command \"%s\"", argv[1]);
    print_help(stderr);
    return EXIT_REFUSED;
}

/* This entry provides only the help text. cli/main.c passes the arguments to vcctl_main. */
const struct command cmd_vcctl = {
    .name = "vcctl",
    .operands = "COMMAND VERB",
    .summary = "Volcano's own command line: job, jobflow, jobtemplate, pod, queue, version",
    .details = "For scripts written for Volcano's vcctl; the program does the same under the name "
               "vcctl. Flows and templates have create, list, get, delete and describe\n"
               "with upstream's flags, texts and tables; the rest is done by the commands above.",
    .examples = "  jobflow vcctl jobflow list -n default\n"
                "  ln -s $(which jobflow) ~/bin/vcctl; vcctl jobflow create -f flow.yaml",
    .min_operands = 1,
    .max_operands = -1,
};
