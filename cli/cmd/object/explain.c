/*
 * The command `jobflow explain`: prints a table of all steps, or a page about one step.
 * cli/inspect/explain.c writes the texts of a step.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/timefmt.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/inspect/describe.h"
#include "cli/inspect/explain.h"
#include "cli/inspect/flow_source.h"
#include "cli/inspect/schedule_text.h"
#include "view/condition_text.h"
#include "view/graph/graph_forms.h"
#include "view/table_print.h"

/* For a flow with more than FULL_STEPS steps, only the SHOWN_STEPS most relevant ones are printed.
 */
enum { CHAIN_MAX = 40, FULL_STEPS = 1000, SHOWN_STEPS = 50, STEPS_MAX = 50 };

struct explain_options {
    struct client_endpoint endpoint;
    const char *namespace, *output;
    bool all;
};

static const char *const outputs[] = {"text", "json", NULL};

#define EXPLAIN(member) offsetof(struct explain_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE, "output",    'o', "FORM", "form of the answer; default: text", EXPLAIN(output), outputs},
    {FLAG_BOOL,   "all",       0,   NULL,   "tell of every step of a very large flow", EXPLAIN(all)},
    {FLAG_STR,    "namespace", 'n', "NAME", "namespace of the flow; default: that of the kubeconfig, or default", EXPLAIN(namespace)},
    CLIENT_ENDPOINT_FLAGS(EXPLAIN(endpoint)),
    {0},
};
/* clang-format on */

static const struct explain_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL,
                                                .output = "text"};

struct answer {
    struct explain about;
    struct term term;
};

static void print_status(const struct answer *answer)
{
    const struct flow_view *view = answer->about.view;
    const char *phase = flow_phase_text(view->phase);
    scoped(buf) struct buf took = {0};

    printf("%s/%s is %s%s%s", view->ns, view->name,
           term_color(&answer->term, table_print_word_color(phase)), phase,
           term_reset(&answer->term));
    flow_view_took(view, answer->about.now_ms, &took);
    if (took.len)
        printf(" %s %s", flow_view_is_over(view) ? "after" : "for", took.data);
    if (view->reason || view->message)
        printf(" (%s%s%s)", view->reason ? view->reason : "",
               view->reason && view->message ? ": " : "", view->message ? view->message : "");
    putchar('\n');
}

static void print_counts(const struct answer *answer)
{
    scoped(buf) struct buf counts = {0};

    flow_view_write_counts(answer->about.view, &counts);
    printf("%s.\n", counts.data);
}

static bool is_blocked(const struct flow_view_step *step)
{
    return step->state == VIEW_BLOCKED;
}

/* Prints when the flow is expected to end, which is the latest expected end of a step, or which
 * step has no estimate. */
static void print_expected_end(const struct answer *answer)
{
    const struct flow_view *view = answer->about.view;
    scoped(buf) struct buf when = {0};
    const struct flow_view_step *unknown = NULL, *asks = NULL;
    int64_t last_ms = 0;

    if (flow_view_is_over(view))
        return;
    for (uint32_t i = 0; i < view->n_steps && !unknown; i++) {
        const struct flow_view_step *step = &view->steps[view->order[i]];

        if (flow_view_step_over(step))
            continue;
        if (flow_view_step_asks(step))
            asks = step;
        if (is_blocked(step) ||
            (step->estimated == ESTIMATE_NONE && step->template && !flow_view_step_serves(step)))
            unknown = step;
        last_ms = step->expected_end_ms > last_ms ? step->expected_end_ms : last_ms;
    }
    if (asks) {
        printf("Expected end: not known, for %s waits for approval.\n", asks->name);
        return;
    }
    if (unknown && is_blocked(unknown)) {
        printf("Expected end: not known, for %s is blocked.\n", unknown->name);
        return;
    }
    if (unknown) {
        printf("Expected end: not known, for nothing says how long %s takes (spec.runningEstimate "
               "of its template would).\n",
               unknown->name);
        return;
    }
    if (!last_ms)
        return;
    explain_when(&answer->about, last_ms, &when);
    printf("Expected end: %s.\n", when.data);
}

/* Step states in order of relevance to the user, most relevant first. */
static const enum view_state ranks[] = {
    VIEW_FAILED,  VIEW_TERMINATED, VIEW_BLOCKED, VIEW_RETRYING,  VIEW_ABORTED,
    VIEW_UNKNOWN, VIEW_NONE,       VIEW_WAITING, VIEW_COMPLETED, VIEW_SKIPPED};
enum { RANK_AT_WORK = 6 };

static size_t rank_of(const struct flow_view_step *step)
{
    for (size_t i = 0; i < countof(ranks); i++)
        if (ranks[i] == step->state)
            return i;
    return RANK_AT_WORK;
}

/* Selects at most `most` steps by rank into `out` and returns their number. */
static uint32_t choose_steps(const struct flow_view *view, uint32_t most, uint32_t *out)
{
    uint8_t *rank = mem_array((size_t)view->n_steps + 1, sizeof *rank);
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->n_steps; i++)
        rank[i] = (uint8_t)rank_of(&view->steps[i]);
    for (size_t now = 0; now < countof(ranks) && n < most; now++)
        for (uint32_t i = 0; i < view->n_steps && n < most; i++)
            if (rank[i] == now)
                out[n++] = i;
    mem_free(rank);
    return n;
}

static void print_table(struct answer *answer, const uint32_t *steps, uint32_t n)
{
    static const char *const titles[] = {"STEP", "STATE", "WHY"};
    const struct flow_view *view = answer->about.view;
    scoped(table_print) struct table_print table = {0};
    char **cells = mem_array((size_t)n * countof(titles) + 1, sizeof *cells);

    table_print_init(&table, stdout, &(struct table_print_options){0});
    table_print_columns(&table, titles, countof(titles));
    for (uint32_t i = 0; i < n; i++) {
        const struct flow_view_step *step = &view->steps[steps[i]];
        char **row = cells + (size_t)i * countof(titles);
        scoped(buf) struct buf why = {0};

        explain_step(&answer->about, steps[i], &why);
        row[0] = mem_printf("%s%s", flow_view_step_critical(step) ? "* " : "  ", step->name);
        row[1] = mem_strdup(flow_view_step_state(step));
        row[2] = buf_take(&why);
    }
    table_print_rows(&table, cells, n);
    for (size_t c = 0; c < (size_t)n * countof(titles); c++)
        mem_free(cells[c]);
    mem_free(cells);
}

static void print_steps(struct answer *answer, bool all)
{
    const struct flow_view *view = answer->about.view;
    bool full = all || view->n_steps <= FULL_STEPS;
    uint32_t *steps = mem_array((size_t)view->n_steps + 1, sizeof *steps);
    uint32_t n = full ? view->n_steps : choose_steps(view, SHOWN_STEPS, steps);

    for (uint32_t i = 0; full && i < n; i++)
        steps[i] = i;
    if (view->n_steps > FULL_STEPS)
        answer->about.client = NULL; /* a large flow gets no requests for each step */
    print_table(answer, steps, n);
    mem_free(steps);
    if (n < view->n_steps)
        printf("and %u more: --all tells of each, '%s explain jf/%s STEP' of one\n",
               view->n_steps - n, cli_program, view->name);
}

static void explain_flow(struct answer *answer, bool all)
{
    const struct graph_form form = {.view = answer->about.view,
                                    .term = &answer->term,
                                    .now_ms = answer->about.now_ms,
                                    .out = stdout};
    scoped(buf) struct buf path = {0};

    print_status(answer);
    print_counts(answer);
    print_expected_end(answer);
    putchar('\n');
    print_steps(answer, all);
    graph_legend(&form);
    explain_path(&answer->about, answer->term.utf8 ? " → " : " -> ", &path);
    fputs(path.len ? path.data : "", stdout);
}

static void print_line(const char *key, const char *text)
{
    if (text && *text)
        printf("%-10s %s\n", key, text);
}

struct chain {
    struct answer *answer;
    bool *printed; /* for each step whether it was printed, [n_steps] */
    int lines;
};

/* Prints what a step waits for, and recursively what those steps wait for; each step once. */
static void print_chain(struct chain *chain, uint32_t i, int depth)
{
    const struct flow_view *view = chain->answer->about.view;

    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        uint32_t at = view->targets.next[t];
        const struct flow_view_step *target = &view->steps[at];
        scoped(buf) struct buf why = {0};

        if (chain->printed[at] || chain->lines == CHAIN_MAX || depth == CHAIN_MAX ||
            target->state == VIEW_COMPLETED)
            continue;
        chain->printed[at] = true;
        chain->lines++;
        explain_step(&chain->answer->about, at, &why);
        printf("%*s%s is %s%s%s\n", 11 + 2 * depth, "", target->name, flow_view_step_state(target),
               why.len ? ": " : "", why.len ? why.data : "");
        print_chain(chain, at, depth + 1);
    }
}

static void print_attempts(const struct answer *answer, const struct flow_view_step *step)
{
    size_t i;
    json_t *attempt;

    json_array_foreach(json_object_get(step->node, "attempts"), i, attempt)
    {
        int64_t from = doc_time_ms(attempt, "startTime");
        int64_t to = doc_time_ms(attempt, "endTime");
        const char *reason = doc_text(attempt, "reason");
        const char *phase = doc_text(attempt, "phase");
        scoped(buf) struct buf codes = {0};
        char took[TIME_TEXT_MAX] = "";

        if (from)
            duration_human((to ? to : answer->about.now_ms) - from, took);
        explain_exit_codes(attempt, &codes);
        printf("%-10s %" JSON_INTEGER_FORMAT ": %s %s%s%s%s%s\n", i ? "" : "Attempts",
               json_integer_value(json_object_get(attempt, "attempt")), phase ? phase : "", took,
               reason ? ", " : "", reason ? reason : "", codes.len ? ", " : "",
               codes.len ? codes.data : "");
    }
}

static void print_outputs(const struct flow_view_step *step)
{
    const char *key;
    json_t *value;
    bool first = true;

    json_object_foreach(json_object_get(step->node, "outputs"), key, value)
    {
        printf("%-10s %s=%s\n", first ? "Outputs" : "", key,
               json_is_string(value) ? json_string_value(value) : "");
        first = false;
    }
}

static void print_dependents(const struct flow_view *view, uint32_t i)
{
    scoped(buf) struct buf names = {0};
    enum { SHOWN = 8 };
    uint32_t n = view->dag.first[i + 1] - view->dag.first[i];

    for (uint32_t e = 0; e < n && e < SHOWN; e++)
        buf_printf(&names, "%s%s", e ? ", " : "",
                   view->steps[view->dag.next[view->dag.first[i] + e]].name);
    if (n > SHOWN)
        buf_printf(&names, " and %u more", n - SHOWN);
    print_line("Before", names.data);
}

/* Prints the conditions of the step with the values that they compare, once there are some. */
static void print_conditions(const struct flow_view *view, const struct flow_view_step *step)
{
    const json_t *spec = flow_view_step_spec(step);
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *one;

    if (step->state == VIEW_WAITING || step->state == VIEW_NONE)
        return;
    condition_write(view, json_object_get(spec, "if"), false, &text);
    print_line("If", text.data);
    json_array_foreach(doc_at(spec, "switch.cases"), i, one)
    {
        const char *name = doc_text(one, "name");

        buf_clear(&text);
        buf_printf(&text, "%s: ", name ? name : "");
        condition_write(view, json_object_get(one, "if"), false, &text);
        print_line(i ? "" : "Cases", text.data);
    }
    buf_clear(&text);
    condition_write(view, doc_at(spec, "for.until"), false, &text);
    print_line("Until", text.len ? text.data : NULL);
}

/* Returns whether the step holds its own template, as a script or as a whole. */
static bool has_own_template(const struct flow_view_step *step)
{
    const json_t *spec = flow_view_step_spec(step);

    return json_object_get(spec, "run") || json_object_get(spec, "jobTemplate");
}

static void explain_one(struct answer *answer, uint32_t i)
{
    const struct flow_view *view = answer->about.view;
    const struct flow_view_step *step = &view->steps[i];
    struct chain chain = {.answer = answer, .printed = mem_array(view->n_steps, sizeof(bool))};
    scoped(buf) struct buf why = {0}, when = {0}, marks = {0};

    flow_view_link(answer->about.view, NULL);
    print_line("Step", step->name);
    print_line("Flow", view->name);
    printf("%-10s %s%s%s\n", "State",
           term_color(&answer->term, table_print_word_color(flow_view_step_state(step))),
           flow_view_step_state(step), term_reset(&answer->term));
    if (!has_own_template(step))
        print_line("Template", step->template);
    flow_view_step_marks(step, &marks);
    print_line("Has", marks.data);
    explain_step(&answer->about, i, &why);
    print_line("Why", why.data);
    print_conditions(view, step);
    print_chain(&chain, i, 0);
    mem_free(chain.printed);
    if (!flow_view_step_over(step) && !flow_view_step_active(step) &&
        step->expected_start_ms > answer->about.now_ms) {
        buf_str(&when, "begins ");
        explain_when(&answer->about, step->expected_start_ms, &when);
        if (step->expected_end_ms > 0) {
            buf_str(&when, ", ends ");
            explain_when(&answer->about, step->expected_end_ms, &when);
        }
        print_line("Expected", when.data);
    }
    print_attempts(answer, step);
    print_outputs(step);
    print_dependents(view, i);
    if (flow_view_step_critical(step))
        print_line("Note", "it is on the critical path");
}

static void add_why(struct answer *answer, uint32_t i, json_t *step)
{
    scoped(buf) struct buf why = {0};

    explain_step(&answer->about, i, &why);
    if (why.len)
        json_object_set_new(step, "why", json_string(why.data));
}

/* Prints the whole flow, one step, or several as a list. */
static void print_json(struct answer *answer, const uint32_t *wanted, size_t n)
{
    scoped(json) json_t *flow = NULL, *several = json_object();
    json_t *steps, *list = json_array();

    json_object_set_new(several, "steps", list);
    flow_view_link(answer->about.view, NULL);
    flow = graph_json(answer->about.view);
    steps = json_object_get(flow, "steps");
    for (uint32_t i = 0; n == 0 && i < answer->about.view->n_steps; i++)
        add_why(answer, i, json_array_get(steps, i));
    for (size_t i = 0; i < n; i++) {
        add_why(answer, wanted[i], json_array_get(steps, wanted[i]));
        json_array_append(list, json_array_get(steps, wanted[i]));
    }
    json_dumpf(n == 0 ? flow : n == 1 ? json_array_get(list, 0) : several, stdout, JSON_INDENT(2));
    putchar('\n');
}

/* Finds the steps by their names; false after printing which is unknown. */
static bool find_steps(const struct answer *answer, char **names, size_t n, uint32_t *out)
{
    struct error err = {0};

    for (size_t i = 0; i < n; i++) {
        out[i] = flow_view_find(answer->about.view, names[i]);
        if (out[i] != UINT32_MAX)
            continue;
        flow_view_no_step(answer->about.view, names[i], &err);
        cli_error(&err);
        return false;
    }
    return true;
}

static int explain(const struct explain_options *options, struct answer *answer, char **names,
                   size_t n)
{
    uint32_t steps[STEPS_MAX];

    if (!find_steps(answer, names, n, steps))
        return EXIT_FAILED;
    if (answer->about.view->phase == FLOW_NONE) {
        cli_errorf("jobflow \"%s\" has no status yet: no controller has started it",
                   answer->about.view->name);
        return EXIT_FAILED;
    }
    if (strcmp(options->output, "json") == 0)
        print_json(answer, steps, n);
    else if (n == 0)
        explain_flow(answer, options->all);
    for (size_t i = 0; strcmp(options->output, "json") != 0 && i < n; i++) {
        fputs(i ? "\n" : "", stdout);
        explain_one(answer, steps[i]);
    }
    return EXIT_OK;
}

/* A CronJob or a FlowTrigger: why it makes nothing now, in one line. */
static int explain_schedule(const struct explain_options *options, const struct resource *one)
{
    scoped(client) struct client *client = NULL;
    scoped(schedule_text) struct schedule_text schedule = {0};
    scoped(buf) struct buf path = {0}, text = {0};
    scoped(json) json_t *doc = NULL;
    struct error err = {0};
    int code = EXIT_OK;

    client = client_open_or_say(&options->endpoint, CLIENT_LOOK, &code);
    if (!client)
        return code;
    resource_write_path(one->kind, client_namespace(client, options->namespace), one->name, &path);
    doc = client_get(client, path.data, &err);
    if (!doc || !schedule_text_init(doc, &schedule, &err)) {
        cli_error(&err);
        return EXIT_FAILED;
    }
    schedule_text_why(&schedule, doc, flow_source_now_ms(), &text);
    describe_idle_schedule(client, &text);
    puts(text.data);
    return EXIT_OK;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct explain_options *options = opaque;
    struct resource one;
    const struct flow_source_options how = {.endpoint = options->endpoint,
                                            .namespace = options->namespace,
                                            .past = true,
                                            .brief = strcmp(options->output, "json") != 0 &&
                                                     !options->all};
    scoped(flow_sources) struct flow_sources sources = {0};
    scoped(flow_view) struct flow_view *view = NULL;
    struct answer answer = {0};
    int code;

    if (!strchr(operands[0], '/')) {
        cli_errorf("\"%s\" is not of the form jf/NAME: write jf/%s", operands[0],
                   kind_by_word(operands[0]) ? "NAME" : operands[0]);
        return EXIT_REFUSED;
    }
    if (resource_parse(operands[0], &one, NULL) &&
        (one.kind == &kind_cron_job || one.kind == &kind_flow_trigger))
        return explain_schedule(options, &one);
    code = flow_sources_load(&how, 1, operands, &sources);
    if (code != EXIT_OK)
        return code;
    answer.about.now_ms = flow_source_now_ms();
    view = flow_source_view(&sources.items[0], answer.about.now_ms);
    if (!view)
        return EXIT_FAILED;
    term_look(&answer.term, stdout);
    answer.about.view = view;
    answer.about.client = sources.client;
    code = explain(options, &answer, operands + 1, (size_t)n_operands - 1);
    explain_release(&answer.about);
    return code;
}

const struct command cmd_explain = {
    .name = "explain",
    .operands = "jf/NAME [STEP…] | cronvj/NAME | ft/NAME",
    .summary = "Say why each step of a flow waits, runs, was skipped or failed, and when it ends",
    .details =
        "Of one STEP: the whole chain of what it waits for, its attempts, its outputs, when "
        "it is expected to begin and end.\n"
        "Expected times come from runningEstimate of the templates or patches, else from "
        "what completed attempts and jobs\n"
        "of the same template took. Of a CronJob or FlowTrigger: when it acts next, or why not.",
    .examples = "  jobflow explain jf/pipeline\n"
                "  jobflow explain jf/pipeline report     # why has it not begun?",
    .flags = flags,
    .options_size = sizeof(struct explain_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 1 + STEPS_MAX,
    .operand_kind = "step",
    .run = run,
};
