/*
 * The command `jobflow history`: lists the runs of a flow, the last one first, or without a name the
 * last run of every flow.
 *
 * The runs are the flow itself, the records of its earlier runs, and flows that were made of the same
 * metadata.generateName.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/jobflow/record.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/client.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "view/table_print.h"

struct history_options {
    struct client_endpoint endpoint;
    const char *namespace, *output;
};

static const char *const outputs[] = {"table", "name", "json", NULL};

#define HISTORY(member) offsetof(struct history_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE, "output",    'o', "FORM", "form of the list; default: table", HISTORY(output), outputs},
    {FLAG_STR,    "namespace", 'n', "NAME", "namespace of the flow; default: that of the kubeconfig, or default", HISTORY(namespace)},
    CLIENT_ENDPOINT_FLAGS(HISTORY(endpoint)),
    {0},
};
/* clang-format on */

static const struct history_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL,
                                                .output = "table"};

struct runs {
    const char *name; /* name of the flow, or its generateName with or without the last dash; NULL:
                       * all flows */
    json_t **items;   /* documents, [count]; references */
    size_t count, cap;
};

static bool is_run_of(const json_t *flow, const char *name)
{
    const json_t *metadata = json_object_get(flow, "metadata");
    const json_t *labels = json_object_get(metadata, "labels");
    const char *series = json_string_value(json_object_get(labels, LABEL_FLOW_SERIES));
    const char *own = json_string_value(json_object_get(metadata, "name"));
    const char *prefix = json_string_value(json_object_get(metadata, "generateName"));
    size_t len = strlen(name);

    if ((own && strcmp(own, name) == 0) || (series && strcmp(series, name) == 0))
        return true;
    return prefix && strncmp(prefix, name, len) == 0 &&
           (!prefix[len] || strcmp(prefix + len, "-") == 0);
}

static bool take_run(void *ctx, json_t *flow)
{
    struct runs *runs = ctx;

    if (!runs->name || is_run_of(flow, runs->name)) {
        mem_grow(runs->items, runs->count, runs->cap);
        runs->items[runs->count++] = json_incref(flow);
    }
    return true;
}

static const char *text_at(const json_t *flow, const char *path)
{
    const char *text = doc_text(flow, path);

    return text ? text : "";
}

/* Orders runs, the newest first. A record comes after the flow, also when both were made in one
 * second. */
static int compare_runs(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int order =
        strcmp(text_at(y, "metadata.creationTimestamp"), text_at(x, "metadata.creationTimestamp"));

    if (!order)
        order = (int)strlen(text_at(x, "metadata.name")) - (int)strlen(text_at(y, "metadata.name"));
    return order ? order : strcmp(text_at(x, "metadata.name"), text_at(y, "metadata.name"));
}

/* Returns the cell STEPS (completed/all) of a flow that Volcano's own controller runs. Its status has
 * no counts of steps, but lists the jobs that have completed. Owned. */
static char *steps_listed(const json_t *flow)
{
    return mem_printf("%zu/%zu", json_array_size(doc_at(flow, "status.completedJobs")),
                      json_array_size(doc_at(flow, "spec.flows")));
}

static char *steps_of(const json_t *flow)
{
    const json_t *counts = doc_at(flow, "status.stepCounts");
    const json_t *total = json_object_get(counts, "steps");
    const json_t *done = json_object_get(counts, "completedSteps");

    if (!counts)
        return steps_listed(flow);
    if (!total) {
        total = json_object_get(counts, "total");
        done = json_object_get(counts, "completed");
    }
    return mem_printf("%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT, json_integer_value(done),
                      json_integer_value(total));
}

/* Fills the cells of a run behind its name. */
static void fill_cells(const json_t *flow, char **cells)
{
    cells[0] = mem_strdup(text_at(flow, "status.state.phase"));
    cells[1] = steps_of(flow);
    cells[2] = mem_strdup(text_at(flow, "status.startTime"));
    cells[3] = mem_strdup(text_at(flow, "status.duration"));
}

/* Prints rows of cells, [rows * n_titles], and frees them. */
static void print_cells(const char *const *titles, size_t n_titles, char **cells, size_t rows)
{
    scoped(table_print) struct table_print table = {0};

    table_print_init(&table, stdout, &(struct table_print_options){0});
    table_print_columns(&table, titles, n_titles);
    table_print_rows(&table, cells, rows);
    for (size_t i = 0; i < rows * n_titles; i++)
        mem_free(cells[i]);
    mem_free(cells);
}

static void print_table(const struct runs *runs)
{
    static const char *const titles[] = {"NAME", "STATUS", "STEPS", "STARTED", "DURATION"};
    char **cells = mem_array(runs->count * countof(titles) + 1, sizeof *cells);

    for (size_t i = 0; i < runs->count; i++) {
        cells[i * countof(titles)] = mem_strdup(text_at(runs->items[i], "metadata.name"));
        fill_cells(runs->items[i], cells + i * countof(titles) + 1);
    }
    print_cells(titles, countof(titles), cells, runs->count);
}

/* Returns the name under which `history NAME` lists the runs of a flow: that of the flow, or its
 * generateName without the last dash. Owned. */
static char *series_of(const json_t *flow)
{
    const json_t *labels = doc_at(flow, "metadata.labels");
    const char *series = json_string_value(json_object_get(labels, LABEL_FLOW_SERIES));
    const char *prefix = doc_text(flow, "metadata.generateName");
    size_t len = prefix ? strlen(prefix) : 0;

    if (series && *series)
        return mem_strdup(series);
    if (len > 1)
        return mem_printf("%.*s", (int)(len - (prefix[len - 1] == '-')), prefix);
    return mem_strdup(text_at(flow, "metadata.name"));
}

/* One row of the list of all flows. */
struct series {
    char *name;
    const json_t *last; /* its last run, borrowed */
    size_t runs;
    UT_hash_handle hh;
};

/* Prints a line for the last run of every flow. The runs are ordered, the newest first. */
static void print_all(const struct runs *runs)
{
    static const char *const titles[] = {"NAME", "RUNS", "STATUS", "STEPS", "STARTED", "DURATION"};
    struct series *all = NULL, *one, *next;
    char **cells;
    size_t rows = 0;

    for (size_t i = 0; i < runs->count; i++) {
        scoped_str name = series_of(runs->items[i]);

        HASH_FIND_STR(all, name, one);
        if (!one) {
            one = mem_alloc(sizeof *one);
            one->name = take(name);
            one->last = runs->items[i];
            HASH_ADD_KEYPTR(hh, all, one->name, strlen(one->name), one);
        }
        one->runs++;
    }
    cells = mem_array(HASH_COUNT(all) * countof(titles) + 1, sizeof *cells);
    HASH_ITER(hh, all, one, next)
    {
        char **row = cells + rows++ * countof(titles);

        row[0] = one->name;
        row[1] = mem_printf("%zu", one->runs);
        fill_cells(one->last, row + 2);
        HASH_DEL(all, one);
        mem_free(one);
    }
    print_cells(titles, countof(titles), cells, rows);
}

static void print_json(const struct runs *runs)
{
    scoped(json) json_t *list =
        json_pack("{s:s, s:s, s:[]}", "apiVersion", "v1", "kind", "List", "items");

    for (size_t i = 0; i < runs->count; i++)
        json_array_append(json_object_get(list, "items"), runs->items[i]);
    json_dumpf(list, stdout, JSON_INDENT(2));
    putchar('\n');
}

static void print_runs(const struct history_options *options, const struct runs *runs)
{
    if (strcmp(options->output, "json") == 0) {
        print_json(runs);
    } else if (strcmp(options->output, "name") == 0) {
        for (size_t i = 0; i < runs->count; i++)
            printf("jobflow.flow.volcano.sh/%s\n", text_at(runs->items[i], "metadata.name"));
    } else if (runs->name) {
        print_table(runs);
    } else {
        print_all(runs);
    }
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct history_options *options = opaque;
    const char *slash = n_operands ? strchr(operands[0], '/') : NULL;
    struct runs runs = {.name = slash ? slash + 1 : n_operands ? operands[0] : NULL};
    scoped(client) struct client *client = NULL;
    struct list_query query = {.kind = &kind_job_flow};
    struct error err = {0};
    int code = EXIT_FAILED;

    client = client_open_or_say(&options->endpoint, CLIENT_LOOK, &code);
    if (!client)
        return code;
    query.ns = client_namespace(client, options->namespace);
    if (!list_each(client, &query, take_run, &runs, NULL, &err)) {
        cli_error(&err);
    } else if (!runs.count && !runs.name) {
        cli_errorf("no flow has run here");
    } else if (!runs.count) {
        cli_errorf("no run of %s is known; '%s history' lists the flows that have run", runs.name,
                   cli_program);
    } else {
        qsort(runs.items, runs.count, sizeof *runs.items, compare_runs);
        print_runs(options, &runs);
        code = EXIT_OK;
    }
    for (size_t i = 0; i < runs.count; i++)
        json_decref(runs.items[i]);
    mem_free(runs.items);
    return code;
}

const struct command cmd_history = {
    .name = "history",
    .operands = "[NAME]",
    .summary = "List the runs of a flow, the last one first, or the last run of every flow",
    .details = "The flow itself is its last run. Each earlier run is a record, a flow of the name "
               "NAME.UID, which describe, explain, graph and\n"
               "logs show like any other. With metadata.generateName each run is a flow of its "
               "own; NAME is "
               "then that text.\n"
               "Without NAME, a line for every flow has the number of its runs that are kept, and "
               "its last one.",
    .examples = "  jobflow history\n"
                "  jobflow history pipeline\n"
                "  jobflow logs jf/pipeline.f0cd7876   # what an earlier run wrote",
    .flags = flags,
    .options_size = sizeof(struct history_options),
    .defaults = &defaults,
    .min_operands = 0,
    .max_operands = 1,
    .operand_kind = "resource",
    .run = run,
};
