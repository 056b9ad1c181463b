/*
 * The command `jobflow describe`: prints a page for each object. Kinds without a page of their own
 * get a general one.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/clock.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/inspect/describe.h"

struct describe_options {
    struct client_endpoint endpoint;
    const char *namespace, *labels;
};

#define DESCRIBE(member) offsetof(struct describe_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR, "selector",  'l', "SEL",  "labels to select by", DESCRIBE(labels)},
    {FLAG_STR, "namespace", 'n', "NAME", "namespace to look in; default: that of the kubeconfig, or default", DESCRIBE(namespace)},
    CLIENT_ENDPOINT_FLAGS(DESCRIBE(endpoint)),
    {0},
};
/* clang-format on */

static const struct describe_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL};

struct descriptions {
    const struct describe_options *options;
    struct client *client;
    const struct kind *kind;
    size_t printed;
    bool failed;
};

static void print_one(struct descriptions *all, const json_t *doc, struct flow_view *view)
{
    const char *ns = doc_text(doc, "metadata.namespace");
    const char *name = doc_text(doc, "metadata.name");
    struct describer d = {
        .client = all->client,
        .kind = all->kind,
        .doc = doc,
        .view = view,
        .ns = ns ? ns : "",
        .name = name ? name : "",
        .now_ms = clock_wall_ms(clock_real()),
    };

    term_look(&d.term, stdout);
    if (all->printed++)
        fputs("\n\n", stdout);
    describe(&d);
}

static bool print_page(void *ctx, json_t *page)
{
    struct descriptions *all = ctx;
    size_t i;
    json_t *item;

    json_array_foreach(json_object_get(page, "items"), i, item)
    {
        scoped(flow_view) struct flow_view *view =
            all->kind == &kind_job_flow ? flow_view_from_document(item, NULL) : NULL;

        print_one(all, item, view);
    }
    return true;
}

/* Builds the view of a flow from the text of its answer, without a JSON document, because a flow
 * may have very many steps. Returns NULL when the steps form no valid graph. */
static struct flow_view *view_of_flow(struct client *client, const char *path, struct error *err)
{
    scoped(client_call) struct client_call call = {.target = path};

    return client_do(client, &call, err) ? flow_view_from_text(&call.text, NULL) : NULL;
}

static void describe_named(struct descriptions *all, const char *name, struct error *err)
{
    scoped(buf) struct buf path = {0};
    scoped(flow_view) struct flow_view *view = NULL;
    scoped(json) json_t *doc = NULL;

    resource_write_path(all->kind, client_namespace(all->client, all->options->namespace), name,
                        &path);
    if (all->kind == &kind_job_flow)
        view = view_of_flow(all->client, path.data, err);
    if (err->code == ERR_NONE)
        doc = view ? json_incref(view->doc) : client_get(all->client, path.data, err);
    if (doc)
        print_one(all, doc, view);
}

static void describe_resource(struct descriptions *all, const struct resource *resource)
{
    const struct list_query query = {.kind = resource->kind,
                                     .ns = client_namespace(all->client, all->options->namespace),
                                     .labels = all->options->labels};
    struct error err = {0};

    all->kind = resource->kind;
    if (resource->name) {
        describe_named(all, resource->name, &err);
    } else {
        list_pages(all->client, &query, print_page, all, NULL, &err);
    }
    if (err.code != ERR_NONE) {
        fflush(stdout);
        cli_error(&err);
        all->failed = true;
    }
}

static int run(const void *options, int n_operands, char **operands)
{
    struct descriptions all = {.options = options};
    scoped(resources) struct resources resources = {0};
    struct error err = {0};
    int code = EXIT_OK;

    if (!resources_parse(n_operands, operands, &resources, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    all.client = client_open_or_say(&all.options->endpoint, CLIENT_LOOK, &code);
    if (!all.client)
        return code;
    for (size_t i = 0; i < resources.count; i++)
        describe_resource(&all, &resources.items[i]);
    if (!all.printed && !all.failed)
        fprintf(stderr, "No resources found in %s namespace.\n",
                client_namespace(all.client, all.options->namespace));
    client_close(all.client);
    return all.failed ? EXIT_FAILED : EXIT_OK;
}

const struct command cmd_describe = {
    .name = "describe",
    .operands = "KIND [NAME…] | KIND/NAME…",
    .summary = "Tell everything about a flow, job, pod or other object, with its events",
    .examples = "  jobflow describe jf pipeline\n"
                "  jobflow describe pod/pipeline-train-worker-0",
    .flags = flags,
    .options_size = sizeof(struct describe_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "resource",
    .run = run,
};
