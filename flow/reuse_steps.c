/*
 * The way of a step that may be reused:
 *
 *   READY ──► CHECKING ── nothing holds ──► READY ──► job and pending entry ──► held ──► COMPLETED
 *                │                                                                 (recorded)
 *                ├─ an entry holds ──► COMPLETED, cached
 *                └─ another job does the same ──► CHECKING until that has ended
 *
 * Files are scanned on the thread pool, before a job is created and when it has completed. What is
 * decided then follows from the scan and from the entries alone (flow/reuse/compare.h). A pending
 * entry is created in the commit of its job. The end of a step waits until its entry is recorded, or
 * known not to be recordable; after a restart that follows from the job and the pending entry.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/cache_entry.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/internal.h"
#include "flow/reuse/compare.h"
#include "flow/reuse/index.h"
#include "flow/reuse/key.h"
#include "flow/reuse_inputs.h"
#include "flow/reuse_service.h"
#include "flow/reuse_steps.h"
#include "flow/reuse_tasks.h"

enum reuse_scope flow_reuse_scope(const struct flow_controller *controller,
                                  const struct object *flow)
{
    const char *asked = meta_annotation(flow->meta, ANNOTATION_FLOW_REUSE);

    if (!controller->reuse)
        return REUSE_OFF;
    return asked && strcmp(asked, REUSE_CHANGED) == 0 ? REUSE_ALL : REUSE_DECLARED;
}

/* Whether results of earlier runs are left alone. */
static bool runs_apart(const struct flow *flow)
{
    const char *asked = meta_annotation(flow->object->meta, ANNOTATION_FLOW_REUSE);

    return asked && strcmp(asked, REUSE_NONE) == 0;
}

static struct reuse_service *service_of(const struct flow *flow)
{
    return flow->controller->reuse;
}

static const char *name_of(const struct flow *flow, uint32_t step)
{
    return flow_graph_name(flow->model.graph, step);
}

/* The step runs without being looked up any more, until it has a job. */
static void queue(struct flow *flow, uint32_t step)
{
    flow->model.steps[step].look_up = false;
    flow_model_set_state(&flow->model, step, STEP_READY);
}

static void tell_not_reusable(struct flow *flow, uint32_t step, const char *why)
{
    scoped_str note = mem_printf("not recorded: %s", why);

    flow_model_set_reuse_note(&flow->model, step, note);
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, "NotReusable",
                  FLOW_COMPONENT, "step %s: %s", name_of(flow, step), why);
}

static const struct object *entry_at(const struct flow *flow, const char *name)
{
    return cluster_get(flow->controller->cluster, &kind_cache_entry, object_namespace(flow->object),
                       name);
}

static struct job_results *results_of(const struct cache_entry *entry)
{
    struct job_results *results = job_results_new();

    results->restored = true;
    for (size_t i = 0; i < entry->outputs.count; i++)
        job_results_add_output(results, entry->outputs.items[i].key,
                               strlen(entry->outputs.items[i].key), entry->outputs.items[i].value,
                               strlen(entry->outputs.items[i].value), 0);
    for (size_t i = 0; i < entry->codes.count; i++) {
        const struct cache_code *code = &entry->codes.items[i];
        const struct result_pod pod = {.name = (char *)"",
                                       .uid = (char *)"",
                                       .task = (char *)(uintptr_t)code->task,
                                       .index = (size_t)code->index,
                                       .phase = code->code ? POD_FAILED : POD_SUCCEEDED,
                                       .has_code = true,
                                       .code = code->code};

        job_results_add_pod(results, &pod);
    }
    return results;
}

/* Stores that the entry was used, and the present state of the inodes. As with the time of access
 * of a file, a use soon after another is not stored. */
static void count_use(struct flow *flow, const struct object *object, const struct reuse_scan *scan)
{
    enum { USE_COUNTED_MS = 3600 * 1000 };
    struct cache_entry entry = *cache_entry_of(object);
    scoped(arena) struct arena *arena = NULL;

    if (entry.used && flow_now_ms(flow) - entry.used_ms < USE_COUNTED_MS &&
        reuse_files_are_known(&entry, scan))
        return;
    arena = arena_new(1024);
    entry.used++;
    entry.used_ms = flow_now_ms(flow);
    reuse_list_files(&entry, scan, arena);
    cluster_update_status(flow->controller->cluster, NULL, object, cache_entry_blob(&entry));
}

static void complete(struct flow *flow, uint32_t step, const struct object *object,
                     const struct reuse_scan *scan)
{
    const struct cache_entry *entry = cache_entry_of(object);
    struct reused_work from = {.entry = mem_strdup(object_name(object)),
                               .key = mem_strdup(entry->key),
                               .flow = mem_strdup(entry->flow),
                               .job = mem_strdup(entry->job),
                               .uid = mem_strdup(entry->job_uid),
                               .made_ms = entry->made_ms};
    struct job_results *results = results_of(entry);

    flow_unblock_step(flow, step);
    flow_model_complete_cached(&flow->model, step, &from, results);
    reused_work_release(&from);
    count_use(flow, object, scan);
    if (!flow->state.start_ms) {
        flow->began_ms = flow_now_ms(flow);
        flow->state.start_ms = flow->began_ms;
    }
    cluster_event(flow->controller->cluster, flow->object, EVENT_NORMAL, STEP_CACHED_TEXT,
                  FLOW_COMPONENT, "a step was reused");
    flow_make_runnable(flow);
}

/* Fills the draft of the entry that the step's job will have. */
static void make_draft(struct flow *flow, struct reuse_task *task,
                       const struct reuse_inputs *inputs, const struct cache_entry *earlier)
{
    struct step_reuse *reuse = &flow->model.reuse[task->step];
    scoped(buf) struct buf job = {0};
    struct cache_entry entry = {.key = task->draft.key,
                                .state = CACHE_PENDING,
                                .flow = object_name(flow->object),
                                .step = name_of(flow, task->step),
                                .apart = runs_apart(flow)};

    flow_model_job_name(&flow->model, task->step, &job);
    entry.job = job.data;
    reuse_pending(&entry, inputs, earlier, task->scan->arena);
    reuse_draft_release(&reuse->draft);
    reuse->draft = task->draft;
    task->draft = (struct reuse_draft){0};
    reuse->draft.status = cache_entry_blob(&entry);
}

/* Searches for an entry that holds. Otherwise `out_newest` is the newest one, and `why` says what
 * differs from it. */
static const struct object *find_entry(struct flow *flow, const struct reuse_task *task,
                                       const struct reuse_inputs *inputs,
                                       const struct object **out_newest, struct buf *why)
{
    struct reuse_row rows[REUSE_CANDIDATES];
    size_t count = reuse_index_recorded(service_of(flow)->index, object_namespace(flow->object),
                                        task->draft.key, rows);

    *out_newest = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct object *object = entry_at(flow, rows[i].name);

        if (!object)
            continue;
        if (reuse_holds(cache_entry_of(object), inputs, *out_newest ? NULL : why))
            return object;
        if (!*out_newest)
            *out_newest = object;
    }
    return NULL;
}

/* Returns the newest entry of the step, whatever its key; borrowed, NULL: it has none. */
static const struct object *last_of_step(const struct flow *flow, uint32_t step)
{
    const char *name = reuse_index_of_step(service_of(flow)->index, object_namespace(flow->object),
                                           object_name(flow->object), name_of(flow, step));

    return name ? entry_at(flow, name) : NULL;
}

/* Appends how the step's work differs from what was recorded of the step last. */
static void name_difference(const struct reuse_task *task, const struct object *last,
                            struct buf *why)
{
    scoped(json) json_t *before = last ? object_body_json(last) : NULL;
    scoped(json) json_t *after = json_read(task->draft.body, strlen(task->draft.body));

    if (last &&
        !reuse_difference(json_object_get(before, "spec"), json_object_get(after, "spec"), why))
        buf_str(why, "its cache key, a variable of the run, a ConfigMap or a Secret changed");
}

/* Tells what was compared with the newest result of the task, or else of the step. */
static void tell_compared(const struct reuse_task *task, const struct reuse_inputs *inputs,
                          const struct object *newest)
{
    const struct flow_reuse_options *options = service_of(task->flow)->options;
    const struct object *with =
        newest || !options->compared ? newest : last_of_step(task->flow, task->step);
    scoped(buf) struct buf why = {0};
    json_t *rows;

    if (!options->compared || !with)
        return;
    if (!newest)
        name_difference(task, with, &why);
    rows = reuse_report(cache_entry_of(with), inputs, why.data);
    options->compared(options->ctx, object_name(task->flow->object),
                      name_of(task->flow, task->step), rows);
    json_decref(rows);
}

/* A job that does the same work may have begun or ended while the files were read. Returns true if
 * the step then waits for it, or is looked up again. */
static bool looks_up_again(struct flow *flow, const struct reuse_task *task)
{
    const char *same =
        runs_apart(flow) ? NULL
                         : reuse_service_same_work(service_of(flow), object_namespace(flow->object),
                                                   task->draft.key);

    if (same)
        flow_wait_for_same_work(flow, task->step, same);
    else if (task->may_reuse && reuse_task_is_outdated(task))
        flow_model_set_state(&flow->model, task->step, STEP_READY);
    else
        return false;
    return true;
}

static void looked_up(struct reuse_task *task)
{
    struct flow *flow = task->flow;
    const struct flow_cache *cache = flow_graph_step(flow->model.graph, task->step)->cache;
    const struct reuse_inputs inputs = {.scan = task->scan,
                                        .targets = task->targets,
                                        .n_targets = task->n_targets,
                                        .now_ms = flow_now_ms(flow),
                                        .max_age_ns = cache ? cache->max_age_ns : -1};
    const struct object *newest = NULL, *found, *last;
    scoped(buf) struct buf why = {0};

    if (flow->model.steps[task->step].state != STEP_CHECKING)
        return;
    flow_make_runnable(flow);
    if (!flow_creates_now(flow)) { /* it is looked up again when jobs may be created */
        flow_model_set_state(&flow->model, task->step, STEP_READY);
        return;
    }
    if (task->scan->inputs.code && looks_up_again(flow, task))
        return;
    if (task->scan->inputs.code) {
        tell_not_reusable(flow, task->step, task->scan->inputs.message);
        queue(flow, task->step);
        return;
    }
    found = find_entry(flow, task, &inputs, &newest, &why);
    if (!found && looks_up_again(flow, task))
        return;
    tell_compared(task, &inputs, found ? found : newest);
    if (found && task->may_reuse) {
        complete(flow, task->step, found, task->scan);
        return;
    }
    last = last_of_step(flow, task->step);
    if (!newest && task->may_reuse)
        name_difference(task, last, &why);
    if (why.len && task->may_reuse) {
        scoped_str note = mem_printf("ran because %s", why.data);

        flow_model_set_reuse_note(&flow->model, task->step, note);
    }
    /* What an earlier command of the step has made, this one makes again. */
    newest = newest ? newest : found ? found : last;
    make_draft(flow, task, &inputs, newest ? cache_entry_of(newest) : NULL);
    queue(flow, task->step);
}

/* Returns the body of the step's job as that of its first attempt, owned; NULL: it has none now. */
static struct blob *body_of_first(struct flow *flow, uint32_t step, const struct object *template)
{
    struct step *s = &flow->model.steps[step];
    const uint16_t attempt = s->attempt;
    struct blob *body;

    s->attempt = 0;
    body = flow_job_body(flow, step, template, NULL);
    s->attempt = attempt;
    return body;
}

/* Puts what the recorded entries of the key know of files into the file memory, so that unchanged
 * files are not read again. */
static void recall(struct flow *flow, const char *key)
{
    struct reuse_row rows[REUSE_CANDIDATES];
    size_t count =
        reuse_index_recorded(service_of(flow)->index, object_namespace(flow->object), key, rows);

    for (size_t i = 0; i < count; i++) {
        const struct object *object = entry_at(flow, rows[i].name);

        if (object)
            reuse_recall(cache_entry_of(object), service_of(flow)->memory);
    }
}

/* `most`: scans that may be handed over together. */
static void look_up(struct flow *flow, uint32_t step, const struct blob *body, size_t most)
{
    struct reuse_task *task = reuse_task_new(flow, step, looked_up);
    scoped(json) json_t *doc = json_read(body->text, body->len);
    const char *ns = object_namespace(flow->object), *same;
    struct error err = {0};

    if (!flow_reuse_key(flow, step, doc, &task->draft, &err)) {
        tell_not_reusable(flow, step, err.message);
        queue(flow, step);
        reuse_task_free(task);
        return;
    }
    same = runs_apart(flow) ? NULL : reuse_service_same_work(service_of(flow), ns, task->draft.key);
    if (same) {
        flow_wait_for_same_work(flow, step, same);
        reuse_task_free(task);
        return;
    }
    recall(flow, task->draft.key);
    task->may_reuse = !runs_apart(flow) && !flow->model.steps[step].attempt && !flow->state.retry;
    task->scan = flow_reuse_scan(flow, step, json_object_get(doc, "spec"));
    task->targets = flow_reuse_targets(flow, step, task->scan, &task->n_targets);
    flow_model_set_state(&flow->model, step, STEP_CHECKING);
    reuse_task_submit(task, most);
}

static void begin(struct flow *flow, uint32_t step, size_t most)
{
    const struct object *template = flow_template_of(flow, step);
    const struct step_block *block = flow->model.steps[step].block;
    bool starts = !flow_ending(flow) || flow->model.steps[step].final;
    struct blob *body =
        template && starts && !flow_job_of(flow, step) ? body_of_first(flow, step, template) : NULL;

    reuse_draft_release(&flow->model.reuse[step].draft);
    if (flow->model.reuse[step].note)
        flow_model_set_reuse_note(&flow->model, step, NULL);
    if (block && block->reason == BLOCK_SAME_WORK)
        flow_unblock_step(flow, step);
    if (body)
        look_up(flow, step, body, most);
    else /* what is missing is found again where jobs are created */
        queue(flow, step);
    blob_unref(body);
}

static void look_up_some(struct flow *flow)
{
    enum {
        LOOK_UP_BATCH = 1000, /* look-ups that begin in one sync, so that other flows get their
                               * turn */
        LOOKS_TOGETHER = 32,
        BATCHES = 32 /* that the scans are shared out to before any gets more than one */
    };
    const size_t wanted = flow->model.to_check.count / BATCHES;
    const size_t most = wanted < LOOKS_TOGETHER ? wanted : LOOKS_TOGETHER;
    unsigned begun = 0;

    step_set_each(&flow->model.to_check, step)
    {
        if (template_pins_copying(flow))
            return;
        if (begun++ == LOOK_UP_BATCH) {
            flow_make_runnable(flow);
            return;
        }
        flow_template_of(flow, step);
        if (template_pins_copying(flow))
            return; /* the step stays ready until the copies are made */
        begin(flow, step, most);
    }
}

void flow_reuse_look_up(struct flow *flow)
{
    look_up_some(flow);
    if (flow->controller->reuse)
        reuse_task_hand_over(flow->controller->reuse);
}

bool flow_reuse_waits(struct flow *flow, uint32_t step)
{
    const char *key = flow->model.reuse ? flow->model.reuse[step].draft.key : NULL;
    const char *same =
        key && !runs_apart(flow)
            ? reuse_service_same_work(service_of(flow), object_namespace(flow->object), key)
            : NULL;

    if (same)
        flow_wait_for_same_work(flow, step, same);
    return same != NULL;
}

char *flow_reuse_job_created(struct flow *flow, uint32_t step, const char *job)
{
    struct step_reuse *reuse = flow->model.reuse ? &flow->model.reuse[step] : NULL;
    const char *ns = object_namespace(flow->object);
    scoped_str origin = NULL;
    const struct object *entry;
    char *name;

    if (!reuse)
        return NULL;
    flow->model.steps[step].look_up = flow->model.steps[step].reusable;
    if (!reuse->draft.key)
        return NULL;
    origin = mem_printf("%s/%s/%u", flow->uid, job, flow->model.steps[step].attempt + 1u);
    name = mem_printf("%.16s.%016" PRIx64, reuse->draft.key, hash_stable(origin, strlen(origin)));
    if (entry_at(flow, name))
        reuse_service_remove(service_of(flow), ns, name);
    cluster_create(
        flow->controller->cluster, NULL,
        object_new(&kind_cache_entry,
                   meta_new(&(const struct meta){
                       .namespace = ns, .name = name, .uid = "", .deletion_grace_s = -1}),
                   blob_intern(reuse->draft.body, strlen(reuse->draft.body)),
                   blob_ref(reuse->draft.status)));
    reuse_draft_release(&reuse->draft);
    entry = entry_at(flow, name);
    if (entry)
        reuse_index_put(service_of(flow)->index, entry);
    return name;
}

/* Fills in when and by which job the work was done, and its results. */
static void fill_record(struct cache_entry *entry, const struct reuse_task *task,
                        struct arena *arena, int64_t now_ms)
{
    const struct job_status *status = job_status_of(task->job);
    const struct job_results *results = task->results;

    entry->job_uid = object_uid(task->job);
    entry->made_ms = status->transition_ms ? status->transition_ms : now_ms;
    entry->took_ms = entry->made_ms - task->job->meta->created_at_ms;
    entry->used_ms = now_ms;
    entry->outputs.items = arena_array(arena, results->n_outputs + 1, sizeof(struct str_pair));
    for (size_t i = 0; i < results->n_outputs; i++)
        entry->outputs.items[entry->outputs.count++] =
            (struct str_pair){results->outputs[i].key, results->outputs[i].value};
    entry->codes.items = arena_array(arena, results->n_pods + 1, sizeof(struct cache_code));
    for (size_t i = 0; i < results->n_pods; i++)
        if (results->pods[i].has_code)
            entry->codes.items[entry->codes.count++] = (struct cache_code){
                results->pods[i].task, (int32_t)results->pods[i].index, results->pods[i].code};
}

/* Records the result, or says why that is not done. */
static void record(struct flow *flow, struct reuse_task *task, const struct object *object)
{
    struct reuse_service *service = service_of(flow);
    const struct cache_entry *pending = cache_entry_of(object);
    const char *ns = object_namespace(flow->object);
    scoped(arena) struct arena *arena = arena_new(1024);
    scoped(buf) struct buf why = {0};
    struct cache_entry entry = {0};

    if (!reuse_record(&entry, pending, task->scan, arena, &why)) {
        tell_not_reusable(flow, task->step, why.data);
        reuse_service_remove(service, ns, object_name(object));
        return;
    }
    fill_record(&entry, task, arena, flow_now_ms(flow));

    scoped_str key = mem_strdup(entry.key);
    scoped_str name = mem_strdup(object_name(object));

    cluster_update_status(flow->controller->cluster, NULL, object, cache_entry_blob(&entry));
    object = entry_at(flow, name);
    if (object)
        reuse_index_put(service->index, object);
    reuse_service_trim(service, ns, key);
}

static void recorded(struct reuse_task *task)
{
    struct flow *flow = task->flow;
    const char *name = meta_annotation(task->job->meta, ANNOTATION_CACHE_ENTRY);
    const struct object *entry = entry_at(flow, name), *job = flow_job_of(flow, task->step);

    if (!flow->model.steps[task->step].held)
        return;
    if (entry && !cache_entry_is_recorded(cache_entry_of(entry)))
        record(flow, task, entry);
    flow_model_release_hold(&flow->model, task->step);
    flow_job_changed(flow, task->step, job ? job : task->job);
    reuse_service_job_ended(flow->controller, task->job);
    flow_make_runnable(flow);
}

void flow_reuse_job_completed(struct flow *flow, uint32_t step, const struct object *job)
{
    struct flow_model *m = &flow->model;
    const char *name = meta_annotation(job->meta, ANNOTATION_CACHE_ENTRY);
    const struct object *entry = name ? entry_at(flow, name) : NULL;
    scoped(json) json_t *doc = NULL;
    struct reuse_task *task;

    if (!m->reuse || !entry || m->reuse[step].task ||
        !reuse_index_is_pending(service_of(flow)->index, object_namespace(entry), name) ||
        (m->steps[step].state == STEP_STARTED && m->steps[step].phase == JOB_COMPLETED))
        return;
    m->steps[step].held = true;
    task = reuse_task_new(flow, step, recorded);
    task->job = object_ref(job);
    task->results = job_results_gather(flow->controller->cluster, job);
    doc = object_body_json(entry);
    task->scan = flow_reuse_scan(flow, step, json_object_get(json_object_get(doc, "spec"), "job"));
    reuse_task_submit(task, 1);
}

bool flow_reuse_unsaved(struct flow *flow)
{
    const struct status_writer *writer = &flow->writer;

    if (!flow->model.cached || flow->model.cached_change <= writer->written_changes)
        return false;
    if (!status_write_in_flight(writer->state))
        flow_write_status_now(flow);
    return writer->sent_changes < flow->model.cached_change &&
           writer->written_changes < flow->model.cached_change;
}
