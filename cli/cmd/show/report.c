/*
 * The command `jobflow report`: writes one HTML file that shows stored flows without a server.
 */
#include "api/types/text/quantity.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/show/report_write.h"

enum { TAIL_MAX = 8 << 20 };

struct report_options {
    struct client_endpoint endpoint;
    const char *namespace, *output, *logs, *tail;
    bool no_spec;
};

static const char *const log_choices[] = {"failed", "none", "all", NULL};

static bool parse_size(const char *text, int64_t *out, struct error *err)
{
    quantity_nano size;

    if (!quantity_parse(text, &size, err))
        return false;
    *out = quantity_whole(size);
    if (*out >= 1 && *out <= TAIL_MAX)
        return true;
    return error_set(err, ERR_INVALID, NULL, "must be between 1 and 8Mi");
}

static bool check_size(const char *text, struct error *err)
{
    int64_t size;

    return parse_size(text, &size, err);
}

#define REPORT(member) offsetof(struct report_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,    "output",    'o', "FILE",  "file that is written, or - for the standard output; required", REPORT(output)},
    {FLAG_CHOICE, "logs",      0,   "WHICH", "whose logs it has: failed pods, none or all; default: failed", REPORT(logs), log_choices},
    {FLAG_STR,    "tail",      0,   "SIZE",  "how much of the end of each log it has; default: 64Ki", REPORT(tail), .check = check_size},
    {FLAG_BOOL,   "no-spec",   0,   NULL,    "leave out specs: commands, arguments, environment, parameters", REPORT(no_spec)},
    {FLAG_STR,    "namespace", 'n', "NAME",  "namespace of the flow; default: that of the kubeconfig, or default", REPORT(namespace)},
    CLIENT_ENDPOINT_FLAGS(REPORT(endpoint)),
    {0},
};
/* clang-format on */

static const struct report_options defaults = {
    .endpoint = CLIENT_ENDPOINT_USUAL, .logs = "failed", .tail = "64Ki"};

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct report_options *options = opaque;
    const struct flow_source_options how = {.endpoint = options->endpoint,
                                            .namespace = options->namespace,
                                            .states = true,
                                            .past = true};
    scoped(flow_sources) struct flow_sources sources = {0};
    struct error err = {0};
    int64_t tail_bytes = 0;
    int code;

    if (!options->output) {
        cli_errorf("-o FILE says where the report is written");
        return EXIT_REFUSED;
    }
    code = flow_sources_load(&how, n_operands, operands, &sources);
    if (code != EXIT_OK)
        return code;
    if (!parse_size(options->tail, &tail_bytes, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    return report_write(&(struct report_request){.output = options->output,
                                                 .logs = options->logs,
                                                 .tail_bytes = (size_t)tail_bytes,
                                                 .specs = options->no_spec ? REPORT_WITHOUT_SPECS
                                                                           : REPORT_WITH_SPECS},
                        &sources);
}

const struct command cmd_report = {
    .name = "report",
    .operands = "jf/NAME…",
    .summary = "Write one HTML file that shows stored flows",
    .details =
        "The file shows in any browser what the page of 'jobflow ui' shows of a flow: graph, "
        "timeline, steps, and of each\n"
        "step why it is in its state, its attempts, pods, spec, events, and the end of its "
        "log. It needs no server and\n"
        "no other file, sends no request, and does not follow the flow. Printed, or without "
        "script, it is text and\n"
        "pictures. Secrets and ConfigMaps are not in it; what programs wrote into their logs "
        "is, and so are the specs\n"
        "of jobs unless --no-spec is given. SOURCE_DATE_EPOCH replaces the time that it "
        "names.",
    .examples = "  jobflow report jf/pipeline -o pipeline.html\n"
                "  jobflow report jf/pipeline -o pipeline.html --logs all --tail 1Mi\n"
                "  jobflow report jf/monday jf/tuesday -o both.html --no-spec",
    .flags = flags,
    .options_size = sizeof(struct report_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
