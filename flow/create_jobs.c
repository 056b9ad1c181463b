/*
 * Creates the jobs of ready steps.
 *
 * For each step in queue order, the job body is made from the template and the patch, and the
 * create is sent. The answer is either the new job, or an error: a job that exists already and is
 * ours is adopted; any other error blocks the step.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "base/mem.h"
#include "flow/internal.h"
#include "flow/model/condition.h"
#include "flow/model/spec_hash.h"
#include "flow/results_wait.h"
#include "flow/reuse_service.h"
#include "flow/reuse_steps.h"
#include "template/job_meta.h"
#include "template/references.h"

enum {
    CREATE_BATCH = 1000
}; /* creates of one flow in one sync, so that other flows get their turn */

/* A create in flight. If the spec changes meanwhile, the step is found again by its job's name. */
struct create_call {
    struct cluster_call call;
    struct flow *flow;
    struct meta *meta; /* metadata of the job */
    uint32_t step, build;
    uint32_t ready_tick;
    bool recreated; /* replaces a job that was deleted by hand */
    bool retry;     /* a further attempt after a failure */
};

static uint32_t step_of_call(const struct create_call *create)
{
    const struct flow *flow = create->flow;

    if (flow->opening != FLOW_OPEN)
        return STEP_NONE;
    if (create->build == flow->build)
        return create->step;
    return flow_model_step_of_job_name(&flow->model, create->meta->name);
}

static void created(struct create_call *create, uint32_t step, const struct object *job)
{
    struct flow *flow = create->flow;
    struct cluster *cluster = flow->controller->cluster;

    cluster_event(cluster, flow->object, EVENT_NORMAL, "Created", FLOW_COMPONENT,
                  "create a job named %s!", object_name(job));
    flow_metrics_job_created(&flow->controller->metrics, flow_tick(flow) - create->ready_tick);
    if (create->retry)
        metric_add(flow->controller->metrics.retries, 1);
    if (create->retry)
        cluster_event(cluster, flow->object, EVENT_NORMAL, "Retried", FLOW_COMPONENT,
                      "job %s ran before, this is attempt %s", object_name(job),
                      meta_annotation(create->meta, ANNOTATION_FLOW_ATTEMPT));
    if (create->recreated)
        cluster_event(cluster, flow->object, EVENT_NORMAL, "Recreated", FLOW_COMPONENT,
                      "job %s was deleted before it finished", object_name(job));
    if (step != STEP_NONE)
        flow_job_changed(flow, step, job);
}

static void adopt(struct flow *flow, uint32_t step, const struct object *job)
{
    flow_job_changed(flow, step, job);
    if (flow->model.steps[step].state != STEP_STARTED) /* the cache still shows a removed job */
        flow_block_step(flow, step, BLOCK_CREATE_FAILED, "job %s is being removed",
                        object_name(job));
}

static void wait_for_name(struct flow *flow, uint32_t step, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);

    if (owner)
        flow_block_step(flow, step, BLOCK_JOB_NAME_CONFLICT, "job %s belongs to %s %s",
                        object_name(job), owner->kind, owner->name);
    else
        flow_block_step(flow, step, BLOCK_JOB_NAME_CONFLICT,
                        "job %s exists and was not made by this flow", object_name(job));
}

static void wait_for_template(struct flow *flow, uint32_t step)
{
    const char *refusal = template_pins_refusal(flow, step);

    if (refusal)
        flow_block_step(flow, step, BLOCK_CREATE_FAILED, "%s", refusal);
    else
        flow_block_step(flow, step, BLOCK_TEMPLATE_NOT_FOUND, "job template %s/%s not found",
                        object_namespace(flow->object),
                        flow_step_template(flow_graph_step(flow->model.graph, step)));
}

static void refused(struct create_call *create, uint32_t step, const struct error *err)
{
    struct flow *flow = create->flow;
    const struct object *job;
    bool denied = err->code == ERR_INVALID || err->code == ERR_FORBIDDEN ||
                  err->code == ERR_BAD_REQUEST || err->code == ERR_TOO_LARGE;

    if (step == STEP_NONE || flow->model.steps[step].state != STEP_CREATING)
        return; /* the step is no longer in the spec, or its job was seen meanwhile */
    job = err->code == ERR_EXISTS ? cluster_get(flow->controller->cluster, &kind_job,
                                                object_namespace(flow->object), create->meta->name)
                                  : NULL;
    if (job && flow_owns(flow, job))
        adopt(flow, step, job);
    else if (job)
        wait_for_name(flow, step, job);
    else
        flow_block_step(flow, step, denied ? BLOCK_ADMISSION_DENIED : BLOCK_CREATE_FAILED,
                        *err->field ? "job %s: %s: %s" : "job %s: %s%s", create->meta->name,
                        err->field, err->message);
    flow_make_runnable(flow);
}

static void on_created(struct cluster_call *call, const struct object *result,
                       const struct error *err)
{
    struct create_call *create = container_of(call, struct create_call, call);

    if (flow_call_ended(create->flow)) {
        if (err)
            reuse_service_job_gone(create->flow->controller, create->meta->namespace, create->meta);
        if (err)
            refused(create, step_of_call(create), err);
        else
            created(create, step_of_call(create), result);
    }
    meta_unref(create->meta);
    mem_free(create);
}

/* Returns the step whose output a reference means, if its results are not known to be wanted yet;
 * else STEP_NONE. The results of iterations are wanted with those of their loop. */
static uint32_t step_newly_wanted(const struct flow_model *m, const struct flow_ref *ref)
{
    scoped_str name = NULL;
    uint32_t step;

    if (ref->kind != FLOW_REF_OUTPUT)
        return STEP_NONE;
    name = mem_printf("%.*s", (int)ref->name_len, ref->name);
    step = flow_graph_find(m->graph, name);
    return step == STEP_NONE || m->steps[step].results_wanted ? STEP_NONE : step;
}

/* Handles one reference of a template. If it names an output of a step, the results of that step
 * are kept from now on, in large flows too; if the step has ended, they are read from its Job. */
static void want_output(void *arg, const struct flow_ref *ref)
{
    struct flow *flow = arg;
    struct flow_model *m = &flow->model;
    const uint32_t step = step_newly_wanted(m, ref);

    if (step == STEP_NONE)
        return;
    for (uint32_t i = step; i <= step + flow_graph_iterations(m->graph, step); i++) {
        const struct object *job =
            flow_model_wants_outputs(m, i) && !m->steps[i].jobless ? flow_job_of(flow, i) : NULL;

        if (job)
            flow_model_take_outputs(m, i, job_results_gather(flow->controller->cluster, job));
    }
}

/* The body of the step's job. NULL with the error of a reference, or of the patch; in the first case
 * `values` says whether that was an output. */
static struct blob *body_for(struct flow *flow, uint32_t step, const struct object *template,
                             struct flow_values *values, struct error *err)
{
    const struct flow_model *m = &flow->model;
    const struct flow_step *spec = flow_graph_step(m->graph, step);
    uint32_t iteration = flow_graph_iteration(m->graph, step);
    struct template_patch patch = {
        .job_spec = spec->patch_job_spec,
        .spec = spec->patch_spec,
        .owner = m->body,
        .step = step,
        .scheduling = m->graph->spec->scheduling,
        .inlined = flow_step_is_inline(spec) ? flow_step_template_member(spec) : NULL};
    const struct flow_ref_values refs = flow_values_of(values);
    scoped(template_resolved) struct template_resolved resolved = {0};
    struct template_cache *bodies = flow->controller->bodies;
    scoped(buf) struct buf item = {0};
    char index[16];

    if (m->upstream)
        return template_instantiate(bodies, template, NULL, err);
    if (iteration != ITERATION_NONE) {
        snprintf(index, sizeof index, "%u", iteration);
        flow_iteration_item(m, step, &item);
        patch.item = item.data ? item.data : "";
        patch.index = index;
        patch.owner = NULL;
    }
    if (m->compact)
        template_references_each(bodies, template, want_output, flow);
    if (!template_resolve(bodies, template, &patch, &refs, &resolved, err))
        return NULL;
    values->last_is_output = false;
    return template_instantiate(bodies, template, &patch, err);
}

struct blob *flow_job_body(struct flow *flow, uint32_t step, const struct object *template,
                           struct error *err)
{
    struct flow_values values = {&flow->model, step, flow_phase_text(flow->state.ending), false};

    return body_for(flow, step, template, &values, err);
}

/* The metadata that the step's inline template gives to the job; *out_meta is an owned reference,
 * or NULL for a named template. False when a reference in it has no value. */
static bool inline_meta_for(struct flow *flow, uint32_t step, const struct object *template,
                            struct flow_values *values, struct meta **out_meta, struct error *err)
{
    const struct flow_ref_values refs = flow_values_of(values);

    *out_meta = NULL;
    if (!flow_step_is_inline(flow_graph_step(flow->model.graph, step)))
        return true;
    *out_meta = template_inline_meta(template->meta, &refs, err);
    return *out_meta != NULL;
}

/* Fails a step without a job. The outputs of steps that have ended do not change, so that waiting
 * cannot help. */
static void fail_for_output(struct flow *flow, uint32_t step, const struct error *err)
{
    scoped_str why = mem_printf("%s%s%s", err->field, *err->field ? ": " : "", err->message);

    flow_unblock_step(flow, step);
    flow_model_fail_step(&flow->model, step,
                         err->code == ERR_NOT_FOUND ? REASON_MISSING_OUTPUT : REASON_INVALID_OUTPUT,
                         why);
    flow_make_runnable(flow);
}

static void create_job(struct flow *flow, uint32_t step, const struct object *template,
                       const char *name)
{
    struct flow_model *m = &flow->model;
    struct error err = {0};
    struct meta *inlined = NULL;
    struct flow_values values = {m, step, flow_phase_text(flow->state.ending), false};
    struct blob *body = inline_meta_for(flow, step, template, &values, &inlined, &err)
                            ? body_for(flow, step, template, &values, &err)
                            : NULL;
    const struct flow_gang *member_of = ready_queue_gang(&m->ready_queue, step);
    scoped_str gang = member_of ? mem_printf("%s.%s.%s", object_namespace(flow->object),
                                             object_name(flow->object), member_of->name)
                                : NULL;
    uint32_t iteration = flow_graph_iteration(m->graph, step);
    char number[16], least[16], hash[SPEC_HASH_TEXT_MAX];
    const uint32_t gang_min = member_of ? ready_queue_gang_min(&m->ready_queue, step) : 0;
    const bool some = member_of && gang_min < member_of->steps.count;
    struct create_call *create;
    char *entry;
    struct template_job job = {
        .flow = flow->object,
        .template = template,
        .inlined = inlined,
        .step = flow_graph_step(m->graph, step)->name,
        .gang = gang,
        .gang_least = some ? least : NULL,
        .name = name,
        .namespace = object_namespace(flow->object),
        .attempt = m->steps[step].attempt + 1u,
        .iteration = iteration == ITERATION_NONE ? NULL : number,
        .spec_hash = m->compact ? hash : NULL,
    };

    if (m->compact)
        spec_hash_format(flow_spec_hash(m, step), hash);
    if (some)
        snprintf(least, sizeof least, "%u", gang_min);
    snprintf(number, sizeof number, "%u", iteration);
    if (!body)
        meta_unref(inlined);
    if (!body && (err.code == ERR_NOT_FOUND || values.last_is_output)) {
        fail_for_output(flow, step, &err);
        return;
    }
    if (!body) {
        flow_block_step(flow, step, BLOCK_ADMISSION_DENIED, *err.field ? "%s: %s" : "%s%s",
                        err.field, err.message);
        return;
    }
    create = mem_alloc(sizeof *create);
    create->call.done = on_created;
    create->flow = flow;
    create->step = step;
    create->build = flow->build;
    create->ready_tick = m->steps[step].ready_tick;
    create->recreated = m->steps[step].recreate;
    create->retry = m->steps[step].retry;
    entry = flow_reuse_job_created(flow, step, name);
    job.cache_entry = entry;
    create->meta = template_job_meta(&job);
    mem_free(entry);
    meta_unref(inlined);
    flow_model_set_state(m, step, STEP_CREATING);
    flow_call_begun(flow);
    cluster_create(flow->controller->cluster, &create->call,
                   object_new(&kind_job, meta_ref(create->meta), body, NULL));
}

/* A template that refers to outputs of a step that has ended. */
struct output_use {
    struct flow *flow;
    bool whole; /* all pods that may have outputs have been seen */
};

/* Takes the outputs of a job whose pods have been read again. */
static void look_at_outputs(struct output_use *use, uint32_t step)
{
    struct flow *flow = use->flow;
    const struct object *job = flow->model.steps[step].jobless ? NULL : flow_job_of(flow, step);

    if (!job || !job_phase_finished(job_status_of(job)->phase))
        return;
    if (!flow_results_are_whole(flow, job)) {
        use->whole = false;
    } else if (flow_results_gathered(flow, job)) {
        flow->model.steps[step].results_wanted = true;
        flow_model_take_outputs(&flow->model, step,
                                job_results_gather(flow->controller->cluster, job));
    }
}

static void check_output(void *arg, const struct flow_ref *ref)
{
    struct output_use *use = arg;
    const struct flow_model *m = &use->flow->model;
    const uint32_t step = step_newly_wanted(m, ref);

    if (step == STEP_NONE)
        return; /* where results are wanted, the pods were waited for when the job ended */
    for (uint32_t i = step; i <= step + flow_graph_iterations(m->graph, step); i++)
        look_at_outputs(use, i);
}

/* Returns whether the pods that have the outputs in a template have been seen. Only a named template
 * tells so late which outputs it needs. */
static bool outputs_are_whole(struct flow *flow, const struct object *template)
{
    struct output_use use = {flow, true};

    if (template && cluster_may_lag(flow->controller->cluster) && !flow->model.upstream)
        template_references_each(flow->controller->bodies, template, check_output, &use);
    return use.whole;
}

/* Returns whether no step is begun for a moment. */
static bool is_held(const struct flow *flow)
{
    return template_pins_copying(flow) || flow_results_reading(flow);
}

/* Decides what to do about one ready step, and does it. The step is then no longer ready, unless
 * copies of templates are still being made. */
static void process_ready_step(struct flow *flow, uint32_t step)
{
    struct cluster *cluster = flow->controller->cluster;
    const char *ns = object_namespace(flow->object);
    scoped(buf) struct buf name = {0};
    const struct object *job, *template;
    unsigned facts = 0;

    flow_model_job_name(&flow->model, step, &name);
    job = cluster_get(cluster, &kind_job, ns, name.data);
    template = flow_template_of(flow, step);
    if (template_pins_copying(flow) || !outputs_are_whole(flow, template))
        return; /* the step stays ready until the copies are made, or the pods are read */
    if (job)
        facts |= flow_owns(flow, job) ? FACT_JOB_OURS : FACT_JOB_FOREIGN;
    if (template)
        facts |= FACT_TEMPLATE_KNOWN;
    if (!flow_creates_now(flow) || (flow_ending(flow) && !flow->model.steps[step].final))
        facts |= FACT_FLOW_CLOSED;
    switch (flow_decide_step(facts)) {
    case STEP_DO_NOTHING:
        flow_model_set_state(&flow->model, step, STEP_WAITING);
        break;
    case STEP_DO_ADOPT:
        assert(job);
        adopt(flow, step, job);
        break;
    case STEP_DO_WAIT_FOR_NAME:
        assert(job);
        wait_for_name(flow, step, job);
        break;
    case STEP_DO_WAIT_FOR_TEMPLATE:
        wait_for_template(flow, step);
        break;
    case STEP_DO_CREATE:
        if (!flow_reuse_waits(flow, step))
            create_job(flow, step, template, name.data);
        break;
    }
}

/* Returns how many more jobs maxRunningJobs allows. Jobs of steps with `until: dependents` do not
 * count: they end after their dependents, so if they counted, they could take all places, and their
 * dependents would wait for ever. */
static uint32_t jobs_allowed(const struct flow *flow)
{
    const struct flow_model *m = &flow->model;
    const struct flow_scheduling *scheduling = m->graph->spec->scheduling;
    uint32_t most = scheduling && !m->upstream ? (uint32_t)scheduling->max_running : 0;
    uint32_t there = flow_model_unfinished(m) - m->serving + m->creating;

    if (!most)
        return UINT32_MAX;
    return there < most ? most - there : 0;
}

void flow_create_ready(struct flow *flow)
{
    const struct ready_queue *queue = &flow->model.ready_queue;
    uint32_t gang_left = 0; /* members still to create of a gang that fits as a whole */

    if (flow->model.to_check.count)
        flow_reuse_look_up(flow);
    if (ready_queue_count(queue) && flow_reuse_unsaved(flow))
        return; /* the answer to the write makes the flow runnable */
    for (int left = CREATE_BATCH; ready_queue_count(queue) && !is_held(flow); left--) {
        uint32_t step = ready_queue_next(queue);

        if (gang_left)
            gang_left--;
        else if (left <= 0)
            break;
        else if (jobs_allowed(flow) < ready_queue_batch(queue, step))
            return; /* the end of a job makes the flow runnable again */
        else
            gang_left = ready_queue_batch(queue, step) - 1;
        process_ready_step(flow, step);
    }
    if (ready_queue_count(queue) && !is_held(flow)) /* the end of a hold makes the flow runnable */
        flow_make_runnable(flow);
}
