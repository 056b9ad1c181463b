/*
 * Runs the flow controller over the manifests until nothing more happens, and reads the statuses.
 */
#include "cli/preflight/reuse_forecast.h"

#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/engine/engine.h"
#include "cli/manifest/apply.h"
#include "view/flow_view.h"

enum {
    STATUS_MS = 5000, /* virtual time in which statuses are written */
    REASON_PREFIX = sizeof "ran because " - 1
};

struct forecast {
    const struct forecast_request *request;
    struct engine *engine;
    json_t *out;  /* the result */
    json_t *rows; /* {"flow/step": rows} */
};

/* The kind whose objects are read. */
struct loading {
    struct forecast *forecast;
    const struct kind *kind;
};

static bool take_stored(void *ctx, json_t *doc)
{
    const struct loading *loading = ctx;
    struct store *store = engine_store(loading->forecast->engine);
    struct error_list errors = {0};
    struct object *object;

    /* Items of a list have no apiVersion and kind. */
    json_object_set_new(doc, "apiVersion", json_string(kind_api_version(loading->kind)));
    json_object_set_new(doc, "kind", json_string(loading->kind->name));
    object = object_from_json(doc, &errors);
    error_list_release(&errors);
    if (object && store_get(store, object->kind, object_namespace(object), object_name(object)))
        object_unref(object);
    else if (object)
        store_put(store, object);
    return true;
}

/* Puts what looks may need of the stored objects into the store. */
static void load_stored(struct forecast *forecast)
{
    static const struct kind *const kinds[] = {
        &kind_namespace,  &kind_priority_class, &kind_queue,       &kind_job_template,
        &kind_config_map, &kind_secret,         &kind_cache_entry,
    };

    for (size_t i = 0; forecast->request->client && i < countof(kinds); i++) {
        const struct list_query query = {.kind = kinds[i]};
        struct loading loading = {forecast, kinds[i]};

        list_each(forecast->request->client, &query, take_stored, &loading, NULL, NULL);
    }
}

/* Returns whether a run would go on with a stored flow that has not ended. */
static bool goes_on(const struct forecast *forecast, const struct manifest *manifest)
{
    scoped(buf) struct buf path = {0};
    scoped(json) json_t *doc = NULL;
    const char *phase;

    if (!forecast->request->client || !doc_text(manifest->doc, "metadata.name"))
        return false;
    resource_write_path(&kind_job_flow, doc_text(manifest->doc, "metadata.namespace"),
                        doc_text(manifest->doc, "metadata.name"), &path);
    doc = client_get(forecast->request->client, path.data, NULL);
    phase = doc ? doc_text(doc, "status.state.phase") : NULL;
    return doc && !(phase && (strcmp(phase, "Succeed") == 0 || strcmp(phase, "Failed") == 0));
}

bool forecast_may_reuse(const json_t *doc)
{
    const json_t *steps = json_object_get(json_object_get(doc, "spec"), "flows"), *step;
    size_t i;

    json_array_foreach(steps, i, step)
    {
        if (json_object_get(step, "cache"))
            return true;
    }
    return false;
}

/* Returns the document of a flow in which all steps start as soon as their targets have ended. */
static json_t *unhindered(const json_t *doc, bool only_changed)
{
    json_t *copy = json_deep_copy(doc), *spec = json_object_get(copy, "spec");
    json_t *metadata = json_object_get(copy, "metadata");
    json_t *annotations = json_object_get(metadata, "annotations");

    if (!annotations)
        json_object_set_new(metadata, "annotations", annotations = json_object());
    if (only_changed)
        json_object_set_new(annotations, ANNOTATION_FLOW_REUSE, json_string(REUSE_CHANGED));
    json_object_del(spec, "suspend");
    json_object_del(spec, "activeDeadlineSeconds");
    json_object_del(json_object_get(spec, "scheduling"), "maxRunningJobs");
    return copy;
}

static void apply(struct forecast *forecast, const struct manifest *manifest, json_t *doc)
{
    struct manifest changed = *manifest;
    struct error_list errors = {0};
    const struct object *object;

    changed.doc = doc;
    apply_manifest(engine_registry(forecast->engine), &changed, NULL, &object, &errors);
    error_list_release(&errors); /* what is refused has been reported */
}

static void apply_all(struct forecast *forecast, const struct manifests *set)
{
    const bool only_changed = forecast->request->only_changed;

    apply_namespaces(engine_registry(forecast->engine), set);
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind != &kind_job_flow && set->items[i].kind != &kind_job)
            apply(forecast, &set->items[i], set->items[i].doc);
    for (size_t i = 0; i < set->count; i++) {
        const struct manifest *manifest = &set->items[i];
        scoped(json) json_t *doc = NULL;

        if (manifest->kind != &kind_job_flow ||
            (!only_changed && !forecast_may_reuse(manifest->doc)) || goes_on(forecast, manifest))
            continue;
        doc = unhindered(manifest->doc, only_changed);
        apply(forecast, manifest, doc);
    }
}

static void on_compared(void *ctx, const char *flow, const char *step, const json_t *rows)
{
    struct forecast *forecast = ctx;
    scoped_str key = mem_printf("%s/%s", flow, step);

    json_object_set(forecast->rows, key, (json_t *)(uintptr_t)rows);
}

/* One flow after the look-ups. */
struct outlook {
    const struct flow_view *view;
    const struct store *store;
    const json_t *spec; /* spec.flows */
    bool only_changed;
};

static const json_t *spec_of(const struct outlook *outlook, uint32_t i)
{
    return json_array_get(outlook->spec, i);
}

static bool is_reused(const struct flow_view_step *step)
{
    return flow_view_step_cached(step) || (!step->node && step->state == VIEW_COMPLETED);
}

/* Returns whether nothing of the step runs: it is reused or skipped. */
static bool stands_still(const struct flow_view_step *step)
{
    return is_reused(step) || step->state == VIEW_SKIPPED;
}

static bool may_be_reused(const struct outlook *outlook, uint32_t i)
{
    const json_t *spec = spec_of(outlook, i);

    return json_object_get(spec, "cache") ||
           (outlook->only_changed && !json_object_get(spec, "switch") &&
            !outlook->view->steps[i].final);
}

/* Returns whether the target runs, and by that the step as well: nothing that the target writes is
 * declared, and nothing that the step reads. */
static bool runs_after(const struct outlook *outlook, uint32_t i, uint32_t target)
{
    const json_t *before = spec_of(outlook, target);
    const uint8_t state = outlook->view->steps[target].state;
    const bool waits = state == VIEW_WAITING || state == VIEW_NONE;

    return !json_array_size(json_object_get(before, "writes")) &&
           !json_array_size(json_object_get(spec_of(outlook, i), "reads")) &&
           (!waits || (!may_be_reused(outlook, target) && !json_object_get(before, "if")));
}

struct search {
    const struct flow_view *view;
    const char *step;
    bool found;
};

static void match_entry(void *arg, const struct object *object)
{
    struct search *search = arg;
    const struct cache_entry *entry = cache_entry_of(object);

    search->found |= cache_entry_is_recorded(entry) && entry->flow && entry->step &&
                     strcmp(entry->flow, search->view->name) == 0 &&
                     strcmp(entry->step, search->step) == 0;
}

/* Returns whether there is a result of the step. */
static bool is_recorded(const struct outlook *outlook, uint32_t i)
{
    struct search search = {outlook->view, outlook->view->steps[i].name, false};

    store_each(outlook->store, &kind_cache_entry, outlook->view->ns, match_entry, &search);
    return search.found;
}

/* Tells what is known of a step that waits for others. */
static void write_waiting(const struct outlook *outlook, uint32_t i, struct buf *out)
{
    const struct flow_view *view = outlook->view;
    const char *verb = json_object_get(spec_of(outlook, i), "if") ? "may run" : "runs";
    const char *certain = NULL;
    scoped(buf) struct buf names = {0};
    size_t count = 0;

    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const uint32_t target = view->targets.next[t];

        if (stands_still(&view->steps[target]))
            continue;
        if (runs_after(outlook, i, target))
            certain = view->steps[target].name;
        buf_printf(&names, "%s%s", count++ ? " and " : "", view->steps[target].name);
    }
    buf_str(out, verb);
    if (!may_be_reused(outlook, i))
        return;
    if (certain)
        buf_printf(out, ": %s runs", certain);
    else if (!outlook->view->steps[i].loops && !is_recorded(outlook, i))
        buf_str(out, ": it has never been recorded");
    else if (count)
        buf_printf(out, " unless %s write%s the same", names.data, count == 1 ? "s" : "");
}

static void write_reused(const struct flow_view_step *step, struct buf *out)
{
    const char *made = step->node ? doc_text(step->node, "cachedFrom.time") : NULL;
    char text[32];
    struct tm local;
    int64_t ms;
    time_t at;

    buf_str(out, "reused");
    if (!made || !time_parse(made, &ms, NULL))
        return;
    at = (time_t)(ms / 1000);
    if (localtime_r(&at, &local) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local))
        buf_printf(out, ", made %s", text);
}

/* Tells why a step runs that has a job in the forecast. */
static void write_runs(const struct outlook *outlook, uint32_t i, const json_t *node,
                       struct buf *out)
{
    const char *note = node ? doc_text(node, "reuse") : NULL;

    buf_str(out, "runs");
    if (!may_be_reused(outlook, i))
        return;
    if (note && strncmp(note, "ran because ", REASON_PREFIX) == 0)
        buf_printf(out, ": %s", note + REASON_PREFIX);
    else if (note)
        buf_printf(out, ": %s", note);
    else if (node)
        buf_str(out, ": it has never been recorded");
}

/* Tells how many iterations run. Returns false for a loop that has not begun. */
static bool write_loop(const struct outlook *outlook, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &outlook->view->steps[i];
    const json_t *nodes = json_object_get(outlook->view->status, "nodes"), *node, *runs = NULL;
    scoped_str prefix = mem_printf("%s-", step->name);
    size_t at, reused = 0, all = 0;

    json_array_foreach(nodes, at, node)
    {
        const char *name = doc_text(node, "name");

        if (!name || strncmp(name, prefix, strlen(prefix)) != 0 ||
            strspn(name + strlen(prefix), "0123456789") != strlen(name + strlen(prefix)))
            continue;
        all++;
        if (json_object_get(node, "cachedFrom"))
            reused++;
        else
            runs = node;
    }
    if (!all)
        return false;
    if (!runs) {
        buf_printf(out, "reused, %zu iterations", all);
    } else {
        if (reused)
            buf_printf(out, "%zu of %zu iterations: ", all - reused, all);
        write_runs(outlook, i, runs, out);
    }
    return true;
}

static void write_then(const struct outlook *outlook, uint32_t i, struct buf *out)
{
    const struct flow_view_step *step = &outlook->view->steps[i];
    const char *reason = step->reason ? step->reason : "";

    if (step->loops && write_loop(outlook, i, out))
        return;
    if (is_reused(step))
        write_reused(step, out);
    else if (step->state == VIEW_SKIPPED)
        buf_str(out, "skipped");
    else if (step->state == VIEW_COMPLETED)
        buf_str(out, "chooses");
    else if (strcmp(reason, "SameWorkRunning") == 0)
        buf_printf(out, "reused: %s", step->message ? step->message : "");
    else if (step->state == VIEW_WAITING || step->state == VIEW_NONE)
        write_waiting(outlook, i, out);
    else
        write_runs(outlook, i, step->node, out);
}

static void read_flow(void *arg, const struct object *flow)
{
    struct forecast *forecast = arg;
    scoped(json) json_t *doc = object_to_json(flow);
    scoped(flow_view) struct flow_view *view = flow_view_from_document(doc, NULL);
    scoped_str key = mem_printf("%s/%s", object_namespace(flow), object_name(flow));
    json_t *steps = json_object();
    const struct outlook outlook = {.view = view,
                                    .store = engine_store(forecast->engine),
                                    .spec = json_object_get(json_object_get(doc, "spec"), "flows"),
                                    .only_changed = forecast->request->only_changed};

    for (uint32_t i = 0; view && i < view->n_steps; i++) {
        scoped_str row = mem_printf("%s/%s", object_name(flow), view->steps[i].name);
        const json_t *rows = json_object_get(forecast->rows, row);
        scoped(buf) struct buf then = {0};
        json_t *entry;

        write_then(&outlook, i, &then);
        entry = json_pack("{s:s}", "then", then.data);
        if (rows)
            json_object_set(entry, "rows", (json_t *)(uintptr_t)rows);
        json_object_set_new(steps, view->steps[i].name, entry);
    }
    json_object_set_new(forecast->out, key, steps);
}

json_t *reuse_forecast(const struct manifests *set, const struct forecast_request *request)
{
    char directory[PATH_MAX];
    const bool elsewhere = request->client && client_is_daemon(request->client);
    struct forecast forecast = {.request = request, .out = json_object(), .rows = json_object()};
    const struct reuse_forecast_options options = {
        .data_dir = request->client ? client_data_dir(request->client) : NULL,
        .compared = on_compared,
        .ctx = &forecast};
    const struct engine_options engine = {
        .sim = true,
        .forecast = &options,
        .reuse_environment = request->environment,
        .controllers = true,
        .controllers_off = ~CONTROLLER_BIT(CONTROLLER_JOB_FLOW),
        .host_paths = {.any = true},
        /* A daemon knows no directory of its clients. */
        .steps_dir = elsewhere ? NULL : getcwd(directory, sizeof directory)};

    forecast.engine = engine_start(&engine, NULL);
    if (forecast.engine) {
        load_stored(&forecast);
        apply_all(&forecast, set);
        loop_settle(engine_loop(forecast.engine));
        loop_advance(engine_loop(forecast.engine), STATUS_MS);
        store_each(engine_store(forecast.engine), &kind_job_flow, NULL, read_flow, &forecast);
        engine_stop(forecast.engine);
    }
    json_decref(forecast.rows);
    return forecast.out;
}
