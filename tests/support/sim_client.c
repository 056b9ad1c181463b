/*
 * The clients of a simulation. They create, change and delete at random, sometimes with a revision
 * that is no longer the newest one. A client is answered when its write is durable, as the API
 * server does; what it was answered must be durable then (P-01).
 */
#include <stdio.h>

#include "api/types/kinds/scheduling/queue.h"
#include "api/types/text/yaml.h"
#include "tests/support/sim_impl.h"
#include "tests/support/sim_job.h"

/* A request that waits for its answer. */
struct sim_answer {
    struct task task;
    struct sim *sim;
    struct sim_answer *next;
    int64_t revision;
};

static const struct registry_write plain = {.unknown = UNKNOWN_ERROR};

static void drop_answer(struct sim_answer *answer)
{
    struct sim_answer **at = &answer->sim->answers;

    while (*at != answer)
        at = &(*at)->next;
    *at = answer->next;
    mem_free(answer);
}

static void answered(struct task *task)
{
    struct sim_answer *answer = container_of(task, struct sim_answer, task);
    struct sim *sim = answer->sim;

    if (!sim->dead && answer->revision > sim->durable)
        sim_violated(sim,
                     "P-01: a write with revision %lld was acknowledged, but only %lld is "
                     "durable",
                     (long long)answer->revision, (long long)sim->durable);
    sim->counts.answers++;
    drop_answer(answer);
}

/* The end of a request: the client is answered once its write is durable. */
static bool finish(struct sim *sim, bool accepted, struct error_list *errors)
{
    struct store *store = engine_store(sim->engine);
    struct error err = {0};

    if (accepted) {
        struct sim_answer *answer = mem_alloc(sizeof *answer);

        *answer = (struct sim_answer){.task.run = answered, .sim = sim, .next = sim->answers};
        answer->revision =
            sim->n_pending ? sim->pending[sim->n_pending - 1].revision : sim->durable;
        sim->answers = answer;
        store_hurry_together(store);
        store_when_durable(store, &answer->task);
    } else {
        error_list_ok(errors, &err);
        sim_tell(sim, "    refused: %s", err.message);
    }
    error_list_release(errors);
    return accepted;
}

void sim_client_left(struct sim *sim)
{
    while (sim->answers) {
        store_forget(engine_store(sim->engine), &sim->answers->task);
        drop_answer(sim->answers);
    }
}

/* Parses JSON with ' in place of ". */
static json_t *document(const char *format, va_list args) PRINTF_LIKE(1, 0);
static json_t *document(const char *format, va_list args)
{
    scoped_str text = NULL;
    json_error_t where;
    json_t *doc;

    if (vasprintf(&text, format, args) < 0)
        mem_fatal("out of memory");
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    doc = json_loads(text, 0, &where);
    if (!doc)
        mem_fatal(where.text);
    return doc;
}

static bool create_doc(struct sim *sim, const json_t *doc)
{
    struct error_list errors = {0};
    scoped(json) json_t *copy = json_deep_copy(doc);
    bool ok = registry_create(engine_registry(sim->engine), copy, &plain, NULL, &errors);

    return finish(sim, ok, &errors);
}

static bool create(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
static bool create(struct sim *sim, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    scoped(json) json_t *doc = document(format, args);
    va_end(args);
    return create_doc(sim, doc);
}

static bool patch(struct sim *sim, const struct kind *kind, const char *name, const char *format,
                  ...) PRINTF_LIKE(4, 5);
static bool patch(struct sim *sim, const struct kind *kind, const char *name, const char *format,
                  ...)
{
    struct error_list errors = {0};
    va_list args;
    bool ok;

    va_start(args, format);
    scoped(json) json_t *doc = document(format, args);
    va_end(args);
    ok = registry_patch(engine_registry(sim->engine),
                        (struct registry_target){kind, kind->namespaced ? "default" : "", name},
                        &(struct registry_patch){REGISTRY_PATCH_MERGE, doc, REGISTRY_MAIN}, &plain,
                        NULL, &errors);
    return finish(sim, ok, &errors);
}

static const struct object *get(struct sim *sim, const struct kind *kind, const char *name)
{
    return store_get(engine_store(sim->engine), kind, kind->namespaced ? "default" : "", name);
}

/* Which flow of a client a job belongs to; NULL: none, or one of an earlier flow of that name. */
static struct sim_flow *flow_of_job(struct sim *sim, const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    const bool ours = owner && owner->name[0] == 'f' && strcmp(owner->kind, "JobFlow") == 0;

    return ours ? &sim->flows[(owner->name[1] - '0') % SIM_FLOWS] : NULL;
}

bool sim_client_end_of(struct sim *sim, const struct object *job, struct gen_end *out)
{
    struct sim_flow *flow = flow_of_job(sim, job);
    const char *step = meta_annotation(job->meta, ANNOTATION_FLOW_STEP);

    if (!flow || !step || step[0] != 's')
        return false;
    *out = gen_end_of(&flow->gen, flow->seed, (uint32_t)strtoul(step + 1, NULL, 10),
                      object_name(job), jobflow_attempt_of(job));
    return true;
}

/* Templates. */

static void write_template(struct sim *sim, const char *name, int version)
{
    static const char body[] =
        "{'apiVersion': 'flow.volcano.sh/v1alpha1', 'kind': 'JobTemplate', 'metadata': {'name': "
        "'%s', 'namespace': 'default'}, 'spec': {'tasks': [{'name': 'main', 'replicas': 1, "
        "'template': {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': "
        "'i', 'command': ['c'], 'env': [{'name': 'V', 'value': '%d'}]}]}}}]}}";

    if (!get(sim, &kind_job_template, name))
        create(sim, body, name, version);
    else
        patch(sim, &kind_job_template, name, "{'metadata': {'annotations': {'version': '%d'}}}",
              version);
}

/* Flows. */

static const char *flow_name(int which)
{
    static const char *const names[SIM_FLOWS] = {"f0", "f1", "f2"};

    return names[which];
}

static void write_flow(const struct gen_flow *gen, const char *name, struct buf *out)
{
    buf_printf(out,
               "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: %s, "
               "namespace: default, annotations: {flow.volcano.sh/allow-updates: \"true\"}}, "
               "spec: {",
               name);
    gen_flow_write(gen, false, out);
    buf_str(out, "}}\n");
}

/* Probes of sockets need a network, which simulated pods do not have. */
static void roll_flow(struct sim *sim, struct sim_flow *flow)
{
    flow->seed = dice_next(&sim->dice);
    gen_flow(flow->seed, &flow->gen);
    for (uint32_t i = 0; i < flow->gen.count; i++)
        if (flow->gen.steps[i].probes != GEN_NO_PROBE)
            flow->gen.steps[i].probes = GEN_TASK_STATUS;
}

static void make_flow(struct sim *sim, int which)
{
    struct sim_flow *flow = &sim->flows[which];
    struct sim_flow rolled = {.made = true};
    scoped(buf) struct buf text = {0};
    struct error err;

    if (get(sim, &kind_job_flow, flow_name(which)) ||
        sim_named(sim, &kind_job_flow, flow_name(which)))
        return;
    roll_flow(sim, &rolled);
    rolled.disturbed = flow->made; /* jobs of the former one may have its names */
    write_flow(&rolled.gen, flow_name(which), &text);
    sim_tell(sim, "a client creates %s", text.data);

    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(text.data, text.len, &yaml_limits_default, &err);

    if (!stream)
        mem_fatal(err.message);
    if (create_doc(sim, yaml_document(stream, 0)))
        *flow = rolled;
}

static void flow_is_made(struct sim *sim)
{
    make_flow(sim, dice_roll(&sim->dice, SIM_FLOWS));
}

static int some_flow(struct sim *sim)
{
    int which = dice_roll(&sim->dice, SIM_FLOWS);

    return get(sim, &kind_job_flow, flow_name(which)) ? which : -1;
}

static void flow_is_suspended(struct sim *sim)
{
    int which = some_flow(sim);
    bool suspend = dice_chance(&sim->dice, 50);

    if (which < 0)
        return;
    sim_tell(sim, "a client %s %s", suspend ? "suspends" : "resumes", flow_name(which));
    patch(sim, &kind_job_flow, flow_name(which), "{'spec': {'suspend': %s}}",
          suspend ? "true" : "false");
}

static void flow_is_aborted(struct sim *sim)
{
    int which = some_flow(sim);

    if (which < 0)
        return;
    sim_tell(sim, "a client aborts %s", flow_name(which));
    sim->flows[which].disturbed = true;
    patch(sim, &kind_job_flow, flow_name(which),
          "{'metadata': {'annotations': {'" ANNOTATION_FLOW_ABORT "': '1'}}}");
}

static void flow_is_retried(struct sim *sim)
{
    int which = some_flow(sim);

    if (which < 0)
        return;
    sim_tell(sim, "a client retries %s", flow_name(which));
    sim->flows[which].disturbed = true;
    patch(sim, &kind_job_flow, flow_name(which),
          "{'metadata': {'annotations': {'" ANNOTATION_FLOW_RETRY "': '%d'}}}",
          ++sim->flows[which].retries);
}

/* A client writes with the revision that it read at an earlier time (INV-S4). */
static void flow_is_changed_late(struct sim *sim)
{
    int which = some_flow(sim);
    const struct object *flow;
    int64_t revision;
    bool taken;

    if (which < 0)
        return;
    flow = get(sim, &kind_job_flow, flow_name(which));
    revision = sim->stale[which];
    sim->stale[which] = flow->revision;
    if (!revision)
        return;
    sim_tell(sim, "a client labels %s with revision %lld", flow_name(which), (long long)revision);
    bool newest = revision == flow->revision;

    taken = patch(sim, &kind_job_flow, flow_name(which),
                  "{'metadata': {'resourceVersion': '%lld', 'labels': {'seen': 'r%lld'}}}",
                  (long long)revision, (long long)revision);
    if (taken && !newest)
        sim_violated(sim, "INV-S4: a write with an old revision was accepted");
}

static void remove_object(struct sim *sim, const struct kind *kind, const char *name, int grace_s)
{
    static const enum registry_propagation ways[] = {REGISTRY_BACKGROUND, REGISTRY_FOREGROUND,
                                                     REGISTRY_ORPHAN};
    /* a pod without its job would keep its name for ever */
    const int n_ways = kind == &kind_job_flow ? countof(ways) : countof(ways) - 1;
    struct error_list errors = {0};
    const struct object *object = get(sim, kind, name);
    struct sim_object *known = object ? sim_find(sim, object_uid(object)) : NULL;
    struct registry_delete how = {.uid = object ? object_uid(object) : "",
                                  .grace_s = grace_s,
                                  .propagation = ways[dice_roll(&sim->dice, n_ways)]};
    bool ok;

    if (!known)
        return;
    known->was_asked = true;
    sim_tell(sim, "a client deletes %s %s", kind->name, name);
    ok = registry_delete(engine_registry(sim->engine), registry_target_of(object), &how, NULL,
                         &errors);
    finish(sim, ok, &errors);
}

static void disturb_owner(struct sim *sim, const struct object *job)
{
    struct sim_flow *flow = job ? flow_of_job(sim, job) : NULL;

    if (flow)
        flow->disturbed = true;
}

static void flow_is_deleted(struct sim *sim)
{
    int which = some_flow(sim);

    if (which < 0 || !dice_chance(&sim->dice, 50))
        return;
    sim->flows[which].disturbed = true;
    remove_object(sim, &kind_job_flow, flow_name(which), 0);
}

/* Some durable object of the kind; NULL when there is none. */
static const struct object *some_object(struct sim *sim, const struct kind *kind)
{
    const struct object *some = NULL;
    int n = 0;

    for (struct sim_object *at = sim->objects; at; at = at->hh.next)
        if (at->object && at->kind == kind && dice_roll(&sim->dice, ++n) == 0)
            some = at->object;
    return some && get(sim, kind, object_name(some)) ? some : NULL;
}

static void job_is_deleted(struct sim *sim)
{
    const struct object *job = some_object(sim, &kind_job);

    if (!job)
        return;
    disturb_owner(sim, job);
    remove_object(sim, &kind_job, object_name(job), -1);
}

static void pod_is_deleted(struct sim *sim)
{
    const struct object *pod = some_object(sim, &kind_pod);
    const struct owner_ref *owner = pod ? meta_controller(pod->meta) : NULL;
    struct sim_object *job = owner ? sim_find(sim, owner->uid) : NULL;

    if (!pod)
        return;
    disturb_owner(sim, job ? job->object : NULL);
    remove_object(sim, &kind_pod, object_name(pod), dice_chance(&sim->dice, 50) ? -1 : 3);
}

static void command_job(struct sim *sim, const struct object *job, const char *action)
{
    struct sim_object *known = sim_find(sim, object_uid(job));

    sim_tell(sim, "a client asks for %s of %s", action, object_name(job));
    known->resumed |= strcmp(action, "ResumeJob") == 0;
    create(sim,
           "{'apiVersion': 'bus.volcano.sh/v1alpha1', 'kind': 'Command', 'metadata': {'name': "
           "'c%d', 'namespace': 'default'}, 'action': '%s', 'target': {'apiVersion': "
           "'batch.volcano.sh/v1alpha1', 'kind': 'Job', 'name': '%s', 'uid': '%s'}}",
           sim->commands++, action, object_name(job), object_uid(job));
}

static void job_is_commanded(struct sim *sim)
{
    static const char *const actions[] = {"AbortJob",    "RestartJob",   "ResumeJob",
                                          "CompleteJob", "TerminateJob", "ResumeJob"};
    const struct object *job = some_object(sim, &kind_job);
    const char *action = actions[dice_roll(&sim->dice, countof(actions))];

    if (!job)
        return;
    disturb_owner(sim, job);
    command_job(sim, job, action);
}

static void command_queue(struct sim *sim, bool open)
{
    const struct object *queue = get(sim, &kind_queue, "default");

    if (!queue)
        return;
    sim_tell(sim, "a client %s the queue", open ? "opens" : "closes");
    create(sim,
           "{'apiVersion': 'bus.volcano.sh/v1alpha1', 'kind': 'Command', 'metadata': {'name': "
           "'c%d', 'namespace': 'default'}, 'action': '%s', 'target': {'apiVersion': "
           "'scheduling.volcano.sh/v1beta1', 'kind': 'Queue', 'name': 'default', 'uid': '%s'}}",
           sim->commands++, open ? "OpenQueue" : "CloseQueue", object_uid(queue));
}

static void queue_is_commanded(struct sim *sim)
{
    command_queue(sim, dice_chance(&sim->dice, 50));
}

static void template_is_changed(struct sim *sim)
{
    write_template(sim, dice_chance(&sim->dice, 50) ? "t" : "u", 2 + dice_roll(&sim->dice, 100));
}

static void job_is_made(struct sim *sim)
{
    char name[SIM_NAME];

    snprintf(name, sizeof name, "j%d", dice_roll(&sim->dice, SIM_JOBS));
    if (get(sim, &kind_job, name))
        return;

    scoped(json) json_t *doc = sim_job_document(&sim->dice, name);

    sim_tell(sim, "a client creates job %s", name);
    if (sim->options->trace) {
        scoped_str text = json_dumps(doc, JSON_COMPACT);

        sim_tell(sim, "    %s", text);
    }
    create_doc(sim, doc);
}

/* clang-format off */
static const struct {
    int weight;
    void (*happens)(struct sim *sim);
    bool harsh; /* the result of a flow may change */
} events[] = {
    {14, flow_is_made},
    {10, job_is_made},
    {8,  flow_is_suspended},
    {8,  flow_is_changed_late},
    {5,  queue_is_commanded},
    {4,  template_is_changed},
    {4,  flow_is_aborted,  true},
    {10, flow_is_retried,  true},
    {4,  flow_is_deleted,  true},
    {4,  job_is_deleted,   true},
    {6,  pod_is_deleted,   true},
    {12, job_is_commanded, true},
};
/* clang-format on */

static int weight_of(const struct sim *sim, size_t event)
{
    return sim->gentle && events[event].harsh ? 0 : events[event].weight;
}

void sim_client_event(struct sim *sim)
{
    int total = 0, at;

    for (size_t i = 0; i < countof(events); i++)
        total += weight_of(sim, i);
    at = dice_roll(&sim->dice, total);
    for (size_t i = 0; i < countof(events); i++) {
        at -= weight_of(sim, i);
        if (at < 0) {
            events[i].happens(sim);
            break;
        }
    }
}

void sim_client_begin(struct sim *sim)
{
    write_template(sim, "t", 1);
    write_template(sim, "u", 1);
    make_flow(sim, 0);
}

/* Jobs that lost their flow may have the names of jobs of the next flow, which then waits (13.2).
 * A flow waits for aborted jobs, too. */
static void calm_job(struct sim *sim, const struct object *job)
{
    if (object_name(job)[0] == 'f' && !meta_controller(job->meta))
        remove_object(sim, &kind_job, object_name(job), -1);
    else if (job_status_of(job)->phase == JOB_ABORTED)
        command_job(sim, job, "ResumeJob");
}

void sim_client_calm(struct sim *sim)
{
    if (strcmp(queue_state_of(get(sim, &kind_queue, "default")), "Open") != 0)
        command_queue(sim, true);
    write_template(sim, "t", 1);
    write_template(sim, "u", 1);
    for (int i = 0; i < SIM_FLOWS; i++) {
        const struct object *flow = get(sim, &kind_job_flow, flow_name(i));

        if (flow && jobflow_spec_of(flow)->suspend)
            patch(sim, &kind_job_flow, flow_name(i), "{'spec': {'suspend': false}}");
    }
    for (struct sim_object *at = sim->objects; at; at = at->hh.next)
        if (at->object && at->kind == &kind_job && get(sim, &kind_job, object_name(at->object)))
            calm_job(sim, at->object);
}
