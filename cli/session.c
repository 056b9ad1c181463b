/*
 * The life of a run:
 *
 *   refused ◄── preflight ──► applying ──► following ──► finished ──► exit code
 *                                             │ signal or timeout
 *                                             ▼
 *                                          aborting ── pods gone ──► 130 or 4
 *
 * A run that ends early leaves its flows unfinished in the store: the next run with the same data
 * directory goes on with them.
 */
#include "cli/session.h"
#include "api/types/pod.h"
#include "base/mem.h"
#include "cli/apply.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/podlogs.h"
#include "cli/preflight.h"
#include "cli/serving.h"
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { ABORT_POLL_MS = 50, FAILED_LOG_LINES = 20 };

struct session {
    const struct session_options *options;
    struct manifests *set;
    struct engine *engine;
    struct serving *serving;
    struct follow *follow;
    struct podlogs *logs;
    const struct output_ops *output;
    void *output_state;
    struct output_context context;
    uv_signal_t signals[3];
    struct timer timeout, abort_poll;
    struct task durable;
    int interrupts;
    int exit_code; /* -1 while running */
};

/* ---- what the output form hears ---- */

static void on_log_line(void *ctx, const char *source, const char *line, size_t len)
{
    struct session *session = ctx;

    session->output->log(session->output_state, source, line, len);
}

static void on_step(void *ctx, const struct follow_step *step, enum job_phase before)
{
    struct session *session = ctx;
    bool failed = follow_step_over(step) && step->phase != JOB_COMPLETED && step->phase != before;

    session->output->step(session->output_state, step, before);
    if (failed && !session->logs && session->output != &output_quiet)
        podlogs_tail(engine_store(session->engine), engine_runtime(session->engine), step->job_uid,
                     FAILED_LOG_LINES, on_log_line, session);
}

static void on_flow(void *ctx, const struct follow_flow *flow, enum flow_phase before)
{
    struct session *session = ctx;

    session->output->flow(session->output_state, flow, before);
}

static void finish(struct session *session, int exit_code)
{
    session->exit_code = exit_code;
    loop_stop(engine_loop(session->engine));
}

static void settled(struct task *task)
{
    struct session *session = container_of(task, struct session, durable);

    finish(session, follow_succeeded(session->follow) ? EXIT_OK : EXIT_FAILED);
}

static void on_finished(void *ctx)
{
    struct session *session = ctx;

    if (session->interrupts ==
        0) /* what the last turn decided (retention, statuses) is committed first */
        store_when_durable(engine_store(session->engine), &session->durable);
}

static void on_store_failure(void *ctx, const struct error *err)
{
    struct session *session = ctx;

    cli_errorf("the store failed, stopping here; pods go on and the next run finds them: %s",
               err->message);
    finish(session, EXIT_INTERNAL);
}

/* ---- the way out before the end ---- */

struct job_list {
    const struct object **items;
    size_t count, cap;
};

static void collect_unfinished_job(void *arg, const struct object *job)
{
    struct job_list *list = arg;

    if (job_phase_finished(job_status_of(job)->phase))
        return;
    mem_grow(list->items, list->count, list->cap);
    list->items[list->count++] = object_ref(job);
}

static void collect_pod(void *arg, const struct object *pod)
{
    struct job_list *list = arg;
    enum pod_phase phase = pod_status_of(pod)->phase;

    if (phase == POD_SUCCEEDED || phase == POD_FAILED)
        return;
    mem_grow(list->items, list->count, list->cap);
    list->items[list->count++] = object_ref(pod);
}

static void delete_all(struct session *session, struct job_list *list, int64_t grace_s)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct object *object = list->items[i], *out;
        const struct registry_delete how = {
            .uid = object_uid(object), .grace_s = grace_s, .internal = true};
        struct error_list errors = {0};

        registry_delete(engine_registry(session->engine), object->kind, object_namespace(object),
                        object_name(object), &how, &out, &errors);
        error_list_release(&errors); /* gone already is what we want */
        object_unref((struct object *)(size_t)object);
    }
    mem_free(list->items);
    *list = (struct job_list){0};
}

static void abort_look(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, abort_poll);
    struct job_list alive = {0};
    size_t count;

    store_each(engine_store(session->engine), &kind_pod, NULL, collect_pod, &alive);
    count = alive.count;
    for (size_t i = 0; i < count; i++)
        object_unref((struct object *)(size_t)alive.items[i]);
    mem_free(alive.items);
    if (count == 0)
        finish(session, session->exit_code);
    else
        timer_start(engine_loop(session->engine), &session->abort_poll, ABORT_POLL_MS);
}

static void abort_run(struct session *session, const char *why, int exit_code)
{
    struct job_list list = {0};

    session->interrupts++;
    session->exit_code = exit_code;
    if (session->interrupts == 1) {
        session->output->note(session->output_state, why);
        engine_stop_controllers(session->engine); /* nobody makes the jobs again */
        store_each(engine_store(session->engine), &kind_job, NULL, collect_unfinished_job, &list);
        delete_all(session, &list, -1);
        timer_start(engine_loop(session->engine), &session->abort_poll, 0);
    } else if (session->interrupts == 2) {
        session->output->note(session->output_state, "killing what is left");
        store_each(engine_store(session->engine), &kind_pod, NULL, collect_pod, &list);
        delete_all(session, &list, 0);
    } else {
        finish(session, exit_code);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct session *session = handle->data;

    abort_run(
        session,
        "interrupted: stopping the pods (once more to kill them); the next run goes on from here",
        session->interrupts ? session->exit_code : EXIT_INTERRUPTED);
}

static void on_timeout(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, timeout);

    if (session->interrupts == 0)
        abort_run(session, "timed out: stopping the pods; the next run goes on from here",
                  EXIT_TIMED_OUT);
}

static void listen_signals(struct session *session)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < countof(numbers); i++) {
        uv_signal_init(loop_uv(engine_loop(session->engine)), &session->signals[i]);
        session->signals[i].data = session;
        uv_signal_start(&session->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *)&session->signals[i]);
    }
}

static void close_signals(struct session *session)
{
    for (size_t i = 0; i < countof(session->signals); i++)
        uv_close((uv_handle_t *)&session->signals[i], NULL);
}

/* ---- applying ---- */

static bool is_followed(const struct kind *kind)
{
    return kind == &kind_job_flow || kind == &kind_job;
}

static bool is_over(const struct object *object)
{
    if (object->kind == &kind_job_flow)
        return flow_phase_finished(jobflow_phase_of(object)) && !jobflow_wants_retry(object);
    return job_phase_finished(job_status_of(object)->phase);
}

static bool has_succeeded(const struct object *object)
{
    return object->kind == &kind_job_flow ? jobflow_phase_of(object) == FLOW_SUCCEED
                                          : job_status_of(object)->phase == JOB_COMPLETED;
}

/* What becomes of an object of an earlier run. */
enum earlier {
    EARLIER_NONE,   /* there is none, or it is forgotten */
    EARLIER_RESUME, /* it is unfinished */
    EARLIER_RETRY,  /* it failed and starts again */
    EARLIER_KEEP    /* it succeeded, which is what is wanted */
};

static enum earlier judge_earlier(const struct session *session, const struct object *stored)
{
    if (!stored || !is_followed(stored->kind) || session->options->fresh)
        return EARLIER_NONE;
    if (!is_over(stored))
        return EARLIER_RESUME;
    if (!session->options->retry_failed)
        return EARLIER_NONE;
    if (has_succeeded(stored))
        return EARLIER_KEEP;
    return stored->kind == &kind_job_flow ? EARLIER_RETRY : EARLIER_NONE;
}

/* Steps of a flow whose job is completed. */
static void count_completed(void *arg, const struct object *job)
{
    *(size_t *)arg += job_status_of(job)->phase == JOB_COMPLETED;
}

static void note_earlier(struct session *session, enum earlier earlier, const struct object *object)
{
    size_t completed = 0;
    scoped_str text = NULL;

    if (earlier == EARLIER_NONE || object->kind != &kind_job_flow)
        return;
    if (earlier == EARLIER_KEEP) {
        text = mem_printf("%s succeeded before and is not run again", object_name(object));
    } else {
        store_each_owned(engine_store(session->engine), &kind_job, object_uid(object),
                         count_completed, &completed);
        text = mem_printf("%s %s: %zu of %zu steps were completed before",
                          earlier == EARLIER_RETRY ? "retrying" : "resuming", object_name(object),
                          completed, jobflow_spec_of(object)->steps.count);
    }
    session->output->note(session->output_state, text);
}

static void remove_object(struct session *session, const struct object *object)
{
    const struct registry_delete how = {.uid = object_uid(object), .grace_s = -1, .internal = true};
    struct error_list errors = {0};
    const struct object *out;

    registry_delete(engine_registry(session->engine), object->kind, object_namespace(object),
                    object_name(object), &how, &out, &errors);
    error_list_release(&errors);
}

static const struct object *stored_object(struct session *session, const struct manifest *manifest)
{
    const json_t *metadata = json_object_get(manifest->doc, "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));

    return store_get(engine_store(session->engine), manifest->kind, ns ? ns : "", name ? name : "");
}

static bool report_refusal(const struct manifest *manifest, const struct error_list *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        manifest_print(manifest, "error", &errors->items[i]);
    return false;
}

static void explain_refusal(const struct session *session, enum earlier earlier,
                            const struct manifest *manifest, const struct object *stored)
{
    if (earlier == EARLIER_RESUME)
        cli_errorf("an unfinished run of %s \"%s\" is in %s: go on with its old file, or start "
                   "over with --fresh",
                   manifest->kind->name, object_name(stored), session->options->data_dir);
    else if (earlier != EARLIER_NONE)
        cli_errorf("%s \"%s\" goes on in %s: its templates may have changed, its steps may not; "
                   "go on with its old file, or start over without --retry-failed",
                   manifest->kind->name, object_name(stored), session->options->data_dir);
}

static json_t *member_copy(json_t *object, const char *key)
{
    json_t *copy = json_copy(json_object_get(object, key));

    if (!json_is_object(copy)) {
        json_decref(copy);
        copy = json_object();
    }
    json_object_set_new(object, key, copy);
    return copy;
}

/* The document of a flow with what the flags say about it laid over it, as annotations: its spec is
 * the user's. Owned. */
static json_t *flagged_document(const struct session *session, enum earlier earlier,
                                const struct manifest *manifest)
{
    bool retried = earlier == EARLIER_RETRY;
    bool keeps_going = session->options->keep_going && earlier != EARLIER_KEEP;
    char value[CLOCK_UUID_LEN + 1];
    json_t *doc, *annotations;

    if (manifest->kind != &kind_job_flow || (!retried && !keeps_going))
        return json_incref(manifest->doc);
    doc = json_copy(manifest->doc);
    annotations = member_copy(member_copy(doc, "metadata"), "annotations");
    if (keeps_going)
        json_object_set_new(annotations, ANNOTATION_FAILURE_POLICY, json_string("continue"));
    if (retried) {
        clock_uuid(clock_real(), value); /* a simulation repeats its own */
        json_object_set_new(annotations, ANNOTATION_FLOW_RETRY, json_string(value));
    }
    return doc;
}

static bool apply_one(struct session *session, const struct manifest *manifest)
{
    const struct object *stored = stored_object(session, manifest), *object = NULL;
    enum earlier earlier = judge_earlier(session, stored);
    scoped(json) json_t *doc = flagged_document(session, earlier, manifest);
    struct manifest flagged = *manifest;
    struct error_list errors = {0};
    bool ok = true;

    flagged.doc = doc;
    /* A finished flow or job runs again from the start. */
    if (stored && is_followed(manifest->kind) && earlier == EARLIER_NONE)
        remove_object(session, stored);
    if (apply_manifest(engine_registry(session->engine), &flagged, NULL, &object, &errors) ==
        APPLY_FAILED) {
        ok = report_refusal(manifest, &errors);
        explain_refusal(session, earlier, manifest, stored);
    } else if (is_followed(manifest->kind)) {
        note_earlier(session, earlier, object);
        follow_add(session->follow, object);
    }
    error_list_release(&errors);
    return ok;
}

static bool apply_all(struct session *session)
{
    size_t *order = preflight_order(session->set);
    bool ok = true;

    for (size_t i = 0; i < session->set->count && ok; i++)
        ok = apply_one(session, &session->set->items[order[i]]);
    mem_free(order);
    return ok;
}

/* ---- the whole ---- */

static bool has_something_to_run(const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (is_followed(set->items[i].kind))
            return true;
    cli_errorf("nothing to run: the files define no JobFlow and no Job");
    return false;
}

static struct engine *open_engine(const struct session_options *options, int *out_code)
{
    bool host = strcmp(options->runtime, "host") == 0;
    const struct engine_options engine = {
        .data_dir = options->data_dir,
        .sync = strcmp(options->durability, "relaxed") == 0 ? STORE_SYNC_NORMAL : STORE_SYNC_FULL,
        .sim = strcmp(options->runtime, "sim") == 0,
        .compat_upstream = options->compat_upstream,
        .max_pods = (int)options->max_pods,
        .isolation = host ? "plain" : options->isolation,
        .network = options->network,
        .restart_backoff_ms = options->restart_backoff_ms,
        .controllers = true,
    };
    struct error err = {0};
    struct engine *opened = engine_start(&engine, &err);

    if (opened)
        return opened;
    cli_error(&err);
    *out_code = EXIT_INTERNAL;
    if (err.code == ERR_CONFLICT) {
        fprintf(stderr, "See what it does with '%s get jf,vcjob,pods --data-dir %s'.\n",
                cli_program, options->data_dir);
        *out_code = EXIT_REFUSED;
    }
    return NULL;
}

/* Other commands look at the run through this. A simulation is over before anyone could, and its
 * time is not theirs. */
static void serve(struct session *session)
{
    struct error err = {0};

    if (strcmp(session->options->runtime, "sim") == 0)
        return;
    session->serving = serving_start(session->engine, session->options->data_dir, &err);
    if (!session->serving)
        cli_warnf("other commands cannot look at this run: %s", err.message);
}

static bool store_exists(const char *data_dir)
{
    scoped_str path = mem_printf("%s/store.db", data_dir);
    struct stat info;

    return stat(path, &info) == 0;
}

static bool checked(const struct session_options *options, struct manifests *set,
                    struct engine *engine)
{
    const struct preflight_options preflight_options = {
        .namespace_ = options->namespace_,
        .sim = strcmp(options->runtime, "sim") == 0,
        .compat_upstream = options->compat_upstream,
        .live = engine ? engine_store(engine) : NULL,
    };
    struct preflight_result result;

    return preflight(set, &preflight_options, &result);
}

static void follow_to_the_end(struct session *session)
{
    struct loop *loop = engine_loop(session->engine);
    struct error err = {0};

    session->abort_poll.fire = abort_look;
    session->timeout.fire = on_timeout;
    session->durable.run = settled;
    store_on_failure(engine_store(session->engine), on_store_failure, session);
    if (session->options->timeout_ms)
        timer_start(loop, &session->timeout, session->options->timeout_ms);
    if (!follow_start(session->follow, &err)) {
        cli_error(&err);
        session->exit_code = EXIT_INTERNAL;
        return;
    }
    if (session->options->logs)
        session->logs = podlogs_follow_all(loop, engine_store(session->engine),
                                           engine_runtime(session->engine), on_log_line, session);
    listen_signals(session);
    loop_run(loop);
    timer_stop(loop, &session->timeout);
    timer_stop(loop, &session->abort_poll);
    close_signals(session);
    podlogs_finish(take(session->logs));
}

int session_run(const struct session_options *options, struct manifests *set)
{
    struct session session = {.options = options, .set = set, .exit_code = -1};
    bool known_store = store_exists(options->data_dir);

    if (!has_something_to_run(set) || (!known_store && !checked(options, set, NULL)))
        return EXIT_REFUSED;
    session.engine = open_engine(options, &session.exit_code);
    if (!session.engine)
        return session.exit_code;
    if (known_store && !checked(options, set, session.engine)) {
        engine_stop(session.engine);
        return EXIT_REFUSED;
    }

    const struct follow_events events = {on_step, on_flow, on_finished, &session};
    struct loop *loop = engine_loop(session.engine);

    session.follow = follow_new(loop, engine_store(session.engine), &events);
    session.context = (struct output_context){
        .loop = loop, .follow = session.follow, .began_ms = loop_wall_ms(loop)};
    term_look(&session.context.term, stdout);
    session.output = output_by_name(options->output, &session.context.term);
    session.output_state = session.output->begin(&session.context);
    serve(&session);
    if (apply_all(&session))
        follow_to_the_end(&session);
    else
        session.exit_code = EXIT_REFUSED;
    session.output->end(session.output_state);
    if (session.output->summary && session.exit_code != EXIT_REFUSED)
        summary_print(&session.context, stdout);
    follow_free(session.follow);
    serving_stop(session.serving);
    engine_stop(session.engine);
    return session.exit_code;
}
