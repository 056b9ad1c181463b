/*
 * Keeps the templates that differ, and compares flows step by step.
 */
#include "cli/preflight/edits.h"

#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/pin.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "api/types/schema/flow_reference.h"
#include "base/mem.h"

/* A flow as admitted and as stored. */
struct noted_flow {
    struct object *now, *stored; /* references */
    struct buf edited;           /* names of the edited steps; empty until they are known */
    bool compared;
};

struct edits {
    json_t *changed; /* {namespace/name: true} of templates that differ from the stored ones */
    json_t *specs;   /* {namespace/name: spec} of all templates noted */
    struct noted_flow *flows;
    size_t n_flows, cap_flows;
};

struct edits *edits_new(void)
{
    struct edits *edits = mem_alloc(sizeof *edits);

    edits->changed = json_object();
    edits->specs = json_object();
    return edits;
}

void edits_free(struct edits *edits)
{
    if (!edits)
        return;
    json_decref(edits->changed);
    json_decref(edits->specs);
    for (size_t i = 0; i < edits->n_flows; i++) {
        object_unref(edits->flows[i].now);
        object_unref(edits->flows[i].stored);
        buf_release(&edits->flows[i].edited);
    }
    mem_free(edits->flows);
    mem_free(edits);
}

static json_t *spec_of(const struct object *object)
{
    scoped(json) json_t *body = object_body_json(object);

    return json_incref(json_object_get(body, "spec"));
}

static void note_template(struct edits *edits, const struct object *now,
                          const struct object *stored)
{
    scoped_str key = mem_printf("%s/%s", object_namespace(now), object_name(now));
    scoped(json) json_t *spec = spec_of(now), *before = stored ? spec_of(stored) : NULL;

    json_object_set(edits->specs, key, spec);
    if (!json_equal(spec, before))
        json_object_set_new(edits->changed, key, json_true());
}

void edits_note(struct edits *edits, const struct object *now, const struct object *stored)
{
    if (now->kind == &kind_job_template)
        note_template(edits, now, stored);
    if (now->kind != &kind_job_flow || !stored)
        return;
    mem_grow(edits->flows, edits->n_flows, edits->cap_flows);
    edits->flows[edits->n_flows++] =
        (struct noted_flow){.now = object_ref(now), .stored = object_ref(stored)};
}

/* The search for a reference to a parameter whose value differs. */
struct parameter_search {
    const struct jobflow_spec *now, *before;
    bool found;
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void look_at(void *arg, const struct flow_ref *ref)
{
    struct parameter_search *search = arg;
    scoped_str name = NULL;

    if (ref->kind != FLOW_REF_PARAMETER || search->found)
        return;
    name = mem_printf("%.*s", (int)ref->name_len, ref->name);
    search->found =
        !same_text(jobflow_parameter(search->now, name), jobflow_parameter(search->before, name));
}

/* One comparison of a flow with its stored version. */
struct flow_pair {
    const struct edits *edits;
    const struct object *flow;
    struct parameter_search search;
    json_t *steps, *steps_before;    /* spec.flows of both */
    const struct name_index *before; /* names of the steps before to their positions */
};

static bool is_edited(const struct flow_pair *pair, const struct flow_step *step, size_t at)
{
    struct parameter_search search = pair->search;
    json_t *entry = json_array_get(pair->steps, at);
    scoped_str key = mem_printf("%s/%s", object_namespace(pair->flow), flow_step_template(step));
    uint32_t was = name_index_get(pair->before, step->name);
    bool named = flow_step_has_named_template(step);

    if (was == NAME_NONE || !json_equal(entry, json_array_get(pair->steps_before, was)) ||
        (named && !jobflow_pins(pair->flow) && json_object_get(pair->edits->changed, key)))
        return true;
    flow_refs_each(entry, look_at, &search);
    if (named)
        flow_refs_each(json_object_get(pair->edits->specs, key), look_at, &search);
    return search.found;
}

static void write_edited(const struct edits *edits, const struct object *now,
                         const struct object *stored, struct buf *out)
{
    const struct jobflow_spec *spec = jobflow_spec_of(now);
    scoped(json) json_t *doc = spec_of(now), *before = spec_of(stored);
    scoped(name_index) struct name_index names = {0};
    const struct flow_pair pair = {edits,
                                   now,
                                   {spec, jobflow_spec_of(stored), false},
                                   json_object_get(doc, "flows"),
                                   json_object_get(before, "flows"),
                                   &names};

    jobflow_index_names(jobflow_spec_of(stored), &names, NULL, NULL);
    for (size_t i = 0; i < spec->steps.count; i++)
        if (is_edited(&pair, &spec->steps.items[i], i))
            buf_printf(out, "%s%s", out->len ? "," : "", spec->steps.items[i].name);
}

const struct object *edits_of(struct edits *edits, const char *ns, const char *name,
                              struct buf *out)
{
    for (size_t i = 0; i < edits->n_flows; i++) {
        struct noted_flow *flow = &edits->flows[i];

        if (strcmp(object_namespace(flow->now), ns) != 0 ||
            strcmp(object_name(flow->now), name) != 0)
            continue;
        if (!flow->compared)
            write_edited(edits, flow->now, flow->stored, &flow->edited);
        flow->compared = true;
        if (flow->edited.len)
            buf_add(out, flow->edited.data, flow->edited.len);
        return flow->now;
    }
    return NULL;
}
