/*
 * Implements vcctl's verbs, one function each; the table `words` holds what differs between flows
 * and templates.
 */
#include "cli/cmd/vcctl_verbs.h"

#include <string.h>

#include "api/types/kind.h"
#include "api/types/text/doc.h"
#include "api/types/text/yaml.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/client.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/inspect/describe.h"
#include "cli/manifest/manifests.h"

enum { COLUMNS_MAX = 4, COLUMN_GAP = 4, ITEMS_MAX = 100000 };

struct options {
    const struct kind *kind;
    const char *file, *namespace, *name, *format, *compat;
    struct client_place place;
    bool all_namespaces;
};

/* Texts and columns as vcctl prints them. */
static const struct words {
    const struct kind *kind;
    const char *name_missing, *delete_what;
    struct {
        const char *title, *path;
    } columns[COLUMNS_MAX]; /* an empty path stands for the age */
} words[] = {
    {&kind_job_flow,
     "name is mandatory to get the particular jobflow details",
     "jobflow name must be specified",
     {{"Name", "metadata.name"},
      {"Namespace", "metadata.namespace"},
      {"Phase", "status.state.phase"},
      {"Age", ""}}},
    {&kind_job_template,
     "name is mandatory to get the particular job template details",
     "job template name must be specified",
     {{"Name", "metadata.name"}, {"Namespace", "metadata.namespace"}}},
};

static const struct words *words_of(const struct kind *kind)
{
    return &words[kind == &kind_job_template];
}

static char *age_of(const json_t *item, int64_t now_ms)
{
    const char *text = doc_text(item, "metadata.creationTimestamp");
    char age[TIME_TEXT_MAX];
    int64_t at_ms;

    if (!text || !time_parse(text, &at_ms, NULL))
        return mem_strdup("<unknown>");
    duration_human(now_ms - at_ms, age);
    return mem_strdup(age);
}

static size_t count_columns(const struct words *w)
{
    size_t n = 0;

    while (n < COLUMNS_MAX && w->columns[n].title)
        n++;
    return n;
}

static void write_cells(char *const *cells, const size_t *widths, size_t n, struct buf *out)
{
    for (size_t c = 0; c < n; c++)
        buf_printf(out, "%-*s", (int)widths[c], cells[c]);
    buf_char(out, '\n');
}

void vcctl_write_table(const struct kind *kind, const json_t *items, int64_t now_ms,
                       struct buf *out)
{
    const struct words *w = words_of(kind);
    size_t n = count_columns(w), rows = json_array_size(items) + 1, widths[COLUMNS_MAX] = {0};
    char **cells = mem_array(rows * n, sizeof *cells);

    for (size_t row = 0; row < rows; row++) {
        const json_t *item = row ? json_array_get(items, row - 1) : NULL;

        for (size_t c = 0; c < n; c++) {
            const char *path = w->columns[c].path, *text = item ? doc_text(item, path) : NULL;
            char **cell = &cells[row * n + c];

            *cell = !item   ? mem_strdup(w->columns[c].title)
                    : *path ? mem_strdup(text ? text : "")
                            : age_of(item, now_ms);
            if (strlen(*cell) + COLUMN_GAP > widths[c])
                widths[c] = strlen(*cell) + COLUMN_GAP;
        }
    }
    for (size_t row = 0; row < rows; row++)
        write_cells(cells + row * n, widths, n, out);
    for (size_t i = 0; i < rows * n; i++)
        mem_free(cells[i]);
    mem_free(cells);
}

static json_t *member_or_empty(const json_t *object, const char *member)
{
    json_t *value = json_object_get(object, member);

    return value ? json_incref(value) : json_object();
}

/* Returns a copy with the members that upstream's Go types always write, in their order, without
 * managedFields. */
static json_t *as_upstream(const struct kind *kind, const json_t *object)
{
    json_t *out = json_object(), *status = member_or_empty(object, "status");
    json_t *metadata = json_copy(json_object_get(object, "metadata"));

    json_object_del(metadata, "managedFields");
    if (kind == &kind_job_flow && !json_object_get(status, "state"))
        json_object_set_new(status, "state", json_object());
    json_object_set_new(out, "kind", json_string(kind->name));
    json_object_set_new(out, "apiVersion", json_string(kind_api_version(kind)));
    json_object_set_new(out, "metadata", metadata ? metadata : json_object());
    json_object_set_new(out, "spec", member_or_empty(object, "spec"));
    json_object_set_new(out, "status", status);
    return out;
}

/* Returns a copy with members sorted by name, as Go's YAML encoder writes them. Owned. */
static json_t *sorted(const json_t *doc)
{
    char *text = json_dumps(doc, JSON_SORT_KEYS);
    json_t *out = json_loads(text, 0, NULL);

    free(text);
    return out;
}

bool vcctl_write_object(const struct kind *kind, const json_t *object, const char *format,
                        struct buf *out)
{
    scoped(json) json_t *doc = as_upstream(kind, object);

    if (strcmp(format, "json") == 0) {
        char *text = json_dumps(doc, JSON_INDENT(2));

        buf_printf(out, "%s\n", text);
        free(text);
        return true;
    }
    if (strcmp(format, "yaml") == 0) {
        scoped(json) json_t *ordered = sorted(doc);

        yaml_write(ordered, out);
        return true;
    }
    return false;
}

static struct client *open_client(const struct options *options, enum client_access access)
{
    struct error err = {0};
    struct client *client = client_open_at(&options->place, access, &err);

    if (!client)
        cli_error(&err);
    return client;
}

/* vcctl exits with 0 on failure, and so does --jobflow-compat=upstream. */
static int failed(const struct options *options)
{
    return strcmp(options->compat, "upstream") == 0 ? EXIT_OK : EXIT_FAILED;
}

static bool add_page(void *ctx, json_t *page)
{
    json_array_extend(ctx, json_object_get(page, "items"));
    return json_array_size(ctx) < ITEMS_MAX;
}

/* Returns the selected objects, owned, or NULL after printing why they cannot be read. */
static json_t *read_items(const struct options *options)
{
    const struct list_query query = {.kind = options->kind,
                                     .ns = options->all_namespaces ? NULL : options->namespace};
    scoped(client) struct client *client = open_client(options, CLIENT_LOOK);
    scoped(buf) struct buf path = {0};
    json_t *items = json_array(), *one;
    struct error err = {0};
    bool ok = client != NULL;

    if (ok && options->name) {
        resource_write_path(options->kind, options->namespace, options->name, &path);
        one = client_get(client, path.data, &err);
        ok = one != NULL;
        if (one)
            json_array_append_new(items, one);
    } else if (ok) {
        ok = list_pages(client, &query, add_page, items, NULL, &err);
    }
    if (ok)
        return items;
    if (client)
        cli_error(&err);
    json_decref(items);
    return NULL;
}

static int print_items(const struct options *options)
{
    scoped(json) json_t *items = read_items(options);
    scoped(buf) struct buf text = {0};

    if (!items)
        return EXIT_FAILED;
    if (json_array_size(items) == 0) {
        puts("No resources found");
        return EXIT_OK;
    }
    vcctl_write_table(options->kind, items, clock_wall_ms(clock_real()), &text);
    fputs(text.data, stdout);
    return EXIT_OK;
}

static int run_list(const void *opaque, int n_operands, char **operands)
{
    return print_items(opaque);
}

static int run_get(const void *opaque, int n_operands, char **operands)
{
    const struct options *options = opaque;

    if (options->name)
        return print_items(options);
    cli_errorf("%s", words_of(options->kind)->name_missing);
    return EXIT_FAILED;
}

static int run_describe(const void *opaque, int n_operands, char **operands)
{
    const struct options *options = opaque;
    scoped(json) json_t *items = read_items(options);
    size_t i;
    json_t *item;

    if (!items)
        return EXIT_FAILED;
    json_array_foreach(items, i, item)
    {
        scoped(buf) struct buf text = {0};

        if (!vcctl_write_object(options->kind, item, options->format, &text)) {
            cli_errorf("Unsupported format: %s", options->format);
            return EXIT_FAILED;
        }
        printf("%s%s", i ? "\n\n" : "", text.data);
    }
    return EXIT_OK;
}

static bool send(struct client *client, const struct options *options, const char *method,
                 const json_t *doc, const char *ns, const char *name, struct error *err)
{
    scoped(buf) struct buf path = {0}, body = {0};
    scoped(client_call) struct client_call call = {.method = method};

    resource_write_path(options->kind, ns, name, &path);
    if (doc)
        json_text(doc, &body);
    call.target = path.data;
    call.content_type = "application/json";
    call.body = body.data;
    call.body_len = body.len;
    return client_do(client, &call, err);
}

/* A verb that changes one object: its request and its messages. */
struct change {
    const char *method, *done, *to;
};

static bool change_one(struct client *client, const struct options *options,
                       const struct change *change, const json_t *doc, const char *ns,
                       const char *name)
{
    struct error err = {0};

    if (send(client, options, change->method, doc, ns, doc ? NULL : name, &err)) {
        printf("%s %s: %s/%s\n", change->done, options->kind->name, ns, name);
        return true;
    }
    printf("Failed to %s %s: %s\n", change->to, options->kind->name, err.message);
    return false;
}

/* Applies the verb to every object of the file, even after one of them fails. */
static int change_file(const struct options *options, const struct change *change)
{
    char *path = (char *)(size_t)options->file;
    scoped(manifests) struct manifests set = {0};
    scoped(client) struct client *client = NULL;
    bool ok = true;

    if (!manifests_load(&set, 1, &path))
        return failed(options);
    client = open_client(options, CLIENT_CHANGE);
    if (!client)
        return EXIT_FAILED;
    for (size_t i = 0; i < set.count; i++) {
        const json_t *doc = set.items[i].doc;
        const char *name = doc_text(doc, "metadata.name");
        const char *ns = doc_text(doc, "metadata.namespace");

        if (set.items[i].kind != options->kind || !name) {
            printf("Failed to %s %s: %s:%zu: a %s%s\n", change->to, options->kind->name,
                   options->file, manifest_line(&set.items[i], "metadata"), set.items[i].kind->name,
                   name ? "" : " without a name");
            ok = false;
        } else if (!change_one(client, options, change,
                               strcmp(change->method, "POST") == 0 ? doc : NULL,
                               ns ? ns : options->namespace, name)) {
            ok = false;
        }
    }
    return ok ? EXIT_OK : failed(options);
}

static int run_create(const void *opaque, int n_operands, char **operands)
{
    static const struct change create = {"POST", "Created", "create"};
    const struct options *options = opaque;

    if (options->file)
        return change_file(options, &create);
    cli_errorf("must specify -f FILE");
    return EXIT_FAILED;
}

static int run_delete(const void *opaque, int n_operands, char **operands)
{
    static const struct change delete = {"DELETE", "Deleted", "delete"};
    const struct options *options = opaque;
    scoped(client) struct client *client = NULL;

    if (options->file)
        return change_file(options, &delete);
    if (!options->name) {
        cli_errorf("%s", words_of(options->kind)->delete_what);
        return EXIT_FAILED;
    }
    client = open_client(options, CLIENT_CHANGE);
    if (!client)
        return EXIT_FAILED;
    return change_one(client, options, &delete, NULL, options->namespace, options->name)
               ? EXIT_OK
               : failed(options);
}

static const char *const compats[] = {"design", "upstream", NULL};

#define OPTION(member) offsetof(struct options, member)
/* clang-format off */
#define FILE_FLAG      {FLAG_STR,  "file",      'f', "FILE", "the file with the objects", OPTION(file)}
#define NAME_FLAG      {FLAG_STR,  "name",      'N', "NAME", "name of the object", OPTION(name)}
#define NAMESPACE_FLAG {FLAG_STR,  "namespace", 'n', "NAME", "namespace of the object; default: default", OPTION(namespace)}
#define COMPAT_FLAG    {FLAG_CHOICE, "jobflow-compat", 0, "MODE", "upstream: a failure is told and the exit code is 0", OPTION(compat), compats}
#define COMMON_FLAGS   {FLAG_STR,  "master",     's', "URL",  "ask this server, as the kubeconfig's user", OPTION(place.server)}, \
                       {FLAG_STR,  "kubeconfig", 'k', "FILE", "ask the server that FILE names", OPTION(place.kubeconfig)}, \
                       {FLAG_STR,  "data-dir",   0,   "DIR",  "where state and logs are kept; default: .jobflow", OPTION(place.data_dir)}, \
                       {0}
static const struct flag create_flags[] = {FILE_FLAG, NAMESPACE_FLAG, COMPAT_FLAG, COMMON_FLAGS};
static const struct flag list_flags[] = {NAMESPACE_FLAG,
    {FLAG_BOOL, "all-namespaces", 0, NULL, "look in all namespaces", OPTION(all_namespaces)}, COMMON_FLAGS};
static const struct flag get_flags[] = {NAME_FLAG, NAMESPACE_FLAG, COMMON_FLAGS};
static const struct flag delete_flags[] = {NAME_FLAG, NAMESPACE_FLAG, FILE_FLAG, COMPAT_FLAG, COMMON_FLAGS};
static const struct flag describe_flags[] = {NAME_FLAG, NAMESPACE_FLAG,
    {FLAG_STR, "format", 'o', "FORM", "yaml or json", OPTION(format)}, COMMON_FLAGS};

const struct vcctl_verb vcctl_verbs[] = {
    {"create",   "Create the objects of a file", create_flags,   run_create},
    {"list",     "List the objects",             list_flags,     run_list},
    {"get",      "Show one object in a line",    get_flags,      run_get},
    {"delete",   "Delete objects",               delete_flags,   run_delete},
    {"describe", "Print objects in full",        describe_flags, run_describe},
    {0},
};
/* clang-format on */

int vcctl_run(const struct vcctl_verb *verb, const struct kind *kind, int argc, char **argv)
{
    const struct options defaults = {.kind = kind,
                                     .namespace = "default",
                                     .format = "yaml",
                                     .place = CLIENT_PLACE_USUAL,
                                     .compat = "design"};
    scoped_str name = mem_printf("vcctl %s %s", kind->singular, verb->name);
    const struct command command = {.name = name,
                                    .summary = verb->summary,
                                    .flags = verb->flags,
                                    .options_size = sizeof(struct options),
                                    .defaults = &defaults,
                                    .run = verb->run};

    return command_run(&command, argc, argv);
}
