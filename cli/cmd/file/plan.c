/*
 * The command `jobflow plan`: prints the result of plan_make as text, YAML or JSON.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "api/types/text/yaml.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/serve_values.h"
#include "cli/engine/engine.h"
#include "cli/manifest/environment.h"
#include "cli/manifest/parameters.h"
#include "cli/preflight/fit.h"
#include "cli/preflight/plan.h"
#include "view/table_print.h"

enum { VALUE_COLUMNS = 60 };

struct plan_command {
    struct client_endpoint endpoint;
    const char *namespace, *output;
    struct flag_list parameters;
    const char *node_resources, *devices;
    const char *from, *only;
    int64_t max_pods;
    bool sim, retry_failed, only_changed;
    struct environment_flags environment;
};

static const char *const outputs[] = {"text", "yaml", "json", NULL};

#define PLAN(member) offsetof(struct plan_command, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE, "output",    'o', "FORM", "form of the plan; yaml prints the jobs of all steps; default: text", PLAN(output), outputs},
    {FLAG_INT,    "max-pods",  'j', "N",    "pods running at once; default: one per CPU, at least 8", PLAN(max_pods), .min = 1, .max = 100000},
    {FLAG_STR,    "node-resources", 0, "LIST", "what pods may use of this machine, like cpu=4,memory=8Gi,nvidia.com/gpu=2; default: all its CPUs and memory", PLAN(node_resources), .check = check_node_resources},
    DEVICES_FLAG(PLAN(devices)),
    {FLAG_STR,    "from",      0,   "STEPS", "tell what 'run --from' would do to each step", PLAN(from)},
    {FLAG_STR,    "only",      0,   "STEPS", "tell what 'run --only' would do to each step", PLAN(only)},
    {FLAG_BOOL,   "retry-failed", 0, NULL,  "tell what 'run --retry-failed' would do to each step", PLAN(retry_failed)},
    {FLAG_BOOL,   "only-changed", 0, NULL,  "tell what 'run --only-changed' would reuse", PLAN(only_changed)},
    {FLAG_BOOL,   "sim",       0,   NULL,   "for --runtime sim: containers need no command, everything has room", PLAN(sim)},
    PARAMETER_FLAG(PLAN(parameters)),
    {FLAG_LIST,   "env",       'e', "NAME[=VALUE]", "tell what a run with this variable would reuse; may be given several times", PLAN(environment.variables)},
    {FLAG_LIST,   "env-file",  0,   "FILE", "the same of a file with such variables", PLAN(environment.files)},
    {FLAG_BOOL,   "inherit-env", 0, NULL,  "changes nothing: variables of this environment decide no reuse", PLAN(environment.inherit)},
    {FLAG_STR,    "namespace", 'n', "NAME", "namespace of objects that name none; default: that of the kubeconfig, or default", PLAN(namespace)},
    CLIENT_ENDPOINT_FLAGS(PLAN(endpoint)),
    {0},
};
/* clang-format on */

static const struct plan_command defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .output = "text"};

static void write_value(const json_t *value, struct buf *out)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    buf_str_short(out, text ? text : "(nothing)", VALUE_COLUMNS);
    free(text);
}

static void print_changes(const json_t *object, const struct term *term)
{
    size_t i;
    json_t *change;

    json_array_foreach(json_object_get(object, "changes"), i, change)
    {
        scoped(buf) struct buf from = {0}, to = {0};

        if (!json_object_get(change, "from") && !json_object_get(change, "to")) {
            printf("    %s: changed\n", doc_text(change, "path")); /* a value of a Secret */
            continue;
        }
        write_value(json_object_get(change, "from"), &from);
        write_value(json_object_get(change, "to"), &to);
        printf("    %s: %s %s %s\n", doc_text(change, "path"), from.data, term->utf8 ? "→" : "->",
               to.data);
    }
}

static void print_objects(const json_t *plan, const struct term *term)
{
    static const struct {
        const char *action, *sign;
        enum color color;
    } rows[] = {
        {"create", "+", COLOR_GREEN}, {"change", "~", COLOR_YELLOW}, {"keep", "=", COLOR_DIM}};
    size_t i;
    json_t *object;

    json_array_foreach(json_object_get(plan, "objects"), i, object)
    {
        const char *ns = doc_text(object, "namespace");

        for (size_t r = 0; r < countof(rows); r++)
            if (strcmp(rows[r].action, doc_text(object, "action")) == 0)
                printf("%s%s %s %s%s%s%s\n", term_color(term, rows[r].color), rows[r].sign,
                       doc_text(object, "kind"), ns ? ns : "", ns && *ns ? "/" : "",
                       doc_text(object, "name"), term_reset(term));
        print_changes(object, term);
        if (doc_text(object, "refused"))
            printf("    %s! %s: %s%s\n", term_color(term, COLOR_RED),
                   json_object_get(object, "begunAnewByRun")
                       ? "run begins it anew, apply would be refused"
                       : "this would be refused",
                   doc_text(object, "refused"), term_reset(term));
        if (doc_text(object, "problem"))
            printf("    ! %s\n", doc_text(object, "problem"));
    }
}

static char *names_of(const json_t *list)
{
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *name;

    json_array_foreach(list, i, name)
        buf_printf(&text, "%s%s", i ? ", " : "", json_string_value(name));
    return buf_take(&text);
}

static const char *text_or_empty(const json_t *object, const char *path)
{
    const char *text = doc_text(object, path);

    return text ? text : "";
}

/* Prints the pinned templates of a flow. It keeps running with these versions even after the
 * templates change. */
static void print_pinned(const json_t *flow, const struct term *term)
{
    size_t i;
    json_t *template;

    json_array_foreach(json_object_get(flow, "templates"), i, template)
    {
        const char *state = json_object_get(template, "gone")
                                ? "gone since, the flow goes on without it"
                            : json_object_get(template, "changes")
                                ? "the flow goes on without what has changed since:"
                                : "unchanged since";

        printf("  pinned: template %s as of version %s; %s\n", doc_text(template, "name"),
               text_or_empty(template, "version"), state);
        print_changes(template, term);
    }
}

static void print_flow(const json_t *flow, const struct term *term)
{
    static const char *const titles[] = {"STAGE", "STEP", "TEMPLATE", "NEEDS",
                                         "AFTER", "HAS",  "THEN"};
    const json_t *steps = json_object_get(flow, "steps");
    scoped(table_print) struct table_print table = {0};
    bool again = json_object_get(json_array_get(steps, 0), "then") != NULL;
    size_t columns = countof(titles) - !again;
    size_t n = json_array_size(steps), i;
    char **cells = mem_array(n * columns + 1, sizeof *cells);
    json_t *step, *problem;

    printf("\nFlow %s/%s, %zu step%s:\n", doc_text(flow, "namespace"), doc_text(flow, "name"), n,
           n == 1 ? "" : "s");
    table_print_init(&table, stdout, &(struct table_print_options){.indent = "  "});
    table_print_columns(&table, titles, columns);
    json_array_foreach(steps, i, step)
    {
        char **row = cells + i * columns;

        row[0] =
            mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(step, "stage")));
        row[1] = mem_strdup(doc_text(step, "name"));
        row[2] = mem_strdup(text_or_empty(step, "template"));
        row[3] = mem_strdup(text_or_empty(step, "needs"));
        row[4] = names_of(json_object_get(step, "after"));
        row[5] = mem_strdup(text_or_empty(step, "marks"));
        if (columns == countof(titles))
            row[6] = mem_strdup(text_or_empty(step, "then"));
    }
    table_print_rows(&table, cells, n);
    for (size_t c = 0; c < n * columns; c++)
        mem_free(cells[c]);
    mem_free(cells);
    json_array_foreach(steps, i, step)
    {
        if (doc_text(step, "problem"))
            printf("  ! %s %s\n", doc_text(step, "name"), doc_text(step, "problem"));
    }
    json_array_foreach(json_object_get(flow, "problems"), i, problem)
        printf("  ! %s: %s\n", doc_text(problem, "path"), doc_text(problem, "message"));
    print_pinned(flow, term);
}

static void print_text(const struct plan_command *options, const struct fit *fit,
                       const json_t *plan)
{
    struct term term;
    scoped(buf) struct buf room = {0};
    size_t i;
    json_t *flow;

    term_look(&term, stdout);
    print_objects(plan, &term);
    json_array_foreach(json_object_get(plan, "flows"), i, flow) print_flow(flow, &term);
    if (options->sim || i == 0)
        return;
    fit_write(fit, fit_room(fit), &room);
    printf("\nThis machine runs at once: %s.\n", room.data);
}

static void print_jobs(const json_t *plan)
{
    size_t i, k, printed = 0;
    json_t *flow, *step;

    json_array_foreach(json_object_get(plan, "flows"), i, flow)
    {
        json_array_foreach(json_object_get(flow, "steps"), k, step)
        {
            const json_t *job = json_object_get(step, "job");
            scoped(buf) struct buf text = {0};

            if (!job)
                continue;
            yaml_write(job, &text);
            printf("%s%s", printed++ ? "---\n" : "", text.data);
        }
    }
}

/* Checks first that the server answers: otherwise the plan would treat an unreachable server as an
 * empty store. */
static bool answers(struct client *client, struct error *err)
{
    scoped_str path = mem_printf("/apis/%s", kind_api_version(&kind_job_flow));
    scoped(json) json_t *answer = client ? client_get(client, path, err) : NULL;

    return answer != NULL;
}

/* Opens the stored state for comparison; `*out` stays NULL when there is none. A server that the
 * user did not name may be missing. */
static bool open_store(const struct client_endpoint *endpoint, struct client **out,
                       struct error *err)
{
    bool implied = client_endpoint_is_implied(endpoint);

    if (!implied && !client_endpoint_may_exist(endpoint))
        return true;
    *out = client_open_at(endpoint, CLIENT_LOOK, err);
    if (answers(*out, err))
        return true;
    if (!implied)
        return false;
    fprintf(stderr, "note: compared with nothing stored: %s\n", err->message);
    client_close(take(*out));
    return true;
}

/* Returns the machine that would run the jobs: a daemon's, unless the flags describe another. */
static struct fit *machine_of(const struct plan_command *options, struct client *client)
{
    const bool described = options->max_pods || options->node_resources || options->devices;
    struct fit *fit = options->sim || described ? NULL : fit_of_daemon(client);
    int pods = options->max_pods ? (int)options->max_pods : engine_default_pods();

    if (fit)
        return fit;
    return fit_new(&(struct fit_options){.max_pods = options->sim ? 0 : pods,
                                         .node_resources = options->node_resources,
                                         .devices = options->devices,
                                         .sim = options->sim});
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct plan_command *options = opaque;
    scoped(fit) struct fit *fit = NULL;
    scoped(manifests) struct manifests set = {.takes_submissions = true};
    scoped(client) struct client *client = NULL;
    scoped(json) json_t *plan = NULL;
    scoped(environment) struct environment environment = {0};
    struct error err = {0};
    bool refused = false;

    if (options->retry_failed + options->only_changed + !!options->from + !!options->only > 1) {
        cli_errorf("--from, --only, --retry-failed and --only-changed exclude each other: choose "
                   "one");
        return EXIT_REFUSED;
    }
    if (!manifests_load(&set, n_operands, operands) ||
        !parameters_set(&set, &options->parameters) ||
        !environment_collect(&environment, &options->environment))
        return EXIT_REFUSED;
    if (!open_store(&options->endpoint, &client, &err)) {
        cli_error(&err);
        return client ? EXIT_FAILED : client_open_failed(&err);
    }

    fit = machine_of(options, client);

    const struct plan_options how = {.namespace = client_namespace(client, options->namespace),
                                     .sim = options->sim,
                                     .fit = fit,
                                     .client = client,
                                     .is_guest = options->endpoint.token_file != NULL,
                                     .again =
                                         options->retry_failed || options->from || options->only,
                                     .only_changed = options->only_changed,
                                     .environment = environment.named,
                                     .rerun = {.from = options->from, .only = options->only}};

    plan = plan_make(&set, &how, &refused);
    if (!plan)
        return EXIT_REFUSED;
    if (strcmp(options->output, "json") == 0) {
        json_dumpf(plan, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (strcmp(options->output, "yaml") == 0) {
        print_jobs(plan);
    } else {
        print_text(options, fit, plan);
    }
    return refused ? EXIT_REFUSED : EXIT_OK;
}

const struct command cmd_plan = {
    .name = "plan",
    .operands = "FILE…",
    .summary = "Show what running or applying manifests would do, without doing it",
    .details = "Which objects would be created (+), changed (~, field by field against what is "
               "stored) or stay (=); of each flow the steps in\n"
               "the order in which they can start, the job of each after template, scheduling and "
               "patch, and what it needs of this machine;\n"
               "of steps that may be reused, whether they would be, and why the others run;\n"
               "of files for 'jobflow submit' the objects that their jobs would be;\n"
               "! marks what could never start here. Exit code 2 when admission would refuse "
               "something.",
    .examples = "  jobflow plan pipeline.yaml\n"
                "  jobflow plan pipeline.yaml -o yaml     # the jobs as they would be made\n"
                "  jobflow plan pipeline.yaml --from train  # which steps would run again\n"
                "  jobflow plan pipeline.yaml --only-changed  # which steps would be reused",
    .flags = flags,
    .options_size = sizeof(struct plan_command),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
