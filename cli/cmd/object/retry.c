/*
 * The commands `jobflow retry` and `rerun`: they set annotations that ask an ended flow to run some of
 * its steps again.
 *
 * The flow controller acts on the annotations: at once in a running process, otherwise in the next
 * run (flow/manual_retry.c).
 */
#include <string.h>

#include "api/types/kinds/jobflow/record.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/resource.h"
#include "cli/client/volcano_flow.h"
#include "cli/cmd/commands.h"
#include "cli/preflight/foresight.h"
#include "view/table_print.h"

struct again_options {
    struct client_endpoint endpoint;
    const char *namespace, *from, *only;
    bool wait, dry_run;
};

#define AGAIN(member) offsetof(struct again_options, member)
/* clang-format off */
static const struct flag retry_flags[] = {
    {FLAG_STR, "namespace", 'n', "NAME", "namespace of the flow; default: that of the kubeconfig, or default", AGAIN(namespace)},
    CLIENT_ENDPOINT_FLAGS(AGAIN(endpoint)),
    {0},
};
static const struct flag rerun_flags[] = {
    {FLAG_STR,  "from",      0,   "STEPS", "run these steps (names, separated by commas) again, and all that depends on them", AGAIN(from)},
    {FLAG_STR,  "only",      0,   "STEPS", "run these steps again and nothing else", AGAIN(only)},
    {FLAG_BOOL, "dry-run",   0,   NULL,   "print what happens to each step, and change nothing", AGAIN(dry_run)},
    {FLAG_BOOL, "wait",      0,   NULL,   "wait for the end; the exit code is that of wait", AGAIN(wait)},
    {FLAG_STR,  "namespace", 'n', "NAME", "namespace of the flow; default: that of the kubeconfig, or default", AGAIN(namespace)},
    CLIENT_ENDPOINT_FLAGS(AGAIN(endpoint)),
    {0},
};
/* clang-format on */

static const struct again_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

/* A request to one flow. */
struct again {
    struct client *client;
    const char *ns, *name;
    struct flow_rerun rerun;
    bool retry; /* only what has failed may begin again */
};

/* Returns the phase of a step in a flow's status; NULL when the status does not list it. */
static const char *phase_of_step(const json_t *flow, const char *name)
{
    const json_t *node;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(flow, "status"), "nodes"), i, node)
    {
        if (strcmp(doc_text(node, "name") ? doc_text(node, "name") : "", name) == 0)
            return doc_text(node, "phase");
    }
    return NULL;
}

/* Checks that the steps to retry have failed. */
static bool check_steps_failed(const struct again *again, const json_t *flow, struct error *err)
{
    const char *at = again->rerun.from, *name;
    size_t len;

    while (at && flow_rerun_next_name(&at, &name, &len)) {
        scoped_str step = mem_printf("%.*s", (int)len, name);
        const char *phase = phase_of_step(flow, step);

        if (phase && strcmp(phase, "Failed") != 0 && strcmp(phase, "Terminated") != 0)
            return error_set(err, ERR_CONFLICT, "",
                             "step %s of %s is %s: only a step that has failed can be retried; "
                             "'%s rerun jf/%s --only %s' runs it again",
                             step, again->name, phase, cli_program, again->name, step);
    }
    return true;
}

static bool check_failed(const struct again *again, const json_t *flow, struct error *err)
{
    const char *phase = doc_text(flow, "status.state.phase");

    if (!phase || strcmp(phase, flow_phase_text(FLOW_FAILED)) != 0)
        return error_set(err, ERR_CONFLICT, "",
                         "jobflow \"%s\" is %s: only a flow that has failed can be retried",
                         again->name, phase && *phase ? phase : "not begun");
    return check_steps_failed(again, flow, err);
}

static bool ask(const struct again *again, struct error *err)
{
    scoped(buf) struct buf path = {0};
    scoped(client_call) struct client_call call = {.method = "PATCH",
                                                   .content_type = "application/merge-patch+json"};
    char value[CLOCK_UUID_LEN + 1];
    scoped(json) json_t *patch = NULL;
    char *text;
    bool done;

    resource_write_path(&kind_job_flow, again->ns, again->name, &path);
    clock_uuid(clock_real(), value);
    patch = json_pack("{s:{s:{s:s, s:s?, s:s?, s:n, s:n}}}", "metadata", "annotations",
                      ANNOTATION_FLOW_RETRY, value, ANNOTATION_FLOW_RETRY_FROM, again->rerun.from,
                      ANNOTATION_FLOW_RETRY_ONLY, again->rerun.only, ANNOTATION_FLOW_RETRY_EDITED,
                      ANNOTATION_FLOW_ABORT);
    text = json_dumps(patch, JSON_COMPACT);
    call.target = path.data;
    call.body = text;
    call.body_len = strlen(text);
    done = client_do(again->client, &call, err);
    free(text);
    return done;
}

/* Prints what the request does to the steps of the flow. */
static bool look_ahead(const struct again *again, const struct object *flow,
                       struct foresight *foresight, struct error *err)
{
    struct flow_rerun rerun = again->rerun;

    rerun.edited = "";
    return foresee(flow, flow, &rerun, foresight, err);
}

static void print_fates(const struct object *flow, const struct foresight *foresight)
{
    static const char *const titles[] = {"STEP", "THEN"};
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    scoped(table_print) struct table_print table = {0};
    char **cells = mem_array(foresight->count * 2 + 1, sizeof *cells);

    for (size_t i = 0; i < foresight->count; i++) {
        cells[2 * i] = mem_strdup(spec->steps.items[i].name);
        cells[2 * i + 1] = foresight_text(foresight, i);
    }
    table_print_init(&table, stdout, &(struct table_print_options){0});
    table_print_columns(&table, titles, countof(titles));
    table_print_rows(&table, cells, foresight->count);
    for (size_t i = 0; i < foresight->count * 2; i++)
        mem_free(cells[i]);
    mem_free(cells);
}

static void print_asked(const struct again *again, const struct object *flow,
                        const struct foresight *foresight)
{
    scoped(buf) struct buf text = {0}, failures = {0};
    bool live = client_is_live(again->client);

    resource_write_name(&kind_job_flow, again->name, &text);
    if (!flow_rerun_is_selective(&again->rerun)) {
        printf("%s %s\n", text.data,
               live ? "retried" : "is retried by the next 'jobflow run' of its file");
        return;
    }
    buf_str(&text,
            live ? " runs again: " : " runs again with the next 'jobflow run' of its file: ");
    foresight_write(foresight, &text);
    puts(text.data);
    foresight_write_failures(foresight, flow, &failures);
    if (failures.len)
        fprintf(stderr, "note: %s\n", failures.data);
}

static bool is_no_record(const struct object *flow, struct error *err)
{
    const char *series = meta_label(flow->meta, LABEL_FLOW_SERIES);

    return !jobflow_is_record(flow) ||
           error_set(
               err, ERR_CONFLICT, "",
               "%s is the record of an earlier run of jf/%s: only the last run can be run again",
               object_name(flow), series ? series : "");
}

/* Asks one flow, or only tells what it would do. */
static bool run_again(const struct again *again, bool dry_run, struct error *err)
{
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *doc = NULL;
    scoped(foresight) struct foresight foresight = {0};
    struct error_list errors = {0};
    struct object *flow = NULL;
    bool ok;

    resource_write_path(&kind_job_flow, again->ns, again->name, &path);
    doc = client_get(again->client, path.data, err);
    if (!doc || (again->retry && !check_failed(again, doc, err)))
        return false;
    flow = object_from_json(doc, &errors);
    ok = flow ? is_no_record(flow, err) : error_list_ok(&errors, err);
    ok = ok && look_ahead(again, flow, &foresight, err) && (dry_run || ask(again, err));
    if (ok && dry_run)
        print_fates(flow, &foresight);
    else if (ok)
        print_asked(again, flow, &foresight);
    if (ok && !dry_run)
        volcano_flow_note(doc);
    error_list_release(&errors);
    object_unref(flow);
    return ok;
}

/* Asks the flows one after the other. */
static int run_all(const struct again_options *options, const struct resources *flows,
                   const struct flow_rerun *rerun, bool retry)
{
    scoped(client) struct client *client = NULL;
    struct error err = {0};
    int code = EXIT_OK;

    client = client_open_or_say(&options->endpoint, options->dry_run ? CLIENT_LOOK : CLIENT_CHANGE,
                                &code);
    if (!client)
        return code;
    for (size_t i = 0; i < flows->count; i++) {
        const struct again again = {client, client_namespace(client, options->namespace),
                                    flows->items[i].name, *rerun, retry};

        err = (struct error){0};
        if (run_again(&again, options->dry_run, &err))
            continue;
        cli_error(&err);
        code = EXIT_FAILED;
    }
    return code;
}

static bool parse(int n, char **words, const char *verb, struct resources *out, struct error *err)
{
    if (!resources_parse(n, words, out, err))
        return strchr(words[0], '/') ? false
                                     : error_set(err, ERR_BAD_REQUEST, "",
                                                 "\"%s\" is not of the form jf/NAME: write jf/%s",
                                                 words[0], words[0]);
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].kind != &kind_job_flow || !out->items[i].name)
            return error_set(err, ERR_BAD_REQUEST, "",
                             "only flows can be run again: name them, as in '%s %s jf/NAME'",
                             cli_program, verb);
    return true;
}

/* Returns the steps of "jf/NAME STEP…" as a list, or NULL when no step is named. Owned. */
static char *steps_named(int n, char **words)
{
    scoped(buf) struct buf list = {0};

    if (n < 2 || !strchr(words[0], '/') || strchr(words[1], '/'))
        return NULL;
    for (int i = 1; i < n; i++)
        buf_printf(&list, "%s%s", i > 1 ? "," : "", words[i]);
    return buf_take(&list);
}

static int retry(const void *opaque, int n_operands, char **operands)
{
    scoped(resources) struct resources flows = {0};
    scoped_str steps = steps_named(n_operands, operands);
    const struct flow_rerun rerun = {.from = steps};
    struct error err = {0};

    if (!parse(steps ? 1 : n_operands, operands, "retry", &flows, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    return run_all(opaque, &flows, &rerun, true);
}

static int rerun(const void *opaque, int n_operands, char **operands)
{
    const struct again_options *options = opaque;
    const struct flow_rerun rerun = {.from = options->from, .only = options->only};
    scoped(resources) struct resources flows = {0};
    struct error err = {0};
    int code;

    if (!options->from == !options->only) {
        cli_errorf("%s",
                   options->from
                       ? "--from runs what depends on the steps, too, and --only runs the "
                         "steps alone: choose one"
                       : "say which steps run again: --from STEP runs what depends on it, too, "
                         "--only STEP does not");
        return EXIT_REFUSED;
    }
    if (!parse(n_operands, operands, "rerun", &flows, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    code = run_all(options, &flows, &rerun, false);
    return code == EXIT_OK && options->wait && !options->dry_run
               ? wait_for_the_end(&options->endpoint, options->namespace, n_operands, operands)
               : code;
}

const struct command cmd_retry = {
    .name = "retry",
    .operands = "jf/NAME… | jf/NAME STEP…",
    .summary = "Run the failed and never-run steps of failed flows again, keep completed ones",
    .details = "The jobs of failed steps are removed and made again with the same names; each "
               "attempt stays in the flow's record. With\n"
               "STEP, only these failed steps begin again, with all that depends on them; other "
               "failures stay. Without a process at\n"
               "work in the data directory, the next run goes on with the flow.",
    .examples = "  jobflow retry jf/pipeline\n"
                "  jobflow retry jf/pipeline train   # this failed step alone",
    .flags = retry_flags,
    .options_size = sizeof(struct again_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "step",
    .run = retry,
};

const struct command cmd_rerun = {
    .name = "rerun",
    .operands = "jf/NAME…",
    .summary = "Run named steps of a flow that has ended again, keep the others",
    .details =
        "The jobs of the steps are removed and made again; conditions and loops among them are "
        "decided anew, and final steps always\n"
        "run again. Everything else keeps its result, a failure as well: the flow then fails "
        "again. "
        "Works for flows that failed and\n"
        "for flows that succeeded. Without a process at work in the data directory, the next run "
        "goes on with the flow.",
    .examples =
        "  jobflow rerun jf/pipeline --from train            # train, and what depends on it\n"
        "  jobflow rerun jf/pipeline --only report --wait    # this step alone\n"
        "  jobflow rerun jf/pipeline --from train --dry-run  # what would happen",
    .flags = rerun_flags,
    .options_size = sizeof(struct again_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = rerun,
};
