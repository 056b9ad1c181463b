/*
 * The command `jobflow vcctl`: the command line of Volcano's vcctl, also available through a
 * symlink of that name (`ln -s jobflow vcctl`).
 *
 * Every verb is an alias of a jobflow command. The verbs of flows and templates that upstream has
 * take upstream's flags and print upstream's texts (vcctl_text.c). The others take the command's
 * own flags, with `-N NAME` translated to KIND/NAME.
 */
#include "cli/cmd/object/vcctl.h"

#include <string.h>

#include "api/types/kind.h"
#include "base/mem.h"
#include "cli/cmd/commands.h"

static const struct group {
    const char *name, *summary;
    const struct kind *kind;
    bool upstream_texts; /* has the verbs of vcctl_verbs */
} groups[] = {
    {"job", "jobs: list, view, run, delete, suspend, resume", &kind_job, false},
    {"jobflow", "flows: create, list, get, delete, describe, retry, rerun, suspend, resume, graph",
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
    {"rerun",    &cmd_rerun,    true},
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

/* The flags of vcctl's verbs. */
struct options {
    const struct kind *kind;
    const char *file, *namespace, *name, *format, *compat;
    struct client_endpoint endpoint;
    bool all_namespaces;
};

/* Returns the exit code. vcctl exits with 0 when an object is refused, and so does
 * --jobflow-compat=upstream. */
static int exit_code(const struct options *options, int code)
{
    if (code != EXIT_REFUSED)
        return code;
    return strcmp(options->compat, "upstream") == 0 ? EXIT_OK : EXIT_FAILED;
}

static int missing(const char *what)
{
    cli_errorf("%s", what);
    return EXIT_FAILED;
}

static int run_create(const void *opaque, int n_operands, char **operands)
{
    const struct options *options = opaque;
    const struct vcctl_alias alias = {options->kind, .verb = "create"};
    const struct apply_options apply = {.endpoint = options->endpoint,
                                        .namespace = options->namespace,
                                        .files = {{options->file}, 1},
                                        .vcctl = &alias};

    return options->file ? exit_code(options, cmd_apply.run(&apply, 0, NULL))
                         : missing("must specify -f FILE");
}

static int run_delete(const void *opaque, int n_operands, char **operands)
{
    const struct options *options = opaque;
    const struct vcctl_alias alias = {options->kind, .verb = "delete"};
    struct delete_options delete = *(const struct delete_options *)cmd_delete.defaults;
    char *words[] = {(char *)(size_t)options->kind->plural, (char *)(size_t)options->name};

    delete.endpoint = options->endpoint;
    delete.namespace = options->namespace;
    delete.files = (struct flag_list){{options->file}, options->file != NULL};
    delete.wait = false;
    delete.vcctl = &alias;
    if (!options->file && !options->name)
        return missing(options->kind == &kind_job_flow ? "jobflow name must be specified"
                                                       : "job template name must be specified");
    return exit_code(options, cmd_delete.run(&delete, options->file ? 0 : 2, words));
}

static int get_as(const struct options *options, const char *format)
{
    const struct vcctl_alias alias = {options->kind, .format = format};
    const struct get_options get = {.endpoint = options->endpoint,
                                    .namespace = options->namespace,
                                    .all_namespaces = options->all_namespaces,
                                    .ignore_not_found = !options->name,
                                    .vcctl = &alias};
    char *words[] = {(char *)(size_t)options->kind->plural, (char *)(size_t)options->name};

    return cmd_get.run(&get, options->name ? 2 : 1, words);
}

static int run_list(const void *options, int n_operands, char **operands)
{
    return get_as(options, "table");
}

static int run_get(const void *opaque, int n_operands, char **operands)
{
    const struct options *options = opaque;

    if (options->name)
        return get_as(options, "table");
    return missing(options->kind == &kind_job_flow
                       ? "name is mandatory to get the particular jobflow details"
                       : "name is mandatory to get the particular job template details");
}

static int run_describe(const void *opaque, int n_operands, char **operands)
{
    const struct options *options = opaque;

    return get_as(options, options->format);
}

static const char *const compats[] = {"design", "upstream", NULL};

#define OPTION(member) offsetof(struct options, member)
/* clang-format off */
#define FILE_FLAG      {FLAG_STR,  "file",      'f', "FILE", "the file with the objects", OPTION(file)}
#define NAME_FLAG      {FLAG_STR,  "name",      'N', "NAME", "name of the object", OPTION(name)}
#define NAMESPACE_FLAG {FLAG_STR,  "namespace", 'n', "NAME", "namespace of the object; default: default", OPTION(namespace)}
#define COMPAT_FLAG    {FLAG_CHOICE, "jobflow-compat", 0, "MODE", "upstream: a failure is told and the exit code is 0", OPTION(compat), compats}
#define COMMON_FLAGS   {FLAG_STR,  "master",     's', "URL",  "ask this server, as the kubeconfig's user", OPTION(endpoint.server)}, \
                       {FLAG_STR,  "kubeconfig", 'k', "FILE", "ask the server that FILE names", OPTION(endpoint.kubeconfig)}, \
                       {FLAG_STR,  "data-dir",   0,   "DIR",  "where state and logs are kept; default: .jobflow", OPTION(endpoint.data_dir)}, \
                       {0}
static const struct flag create_flags[] = {FILE_FLAG, NAMESPACE_FLAG, COMPAT_FLAG, COMMON_FLAGS};
static const struct flag list_flags[] = {NAMESPACE_FLAG,
    {FLAG_BOOL, "all-namespaces", 0, NULL, "look in all namespaces", OPTION(all_namespaces)}, COMMON_FLAGS};
static const struct flag get_flags[] = {NAME_FLAG, NAMESPACE_FLAG, COMMON_FLAGS};
static const struct flag delete_flags[] = {NAME_FLAG, NAMESPACE_FLAG, FILE_FLAG, COMPAT_FLAG, COMMON_FLAGS};
static const struct flag describe_flags[] = {NAME_FLAG, NAMESPACE_FLAG,
    {FLAG_STR, "format", 'o', "FORM", "yaml or json", OPTION(format)}, COMMON_FLAGS};

const struct vcctl_verb vcctl_verbs[] = {
    {"create",   "Create the objects of a file", create_flags,   run_create},
    {"list",     "List the objects",             list_flags,     run_list},
    {"get",      "Show one object in a line",    get_flags,      run_get},
    {"delete",   "Delete objects",               delete_flags,   run_delete},
    {"describe", "Print objects in full",        describe_flags, run_describe},
    {0},
};
/* clang-format on */

/* Runs an alias with upstream's flags; argv[0] is the verb. */
static int run_alias(const struct vcctl_verb *verb, const struct kind *kind, int argc, char **argv)
{
    const struct options defaults = {.kind = kind,
                                     .namespace = "default",
                                     .format = "yaml",
                                     .endpoint = CLIENT_ENDPOINT_USUAL,
                                     .compat = "design"};
    scoped_str name = mem_printf("vcctl %s %s", kind->singular, verb->name);
    const struct command command = {.name = name,
                                    .summary = verb->summary,
                                    .flags = verb->flags,
                                    .options_size = sizeof(struct options),
                                    .defaults = &defaults,
                                    .run = verb->run};

    return command_run(&command, argc, argv);
}

static int run_verb(const struct group *group, int argc, char **argv)
{
    for (const struct vcctl_verb *verb = vcctl_verbs; group->upstream_texts && verb->name; verb++)
        if (strcmp(verb->name, argv[0]) == 0)
            return run_alias(verb, group->kind, argc, argv);
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
