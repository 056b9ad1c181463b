/*
 * Builds a plan: collects the objects that a preflight admits (preflight_look) and compares them
 * with the stored ones.
 */
#include "cli/preflight/plan.h"

#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/pin.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/resource.h"
#include "cli/command/command.h"
#include "cli/preflight/difference.h"
#include "cli/preflight/foresight.h"
#include "cli/preflight/preflight.h"
#include "cli/preflight/reuse_forecast.h"
#include "view/flow_view.h"

enum { KNOWN_MAX = 5000 };

struct planning {
    const struct plan_options *options;
    json_t *objects, *flows;
    json_t *by_flow;          /* {namespace/name: the flow's entry in `flows`} */
    json_t *templates;        /* {namespace/name: document} of templates in the files */
    json_t *pinned;           /* documents of stored flows that pin their templates */
    struct edits *edits;      /* the files beside what is stored; NULL: not asked for */
    struct object *looked_up; /* the object that admission requested last */
    bool refused;
};

/* Returns the document without the fields that the server sets. */
static json_t *written_part(const json_t *doc)
{
    json_t *part = json_copy((json_t *)(size_t)doc);
    const json_t *metadata = json_object_get(doc, "metadata");
    json_t *kept = json_object();
    static const char *const members[] = {"labels", "annotations"};

    for (size_t i = 0; i < countof(members); i++)
        if (json_object_get(metadata, members[i]))
            json_object_set(kept, members[i], json_object_get(metadata, members[i]));
    json_object_set_new(part, "metadata", kept);
    json_object_del(part, "status");
    return part;
}

/* Removes from `now` the requests that clients have made of the stored flow, such as a retry, unless
 * the file makes some, too. They are no part of a file, and applying it leaves them alone. */
static void forget_requests(json_t *now, const json_t *then)
{
    static const char *const requests[] = {ANNOTATION_FLOW_RETRY, ANNOTATION_FLOW_RETRY_FROM,
                                           ANNOTATION_FLOW_RETRY_ONLY, ANNOTATION_FLOW_RETRY_EDITED,
                                           ANNOTATION_FLOW_ABORT};
    json_t *metadata = json_object_get(now, "metadata");
    const json_t *wanted = json_object_get(json_object_get(then, "metadata"), "annotations");
    json_t *left = json_copy(json_object_get(metadata, "annotations"));

    for (size_t i = 0; i < countof(requests); i++)
        if (!json_object_get(wanted, requests[i]))
            json_object_del(left, requests[i]);
    if (json_object_size(left) || wanted)
        json_object_set(metadata, "annotations", left);
    else
        json_object_del(metadata, "annotations");
    json_decref(left);
}

static json_t *stored(const struct planning *p, const struct kind *kind, const char *ns,
                      const char *name)
{
    scoped(buf) struct buf path = {0};

    if (!p->options->client)
        return NULL;
    resource_write_path(kind, ns, name, &path);
    return client_get(p->options->client, path.data, NULL);
}

/* Records templates for the later comparison with pinned ones. */
static void note_templates(struct planning *p, const struct object *object, json_t *known)
{
    const char *policy = doc_text(known, "spec.templatePolicy");
    scoped_str key = mem_printf("%s/%s", object_namespace(object), object_name(object));

    if (object->kind == &kind_job_template)
        json_object_set_new(p->templates, key, object_to_json(object));
    else if (object->kind == &kind_job_flow && policy && strcmp(policy, "pinned") == 0)
        json_array_append(p->pinned, known);
}

static struct object *object_of(const json_t *doc)
{
    struct error_list errors = {0};
    struct object *object = object_from_json(doc, &errors);

    error_list_release(&errors);
    return object;
}

static const struct object *look_up(void *ctx, const struct kind *kind, const char *ns,
                                    const char *name)
{
    struct planning *p = ctx;
    scoped(json) json_t *doc = stored(p, kind, ns, name);

    object_unref(take(p->looked_up));
    p->looked_up = doc ? object_of(doc) : NULL;
    return p->looked_up;
}

/* Checks an edit of a stored flow against the rules of DC-02. `run` restarts a flow that has ended,
 * so any edit of it is allowed there. */
static void check_edit(struct planning *p, const json_t *known, const struct object *flow,
                       json_t *entry)
{
    struct object *old = object_of(known);
    const char *allowed = old ? meta_annotation(old->meta, ANNOTATION_ALLOW_UPDATES) : NULL;
    const struct admission adm = {
        .get = look_up, .ctx = p, .allow_flow_updates = allowed && strcmp(allowed, "true") == 0};
    struct error_list errors = {0};

    if (old)
        jobflow_check_update(&adm, old, flow, &errors);
    if (errors.count) {
        bool over = flow_phase_finished(jobflow_phase_of(old));

        json_object_set_new(entry, "refused",
                            json_sprintf("%s: %s", errors.items[0].field, errors.items[0].message));
        if (over)
            json_object_set_new(entry, "begunAnewByRun", json_true());
        p->refused = p->refused || !over;
    }
    error_list_release(&errors);
    object_unref(old);
}

/* A job of the files that can never run here. */
static void note_room(const struct planning *p, const struct object *job,
                      const struct store *queues, json_t *entry)
{
    scoped_str problem = fit_problem(p->options->fit, queues, job_spec_of(job));

    if (problem)
        json_object_set_new(entry, "problem", json_string(problem));
}

/* Leaves the values out of the changes of a Secret, whose data may also stand in an annotation of
 * kubectl; the paths stay. */
static void hide_values(json_t *changes)
{
    size_t i;
    json_t *change;

    json_array_foreach(changes, i, change)
    {
        json_object_del(change, "from");
        json_object_del(change, "to");
    }
}

static void collect_object(void *ctx, const struct manifest *manifest, const struct object *object,
                           const struct store *queues)
{
    struct planning *p = ctx;
    scoped(json) json_t *known =
        stored(p, object->kind, object_namespace(object), object_name(object));
    json_t *entry = json_pack("{s:s, s:s, s:s}", "kind", object->kind->name, "namespace",
                              object_namespace(object), "name", object_name(object));
    json_t *changes = NULL;

    note_templates(p, object, known);
    if (known) {
        scoped(json) json_t *doc = object_to_json(object);
        scoped(json) json_t *now = written_part(known), *then = written_part(doc);

        if (object->kind == &kind_job_flow)
            forget_requests(now, then);
        changes = difference_of(now, then);
        if (object->kind == &kind_secret)
            hide_values(changes);
    }
    json_object_set_new(entry, "action",
                        json_string(!known                     ? "create"
                                    : json_array_size(changes) ? "change"
                                                               : "keep"));
    if (json_array_size(changes))
        json_object_set(entry, "changes", changes);
    if (json_array_size(changes) && object->kind == &kind_job_flow)
        check_edit(p, known, object, entry);
    if (object->kind == &kind_job)
        note_room(p, object, queues, entry);
    json_decref(changes);
    json_array_append_new(p->objects, entry);
    if (p->edits) {
        struct object *before = known ? object_of(known) : NULL;

        edits_note(p->edits, object, before);
        object_unref(before);
    }
}

static json_t *flow_entry(struct planning *p, const struct object *flow)
{
    scoped_str key = mem_printf("%s/%s", object_namespace(flow), object_name(flow));
    json_t *entry = json_object_get(p->by_flow, key);
    scoped(json) json_t *doc = NULL;
    scoped(flow_view) struct flow_view *view = NULL;
    json_t *steps;

    if (entry)
        return entry;
    doc = object_to_json(flow);
    view = flow_view_from_document(doc, NULL);
    steps = json_array();
    for (uint32_t i = 0; view && i < view->n_steps; i++) {
        const struct flow_view_step *step = &view->steps[i];
        json_t *after = json_array();
        json_t *one = json_pack("{s:s, s:I, s:o}", "name", step->name, "stage",
                                (json_int_t)step->layer + 1, "after", after);
        scoped(buf) struct buf marks = {0};

        for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++)
            json_array_append_new(after, json_string(view->steps[view->targets.next[t]].name));
        if (step->template && !step->inlined)
            json_object_set_new(one, "template", json_string(step->template));
        flow_view_step_marks(step, &marks);
        if (marks.len)
            json_object_set_new(one, "marks", json_string(marks.data));
        json_array_append_new(steps, one);
    }
    entry = json_pack("{s:s, s:s, s:o}", "name", object_name(flow), "namespace",
                      object_namespace(flow), "steps", steps);
    json_array_append_new(p->flows, entry);
    json_object_set(p->by_flow, key, entry);
    return entry;
}

static void collect_job(void *ctx, const struct object *flow, size_t step, const struct object *job,
                        const struct store *queues)
{
    struct planning *p = ctx;
    json_t *entry = json_array_get(json_object_get(flow_entry(p, flow), "steps"), step);
    scoped(json) json_t *doc = object_to_json(job);
    const struct fit *fit = p->options->fit;
    scoped_str problem = fit_problem(fit, queues, job_spec_of(job));
    scoped(buf) struct buf needs = {0};
    json_t *metadata =
        json_pack("{s:s, s:s}", "name", object_name(job), "namespace", object_namespace(job));

    json_object_set_new(doc, "metadata", metadata);
    json_object_del(doc, "status");
    json_object_set(entry, "job", doc);
    fit_write(fit, fit_need(fit, job_spec_of(job)), &needs);
    json_object_set_new(entry, "needs", json_string(needs.data));
    if (problem)
        json_object_set_new(entry, "problem", json_string(problem));
}

static void collect_gang(void *ctx, const struct object *flow, const struct error *problem)
{
    json_t *entry = flow_entry(ctx, flow), *problems = json_object_get(entry, "problems");

    if (!problems) {
        problems = json_array();
        json_object_set_new(entry, "problems", problems);
    }
    json_array_append_new(
        problems, json_pack("{s:s, s:s}", "path", problem->field, "message", problem->message));
}

/* Compares two steps by their stage. */
static int compare_stage(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    json_int_t p = json_integer_value(json_object_get(x, "stage"));
    json_int_t q = json_integer_value(json_object_get(y, "stage"));

    if (p != q)
        return p < q ? -1 : 1;
    p = json_integer_value(json_object_get(x, "at"));
    q = json_integer_value(json_object_get(y, "at"));
    return (p > q) - (p < q);
}

static void sort_steps(json_t *flow)
{
    json_t *steps = json_object_get(flow, "steps"), *sorted = json_array();
    size_t n = json_array_size(steps);
    json_t **items = mem_array(n + 1, sizeof(json_t *));

    for (size_t i = 0; i < n; i++) {
        items[i] = json_array_get(steps, i);
        json_object_set_new(items[i], "at", json_integer((json_int_t)i));
    }
    qsort(items, n, sizeof(json_t *), compare_stage);
    for (size_t i = 0; i < n; i++) {
        json_object_del(items[i], "at");
        json_array_append(sorted, items[i]);
    }
    mem_free(items);
    json_object_set_new(flow, "steps", sorted);
}

static bool keep_page(void *ctx, json_t *page)
{
    json_array_extend(ctx, json_object_get(page, "items"));
    return json_array_size(ctx) < KNOWN_MAX;
}

static json_t *known_objects(struct client *client)
{
    static const struct kind *const kinds[] = {&kind_namespace, &kind_priority_class, &kind_queue,
                                               &kind_job_template};
    json_t *known = json_array();

    for (size_t k = 0; client && k < countof(kinds); k++) {
        const struct list_query query = {.kind = kinds[k]};
        size_t from = json_array_size(known);

        list_pages(client, &query, keep_page, known, NULL, NULL);
        /* Items of a list have no apiVersion and kind. */
        for (size_t i = from; i < json_array_size(known); i++) {
            json_object_set_new(json_array_get(known, i), "apiVersion",
                                json_string(kind_api_version(kinds[k])));
            json_object_set_new(json_array_get(known, i), "kind", json_string(kinds[k]->name));
        }
    }
    return known;
}

static json_t *newest_template(const struct planning *p, const char *ns, const char *name)
{
    scoped_str key = mem_printf("%s/%s", ns, name);
    json_t *of_files = json_object_get(p->templates, key);

    return of_files ? json_incref(of_files) : stored(p, &kind_job_template, ns, name);
}

/* Compares one pinned template of a flow with its newest version. */
static void compare_pinned(struct planning *p, const json_t *flow, const char *name, json_t *out)
{
    const char *ns = doc_text(flow, "metadata.namespace");
    char copy_name[PIN_NAME_MAX + 1];
    scoped(json) json_t *copy = NULL, *newest = NULL;
    json_t *entry, *changes;

    jobflow_pin_name(doc_text(flow, "metadata.uid"), name, copy_name);
    copy = stored(p, &kind_job_template, ns, copy_name);
    newest = newest_template(p, ns, name);
    if (!copy)
        return; /* a template that does not exist yet is pinned when it is created */
    entry = json_pack("{s:s, s:s}", "name", name, "copy", copy_name);
    changes = newest ? difference_of(json_object_get(copy, "spec"), json_object_get(newest, "spec"))
                     : NULL;
    if (!newest)
        json_object_set_new(entry, "gone", json_true());
    json_object_set(
        entry, "version",
        json_object_get(json_object_get(json_object_get(copy, "metadata"), "annotations"),
                        ANNOTATION_PINNED_REVISION));
    if (json_array_size(changes))
        json_object_set(entry, "changes", changes);
    json_decref(changes);
    json_array_append_new(out, entry);
}

static void collect_pinned(struct planning *p, const json_t *flow)
{
    scoped_str key =
        mem_printf("%s/%s", doc_text(flow, "metadata.namespace"), doc_text(flow, "metadata.name"));
    json_t *entry = json_object_get(p->by_flow, key), *list = json_array();
    scoped(json) json_t *seen = json_object();
    const json_t *step;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(flow, "spec"), "flows"), i, step)
    {
        const char *named = doc_text(step, "jobTemplateName");
        const char *name = named ? named : doc_text(step, "name");

        if (json_object_get(step, "switch") || json_object_get(step, "approve") ||
            json_object_get(step, "run") || json_object_get(step, "jobTemplate") ||
            json_object_get(seen, name))
            continue;
        json_object_set_new(seen, name, json_true());
        compare_pinned(p, flow, name, list);
    }
    if (entry && json_array_size(list))
        json_object_set(entry, "templates", list);
    json_decref(list);
}

/* Tells what a retry or rerun of one flow does to its steps. False when a name is not that of a step,
 * or when the flow cannot run again; that is printed. */
static bool plan_again(const struct planning *p, json_t *entry)
{
    scoped(json) json_t *doc =
        stored(p, &kind_job_flow, doc_text(entry, "namespace"), doc_text(entry, "name"));
    struct object *before = doc ? object_of(doc) : NULL;
    struct flow_rerun rerun = p->options->rerun;
    scoped(buf) struct buf edited = {0};
    scoped(foresight) struct foresight foresight = {0};
    struct error err = {0};
    const struct object *now;
    bool ok;

    if (!before)
        return true;
    buf_str(&edited, "");
    now = edits_of(p->edits, object_namespace(before), object_name(before), &edited);
    rerun.edited = edited.data;
    ok = foresee(before, now ? now : before, &rerun, &foresight, &err);
    for (size_t i = 0; i < foresight.count; i++) {
        scoped_str text = foresight_text(&foresight, i);

        json_object_set_new(json_array_get(json_object_get(entry, "steps"), i), "then",
                            json_string(text));
    }
    if (!ok)
        cli_error(&err);
    object_unref(before);
    return ok;
}

static bool plan_all_again(const struct planning *p)
{
    bool ok = true;

    for (size_t i = 0; p->edits && i < json_array_size(p->flows); i++)
        ok &= plan_again(p, json_array_get(p->flows, i));
    return ok;
}

/* Tells which steps of the flows would be reused, and why the others run. */
static void plan_reuse(const struct planning *p, const struct manifests *set)
{
    const struct forecast_request request = {p->options->client, p->options->only_changed,
                                             p->options->environment};
    scoped(json) json_t *forecast = reuse_forecast(set, &request);
    size_t i, k;
    json_t *flow, *step;

    json_array_foreach(p->flows, i, flow)
    {
        scoped_str key = mem_printf("%s/%s", doc_text(flow, "namespace"), doc_text(flow, "name"));
        const json_t *steps = json_object_get(forecast, key);

        json_array_foreach(json_object_get(flow, "steps"), k, step)
        {
            const json_t *known = json_object_get(steps, doc_text(step, "name"));
            json_t *rows = json_object_get(known, "rows");

            if (known)
                json_object_set(step, "then", json_object_get(known, "then"));
            if (rows)
                json_object_set(step, "compared", rows);
        }
    }
}

bool plan_may_reuse(const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_flow && forecast_may_reuse(set->items[i].doc))
            return true;
    return false;
}

static bool asks_for_reuse(const struct plan_options *options, const struct manifests *set)
{
    return !options->again && !options->sim && !options->is_guest &&
           (options->only_changed || plan_may_reuse(set));
}

json_t *plan_make(struct manifests *set, const struct plan_options *options, bool *out_refused)
{
    struct planning p = {.options = options,
                         .objects = json_array(),
                         .flows = json_array(),
                         .by_flow = json_object(),
                         .templates = json_object(),
                         .pinned = json_array()};
    scoped(edits) struct edits *edits = options->again ? edits_new() : NULL;
    scoped(json) json_t *known = known_objects(options->client);
    const struct preflight_look look = {
        .object = collect_object, .job = collect_job, .gang = collect_gang, .ctx = &p};
    const struct preflight_options how = {
        .namespace = options->namespace,
        .sim = options->sim,
        .known = known,
        .look = &look,
        .fit = options->fit,
        .needs = options->sim || options->is_guest ? NEEDS_IGNORED : NEEDS_WARNED_OF,
    };
    struct preflight_result result;
    bool ok = (p.edits = edits, preflight(set, &how, &result) && plan_all_again(&p));
    json_t *plan = json_pack("{s:o, s:o}", "objects", p.objects, "flows", p.flows);

    if (ok && asks_for_reuse(options, set))
        plan_reuse(&p, set);
    for (size_t i = 0; i < json_array_size(p.flows); i++)
        sort_steps(json_array_get(p.flows, i));
    for (size_t i = 0; ok && i < json_array_size(p.pinned); i++)
        collect_pinned(&p, json_array_get(p.pinned, i));
    json_decref(p.by_flow);
    json_decref(p.templates);
    json_decref(p.pinned);
    object_unref(p.looked_up);
    *out_refused = p.refused;
    if (ok)
        return plan;
    json_decref(plan);
    return NULL;
}
