/*
 * Copies of the templates that a flow pins: one entry for each template name, in a hash table per
 * flow. All flows with pins form a list, so that a new template finds those that wait for it.
 */
#include "flow/template_pins.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/pin.h"
#include "base/log.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "template/instantiate.h"
#include "template/job_meta.h"

enum pin_state { PIN_MISSING, PIN_COPYING, PIN_THERE, PIN_REFUSED };

struct pin {
    enum pin_state state;
    char *refusal; /* why the copy was refused; kept until the next refusal */
    UT_hash_handle hh;
    char copy[PIN_NAME_MAX + 1];
    char name[]; /* name of the original template */
};

struct template_pins {
    struct flow *flow;
    struct pin *by_name;
    unsigned copying;
    LIST_ENTRY(template_pins) all; /* list of the controller */
};

struct pin_call {
    struct cluster_call call;
    struct flow *flow;
    char name[]; /* name of the original template */
};

static struct pin *find(const struct flow *flow, const char *name)
{
    struct pin *pin = NULL;

    if (flow->pins)
        HASH_FIND_STR(flow->pins->by_name, name, pin);
    return pin;
}

static const struct object *look(const struct flow *flow, const char *name)
{
    return cluster_get(flow->controller->cluster, &kind_job_template,
                       object_namespace(flow->object), name);
}

static const struct object *copy_of(const struct flow *flow, const struct pin *pin)
{
    const struct object *copy = look(flow, pin->copy);

    return copy && jobflow_pin_is_of(copy, flow->uid) ? copy : NULL;
}

static void refused(struct flow *flow, struct pin *pin, const struct error *err)
{
    pin->state = PIN_REFUSED;
    mem_free(pin->refusal);
    pin->refusal =
        mem_printf("template %s cannot be pinned as %s: %s", pin->name, pin->copy, err->message);
    log_warn("job template not pinned", kv_str("namespace", object_namespace(flow->object)),
             kv_str("flow", object_name(flow->object)), kv_str("template", pin->name),
             kv_str("reason", err->message));
}

static void on_copied(struct cluster_call *call, const struct object *result,
                      const struct error *err)
{
    struct pin_call *copying = container_of(call, struct pin_call, call);
    struct flow *flow = copying->flow;
    struct pin *pin;

    if (flow_call_ended(flow) && (pin = find(flow, copying->name)) && pin->state == PIN_COPYING) {
        flow->pins->copying--;
        if (!err || copy_of(flow, pin))
            pin->state = PIN_THERE;
        else
            refused(flow, pin, err);
        flow_make_runnable(flow);
    }
    mem_free(copying);
}

static void make_copy(struct flow *flow, struct pin *pin, const struct object *original)
{
    size_t len = strlen(pin->name);
    struct pin_call *copying = mem_alloc(sizeof *copying + len + 1);

    copying->call.done = on_copied;
    copying->flow = flow;
    memcpy(copying->name, pin->name, len + 1);
    pin->state = PIN_COPYING;
    flow->pins->copying++;
    flow_call_begun(flow);
    cluster_create(flow->controller->cluster, &copying->call,
                   template_pinned(flow->object, pin->name, original->body, original->revision));
}

static void add(struct flow *flow, const char *name)
{
    size_t len = strlen(name);
    const struct object *original;
    struct pin *pin;

    if (find(flow, name))
        return;
    pin = mem_alloc(sizeof *pin + len + 1);
    memcpy(pin->name, name, len + 1);
    jobflow_pin_name(flow->uid, name, pin->copy);
    HASH_ADD_KEYPTR(hh, flow->pins->by_name, pin->name, len, pin);
    original = look(flow, name);
    if (copy_of(flow, pin))
        pin->state = PIN_THERE;
    else if (original && !flow_phase_finished(flow->state.phase) && !object_deleting(flow->object))
        make_copy(flow, pin, original);
}

void template_pins_start(struct flow *flow)
{
    struct flow_controller *controller = flow->controller;
    const struct flow_model *m = &flow->model;

    template_pins_stop(flow);
    if (m->upstream || !jobflow_pins(flow->object))
        return;
    flow->pins = mem_alloc(sizeof *flow->pins);
    flow->pins->flow = flow;
    LIST_INSERT_HEAD(&controller->pins, flow->pins, all);
    for (size_t i = 0; i < m->graph->spec->steps.count; i++)
        if (flow_step_has_named_template(&m->graph->spec->steps.items[i]))
            add(flow, flow_step_template(&m->graph->spec->steps.items[i]));
}

void template_pins_stop(struct flow *flow)
{
    struct template_pins *pins = take(flow->pins);
    struct pin *pin, *next;

    if (!pins)
        return;
    LIST_REMOVE(pins, all);
    HASH_ITER(hh, pins->by_name, pin, next)
    {
        HASH_DEL(pins->by_name, pin);
        mem_free(pin->refusal);
        mem_free(pin);
    }
    mem_free(pins);
}

bool template_pins_copying(const struct flow *flow)
{
    return flow->pins && flow->pins->copying;
}

void template_pins_template_added(struct flow_controller *controller, const struct object *template)
{
    struct template_pins *pins;

    LIST_FOREACH(pins, &controller->pins, all)
    {
        struct pin *pin = find(pins->flow, object_name(template));

        if (pin && pin->state == PIN_MISSING && !copy_of(pins->flow, pin) &&
            strcmp(object_namespace(pins->flow->object), object_namespace(template)) == 0)
            make_copy(pins->flow, pin, template);
    }
}

const struct object *flow_template_of(struct flow *flow, uint32_t step)
{
    const struct flow_step *spec = flow_graph_step(flow->model.graph, step);
    const char *name = flow_step_template(spec);
    struct pin *pin = find(flow, name);
    const struct object *copy, *original;

    if (flow_step_is_inline(spec) && !flow->model.upstream)
        return template_inline(flow->controller->bodies, flow->object, spec);
    if (!pin)
        return look(flow, name);
    copy = copy_of(flow, pin);
    original =
        copy || pin->state == PIN_COPYING || pin->state == PIN_REFUSED ? NULL : look(flow, name);
    if (original)
        make_copy(flow, pin, original); /* the copy was deleted by hand, or refused before */
    return copy;
}

const char *template_pins_refusal(struct flow *flow, uint32_t step)
{
    struct pin *pin = find(flow, flow_step_template(flow_graph_step(flow->model.graph, step)));

    if (!pin || pin->state != PIN_REFUSED)
        return NULL;
    pin->state = PIN_MISSING; /* the retry of the blocked step makes a new copy */
    return pin->refusal;
}
