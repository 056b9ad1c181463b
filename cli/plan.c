/*
 * Gathering.
 */
#include "cli/plan.h"
#include "base/mem.h"
#include "cli/describe.h"
#include "cli/fit.h"
#include "cli/flowview.h"
#include "cli/preflight.h"
#include "cli/resource.h"
#include <string.h>

enum { CHANGES_MAX = 200, KNOWN_MAX = 5000 };

struct planning {
    const struct plan_options *options;
    json_t *objects, *flows;
    json_t *by_flow; /* {namespace/name: its entry of flows} */
};

/* ---- differences ---- */

static void add_change(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    json_t *change = json_pack("{s:s}", "path", path);

    if (json_array_size(changes) >= CHANGES_MAX) {
        json_decref(change);
        return;
    }
    if (from)
        json_object_set(change, "from", (json_t *)(size_t)from);
    if (to)
        json_object_set(change, "to", (json_t *)(size_t)to);
    json_array_append_new(changes, change);
}

static void compare(json_t *changes, const char *path, const json_t *from, const json_t *to);

static void compare_members(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(size_t)to, key, value)
    {
        scoped_str at = mem_printf("%s%s%s", path, *path ? "." : "", key);

        compare(changes, at, json_object_get(from, key), value);
    }
    json_object_foreach((json_t *)(size_t)from, key, value)
    {
        scoped_str at = mem_printf("%s%s%s", path, *path ? "." : "", key);

        if (!json_object_get(to, key))
            add_change(changes, at, value, NULL);
    }
}

static void compare(json_t *changes, const char *path, const json_t *from, const json_t *to)
{
    if (json_is_object(from) && json_is_object(to)) {
        compare_members(changes, path, from, to);
    } else if (json_is_array(from) && json_is_array(to) &&
               json_array_size(from) == json_array_size(to)) {
        for (size_t i = 0; i < json_array_size(to); i++) {
            scoped_str at = mem_printf("%s[%zu]", path, i);

            compare(changes, at, json_array_get(from, i), json_array_get(to, i));
        }
    } else if (!json_equal(from, to)) {
        add_change(changes, path, from, to);
    }
}

/* Everything but what the server writes. */
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

/* ---- objects ---- */

static json_t *stored_object(const struct planning *p, const struct object *object)
{
    scoped(buf) struct buf path = {0};

    if (!p->options->client)
        return NULL;
    resource_write_path(object->kind, object_namespace(object), object_name(object), &path);
    return client_get(p->options->client, path.data, NULL);
}

static void look_at_object(void *ctx, const struct manifest *manifest, const struct object *object)
{
    struct planning *p = ctx;
    scoped(json) json_t *stored = stored_object(p, object);
    json_t *entry = json_pack("{s:s, s:s, s:s}", "kind", object->kind->name, "namespace",
                              object_namespace(object), "name", object_name(object));
    json_t *changes = json_array();

    if (stored) {
        scoped(json) json_t *doc = object_to_json(object);
        scoped(json) json_t *now = written_part(stored), *then = written_part(doc);

        compare(changes, "", now, then);
    }
    json_object_set_new(entry, "action",
                        json_string(!stored                    ? "create"
                                    : json_array_size(changes) ? "change"
                                                               : "keep"));
    if (json_array_size(changes))
        json_object_set(entry, "changes", changes);
    json_decref(changes);
    json_array_append_new(p->objects, entry);
}

/* ---- flows ---- */

static json_t *flow_entry(struct planning *p, const struct object *flow)
{
    scoped_str key = mem_printf("%s/%s", object_namespace(flow), object_name(flow));
    json_t *entry = json_object_get(p->by_flow, key);
    scoped(json) json_t *doc = NULL;
    scoped(flowview) struct flowview *view = NULL;
    json_t *steps;

    if (entry)
        return entry;
    doc = object_to_json(flow);
    view = flowview_new(doc, NULL);
    steps = json_array();
    for (uint32_t i = 0; view && i < view->n_steps; i++) {
        const struct flowview_step *step = &view->steps[i];
        json_t *after = json_array();
        json_t *one = json_pack("{s:s, s:I, s:o}", "name", step->name, "stage",
                                (json_int_t)step->layer + 1, "after", after);
        scoped(buf) struct buf marks = {0};

        for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++)
            json_array_append_new(after, json_string(view->steps[view->targets.next[t]].name));
        if (step->template_)
            json_object_set_new(one, "template", json_string(step->template_));
        flowview_step_marks(step, &marks);
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

static void look_at_job(void *ctx, const struct object *flow, size_t step, const struct object *job)
{
    struct planning *p = ctx;
    json_t *entry = json_array_get(json_object_get(flow_entry(p, flow), "steps"), step);
    scoped(json) json_t *doc = object_to_json(job);
    scoped_str problem =
        p->options->sim ? NULL : fit_problem(job_spec_of(job), p->options->max_pods);
    scoped(buf) struct buf needs = {0};
    json_t *metadata =
        json_pack("{s:s, s:s}", "name", object_name(job), "namespace", object_namespace(job));

    json_object_set_new(doc, "metadata", metadata);
    json_object_del(doc, "status");
    json_object_set(entry, "job", doc);
    fit_write(fit_need(job_spec_of(job)), &needs);
    json_object_set_new(entry, "needs", json_string(needs.data));
    if (problem)
        json_object_set_new(entry, "problem", json_string(problem));
}

/* Flows of which no step has a known template have been missed so far; and the order. */
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

/* ---- what is stored ---- */

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
        for (size_t i = from; i < json_array_size(known); i++) { /* lists leave these out */
            json_object_set_new(json_array_get(known, i), "apiVersion",
                                json_string(kind_api_version(kinds[k])));
            json_object_set_new(json_array_get(known, i), "kind", json_string(kinds[k]->name));
        }
    }
    return known;
}

json_t *plan_make(struct manifests *set, const struct plan_options *options)
{
    struct planning p = {.options = options,
                         .objects = json_array(),
                         .flows = json_array(),
                         .by_flow = json_object()};
    scoped(json) json_t *known = known_objects(options->client);
    const struct preflight_look look = {look_at_object, look_at_job, &p};
    const struct preflight_options how = {
        .namespace_ = options->namespace_, .sim = options->sim, .known = known, .look = &look};
    struct preflight_result result;
    bool ok = preflight(set, &how, &result);
    json_t *plan = json_pack("{s:o, s:o}", "objects", p.objects, "flows", p.flows);

    for (size_t i = 0; i < json_array_size(p.flows); i++)
        sort_steps(json_array_get(p.flows, i));
    json_decref(p.by_flow);
    if (ok)
        return plan;
    json_decref(plan);
    return NULL;
}
