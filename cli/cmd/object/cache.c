/*
 * The command `jobflow cache`: lists what is remembered of steps that may be reused, says why a step
 * ran or was reused, and forgets entries.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/client.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/object/cache_why.h"
#include "view/table_print.h"

struct cache_options {
    struct client_endpoint endpoint;
    const char *namespace, *flow, *step;
    int64_t older_than_ms, unused_for_ms;
};

#define CACHE(member) offsetof(struct cache_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,      "flow",       0,   "NAME", "of list and remove: entries of this flow only", CACHE(flow)},
    {FLAG_STR,      "step",       0,   "NAME", "of list and remove: entries of this step only", CACHE(step)},
    {FLAG_DURATION, "older-than", 0,   "D",    "of prune: forget what was made longer ago", CACHE(older_than_ms)},
    {FLAG_DURATION, "unused-for", 0,   "D",    "of prune: forget what was made and last used longer ago", CACHE(unused_for_ms)},
    {FLAG_STR,      "namespace",  'n', "NAME", "namespace of the flows; default: that of the kubeconfig, or default", CACHE(namespace)},
    CLIENT_ENDPOINT_FLAGS(CACHE(endpoint)),
    {0},
};
/* clang-format on */

static const struct cache_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

/* What a subcommand works on. */
struct cache_call {
    const struct cache_options *options;
    struct client *client;
    const char *ns;
    char **operands; /* operands behind the subcommand's name, [n_operands] */
    int n_operands;
    json_t **entries; /* recorded entries that were found, [count]; references */
    size_t count, cap;
};

static const char *text_at(const json_t *doc, const char *path)
{
    const char *text = doc_text(doc, path);

    return text ? text : "";
}

static int64_t number_at(const json_t *doc, const char *path)
{
    return json_integer_value(doc_at(doc, path));
}

static bool matches(const struct cache_call *call, const json_t *entry)
{
    const struct cache_options *options = call->options;
    const char *name = text_at(entry, "metadata.name");
    bool named = call->n_operands == 0;

    for (int i = 0; i < call->n_operands; i++)
        named |= strncmp(name, call->operands[i], strlen(call->operands[i])) == 0;
    return named && strcmp(text_at(entry, "status.state"), CACHE_RECORDED) == 0 &&
           (!options->flow || strcmp(options->flow, text_at(entry, "status.flow")) == 0) &&
           (!options->step || strcmp(options->step, text_at(entry, "status.step")) == 0);
}

static bool take_entry(void *ctx, json_t *entry)
{
    struct cache_call *call = ctx;

    if (matches(call, entry)) {
        mem_grow(call->entries, call->count, call->cap);
        call->entries[call->count++] = json_incref(entry);
    }
    return true;
}

/* Orders entries, the newest first. */
static int compare_entries(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int order = strcmp(text_at(y, "status.madeTime"), text_at(x, "status.madeTime"));

    return order ? order : strcmp(text_at(x, "metadata.name"), text_at(y, "metadata.name"));
}

static bool find(struct cache_call *call, struct error *err)
{
    const struct list_query query = {.kind = &kind_cache_entry, .ns = call->ns};

    if (!list_each(call->client, &query, take_entry, call, NULL, err))
        return false;
    if (call->count)
        qsort(call->entries, call->count, sizeof *call->entries, compare_entries);
    return true;
}

static int64_t files_of(const json_t *entry)
{
    static const char *const lists[] = {"reads", "mentions", "writes", "made"};
    int64_t files = 0;

    for (size_t i = 0; i < countof(lists); i++) {
        const json_t *part;
        size_t k;

        json_array_foreach(json_object_get(json_object_get(entry, "status"), lists[i]), k, part)
            files += number_at(part, "files");
    }
    return files;
}

static bool list(struct cache_call *call, struct error *err)
{
    static const char *const titles[] = {"KEY", "FLOW", "STEP", "MADE", "TOOK", "USED", "FILES"};
    scoped(table_print) struct table_print table = {0};
    char **cells, took[TIME_TEXT_MAX];

    if (!find(call, err))
        return false;
    cells = mem_array(call->count * countof(titles) + 1, sizeof *cells);
    for (size_t i = 0; i < call->count; i++) {
        char **row = cells + i * countof(titles);
        const json_t *entry = call->entries[i];

        duration_human(number_at(entry, "status.tookMs"), took);
        row[0] = mem_printf("%.8s", text_at(entry, "metadata.name"));
        row[1] = mem_strdup(text_at(entry, "status.flow"));
        row[2] = mem_strdup(text_at(entry, "status.step"));
        row[3] = mem_strdup(text_at(entry, "status.madeTime"));
        row[4] = mem_strdup(took);
        row[5] = mem_printf("%lld", (long long)number_at(entry, "status.used"));
        row[6] = mem_printf("%lld", (long long)files_of(entry));
    }
    table_print_init(&table, stdout, &(struct table_print_options){0});
    table_print_columns(&table, titles, countof(titles));
    table_print_rows(&table, cells, call->count);
    for (size_t i = 0; i < call->count * countof(titles); i++)
        mem_free(cells[i]);
    mem_free(cells);
    return true;
}

static bool forget(struct cache_call *call, const json_t *entry, struct error *err)
{
    scoped(buf) struct buf target = {0};
    scoped(client_call) struct client_call request = {.method = "DELETE"};
    struct error why = {0};

    resource_write_path(&kind_cache_entry, text_at(entry, "metadata.namespace"),
                        text_at(entry, "metadata.name"), &target);
    request.target = target.data;
    if (client_do(call->client, &request, &why) || why.code == ERR_NOT_FOUND)
        return true;
    if (err)
        *err = why;
    return false;
}

static void print_count(size_t count)
{
    printf("%zu %s forgotten\n", count, count == 1 ? "entry" : "entries");
}

static bool remove_entries(struct cache_call *call, struct error *err)
{
    if (!call->n_operands && !call->options->flow)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "say what is forgotten: keys as 'jobflow cache list' shows them, or "
                         "--flow NAME");
    if (!find(call, err))
        return false;
    if (!call->count)
        return error_set(err, ERR_NOT_FOUND, "", "no entry is like that");
    for (size_t i = 0; i < call->count; i++)
        if (!forget(call, call->entries[i], err))
            return false;
    print_count(call->count);
    return true;
}

static bool is_old(const struct cache_call *call, const json_t *entry, int64_t now_ms)
{
    int64_t made_ms = doc_time_ms(entry, "status.madeTime");
    int64_t used_ms = doc_time_ms(entry, "status.lastUsedTime");
    int64_t latest_ms = used_ms > made_ms ? used_ms : made_ms;

    return (call->options->older_than_ms && now_ms - made_ms > call->options->older_than_ms) ||
           (call->options->unused_for_ms && now_ms - latest_ms > call->options->unused_for_ms);
}

static bool prune(struct cache_call *call, struct error *err)
{
    int64_t now_ms = clock_wall_ms(clock_real());
    size_t count = 0;

    if (!call->options->older_than_ms && !call->options->unused_for_ms)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "say what is forgotten: --older-than D or --unused-for D");
    if (!find(call, err))
        return false;
    for (size_t i = 0; i < call->count; i++) {
        if (!is_old(call, call->entries[i], now_ms))
            continue;
        if (!forget(call, call->entries[i], err))
            return false;
        count++;
    }
    print_count(count);
    return true;
}

static const json_t *named(const json_t *list_, const char *name)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list_, i, item)
    {
        if (strcmp(text_at(item, "name"), name) == 0)
            return item;
    }
    return NULL;
}

/* Prints what became of a step in the last run of its flow, and why. */
static bool tell(const json_t *flow, const char *step, struct error *err)
{
    const json_t *node = named(doc_at(flow, "status.nodes"), step);
    const char *asked = json_string_value(
        json_object_get(doc_at(flow, "metadata.annotations"), ANNOTATION_FLOW_REUSE));
    const json_t *loop = node ? named(doc_at(flow, "spec.flows"), text_at(node, "step")) : NULL;
    const json_t *spec = loop ? loop : named(doc_at(flow, "spec.flows"), step);
    const char *reuse = node ? doc_text(node, "reuse") : NULL;

    if (!spec)
        return error_set(err, ERR_NOT_FOUND, "", "%s has no step \"%.64s\"",
                         text_at(flow, "metadata.name"), step);
    if (!node)
        printf("%s: the status of the flow does not list it\n", step);
    else if (json_object_get(node, "cachedFrom"))
        printf("%s was %s\n", step, text_at(node, "message"));
    else if (asked && strcmp(asked, REUSE_NONE) == 0)
        printf("%s ran: --no-cache\n", step);
    else if (reuse && strncmp(reuse, "ran because ", 12) == 0)
        printf("%s %s\n", step, reuse);
    else if (reuse)
        printf("%s ran; %s\n", step, reuse);
    else if (!json_object_get(spec, "cache") && !(asked && strcmp(asked, REUSE_CHANGED) == 0))
        printf("%s has never been recorded: 'cache' is not set\n", step);
    else if (spec != loop && json_object_get(spec, "for"))
        printf("%s is a loop: ask for one of its iterations, as in %s-0\n", step, step);
    else if (strcmp(text_at(node, "phase"), "Completed") == 0)
        printf("%s ran: it had never been recorded\n", step);
    else
        printf("%s is not recorded: it is %s\n", step, text_at(node, "phase"));
    return true;
}

static bool is_file(const char *operand)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    const size_t len = strlen(operand);

    for (size_t i = 0; i < countof(endings); i++)
        if (len > strlen(endings[i]) && strcmp(operand + len - strlen(endings[i]), endings[i]) == 0)
            return true;
    return strcmp(operand, "-") == 0;
}

static bool why(struct cache_call *call, struct error *err)
{
    scoped(buf) struct buf target = {0};
    scoped(client_call) struct client_call request = {.method = "GET"};
    struct resource flow;
    scoped(json) json_t *doc = NULL;

    if (call->n_operands != 2)
        return error_set(err, ERR_BAD_REQUEST, "",
                         "write 'jobflow cache why jf/NAME STEP', or '… why FILE STEP'");
    if (is_file(call->operands[0]))
        return cache_why_file(call->client, call->ns, call->operands[0], call->operands[1], err);
    if (!resource_parse(call->operands[0], &flow, err))
        return false;
    if (flow.kind != &kind_job_flow)
        return error_set(err, ERR_BAD_REQUEST, "", "%s is no JobFlow", call->operands[0]);
    resource_write_path(flow.kind, call->ns, flow.name, &target);
    request.target = target.data;
    if (!client_do(call->client, &request, err))
        return false;
    doc = json_loadb(request.text.data, request.text.len, 0, NULL);
    return tell(doc, call->operands[1], err);
}

static const struct {
    const char *name;
    bool (*run)(struct cache_call *call, struct error *err);
    enum client_access access;
} subcommands[] = {
    {"list", list, CLIENT_LOOK},
    {"why", why, CLIENT_LOOK},
    {"remove", remove_entries, CLIENT_CHANGE},
    {"prune", prune, CLIENT_CHANGE},
};

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct cache_options *options = opaque;
    struct cache_call call = {
        .options = options, .operands = operands + 1, .n_operands = n_operands - 1};
    scoped(client) struct client *client = NULL;
    struct error err = {0};
    int code = EXIT_OK;
    size_t at = 0;
    bool ok;

    while (at < countof(subcommands) && strcmp(subcommands[at].name, operands[0]) != 0)
        at++;
    if (at == countof(subcommands)) {
        cli_errorf("\"%s\" is none of list, why, remove and prune", operands[0]);
        return EXIT_REFUSED;
    }
    client = client_open_or_say(&options->endpoint, subcommands[at].access, &code);
    if (!client)
        return code;
    call.client = client;
    call.ns = client_namespace(client, options->namespace);
    ok = subcommands[at].run(&call, &err);
    if (!ok)
        cli_error(&err);
    for (size_t i = 0; i < call.count; i++)
        json_decref(call.entries[i]);
    mem_free(call.entries);
    return ok ? EXIT_OK : err.code == ERR_BAD_REQUEST ? EXIT_REFUSED : EXIT_FAILED;
}

const struct command cmd_cache = {
    .name = "cache",
    .operands = "list | why jf/NAME|FILE STEP | remove [KEY…] | prune",
    .summary = "Show and forget what is remembered of steps that may be reused",
    .details = "list shows the results that can be reused, the newest first. why says why a step "
               "ran in the last run of its flow, or why it\n"
               "did not; of a file, whether the step would run now, and what was compared with its "
               "last result. remove forgets entries by their keys, or those of --flow and --step. "
               "prune forgets those that are older than\n"
               "--older-than, or were not used for --unused-for.",
    .examples = "  jobflow cache list --flow pipeline\n"
                "  jobflow cache why jf/pipeline train\n"
                "  jobflow cache why pipeline.yaml train\n"
                "  jobflow cache remove 9c41e7d2\n"
                "  jobflow cache prune --unused-for 720h",
    .flags = flags,
    .options_size = sizeof(struct cache_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .run = run,
};
