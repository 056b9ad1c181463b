/*
 * Loads the flows that a command's operands name, from files or from the store, together with their
 * templates, their stored status, and the durations of past jobs for estimates.
 */
#include "cli/inspect/flow_source.h"

#include <string.h>
#include <unistd.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/client/step_fetch.h"
#include "cli/command/command.h"
#include "cli/inspect/critical_path_fetch.h"

enum { PAST_JOBS_MAX = 2000, PAST_JOBS_BRIEF = 500, STORED_TEMPLATES_MAX = 2000 };

int64_t flow_source_now_ms(void)
{
    return clock_wall_ms(clock_real());
}

struct found {
    json_t *by_name;
    size_t left; /* objects still to look at */
};

static bool add_template(void *ctx, json_t *template)
{
    struct found *found = ctx;
    const char *name = doc_text(template, "metadata.name");

    if (name && !json_object_get(found->by_name, name))
        json_object_set(found->by_name, name, template);
    return --found->left;
}

static void stored_templates(struct client *client, const char *ns, json_t *by_name)
{
    struct found found = {by_name, STORED_TEMPLATES_MAX};
    const struct list_query query = {.kind = &kind_job_template, .ns = ns};

    list_each(client, &query, add_template, &found, NULL, NULL);
}

/* Collects how long completed jobs ran, by template. */
static bool add_past(void *ctx, json_t *job)
{
    struct found *found = ctx;
    const json_t *annotations = doc_at(job, "metadata.annotations");
    const char *from = json_string_value(json_object_get(annotations, LABEL_CREATED_BY_TEMPLATE));
    const char *phase = doc_text(job, "status.state.phase");
    const char *took = doc_text(job, "status.runningDuration");
    const char *dot = from ? strchr(from, '.') : NULL;
    int64_t ns;

    if (dot && phase && strcmp(phase, "Completed") == 0 && took &&
        duration_parse(took, &ns, NULL)) {
        json_t *samples = json_object_get(found->by_name, dot + 1);

        if (!samples) {
            samples = json_array();
            json_object_set_new(found->by_name, dot + 1, samples);
        }
        json_array_append_new(samples, json_integer(ns / 1000000));
    }
    return --found->left;
}

static json_t *past_jobs(struct client *client, const char *ns, size_t most)
{
    struct found found = {json_object(), most};
    const struct list_query query = {.kind = &kind_job, .ns = ns};

    list_each(client, &query, add_past, &found, NULL, NULL);
    return found.by_name;
}

static struct flow_source *add_source(struct flow_sources *sources, const char *ns)
{
    struct flow_source *source;

    mem_grow(sources->items, sources->count, sources->cap);
    source = &sources->items[sources->count++];
    *source = (struct flow_source){.templates = json_object(), .ns = ns};
    return source;
}

static void complete(const struct flow_source_options *options, struct flow_sources *sources,
                     struct flow_source *source)
{
    if (!sources->client)
        return;
    stored_templates(sources->client, source->ns, source->templates);
    source->brief = options->brief;
    source->client = sources->client;
    source->past = options->past;
}

/* Returns the options with their namespace filled in. */
static const struct flow_source_options *in_namespace(const struct flow_source_options *options,
                                                      const struct client *client,
                                                      struct flow_source_options *out)
{
    *out = *options;
    out->namespace = client_namespace(client, options->namespace);
    return out;
}

static int load_stored(const struct flow_source_options *options, int n, char **words,
                       struct flow_sources *out)
{
    scoped(resources) struct resources named = {0};
    struct flow_source_options settled;
    struct error err = {0};

    if (!resources_parse(n, words, &named, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    for (size_t i = 0; i < named.count; i++)
        if (named.items[i].kind != &kind_job_flow || !named.items[i].name) {
            cli_errorf("\"%s\" names no flow: give files, or jf/NAME", words[0]);
            return EXIT_REFUSED;
        }
    out->client = client_open_at(&options->endpoint, CLIENT_LOOK, &err);
    options = in_namespace(options, out->client, &settled);
    for (size_t i = 0; out->client && i < named.count; i++) {
        scoped(buf) struct buf path = {0};
        scoped(client_call) struct client_call call = {0};
        struct flow_source *source;

        resource_write_path(&kind_job_flow, options->namespace, named.items[i].name, &path);
        call.target = path.data;
        if (!client_do(out->client, &call, &err))
            break;
        source = add_source(out, options->namespace);
        source->text = call.text;
        call.text = (struct buf){0};
        complete(options, out, source);
    }
    if (err.code == ERR_NONE)
        return EXIT_OK;
    cli_error(&err);
    return out->client ? EXIT_FAILED : client_open_failed(&err);
}

static const char *namespace_of(const struct flow_source_options *options, const json_t *doc)
{
    const char *ns = doc_text(doc, "metadata.namespace");

    return ns ? ns : options->namespace;
}

static void file_templates(const struct flow_source_options *options, const struct manifests *set,
                           struct flow_source *source)
{
    for (size_t i = 0; i < set->count; i++) {
        json_t *doc = set->items[i].doc;
        const char *name = doc_text(doc, "metadata.name");

        if (set->items[i].kind == &kind_job_template && name &&
            strcmp(namespace_of(options, doc), source->ns) == 0)
            json_object_set(source->templates, name, doc);
    }
}

static void take_status(struct client *client, struct flow_source *source)
{
    const char *name = doc_text(source->flow, "metadata.name");
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *stored = NULL;
    json_t *status, *copy;

    if (!name)
        return;
    resource_write_path(&kind_job_flow, source->ns, name, &path);
    stored = client_get(client, path.data, NULL);
    status = json_object_get(stored, "status");
    if (!status)
        return;
    copy = json_copy(source->flow);
    json_object_set(copy, "status", status);
    json_decref(source->flow);
    source->flow = copy;
}

static int load_files(const struct flow_source_options *options, int n, char **files,
                      struct flow_sources *out)
{
    struct flow_source_options settled;
    struct error err = {0};

    if (!manifests_load(&out->set, n, files))
        return EXIT_REFUSED;
    /* The store completes the files with templates and states that it has. */
    if (client_endpoint_may_exist(&options->endpoint))
        out->client = client_open_at(&options->endpoint, CLIENT_LOOK, &err);
    if (!out->client &&
        (client_endpoint_is_server(&options->endpoint) || err.code == ERR_FORBIDDEN)) {
        cli_error(&err);
        return client_open_failed(&err);
    }
    options = in_namespace(options, out->client, &settled);
    for (size_t i = 0; i < out->set.count; i++) {
        const struct manifest *manifest = &out->set.items[i];
        struct flow_source *source;

        if (manifest->kind != &kind_job_flow)
            continue;
        source = add_source(out, namespace_of(options, manifest->doc));
        source->flow = json_incref(manifest->doc);
        source->manifest = manifest;
        file_templates(options, &out->set, source);
        complete(options, out, source);
        if (out->client && options->states)
            take_status(out->client, source);
    }
    if (out->count)
        return EXIT_OK;
    cli_errorf("the files define no JobFlow");
    return EXIT_REFUSED;
}

/* Returns whether an operand names a stored object: "jf/x", and there is no such file. */
static bool names_object(const char *word)
{
    const char *slash = strchr(word, '/');
    char kind[64];

    if (!slash || (size_t)(slash - word) >= sizeof kind || access(word, F_OK) == 0)
        return false;
    snprintf(kind, sizeof kind, "%.*s", (int)(slash - word), word);
    return kind_by_word(kind) != NULL;
}

int flow_sources_load(const struct flow_source_options *options, int n, char **operands,
                      struct flow_sources *out)
{
    int named = 0;

    for (int i = 0; i < n; i++)
        named += names_object(operands[i]);
    if (named && named < n) {
        cli_errorf("files and stored flows at once: name either");
        return EXIT_REFUSED;
    }
    return named ? load_stored(options, n, operands, out) : load_files(options, n, operands, out);
}

void flow_sources_release(struct flow_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        json_decref(sources->items[i].flow);
        json_decref(sources->items[i].templates);
        buf_release(&sources->items[i].text);
    }
    mem_free(sources->items);
    manifests_release(&sources->set);
    client_close(sources->client);
    *sources = (struct flow_sources){0};
}

/* Returns whether an unfinished step has no estimate from the spec or the status. */
static bool lacks_estimates(const struct flow_view *view)
{
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (view->steps[i].template && view->steps[i].estimated == ESTIMATE_NONE &&
            !flow_view_step_over(&view->steps[i]))
            return true;
    return false;
}

/* Without a running server, past jobs are found by reading the whole store. That is too slow for an
 * estimate in the store of a large flow. */
static bool may_look_back(const struct flow_source *source, const struct flow_view *view)
{
    return source->past && (!source->brief || view->n_steps <= PAST_JOBS_BRIEF ||
                            (client_is_live(source->client) && !flow_view_is_over(view)));
}

static void estimate(const struct flow_source *source, struct flow_view *view)
{
    scoped(json) json_t *past = NULL;

    flow_view_estimate(view, source->templates, NULL);
    if (!may_look_back(source, view) || !lacks_estimates(view))
        return;
    past = past_jobs(source->client, source->ns, source->brief ? PAST_JOBS_BRIEF : PAST_JOBS_MAX);
    flow_view_estimate(view, source->templates, past);
}

static bool take_page(void *ctx, json_t *page)
{
    size_t i;
    json_t *item;

    json_array_foreach(json_object_get(page, "items"), i, item) flow_view_take_step(ctx, item);
    return true;
}

/* Reads the times of steps from the subresource, because the status of a large flow does not have
 * them. */
static void take_times(const struct flow_source *source, struct flow_view *view)
{
    bool lacking = false;

    for (uint32_t i = 0; i < view->n_steps && !lacking; i++)
        lacking = !view->steps[i].node && flow_view_step_over(&view->steps[i]);
    if (!lacking || !source->client || source->brief)
        return;
    step_fetch(source->client, view->ns, view->name, false, take_page, view, NULL);
}

/* Returns whether no step has a time at which it ended. */
static bool tells_no_times(const struct flow_view *view)
{
    for (uint32_t i = 0; i < view->n_steps; i++)
        if (view->steps[i].ended_ms)
            return false;
    return true;
}

struct flow_view *flow_source_view(struct flow_source *source, int64_t now_ms)
{
    struct error err = {0};
    scoped(flow_view) struct flow_view *view = source->flow
                                                   ? flow_view_from_document(source->flow, &err)
                                                   : flow_view_from_text(&source->text, &err);

    if (view && source->brief && flow_view_is_over(view) &&
        (flow_view_take_path(view) || tells_no_times(view)))
        return take(view);
    if (view && flow_view_link(view, &err)) {
        take_times(source, view);
        estimate(source, view);
        flow_view_expect(view, view->phase != FLOW_NONE ? now_ms : 0);
        critical_path_fetch(view, source->client);
        return take(view);
    }
    if (source->manifest)
        manifest_print(source->manifest, "error", &err);
    else
        cli_error(&err);
    return NULL;
}
