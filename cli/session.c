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
#include "cli/command.h"
#include "cli/output.h"
#include "cli/podlogs.h"
#include "cli/preflight.h"
#include "cli/serving.h"
#include "cli/stuck.h"
#include "cli/takeup.h"
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum {
    ABORT_POLL_MS = 50,
    FAILED_LOOK_MS = 1000,
    FAILED_LOG_LINES = 20,
    STUCK_TURNS = 100000, /* of a simulation, without any news */
};

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
    struct timer timeout, abort_poll, failed_look;
    struct task durable, unread, idle;
    uint64_t news, seen_news; /* changes told of; at the last look */
    uint32_t quiet_turns;     /* since then */
    struct turn_hook flush;
    int interrupts;
    bool noted_plain;
    const char *ended; /* "interrupted", "timed out"; NULL = in its own time */
    int exit_code;     /* -1 while running */
};

static bool is_simulated(const struct session_options *options)
{
    return strcmp(options->runtime, "sim") == 0;
}

/* ---- what the output form hears ---- */

static void on_log_line(void *ctx, const char *source, const char *line, size_t len)
{
    struct session *session = ctx;

    session->output->log(session->output_state, source, line, len);
}

static void on_note(void *ctx, const char *text)
{
    struct session *session = ctx;

    session->output->note(session->output_state, text);
}

static bool has_member(const json_t *value, const char *key)
{
    const char *name;
    json_t *member;
    size_t i;

    json_object_foreach((json_t *)(size_t)value, name, member)
    {
        if (strcmp(name, key) == 0 || has_member(member, key))
            return true;
    }
    json_array_foreach(value, i, member)
    {
        if (has_member(member, key))
            return true;
    }
    return false;
}

/* The usual reason why what runs elsewhere fails in a container: said once, at the first failure.
 */
static void note_plain(struct session *session)
{
    struct runtime *runtime = engine_runtime(session->engine);
    const char *level = runtime->ops->describe(runtime);
    bool mounts = false;

    if (session->noted_plain || strncmp(level, "plain:", strlen("plain:")) != 0)
        return;
    session->noted_plain = true;
    for (size_t i = 0; i < session->set->count && !mounts; i++)
        mounts = has_member(session->set->items[i].doc, "mountPath");
    if (mounts)
        on_note(session, "pods have no file system of their own on this machine: mount paths are "
                         "below $VC_MOUNT_ROOT (why: jobflow describe node)");
}

static void on_step(void *ctx, const struct follow_step *step, enum job_phase before)
{
    struct session *session = ctx;
    bool failed = follow_step_over(step) && step->phase != JOB_COMPLETED && step->phase != before;

    session->news++;
    session->output->step(session->output_state, step, before);
    if (failed && !session->logs && session->output != &output_quiet)
        podlogs_tail(engine_store(session->engine), engine_runtime(session->engine), step->job_uid,
                     FAILED_LOG_LINES, on_log_line, session);
    if (failed && !is_simulated(session->options))
        note_plain(session);
}

static void note_still_at_work(struct session *session, const struct follow_flow *flow)
{
    enum { NAMES_MAX = 3 };
    scoped(buf) struct buf text = {0};
    size_t count = 0;

    for (const struct follow_step *step = follow_running(session->follow); step;
         step = step->next_running)
        if (step->flow == flow && count++ < NAMES_MAX)
            buf_printf(&text, "%s %s", count == 1 ? ":" : ",", step->name);
    if (count == 0)
        return;
    if (count > NAMES_MAX)
        buf_printf(&text, " and %zu more", count - NAMES_MAX);

    scoped_str note = mem_printf(
        "%s has failed and starts nothing more; %zu step%s still at work%s (Ctrl-C stops %s)",
        flow->name, count, count == 1 ? " is" : "s are", text.data, count == 1 ? "it" : "them");

    on_note(session, note);
}

/* A failed flow starts nothing new, but what runs goes on: nobody should have to guess why the end
 * does not come. */
static void look_at_failed(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, failed_look);

    for (const struct follow_flow *flow = follow_flows(session->follow); flow; flow = flow->next)
        if (flow->phase == FLOW_FAILED && session->interrupts == 0)
            note_still_at_work(session, flow);
}

static void on_flow(void *ctx, const struct follow_flow *flow, enum flow_phase before)
{
    struct session *session = ctx;

    session->news++;
    session->output->flow(session->output_state, flow, before);
    if (flow->phase == FLOW_FAILED && !is_simulated(session->options))
        timer_start(engine_loop(session->engine), &session->failed_look, FAILED_LOOK_MS);
}

static void finish(struct session *session, int exit_code)
{
    session->exit_code = exit_code;
    loop_stop(engine_loop(session->engine));
}

static void settled(struct task *task)
{
    struct session *session = container_of(task, struct session, durable);

    if (session->ended)
        finish(session, session->exit_code);
    else
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
        store_when_durable(engine_store(session->engine), &session->durable);
    else
        timer_start(engine_loop(session->engine), &session->abort_poll, ABORT_POLL_MS);
}

static void abort_begin(struct session *session, const char *why)
{
    struct job_list jobs = {0}, pods = {0};
    scoped_str text = NULL;

    store_each(engine_store(session->engine), &kind_pod, NULL, collect_pod, &pods);
    text = pods.count ? mem_printf("%s: stopping %zu pod%s (Ctrl-C kills what is left)", why,
                                   pods.count, pods.count == 1 ? "" : "s")
                      : mem_strdup(why);
    for (size_t i = 0; i < pods.count; i++)
        object_unref((struct object *)(size_t)pods.items[i]);
    mem_free(pods.items);
    on_note(session, text);
    engine_stop_controllers(session->engine); /* nobody makes the jobs again */
    store_each(engine_store(session->engine), &kind_job, NULL, collect_unfinished_job, &jobs);
    delete_all(session, &jobs, -1);
    timer_start(engine_loop(session->engine), &session->abort_poll, 0);
}

static void abort_kill(struct session *session)
{
    struct job_list pods = {0};

    on_note(session, "killing what is left");
    store_each(engine_store(session->engine), &kind_pod, NULL, collect_pod, &pods);
    delete_all(session, &pods, 0);
}

/* The first time asks the pods to end, the second kills them, the third no longer waits. */
static void abort_run(struct session *session, const char *why, int exit_code)
{
    session->interrupts++;
    session->exit_code = exit_code;
    session->ended = why;
    if (session->interrupts == 1)
        abort_begin(session, why);
    else if (session->interrupts == 2)
        abort_kill(session);
    else
        finish(session, exit_code);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct session *session = handle->data;

    if (session->interrupts == 0)
        abort_run(session, "interrupted", EXIT_INTERRUPTED);
    else
        abort_run(session, session->ended, session->exit_code);
}

static void on_timeout(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, timeout);

    if (session->interrupts == 0)
        abort_run(session, "timed out", EXIT_TIMED_OUT);
}

/* Whoever read our output is gone (`| head`): as when the terminal is closed. */
static void nobody_reads(struct task *task)
{
    struct session *session = container_of(task, struct session, unread);

    if (session->interrupts == 0)
        abort_run(session, "interrupted", EXIT_INTERRUPTED);
}

/* A simulation that can never go on ends here; a real run may yet be helped from outside. */
static void on_idle(struct task *task)
{
    struct session *session = container_of(task, struct session, idle);

    if (session->interrupts || session->exit_code >= 0)
        return;
    session->ended = OUTPUT_STUCK;
    finish(session, EXIT_FAILED);
}

/* It may also go in circles: what cannot be created is tried for ever. */
static void look_for_circles(struct session *session)
{
    if (session->news != session->seen_news) {
        session->seen_news = session->news;
        session->quiet_turns = 0;
    } else if (++session->quiet_turns == STUCK_TURNS) {
        loop_post(engine_loop(session->engine), &session->idle);
    }
}

/* What a turn told is shown at its end, also through a pipe. */
static void flush_output(struct turn_hook *hook)
{
    struct session *session = container_of(hook, struct session, flush);

    if (is_simulated(session->options))
        look_for_circles(session);
    fflush(stdout);
    if (ferror(stdout) && session->interrupts == 0)
        loop_post(engine_loop(session->engine), &session->unread);
}

static void listen_signals(struct session *session)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    signal(SIGPIPE, SIG_IGN); /* writing tells */
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

/* ---- the whole ---- */

static bool has_something_to_run(const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_flow || set->items[i].kind == &kind_job)
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
        .sim = is_simulated(options),
        .compat_upstream = options->compat_upstream,
        .max_pods = (int)options->max_pods,
        .node_resources = options->node_resources,
        .isolation = host ? "plain" : options->isolation,
        .network = options->network,
        .restart_backoff_ms = options->restart_backoff_ms,
        .controllers = true,
    };
    struct error err = {0};
    struct engine *opened = engine_start(&engine, &err);

    if (opened)
        return opened;
    if (err.code == ERR_CONFLICT) {
        cli_error(&err);
        fprintf(stderr, "See what it does with '%s get jf,vcjob,pods --data-dir %s'.\n",
                cli_program, options->data_dir);
        *out_code = EXIT_REFUSED;
    } else {
        cli_errorf("cannot work in the data directory: %s; choose another with --data-dir",
                   err.message);
        *out_code = EXIT_INTERNAL;
    }
    return NULL;
}

/* Other commands look at the run through this. A simulation is over before anyone could, and its
 * time is not theirs. */
static void serve(struct session *session)
{
    struct error err = {0};

    if (is_simulated(session->options))
        return;
    session->serving = serving_start(session->engine, session->options->data_dir, &err);
    if (!session->serving)
        cli_warnf("other commands cannot look at this run: %s", err.message);
}

static bool store_exists(const char *data_dir)
{
    scoped_str path = data_dir ? mem_printf("%s/store.db", data_dir) : NULL;
    struct stat info;

    return path && stat(path, &info) == 0;
}

static bool checked(const struct session_options *options, struct manifests *set,
                    struct engine *engine)
{
    const struct preflight_options preflight_options = {
        .namespace_ = options->namespace_,
        .sim = is_simulated(options),
        .compat_upstream = options->compat_upstream,
        .live = engine ? engine_store(engine) : NULL,
        .max_pods = options->max_pods ? (int)options->max_pods : engine_default_pods(),
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
    session->failed_look.fire = look_at_failed;
    session->durable.run = settled;
    session->unread.run = nobody_reads;
    session->idle.run = on_idle;
    session->flush.end = flush_output;
    store_on_failure(engine_store(session->engine), on_store_failure, session);
    if (session->options->timeout_ms)
        timer_start(loop, &session->timeout, session->options->timeout_ms);
    /* Before the steps: a program's last words come before its end. */
    if (session->options->logs && !is_simulated(session->options))
        session->logs = podlogs_follow_all(loop, engine_store(session->engine),
                                           engine_runtime(session->engine), on_log_line, session);
    if (follow_start(session->follow, &err)) {
        listen_signals(session);
        loop_on_turn_end(loop, &session->flush);
        loop_on_idle(loop, &session->idle);
        loop_run(loop);
        loop_on_idle(loop, NULL);
        loop_off_turn_end(loop, &session->flush);
        close_signals(session);
    } else {
        cli_error(&err);
        session->exit_code = EXIT_INTERNAL;
    }
    timer_stop(loop, &session->timeout);
    timer_stop(loop, &session->abort_poll);
    timer_stop(loop, &session->failed_look);
    loop_cancel(loop, &session->unread);
    loop_cancel(loop, &session->idle);
    podlogs_finish(take(session->logs));
}

/* Flags that other commands need to look at this run. */
static char *flags_to_find(const struct session_options *options)
{
    bool usual_dir = strcmp(options->data_dir ? options->data_dir : ".jobflow", ".jobflow") == 0;
    bool usual_namespace = strcmp(options->namespace_, "default") == 0;

    return mem_printf("%s%s%s%s", usual_dir ? "" : " --data-dir ",
                      usual_dir ? "" : options->data_dir, usual_namespace ? "" : " -n ",
                      usual_namespace ? "" : options->namespace_);
}

static void run_opened(struct session *session)
{
    const struct follow_events events = {on_step, on_flow, on_finished, session};
    struct loop *loop = engine_loop(session->engine);
    scoped_str where = flags_to_find(session->options);

    session->follow = follow_new(loop, engine_store(session->engine), &events);
    session->context = (struct output_context){.loop = loop,
                                               .follow = session->follow,
                                               .began_ms = loop_wall_ms(loop),
                                               .where = where,
                                               .kept = session->options->data_dir != NULL};
    term_look(&session->context.term, stdout);
    session->output = output_by_name(session->options->output, &session->context.term);
    session->output_state = session->output->begin(&session->context);
    serve(session);

    const struct takeup takeup = {.registry = engine_registry(session->engine),
                                  .follow = session->follow,
                                  .data_dir = session->options->data_dir,
                                  .fresh = session->options->fresh,
                                  .keep_going = session->options->keep_going,
                                  .retry_failed = session->options->retry_failed,
                                  .note = on_note,
                                  .ctx = session};

    if (takeup_all(&takeup, session->set)) {
        manifests_release(session->set); /* the trees are larger than what was made of them */
        follow_to_the_end(session);
    } else {
        session->exit_code = EXIT_REFUSED;
    }
    session->output->end(session->output_state);
    if (session->output->summary && session->exit_code != EXIT_REFUSED)
        summary_print(&session->context, session->ended, stdout);
    if (session->ended && strcmp(session->ended, OUTPUT_STUCK) == 0)
        stuck_tell(session->follow);
    follow_free(session->follow);
    serving_stop(session->serving);
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

    run_opened(&session);
    engine_stop(session.engine);
    return session.exit_code;
}
