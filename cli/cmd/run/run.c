/*
 * The command `jobflow run`: its flags. cli/run/ implements it.
 */
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/serve_values.h"
#include "cli/engine/runtime_flags.h"
#include "cli/manifest/parameters.h"
#include "cli/run/session.h"

static const char *const outputs[] = {"auto", "live", "plain", "json", "quiet", NULL};
static const char *const runtimes[] = {"sandbox", "host", "sim", NULL};
static const char *const isolations[] = {"auto", "full", "user", "mounts", "plain", NULL};
static const char *const networks[] = {"shared", "private", NULL};
static const char *const compats[] = {"design", "upstream", NULL};
static const char *const durabilities[] = {"strict", "relaxed", NULL};

#define RUN(member) offsetof(struct session_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_INT,      "max-pods",   'j', "N",    "pods running at once; default: one per CPU, at least 8", RUN(max_pods), .min = 1, .max = 100000},
    {FLAG_INT,      "max-flow-steps", 0, "N",  "steps of the largest flow that is accepted; default: 100000", RUN(max_flow_steps), .min = 1, .max = 1000000},
    {FLAG_STR,      "node-resources", 0, "LIST", "what pods may use of this machine, like cpu=4,memory=8Gi,nvidia.com/gpu=2; default: all its CPUs and memory", RUN(node_resources), .check = check_node_resources},
    DEVICES_FLAG(RUN(devices)),
    {FLAG_BOOL,     "wait-for-resources", 0, NULL, "start what can never run on this machine as it is, too, and let it wait", RUN(wait_for_resources)},
    {FLAG_BOOL,     "logs",       0,   NULL,   "print the output of all pods, each line with its pod's name", RUN(logs)},
    {FLAG_BOOL,     "ui",         0,   NULL,   "show the run in a browser, as 'jobflow ui' does; the page stays after the run", RUN(ui)},
    {FLAG_CHOICE,   "output",     'o', "FORM", "how to tell what happens", RUN(output), outputs},
    {FLAG_DURATION, "timeout",    0,   "D",    "stop the pods and exit with 4 when the run takes longer", RUN(timeout_ms)},
    PARAMETER_FLAG(RUN(parameters)),
    {FLAG_LIST,     "env",        'e', "NAME[=VALUE]", "variable for the containers of all pods, without VALUE as it is in this environment; may be given several times", RUN(environment.variables)},
    {FLAG_LIST,     "env-file",   0,   "FILE", "file with such variables, one a line; may be given several times", RUN(environment.files)},
    {FLAG_BOOL,     "inherit-env", 0,  NULL,   "give the containers all variables of this environment", RUN(environment.inherit)},
    {FLAG_LIST,     "approve",    0,   "STEP", "approve this step as soon as it waits for it; may be given several times", RUN(approve)},
    {FLAG_BOOL,     "keep-going", 'k', NULL,   "when a step fails, go on with what does not depend on it", RUN(keep_going)},
    {FLAG_BOOL,     "retry-failed", 0, NULL,   "go on where the last run failed: failed and never-run steps start again, completed ones are kept", RUN(retry_failed)},
    {FLAG_STR,      "from",       0,   "STEPS", "run these steps of an ended flow (names, separated by commas) again, and all that depends on them; the others are kept", RUN(from)},
    {FLAG_STR,      "only",       0,   "STEPS", "run these steps of an ended flow again and nothing else", RUN(only)},
    {FLAG_BOOL,     "only-changed", 0, NULL,   "leave out what has run before with the same inputs and wrote what is still there, as steps with cache are", RUN(only_changed)},
    {FLAG_BOOL,     "no-cache",   0,   NULL,   "run every step, also those with cache", RUN(no_cache)},
    {FLAG_BOOL,     "fresh",      0,   NULL,   "forget an unfinished run of the same flows and start over", RUN(fresh)},
    {FLAG_STR,      "data-dir",   0,   "DIR",  "where state and logs are kept; default: .jobflow, nowhere with --runtime sim", RUN(data_dir)},
    {FLAG_STR,      "namespace",  'n', "NAME", "namespace of objects that name none; default: default", RUN(namespace)},
    {FLAG_CHOICE,   "runtime",    0,   "KIND", "sandbox gives each pod what it asks for, host plain processes, sim executes nothing", RUN(runtime), runtimes},
    {FLAG_CHOICE,   "isolation",  0,   "LEVEL", "give every pod this level of isolation", RUN(isolation), isolations},
    {FLAG_CHOICE,   "network",    0,   "MODE", "network of isolated pods; default: shared, or private where a plugin needs it and pods can have it", RUN(network), networks},
    {FLAG_BOOL,     "hosts-as-addresses", 0, NULL, "tell pods addresses where they would be told names; the default where programs could not look names up", RUN(hosts_as_addresses)},
    SCRATCH_LIMIT_FLAG(RUN(scratch_limit), "none"),
    KEEP_LOGS_FLAGS(RUN(keep_logs), RUN(keep_logs_total)),
    {FLAG_DURATION, "restart-backoff", 0, "D", "first wait before a container is restarted; doubles each time", RUN(restart_backoff_ms)},
    {FLAG_CHOICE,   "durability", 0,   "MODE", "relaxed loses the last moments on power loss, never on a crash", RUN(durability), durabilities},
    {FLAG_CHOICE,   "jobflow-compat", 0, "MODE", "upstream: flows mean what Volcano makes of them, without what it ignores; for comparing, not for use", RUN(compat), compats},
    {0},
};
/* clang-format on */

static const struct session_options defaults = {
    .namespace = "default",
    .output = "auto",
    .runtime = "sandbox",
    .durability = "strict",
    .scratch_limit = "none",
    .compat = "design",
    .restart_backoff_ms = 1000,
};

/* Checks that at most one flag says where the run begins. */
static bool begins_one_way(const struct session_options *options)
{
    const struct {
        bool given;
        const char *text;
    } rows[] = {{options->fresh, "--fresh starts over"},
                {options->retry_failed, "--retry-failed goes on"},
                {options->from, "--from runs what depends on the steps, too"},
                {options->only, "--only runs the steps alone"}};
    const char *first = NULL;

    for (size_t i = 0; i < countof(rows); i++) {
        if (!rows[i].given)
            continue;
        if (first) {
            cli_errorf("%s and %s: choose one", first, rows[i].text);
            return false;
        }
        first = rows[i].text;
    }
    return true;
}

/* The names of --from and --only are those of one flow's steps. */
static bool defines_one_flow(const struct manifests *set)
{
    size_t flows = 0;

    for (size_t i = 0; i < set->count; i++)
        flows += set->items[i].kind == &kind_job_flow;
    if (flows != 1)
        cli_errorf(
            "--from and --only name steps of one flow: the files define %zu; write '%s rerun "
            "jf/NAME'",
            flows, cli_program);
    return flows == 1;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    struct session_options options = *(const struct session_options *)opaque;
    const struct runtime_flag sandbox_flags[] = {
        {"isolation", options.isolation != NULL},
        {"network", options.network != NULL},
        {"hosts-as-addresses", options.hosts_as_addresses, .host = true},
        {0}};
    scoped(manifests) struct manifests set = {.takes_submissions = true};

    session_end_early();
    if (!runtime_flags_check(options.runtime, sandbox_flags))
        return EXIT_REFUSED;
    if (!begins_one_way(&options))
        return EXIT_REFUSED;
    if (options.only_changed && options.no_cache) {
        cli_errorf("--only-changed leaves steps out, and --no-cache runs every step: choose one");
        return EXIT_REFUSED;
    }
    /* A simulation has its own data directory: it must never continue a real run, nor a real run a
     * simulation. */
    if (!options.data_dir && strcmp(options.runtime, "sim") != 0)
        options.data_dir = ".jobflow";
    if (!manifests_load(&set, n_operands, operands) || !parameters_set(&set, &options.parameters) ||
        ((options.from || options.only) && !defines_one_flow(&set)))
        return EXIT_REFUSED;
    return session_run(&options, &set);
}

const struct command cmd_run = {
    .name = "run",
    .operands = "FILE…",
    .summary = "Run the flows and jobs of manifest files to their end on this machine",
    .details = "Applies the manifests to a private store, runs every JobFlow (and bare Job) in "
               "them and follows them. FILE is a file, a\n"
               "directory or - for standard input. Interrupted or killed, the next run with the "
               "same data directory goes on where this\n"
               "one was. A flow that is over runs again from the start, or with --retry-failed "
               "from where it failed;\n"
               "--from and --only run some of its steps again. Steps that were edited since run "
               "again with all that depends on them.\n"
               "A file for 'jobflow submit' may stand among them: its jobs run as bare Jobs.\n\n"
               "Exit codes: 0 every flow Succeed; 1 a flow or job failed; 2 the input was refused "
               "and nothing was started;\n"
               "3 internal error; 4 timed out; 130 interrupted.",
    .examples =
        "  jobflow run pipeline.yaml\n"
        "  jobflow run -j 8 --logs pipeline/        # a directory, eight pods at once, their "
        "output\n"
        "  jobflow run --keep-going pipeline.yaml   # run all that can, whatever fails\n"
        "  jobflow run --retry-failed pipeline.yaml # later: again what failed, and what waited "
        "for it\n"
        "  jobflow run --from train pipeline.yaml   # train again, and what depends on it\n"
        "  jobflow run --runtime sim pipeline.yaml  # try the flow without executing anything",
    .flags = flags,
    .options_size = sizeof(struct session_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
