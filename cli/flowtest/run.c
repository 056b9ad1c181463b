/*
 * Starts an engine in memory, sets the outcomes of the simulated containers from the test file, and
 * records the run until the flow has ended.
 */
#include "cli/flowtest/run.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "cli/engine/engine.h"
#include "cli/run/resume.h"
#include "flow/controller.h"
#include "node/runtime/runtime.h"

enum { MAX_PODS = 1000, TIMEOUT_HOURS = 10000, QUIET_TURNS_MAX = 100000 };

/* An iteration of a loop that has started. */
struct flowtest_run_iteration {
    UT_hash_handle hh;
    struct flowtest_run_step step;
    char name[];
};

struct running {
    const struct test_file *file;
    const struct test_case *test;
    const char *flow;
    struct flowtest_run *out;
    struct engine *engine;
    struct flow_tracker *tracker;
    struct arena *texts; /* holds the messages of containers */
    struct task over, idle;
    struct timer timeout;
    struct turn_hook turn;
    uint64_t changes, seen_changes;
    uint32_t quiet_turns;
    bool *began; /* for each step of the watched flow whether it has started */
};

static const struct test_mock *mock_of(const struct running *run, const struct object *job)
{
    const char *step = meta_annotation(job->meta, ANNOTATION_FLOW_STEP);
    size_t prefix = strlen(run->flow) + 1;
    const struct test_mock *found = NULL;

    for (size_t i = 0; step && i < run->test->mocks.count; i++) {
        const struct test_mock *mock = &run->test->mocks.items[i];

        /* Matches a step's job or the job of one iteration of a loop. */
        if (strcmp(mock->key, object_name(job) + prefix) == 0)
            return mock;
        if (strcmp(mock->key, step) == 0)
            found = mock;
    }
    return found;
}

static const struct test_outcome *outcome_of(const struct test_mock_body *mock, const char *task,
                                             size_t at)
{
    for (size_t i = 0; task && i < mock->tasks.count; i++)
        if (strcmp(mock->tasks.items[i].key, task) == 0)
            return &mock->tasks.items[i].outcome;
    if (!mock->attempts.count)
        return &mock->outcome;
    return &mock->attempts.items[at < mock->attempts.count ? at : mock->attempts.count - 1];
}

static const char *message_of(struct running *run, const struct test_outcome *outcome)
{
    scoped(buf) struct buf text = {0};

    if (!outcome->message && !outcome->outputs.count)
        return NULL;
    buf_str(&text, outcome->message ? outcome->message : "");
    for (size_t i = 0; i < outcome->outputs.count; i++)
        buf_printf(&text, "%s%s=%s", text.len ? "\n" : "", outcome->outputs.items[i].key,
                   outcome->outputs.items[i].value);
    return arena_strdup(run->texts, text.data);
}

static bool script(void *ctx, const struct object *pod, const char *container, size_t at,
                   struct sim_outcome *out)
{
    struct running *run = ctx;
    const char *name = meta_label(pod->meta, LABEL_JOB_NAME);
    const struct object *job =
        name ? store_get(engine_store(run->engine), &kind_job, object_namespace(pod), name) : NULL;
    const struct owner_ref *owner = job ? meta_controller(job->meta) : NULL;
    const struct test_mock *mock =
        owner && strcmp(owner->name, run->flow) == 0 ? mock_of(run, job) : NULL;
    const struct test_outcome *outcome;

    if (!mock)
        return false;
    outcome = outcome_of(&mock->body, meta_label(pod->meta, LABEL_TASK_SPEC), at);
    *out = (struct sim_outcome){
        .duration_ns = outcome->duration_ns > 0 ? outcome->duration_ns : 0,
        .exit_code = outcome->exit_code,
        .message = message_of(run, outcome),
    };
    return true;
}

/* The answer to a step of the tested flow that waits for its approval. */
static bool answer_of(void *ctx, const struct object *flow, const char *step,
                      struct flow_answer *out)
{
    const struct running *run = ctx;

    if (strcmp(object_name(flow), run->flow) != 0)
        return false;
    for (size_t i = 0; i < run->test->mocks.count; i++) {
        const struct test_mock *mock = &run->test->mocks.items[i];
        const int64_t duration_ns = mock->body.outcome.duration_ns;

        if (mock->body.approve < 0 || strcmp(mock->key, step) != 0)
            continue;
        *out = (struct flow_answer){.rejects = !mock->body.approve,
                                    .after_ms = duration_ns > 0 ? duration_ns / 1000000 : 0};
        return true;
    }
    return false;
}

static bool asks_for_job(const struct running *run, const char *step)
{
    for (size_t i = 0; i < run->test->expect.steps.count; i++)
        if (strcmp(run->test->expect.steps.items[i].key, step) == 0)
            return run->test->expect.steps.items[i].body.job != NULL;
    return false;
}

/* Records the job of the newest attempt. */
static void keep_job(struct running *run, const struct flow_view_step *step)
{
    const char *kept = doc_text(json_object_get(run->out->jobs, step->name), "metadata.uid");
    scoped_str name = mem_printf("%s-%s", run->flow, step->name);
    const struct object *job;

    if (kept && strcmp(kept, step->job_uid) == 0)
        return;
    job = store_get(engine_store(run->engine), &kind_job, step->flow->ns, name);
    if (job)
        json_object_set_new(run->out->jobs, step->name, object_to_json(job));
}

static struct flowtest_run_iteration *find_iteration(const struct flowtest_run *run,
                                                     const char *name)
{
    struct flowtest_run_iteration *found = NULL;

    HASH_FIND_STR(run->iterations, name, found);
    return found;
}

/* Returns true when the step is seen running for the first time. */
static bool first_start(struct running *run, const struct flow_view_step *step)
{
    struct flowtest_run_iteration *iteration;
    size_t len = strlen(step->name);
    bool before;

    if (!step->loop) {
        before = run->began[flow_view_position(step)];
        run->began[flow_view_position(step)] = true;
        return !before;
    }
    if (find_iteration(run->out, step->name))
        return false;
    iteration = mem_alloc(sizeof *iteration + len + 1);
    memcpy(iteration->name, step->name, len + 1);
    HASH_ADD_KEYPTR(hh, run->out->iterations, iteration->name, len, iteration);
    return true;
}

static void on_step(void *ctx, const struct flow_view_step *step, enum view_state before)
{
    struct running *run = ctx;

    run->changes++;
    if (step->flow->bare_job || strcmp(step->flow->name, run->flow) != 0 ||
        step->state == VIEW_STOPPED)
        return;
    if (first_start(run, step))
        json_array_append_new(run->out->order, json_string(step->name));
    if (asks_for_job(run, step->name))
        keep_job(run, step);
}

static void on_flow(void *ctx, const struct flow_view *flow, enum flow_phase before)
{
    ((struct running *)ctx)->changes++;
}

static void on_note(void *ctx, const char *text)
{
}

static void end(struct running *run, enum flowtest_run_end how)
{
    run->out->end = how;
    loop_stop(engine_loop(run->engine));
}

static void on_over(struct task *task)
{
    end(container_of(task, struct running, over), FLOWTEST_RUN_OVER);
}

static void on_finished(void *ctx)
{
    struct running *run = ctx;

    store_when_durable(engine_store(run->engine), &run->over);
}

static void on_idle(struct task *task)
{
    end(container_of(task, struct running, idle), FLOWTEST_RUN_STUCK);
}

static void on_timeout(struct timer *timer)
{
    end(container_of(timer, struct running, timeout), FLOWTEST_RUN_TIMED_OUT);
}

static void on_turn(struct turn_hook *hook)
{
    struct running *run = container_of(hook, struct running, turn);

    if (run->changes != run->seen_changes) {
        run->seen_changes = run->changes;
        run->quiet_turns = 0;
    } else if (++run->quiet_turns == QUIET_TURNS_MAX) {
        loop_post(engine_loop(run->engine), &run->idle);
    }
}

static const struct flow_view *tested_flow(const struct running *run)
{
    const struct flow_view *flow = flow_tracker_flows(run->tracker);

    while (flow && (flow->bare_job || strcmp(flow->name, run->flow) != 0))
        flow = flow->next;
    return flow;
}

static struct flowtest_run_step record_of(const struct flow_view_step *step)
{
    return (struct flowtest_run_step){
        .started_ms = step->started_ms ? step->started_ms - step->flow->began_ms : -1,
        .took_ms = flow_view_step_over(step) ? flow_view_step_ms(step, 0) : -1,
        .attempts = step->attempts,
    };
}

/* Records iterations, which the flow's status keeps apart from its steps. */
static void record_iterations(struct flowtest_run *out, const struct flow_view_step *loop)
{
    for (uint32_t i = 0; i < loop->n_iterations; i++) {
        const struct flow_view_step *step = loop->iterations[i];
        struct flowtest_run_iteration *iteration = step ? find_iteration(out, step->name) : NULL;

        if (!iteration)
            continue;
        iteration->step = record_of(step);
        iteration->step.phase = view_state_text((enum view_state)step->state);
    }
}

static void record_reasons(struct flowtest_run *out)
{
    const json_t *nodes = json_object_get(out->view->status, "nodes");
    const json_t *node;
    size_t i;

    json_array_foreach(nodes, i, node)
    {
        const char *name = doc_text(node, "name");
        struct flowtest_run_iteration *iteration = name ? find_iteration(out, name) : NULL;

        if (iteration)
            iteration->step.reason = doc_text(node, "reason");
    }
}

static void record(struct running *run)
{
    const struct flow_view *flow = tested_flow(run);
    scoped(json) json_t *doc = object_to_json(flow->object);
    struct flowtest_run *out = run->out;

    out->view = flow_view_from_document(doc, NULL);
    out->took_ms = flow->ended_ms && flow->began_ms ? flow_view_ms(flow, 0) : 0;
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const char *phase = view_state_text((enum view_state)out->view->steps[i].state);

        out->steps[i] = record_of(&flow->steps[i]);
        out->steps[i].phase = phase ? phase : view_state_text(VIEW_WAITING);
        out->steps[i].reason = out->view->steps[i].reason;
        record_iterations(out, &flow->steps[i]);
    }
    if (out->iterations)
        record_reasons(out);
}

static bool start_flow(struct running *run, const struct manifests *set)
{
    struct backend *backend = backend_local_new(run->engine);
    const struct resume_request request = {
        .backend = backend, .tracker = run->tracker, .note = on_note, .ctx = run};
    const struct flow_view *flow;
    bool taken = resume_all(&request, set);

    backend_local_free(backend);
    if (!taken)
        return false;
    flow = tested_flow(run);
    run->began = mem_array(flow->n_steps + 1, sizeof *run->began);
    run->out->steps = mem_array(flow->n_steps + 1, sizeof *run->out->steps);
    return true;
}

static void run_loop(struct running *run)
{
    struct loop *loop = engine_loop(run->engine);
    int64_t timeout_ms = run->test->timeout_ns > 0 ? run->test->timeout_ns / 1000000
                                                   : (int64_t)TIMEOUT_HOURS * 3600 * 1000;

    run->over.run = on_over;
    run->idle.run = on_idle;
    run->timeout.fire = on_timeout;
    run->turn.end = on_turn;
    runtime_sim_script(engine_runtime(run->engine), script, run);
    if (flow_tracker_start(run->tracker, NULL)) {
        timer_start(loop, &run->timeout, timeout_ms);
        loop_on_turn_end(loop, &run->turn);
        loop_run(loop);
        loop_off_turn_end(loop, &run->turn);
        timer_stop(loop, &run->timeout);
        loop_cancel(loop, &run->idle);
    }
    record(run);
}

void flowtest_run(const struct test_file *file, const struct test_case *test,
                  const struct manifests *set, const char *flow, struct flowtest_run *out)
{
    struct running run = {
        .file = file, .test = test, .flow = flow, .out = out, .texts = arena_new(0)};
    const struct flow_answers answers = {answer_of, &run, "the test"};
    const struct engine_options options = {.sim = true,
                                           .answers = &answers,
                                           .host_paths = {.any = true},
                                           .max_pods = test->max_pods ? test->max_pods : MAX_PODS,
                                           .restart_backoff_ms = 1000,
                                           .controllers = true};
    const struct flow_tracker_events events = {on_step, on_flow, on_finished, &run};

    *out = (struct flowtest_run){
        .end = FLOWTEST_RUN_REFUSED, .jobs = json_object(), .order = json_array()};
    run.engine = engine_start(&options, NULL);
    if (run.engine) {
        run.tracker = flow_tracker_new(engine_loop(run.engine), engine_store(run.engine), &events);
        if (start_flow(&run, set))
            run_loop(&run);
        flow_tracker_free(run.tracker);
        engine_stop(run.engine);
    }
    arena_free(run.texts);
    mem_free(run.began);
}

struct flowtest_run_step flowtest_run_of(const struct flowtest_run *run, const char *name)
{
    uint32_t at = flow_view_find(run->view, name);
    const struct flowtest_run_iteration *iteration =
        at == UINT32_MAX ? find_iteration(run, name) : NULL;

    if (at != UINT32_MAX)
        return run->steps[at];
    return iteration
               ? iteration->step
               : (struct flowtest_run_step){.started_ms = -1, .took_ms = -1, .phase = "Waiting"};
}

void flowtest_run_release(struct flowtest_run *run)
{
    struct flowtest_run_iteration *iteration, *next;

    HASH_ITER(hh, run->iterations, iteration, next)
    {
        HASH_DEL(run->iterations, iteration);
        mem_free(iteration);
    }
    flow_view_free(run->view);
    mem_free(run->steps);
    json_decref(run->order);
    json_decref(run->jobs);
    *run = (struct flowtest_run){0};
}
