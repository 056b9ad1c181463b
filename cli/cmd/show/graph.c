/*
 * The command `jobflow graph`: loads flows and passes each to the requested output form
 * (graph_forms.h).
 */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/show/graph_trace.h"
#include "cli/cmd/show/report_write.h"
#include "cli/inspect/flow_source.h"
#include "view/graph/graph_forms.h"

enum { PAGE_COLUMNS = 160 }; /* page width without a terminal */

struct graph_options {
    struct client_endpoint endpoint;
    const char *namespace, *output;
    bool no_state, ascii, gzip, positions;
};

static const char *const outputs[] = {"text", "dot",     "svg",   "json",
                                      "html", "columns", "trace", NULL};

#define GRAPH(member) offsetof(struct graph_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE, "output",    'o', "FORM", "form of the graph; default: text", GRAPH(output), outputs},
    {FLAG_BOOL,   "no-state",  0,   NULL,   "of flows in files: without the states of a stored flow of the same name", GRAPH(no_state)},
    {FLAG_BOOL,   "ascii",     0,   NULL,   "draw with ASCII letters only", GRAPH(ascii)},
    {FLAG_BOOL,   "gzip",      0,   NULL,   "with -o trace: compress it", GRAPH(gzip)},
    {FLAG_BOOL,   "positions", 0,   NULL,   "with -o json: add where boxes and lines are drawn", GRAPH(positions)},
    {FLAG_STR,    "namespace", 'n', "NAME", "namespace of the flow; default: that of the kubeconfig, or default", GRAPH(namespace)},
    CLIENT_ENDPOINT_FLAGS(GRAPH(endpoint)),
    {0},
};
/* clang-format on */

static const struct graph_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .output = "text"};

/* Prints a heading when there are several flows or the flow has a status. */
static void print_heading(const struct graph_form *form, const struct flow_sources *sources,
                          size_t i)
{
    const struct flow_view *view = form->view;
    scoped(buf) struct buf counts = {0};

    if (i)
        fputc('\n', form->out);
    if (sources->count == 1 && view->phase == FLOW_NONE)
        return;
    fprintf(form->out, "%s%s%s", term_color(form->term, COLOR_BOLD), view->name,
            term_reset(form->term));
    flow_view_write_counts(view, &counts);
    if (view->phase != FLOW_NONE)
        fprintf(form->out, ": %s, %s", flow_phase_text(view->phase), counts.data);
    fputs("\n\n", form->out);
}

static bool print_one(const struct graph_options *options, const struct flow_sources *sources,
                      size_t i, const struct graph_form *form)
{
    struct error err = {0};

    if (strcmp(options->output, "dot") == 0) {
        graph_dot(form);
    } else if (strcmp(options->output, "svg") == 0) {
        if (graph_svg(form, &err))
            return true;
        cli_error(&err);
        return false;
    } else {
        print_heading(form, sources, i);
        graph_text(form);
        graph_legend(form);
    }
    return true;
}

static void print_json(json_t *flows)
{
    scoped(json) json_t *all = json_pack("{s:o}", "flows", flows);

    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
}

static json_t *flow_json(const struct graph_options *options, const struct flow_view *view)
{
    json_t *flow = graph_json(view);

    if (options->positions)
        graph_positions(view, flow);
    return flow;
}

/* Prints the columns of the one flow. */
static int print_columns(struct flow_sources *sources)
{
    scoped(flow_view) struct flow_view *view =
        flow_source_view(&sources->items[0], flow_source_now_ms());
    scoped(buf) struct buf out = {0};
    struct error err = {0};

    if (!view)
        return sources->items[0].manifest ? EXIT_REFUSED : EXIT_FAILED;
    if (!flow_view_link(view, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    graph_columns(view, &out);
    fwrite(out.data, 1, out.len, stdout);
    return EXIT_OK;
}

static int print_all(const struct graph_options *options, const struct flow_sources *sources)
{
    int64_t now_ms = flow_source_now_ms();
    bool as_json = strcmp(options->output, "json") == 0;
    json_t *flows = as_json ? json_array() : NULL;
    struct term term;
    int code = EXIT_OK;

    term_look(&term, stdout);
    term.utf8 = term.utf8 && !options->ascii;
    for (size_t i = 0; i < sources->count; i++) {
        scoped(flow_view) struct flow_view *view = flow_source_view(&sources->items[i], now_ms);
        const struct graph_form form = {.view = view,
                                        .term = &term,
                                        .columns = term.is_tty ? term.columns : PAGE_COLUMNS,
                                        .now_ms = now_ms,
                                        .out = stdout};

        if (!view)
            code = sources->items[i].manifest ? EXIT_REFUSED : EXIT_FAILED;
        else if (as_json)
            json_array_append_new(flows, flow_json(options, view));
        else if (!print_one(options, sources, i, &form))
            code = EXIT_FAILED;
    }
    if (as_json)
        print_json(flows);
    return code;
}

static bool is_columns(const char *output)
{
    return strcmp(output, "columns") == 0;
}

/* Returns what a form that shows one flow says of several; NULL for the other forms. */
static const char *only_one(const char *output)
{
    return strcmp(output, "svg") == 0     ? "a picture"
           : strcmp(output, "trace") == 0 ? "a trace"
           : is_columns(output)           ? "a file of columns"
                                          : NULL;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct graph_options *options = opaque;
    const struct flow_source_options how = {.endpoint = options->endpoint,
                                            .namespace = options->namespace,
                                            .states = !options->no_state,
                                            .past = true,
                                            .brief = is_columns(options->output)};
    scoped(flow_sources) struct flow_sources sources = {0};
    int code;

    if (options->gzip && strcmp(options->output, "trace") != 0) {
        cli_errorf("--gzip goes with -o trace");
        return EXIT_REFUSED;
    }
    if (options->positions && strcmp(options->output, "json") != 0) {
        cli_errorf("--positions goes with -o json");
        return EXIT_REFUSED;
    }
    code = flow_sources_load(&how, n_operands, operands, &sources);
    if (code != EXIT_OK)
        return code;
    if (only_one(options->output) && sources.count > 1) {
        cli_errorf("%s shows one flow, these are %zu", only_one(options->output), sources.count);
        return EXIT_REFUSED;
    }
    if (strcmp(options->output, "html") == 0)
        return report_write(
            &(struct report_request){.output = "-", .logs = "none", .specs = REPORT_WITH_SPECS},
            &sources);
    if (strcmp(options->output, "trace") == 0)
        return graph_trace(&sources, options->gzip);
    if (is_columns(options->output))
        return print_columns(&sources);
    return print_all(options, &sources);
}

const struct command cmd_graph = {
    .name = "graph",
    .operands = "FILE… | jf/NAME",
    .summary = "Draw the steps of a flow and what waits for what",
    .details =
        "A flow that is stored is drawn with the states and times of its steps, and so is one in a "
        "file when the data directory\n"
        "has a flow of its name. The steps of the critical path are marked with *: of a flow that "
        "has ended the chain that\n"
        "decided its length, else the longest expected one, from runningEstimate of the templates "
        "or from what completed\n"
        "jobs of them took. What is too wide for the terminal is shown as a table.\n"
        "\n"
        "-o trace writes when the attempts and pods of a stored flow waited and ran. Perfetto's "
        "page "
        "and\n"
        "chrome://tracing open it. Stored times are whole seconds.\n"
        "-o html writes what 'jobflow report' does, without logs.\n"
        "-o columns writes arrays of numbers for programs that read large flows, such as the page.",
    .examples = "  jobflow graph pipeline.yaml\n"
                "  jobflow graph jf/pipeline\n"
                "  jobflow graph pipeline.yaml -o svg > pipeline.svg\n"
                "  jobflow graph pipeline.yaml -o dot | dot -Tpng > pipeline.png\n"
                "  jobflow graph jf/pipeline -o trace > pipeline.json",
    .flags = flags,
    .options_size = sizeof(struct graph_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
