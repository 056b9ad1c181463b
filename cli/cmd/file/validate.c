/*
 * The command `jobflow validate`: runs a preflight of the manifests and returns its exit code.
 */
#include "cli/cmd/commands.h"
#include "cli/daemon/serve_values.h"
#include "cli/manifest/parameters.h"
#include "cli/preflight/preflight.h"
#include "cli/target/conversion.h"

struct validate_options {
    const char *namespace, *node_resources, *devices, *target;
    struct flag_list parameters;
    int64_t max_flow_steps, max_pods;
    bool sim, strict;
};

#define VALIDATE(member) offsetof(struct validate_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,  "namespace", 'n', "NAME", "namespace of objects that name none; default: default", VALIDATE(namespace)},
    PARAMETER_FLAG(VALIDATE(parameters)),
    {FLAG_CHOICE, "target", 0, "TARGET", "check for Volcano of a version, as 'convert --upstream' writes the files out, or for a cluster, where 'jobflow controller' runs flows, or jobs too, or is all there is (kube); default: this machine", VALIDATE(target), target_choices},
    {FLAG_INT,  "max-flow-steps", 0, "N", "steps of the largest flow that is accepted; default: 100000", VALIDATE(max_flow_steps), .min = 1, .max = 1000000},
    {FLAG_INT,  "max-pods", 'j', "N",     "pods that the machine is to run at once; default: one per CPU, at least 8", VALIDATE(max_pods), .min = 1, .max = 100000},
    {FLAG_STR,  "node-resources", 0, "LIST", "what pods may use of the machine, like cpu=4,memory=8Gi,nvidia.com/gpu=2; default: all CPUs and memory of this one", VALIDATE(node_resources), .check = check_node_resources},
    DEVICES_FLAG(VALIDATE(devices)),
    {FLAG_BOOL, "strict",    0,   NULL,   "count warnings as errors", VALIDATE(strict)},
    {FLAG_BOOL, "sim",       0,   NULL,   "for --runtime sim: containers need no command", VALIDATE(sim)},
    {0},
};
/* clang-format on */

static const struct validate_options defaults = {.namespace = "default"};

static bool check_target(const struct validate_options *options, const struct manifests *set,
                         json_t *const *docs, struct preflight_result *result)
{
    const struct conversion_request request = {.set = set,
                                               .docs = docs,
                                               .target = target_find(options->target),
                                               .namespace = options->namespace,
                                               .warn_of_conversion = true};
    struct conversion_result found;
    bool ok = conversion_run(&request, &found);

    json_decref(found.documents);
    result->warnings += found.warnings;
    return ok;
}

static void print_result(const struct validate_options *options, const struct manifests *set,
                         const struct preflight_result *result)
{
    printf("%zu object%s valid%s%s", set->count, set->count == 1 ? "" : "s",
           options->target ? " for " : "", options->target ? options->target : "");
    if (result->warnings)
        printf(", %zu warning%s", result->warnings, result->warnings == 1 ? "" : "s");
    putchar('\n');
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct validate_options *options = opaque;
    /* Elsewhere images may have commands of their own, and there is other room. */
    const bool elsewhere = options->target || options->sim;
    scoped(fit) struct fit *fit = fit_new(&(struct fit_options){
        .max_pods = options->max_pods ? (int)options->max_pods : engine_default_pods(),
        .node_resources = options->node_resources,
        .devices = options->devices,
        .sim = options->sim,
    });
    const struct preflight_options check = {
        .namespace = options->namespace,
        .sim = elsewhere,
        .flow_steps = options->max_flow_steps,
        .fit = elsewhere ? NULL : fit,
        .needs = elsewhere ? NEEDS_IGNORED : NEEDS_WARNED_OF,
    };
    scoped(manifests) struct manifests set = {.takes_submissions = true};
    scoped(manifest_docs) struct manifest_docs docs = {0};
    struct preflight_result result = {0};

    if (!manifests_load(&set, n_operands, operands) || !parameters_set(&set, &options->parameters))
        return EXIT_REFUSED;
    if (options->target)
        manifest_docs_copy(&set, &docs);
    if (!preflight(&set, &check, &result) ||
        (options->target && !check_target(options, &set, docs.items, &result)))
        return EXIT_REFUSED;
    print_result(options, &set, &result);
    return options->strict && result.warnings ? EXIT_REFUSED : EXIT_OK;
}

const struct command cmd_validate = {
    .name = "validate",
    .operands = "FILE…",
    .summary = "Check manifest files as admission would, without starting anything",
    .details =
        "Every mistake is printed with file, line and field, templates that none of the "
        "files define among them. Exit code 0\n"
        "when there is none, 2 otherwise. Warnings name what is allowed and still cannot "
        "work: a step that can never run, a\n"
        "probe that can never pass, a job that this machine can never have room for, a pod "
        "that never ends; --strict\n"
        "counts them as mistakes. Files for 'jobflow submit' are checked, too.\n\n"
        "With --target the files are checked for another place. For Volcano, what its JobFlow "
        "has no means for is refused by name, and a\n"
        "warning tells of flows that must be written out first (jobflow convert --upstream). "
        "For a cluster, containers need images.",
    .examples = "  jobflow validate pipeline.yaml\n"
                "  jobflow validate pipeline/ - < extra.yaml\n"
                "  jobflow validate --target volcano-1.13 pipeline.yaml",
    .flags = flags,
    .options_size = sizeof(struct validate_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
