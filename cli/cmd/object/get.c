/*
 * The command `jobflow get`: prints lists and single objects in every output form, then watches
 * them with -w.
 */
#include <string.h>

#include "api/submit/item.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/object_print.h"
#include "cli/client/resource.h"
#include "cli/client/step_fetch.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/object/vcctl.h"
#include "view/table_print.h"

static const char table_accept[] = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

static const char *const subresources[] = {"status", "scale", "steps", NULL};

#define GET(member) offsetof(struct get_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,  "output",         'o', "FORM", "wide, yaml, json, name or jsonpath=EXPRESSION", GET(output)},
    {FLAG_BOOL, "watch",          'w', NULL,   "go on and print what changes", GET(watch)},
    {FLAG_BOOL, "watch-only",     0,   NULL,   "print what changes, not what is there", GET(watch_only)},
    {FLAG_STR,  "namespace",      'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", GET(namespace)},
    {FLAG_BOOL, "all-namespaces", 'A', NULL,   "look in all namespaces", GET(all_namespaces)},
    {FLAG_STR,  "selector",       'l', "SEL",  "labels to select by: a=b,c!=d,e in (x,y),!f", GET(labels)},
    {FLAG_STR,  "job-set",        0,   "NAME", "only what was submitted with this job set; without RESOURCE its vcjobs", GET(job_set)},
    {FLAG_STR,  "field-selector", 0,   "SEL",  "fields to select by: status.phase=Running", GET(fields)},
    {FLAG_CHOICE, "subresource",  0,   "NAME", "a part of the object: steps are those of a flow, one by one", GET(subresource), subresources},
    {FLAG_BOOL, "show-labels",    0,   NULL,   "print the labels in a last column", GET(show_labels)},
    {FLAG_BOOL, "no-headers",     0,   NULL,   "leave out the line of column names", GET(no_headers)},
    {FLAG_BOOL, "ignore-not-found", 0, NULL,   "exit with 0 when nothing is found", GET(ignore_not_found)},
    {FLAG_STR,  "raw",            0,   "PATH", "print what the server answers at this path, as it is", GET(raw)},
    CLIENT_ENDPOINT_FLAGS(GET(endpoint)),
    {0},
};
/* clang-format on */

static const struct get_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

struct get {
    const struct get_options *options;
    struct client *client;
    struct resources resources;
    bool as_table;
    struct objectprint objects;
    json_t *items;             /* what vcctl prints: all objects, once they are read */
    const struct kind *listed; /* kind of the list being printed as names */
    struct table_print table;  /* table of the kind that is being printed */
    struct buf prefix;         /* printed before each name when there are several kinds */
    size_t printed;            /* objects printed of the current kind */
    size_t printed_before;     /* objects printed of previous kinds */
    bool failed;
    struct error bad_path;
    bool is_behind; /* the watch is too far behind and must list again */
};

static struct list_query query_of(const struct get *get, const struct resource *resource)
{
    return (struct list_query){
        .kind = resource->kind,
        .ns = get->options->all_namespaces ? NULL
                                           : client_namespace(get->client, get->options->namespace),
        .name = resource->name,
        .labels = get->options->labels,
        .fields = get->options->fields,
        .accept = get->as_table ? table_accept : NULL,
        .include_object =
            get->as_table && !get->options->all_namespaces && !get->options->show_labels ? "None"
                                                                                         : NULL,
    };
}

static void begin_kind(struct get *get, const struct kind *kind)
{
    struct table_print_options options = {
        .no_headers = get->options->no_headers,
        .wide = get->options->output && strcmp(get->options->output, "wide") == 0,
        .with_namespace = get->options->all_namespaces && kind->namespaced,
        .show_labels = get->options->show_labels,
    };

    buf_clear(&get->prefix);
    resource_write_name(kind, "", &get->prefix);
    options.prefix = get->resources.many_kinds ? get->prefix.data : NULL;
    table_print_release(&get->table);
    table_print_init(&get->table, stdout, &options);
    get->printed_before += get->printed;
    get->printed = 0;
}

static void print_table(struct get *get, const json_t *table)
{
    size_t n = json_array_size(json_object_get(table, "rows"));

    if (n && !get->printed && get->printed_before)
        putchar('\n');
    get->printed += n;
    table_print_table(&get->table, table);
}

static bool print_object(struct get *get, json_t *doc)
{
    get->printed++;
    if (get->items)
        return json_array_append(get->items, doc) == 0;
    return objectprint_one(&get->objects, doc, &get->bad_path);
}

static bool print_page(void *ctx, json_t *page)
{
    struct get *get = ctx;
    const char *version = json_string_value(json_object_get(page, "apiVersion"));
    const char *list_kind = json_string_value(json_object_get(page, "kind"));
    size_t i;
    json_t *item;

    if (get->as_table) {
        print_table(get, page);
        return true;
    }
    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        if (!json_object_get(item, "kind") && list_kind && strlen(list_kind) > 4) {
            json_object_set_new(item, "apiVersion", json_string(version));
            json_object_set_new(item, "kind", json_stringn(list_kind, strlen(list_kind) - 4));
        }
        if (!print_object(get, item))
            return false;
    }
    return true;
}

static bool report(struct get *get, const struct error *err)
{
    if (err->code == ERR_NOT_FOUND && (get->options->ignore_not_found || get->resources.of_all))
        return true;
    cli_error(err);
    get->failed = true;
    return false;
}

static void write_path(const struct get *get, const struct resource *resource, struct buf *out)
{
    resource_write_path(resource->kind, client_namespace(get->client, get->options->namespace),
                        resource->name, out);
    if (get->options->subresource)
        buf_printf(out, "/%s", get->options->subresource);
}

static void get_steps(struct get *get, const struct resource *flow)
{
    struct error err = {0};

    if (!step_fetch(get->client, client_namespace(get->client, get->options->namespace), flow->name,
                    get->as_table, print_page, get, &err))
        report(get, &err);
}

static bool lists_steps(const struct get *get)
{
    return get->options->subresource && strcmp(get->options->subresource, "steps") == 0;
}

static void get_one(struct get *get, const struct resource *resource)
{
    scoped(buf) struct buf target = {0};
    scoped(client_call) struct client_call call = {.accept = get->as_table ? table_accept : NULL};
    scoped(json) json_t *doc = NULL;
    struct error err = {0};

    write_path(get, resource, &target);
    call.target = target.data;
    if (!client_do(get->client, &call, &err)) {
        report(get, &err);
        return;
    }
    doc = json_loadb(call.text.data, call.text.len, 0, NULL);
    if (get->as_table)
        print_table(get, doc);
    else
        print_object(get, doc);
}

static void print_listed(void *ctx, const char *name)
{
    struct get *get = ctx;

    get->printed++;
    objectprint_name(&get->objects, get->listed, name);
}

static void get_names(struct get *get, const struct list_query *query)
{
    struct error err = {0};

    get->listed = query->kind;
    if (!list_names(get->client, query, print_listed, get, &err))
        report(get, &err);
}

static void get_resource(struct get *get, const struct resource *resource, char **revision)
{
    const struct list_query query = query_of(get, resource);
    struct error err = {0};

    if (lists_steps(get) && resource->kind == &kind_job_flow)
        get_steps(get, resource);
    else if (resource->name && !revision)
        get_one(get, resource);
    else if (get->objects.form == OBJECT_NAME && !get->as_table)
        get_names(get, &query);
    else if (!list_pages(get->client, &query, print_page, get, revision, &err))
        report(get, &err);
}

static void get_all(struct get *get)
{
    const struct resources *resources = &get->resources;

    for (size_t i = 0; i < resources->count; i++) {
        if (i == 0 || resources->items[i].kind != resources->items[i - 1].kind)
            begin_kind(get, resources->items[i].kind);
        get_resource(get, &resources->items[i], NULL);
    }
    if (get->items && !get->failed)
        get->failed = !vcctl_print(get->options->vcctl, get->items);
    else if (!get->as_table && !get->items && get->bad_path.code == ERR_NONE)
        objectprint_end(&get->objects, &get->bad_path);
}

/* An empty list is a success, as in kubectl. */
static int nothing_found(const struct get *get)
{
    const struct resource *first = &get->resources.items[0];

    if (get->options->ignore_not_found)
        return EXIT_OK;
    if (first->kind->namespaced && !get->options->all_namespaces)
        fprintf(stderr, "No resources found in %s namespace.\n",
                client_namespace(get->client, get->options->namespace));
    else
        fprintf(stderr, "No resources found\n");
    return EXIT_OK;
}

struct get_watch {
    struct watcher watcher;
    struct get *get;
};

static bool on_change(struct watcher *watcher, enum watch_event event, json_t *object)
{
    struct get *get = container_of(watcher, struct get_watch, watcher)->get;

    if (get->as_table)
        print_table(get, object);
    else
        print_object(get, object);
    fflush(stdout);
    return get->bad_path.code == ERR_NONE;
}

static void on_ended(struct watcher *watcher, const struct error *err)
{
    struct get *get = container_of(watcher, struct get_watch, watcher)->get;

    get->is_behind = err->code == ERR_GONE;
    if (err->code != ERR_NONE && !get->is_behind && err->code != ERR_UNAVAILABLE)
        report(get, err);
}

static bool discard_page(void *ctx, json_t *page)
{
    return true;
}

/* Lists, then watches from the list's revision. Lists again when the watch falls behind. */
static void watch_resource(struct get *get, const struct resource *resource)
{
    const struct list_query query = query_of(get, resource);
    struct get_watch watch = {.watcher = {.changed = on_change, .ended = on_ended}, .get = get};

    do {
        scoped_str revision = NULL;
        struct error err = {0};

        get->is_behind = false;
        if (!list_pages(get->client, &query, get->options->watch_only ? discard_page : print_page,
                        get, &revision, &err)) {
            report(get, &err);
            break;
        }
        fflush(stdout);
        if (!client_is_live(get->client)) {
            scoped_str why = client_not_live_reason(get->client);

            cli_warnf("%s: nothing will change", why);
            break;
        }
        watcher_start(get->client, &watch.watcher, &query, revision);
        client_run(get->client, -1);
    } while (get->is_behind);
    watcher_stop(&watch.watcher);
}

static int watch(struct get *get)
{
    if (get->resources.count != 1) {
        cli_errorf("you may only specify a single resource or type with --watch");
        return EXIT_REFUSED;
    }
    begin_kind(get, get->resources.items[0].kind);
    watch_resource(get, &get->resources.items[0]);
    return EXIT_OK;
}

static bool get_parse(struct get *get, int n_operands, char **operands, struct error *err)
{
    const char *output = get->options->output;

    get->items = get->options->vcctl ? json_array() : NULL;
    get->as_table = !get->items && (!output || strcmp(output, "wide") == 0);
    if (!get->as_table && !get->items && !objectprint_parse(output, &get->objects, err))
        return false;
    if (!resources_parse(n_operands, operands, &get->resources, err))
        return false;
    get->objects.as_list =
        (get->resources.count > 1 || !get->resources.items[0].name) && !get->options->watch;
    if (lists_steps(get))
        get->objects.as_list = true;
    for (size_t i = 0; i < get->resources.count; i++)
        if (get->options->subresource && (!get->resources.items[i].name || get->options->watch))
            return error_set(err, ERR_BAD_REQUEST, "",
                             "--subresource is about objects by name, without -w: '%s get jf/NAME "
                             "--subresource steps'",
                             cli_program);
    for (size_t i = 0; i < get->resources.count; i++)
        if (get->resources.items[i].name && (get->options->labels || get->options->all_namespaces))
            return error_set(err, ERR_BAD_REQUEST, "", "a resource cannot be retrieved by name %s",
                             get->options->labels ? "and by selector" : "across all namespaces");
    return true;
}

static int get_run(struct get *get)
{
    bool watches = get->options->watch || get->options->watch_only;
    int code = EXIT_OK;

    if (watches)
        code = watch(get);
    else
        get_all(get);
    if (get->bad_path.code != ERR_NONE) {
        cli_error(&get->bad_path);
        return EXIT_REFUSED;
    }
    if (get->failed || watches)
        return get->failed ? EXIT_FAILED : code;
    return get->printed + get->printed_before ? EXIT_OK : nothing_found(get);
}

static void print_bytes(struct client_call *call, const char *bytes, size_t len)
{
    fwrite(bytes, 1, len, stdout);
    fflush(stdout); /* in a watch, each event is printed at once */
}

static int get_raw(const struct get_options *options, int n_operands)
{
    scoped(client_call) struct client_call call = {.target = options->raw, .data = print_bytes};
    scoped(client) struct client *client = NULL;
    struct error err = {0};

    if (n_operands || options->output || options->watch || options->watch_only || options->labels ||
        options->fields || options->subresource || options->job_set) {
        cli_errorf("--raw takes a path and nothing else that says what to print");
        return EXIT_REFUSED;
    }
    if (*options->raw != '/') {
        cli_errorf("--raw: \"%s\" is no path of the server, like /healthz", options->raw);
        return EXIT_REFUSED;
    }
    client = client_open_at(&options->endpoint, CLIENT_LOOK, &err);
    if (client && client_do(client, &call, &err))
        return EXIT_OK;
    cli_error(&err);
    return client ? EXIT_FAILED : client_open_failed(&err);
}

static int get_named(const struct get_options *options, int n_operands, char **operands)
{
    struct get get = {.options = options};
    struct error err = {0};
    int code = EXIT_REFUSED;

    if (get_parse(&get, n_operands, operands, &err)) {
        get.client = client_open_at(&get.options->endpoint, CLIENT_LOOK, &err);
        code = get.client ? get_run(&get) : client_open_failed(&err);
    }
    if (err.code != ERR_NONE)
        cli_error(&err);
    table_print_release(&get.table);
    objectprint_release(&get.objects);
    json_decref(get.items);
    buf_release(&get.prefix);
    resources_release(&get.resources);
    client_close(get.client);
    return code;
}

/* Returns the label selector with that of the job set; owned. */
static char *selector_of_set(const struct get_options *options)
{
    const char *labels = options->labels ? options->labels : "";
    char hash[JOB_SET_HASH_MAX];

    job_set_hash(options->job_set, hash);
    return mem_printf("%s%s" LABEL_JOB_SET_HASH "=%s", labels, *labels ? "," : "", hash);
}

static int run(const void *opaque, int n_operands, char **operands)
{
    struct get_options options = *(const struct get_options *)opaque;
    char *vcjob = (char[]){"vcjob"};
    scoped_str selector = NULL;

    if (options.raw)
        return get_raw(&options, n_operands);
    if (options.job_set) {
        selector = selector_of_set(&options);
        options.labels = selector;
        if (n_operands == 0)
            return get_named(&options, 1, &vcjob);
    }
    return get_named(&options, n_operands, operands);
}

const struct command cmd_get = {
    .name = "get",
    .operands = "KIND [NAME…] | KIND/NAME… | --raw PATH",
    .summary = "Print flows, jobs, pods and other objects",
    .details = "Asks the process that runs in the data directory; when none runs, reads the stored "
               "objects.\n"
               "Kinds: jf (jobflows), jt (jobtemplates), vcjob (jobs), pods, pg (podgroups), "
               "queue, events,"
               "\ncm, secrets, pvc, svc, nodes, ns, …; several with commas; all. Exits with 1 when "
               "an object that was named is not there.",
    .examples = "  jobflow get jf,vcjob,pods\n"
                "  jobflow get pods -w -o wide\n"
                "  jobflow get jf/pipeline -o yaml\n"
                "  jobflow get jf pipeline -o jsonpath='{.status.state.phase}'\n"
                "  jobflow get --raw '/apis/flow.volcano.sh/v1alpha1/jobflows?limit=1'",
    .flags = flags,
    .options_size = sizeof(struct get_options),
    .defaults = &defaults,
    .min_operands = 0,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
