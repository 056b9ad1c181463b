/*
 * The command `jobflow validate`: runs a preflight of the manifests and returns its exit code.
 */
#include "cli/cmd/commands.h"
#include "cli/daemon/serve_values.h"
#include "cli/manifest/parameters.h"
#include "cli/preflight/preflight.h"

struct validate_options {
    const char *namespace, *node_resources;
    struct flag_list parameters;
    int64_t max_flow_steps, max_pods;
    bool sim, strict;
};

#define VALIDATE(member) offsetof(struct validate_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,  "namespace", 'n', "NAME", "namespace of objects that name none; default: default", VALIDATE(namespace)},
    PARAMETER_FLAG(VALIDATE(parameters)),
    {FLAG_INT,  "max-flow-steps", 0, "N", "steps of the largest flow that is accepted; default: 100000", VALIDATE(max_flow_steps), .min = 1, .max = 1000000},
    {FLAG_INT,  "max-pods", 'j', "N",     "pods that the machine is to run at once; default: one per CPU, at least 8", VALIDATE(max_pods), .min = 1, .max = 100000},
    {FLAG_STR,  "node-resources", 0, "LIST", "what pods may use of the machine, like cpu=4,memory=8Gi,nvidia.com/gpu=2; default: all CPUs and memory of this one", VALIDATE(node_resources), .check = check_node_resources},
    {FLAG_BOOL, "strict",    0,   NULL,   "count warnings as errors", VALIDATE(strict)},
    {FLAG_BOOL, "sim",       0,   NULL,   "for --runtime sim: containers need no command", VALIDATE(sim)},
    {0},
};
/* clang-format on */

static const struct validate_options defaults = {.namespace = "default"};

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct validate_options *options = opaque;
    scoped(fit) struct fit *fit = fit_new(&(struct fit_options){
        .max_pods = options->max_pods ? (int)options->max_pods : engine_default_pods(),
        .node_resources = options->node_resources,
        .sim = options->sim,
    });
    const struct preflight_options check = {
        .namespace = options->namespace,
        .sim = options->sim,
        .flow_steps = options->max_flow_steps,
        .fit = options->sim ? NULL : fit,
        .needs = options->sim ? NEEDS_IGNORED : NEEDS_WARNED_OF,
    };
    scoped(manifests) struct manifests set = {0};
    struct preflight_result result = {0};

    if (!manifests_load(&set, n_operands, operands) ||
        !parameters_set(&set, &options->parameters) || !preflight(&set, &check, &result))
        return EXIT_REFUSED;
    printf("%zu object%s valid", set.count, set.count == 1 ? "" : "s");
    if (result.warnings)
        printf(", %zu warning%s", result.warnings, result.warnings == 1 ? "" : "s");
    putchar('\n');
    return options->strict && result.warnings ? EXIT_REFUSED : EXIT_OK;
}

const struct command cmd_validate = {
    .name = "validate",
    .operands = "FILE…",
    .summary = "Check manifest files as admission would, without starting anything",
    .details = "Every mistake is printed with file, line and field, templates that none of the "
               "files define among them. Exit code 0\n"
               "when there is none, 2 otherwise. Warnings name what is allowed and still cannot "
               "work: a step that can never run, a\n"
               "probe that can never pass, a job that this machine can never have room for, a pod "
               "that never ends; --strict\n"
               "counts them as mistakes.",
    .examples = "  jobflow validate pipeline.yaml\n  jobflow validate pipeline/ - < extra.yaml",
    .flags = flags,
    .options_size = sizeof(struct validate_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
