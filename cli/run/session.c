/*
 * A run from its manifests to its exit code:
 *
 *   refused ◄── preflight ──► applying ──► following ──► finished ──► exit code
 *                                             │ signal or timeout
 *                                             ▼
 *                                          aborting ── pods gone ──► 130 or 4
 *
 * A run that ends early leaves its flows unfinished in the store; the next run with the same data
 * directory resumes them.
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "api/store/holder.h"
#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/engine/orphans.h"
#include "cli/engine/process_limits.h"
#include "cli/preflight/preflight.h"
#include "cli/run/internal.h"
#include "cli/run/network_choice.h"
#include "cli/run/resume.h"
#include "cli/run/stall_report.h"

enum { FAILED_CHECK_MS = 1000, FAILED_LOG_LINES = 20 };

static void on_log(void *ctx, struct log_line *line, const char *text, size_t len)
{
    struct session *session = ctx;

    session->output->log(session->output_state, line, text, len);
}

static void on_log_growing(void *ctx, struct log_line *line, const char *text, size_t len)
{
    struct session *session = ctx;

    if (session->output->log_growing)
        session->output->log_growing(session->output_state, line, text, len);
}

void session_note(struct session *session, const char *text)
{
    session->output->note(session->output_state, text);
}

static void on_note(void *ctx, const char *text)
{
    session_note(ctx, text);
}

static void find_mounts(void *found, const struct object *object)
{
    if (strstr(object->body->text, "\"mountPath\""))
        *(bool *)found = true;
}

static bool has_mounts(const struct store *store)
{
    bool found = false;

    store_each(store, &kind_job_template, NULL, find_mounts, &found);
    store_each(store, &kind_job, NULL, find_mounts, &found);
    return found;
}

/* Prints once, at the first failure, that pods have no file system of their own here: a frequent
 * reason why a program fails that works elsewhere. */
static void note_plain_isolation(struct session *session)
{
    struct runtime *runtime = session->backend->runtime;
    const char *level = runtime->ops->describe(runtime);

    if (session->plain_isolation_noted || strncmp(level, "plain:", strlen("plain:")) != 0)
        return;
    session->plain_isolation_noted = true;
    if (has_mounts(session->backend->store))
        session_note(session,
                     "pods have no file system of their own on this machine: mount paths are "
                     "below $VC_MOUNT_ROOT (why: jobflow describe node)");
}

static void on_step(void *ctx, const struct flow_view_step *step, enum view_state before)
{
    struct session *session = ctx;
    const struct pod_logs_sink sink = {on_log, on_log_growing, session};
    bool failed = flow_view_step_failed(step) && step->state != before;

    session->changes++;
    session->output->step(session->output_state, step, before);
    if (failed && !session->logs && session->output != &output_quiet)
        pod_logs_tail(session->backend->store, session->backend->runtime, step->job_uid,
                      FAILED_LOG_LINES, &sink);
    if (failed && !session_simulated(session->options))
        note_plain_isolation(session);
}

static void note_still_at_work(struct session *session, const struct flow_view *flow)
{
    enum { NAMES_MAX = 3 };
    scoped(buf) struct buf text = {0};
    size_t count = 0;

    for (const struct flow_view_step *step = flow_tracker_active(session->tracker); step;
         step = TAILQ_NEXT(step, active))
        if (step->flow == flow && count++ < NAMES_MAX)
            buf_printf(&text, "%s %s", count == 1 ? ":" : ",", step->name);
    if (count == 0)
        return;
    if (count > NAMES_MAX)
        buf_printf(&text, " and %zu more", count - NAMES_MAX);

    scoped_str note = mem_printf(
        "%s has failed and starts nothing more; %zu step%s still at work%s (Ctrl-C stops %s)",
        flow->name, count, count == 1 ? " is" : "s are", text.data, count == 1 ? "it" : "them");

    session_note(session, note);
}

/* A failed flow starts nothing new, but its running steps go on. A note says why the run does not
 * end yet. */
static void check_failed(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, failed_check);

    for (const struct flow_view *flow = flow_tracker_flows(session->tracker); flow;
         flow = flow->next)
        if (flow->phase == FLOW_FAILED && session->interrupts == 0)
            note_still_at_work(session, flow);
}

static void on_flow(void *ctx, const struct flow_view *flow, enum flow_phase before)
{
    struct session *session = ctx;

    session->changes++;
    session->output->flow(session->output_state, flow, before);
    if (flow->phase == FLOW_FAILED && !session_simulated(session->options))
        timer_start(session->backend->loop, &session->failed_check, FAILED_CHECK_MS);
}

void session_finish(struct session *session, int exit_code)
{
    session->exit_code = exit_code;
    loop_stop(session->backend->loop);
}

int session_outcome(const struct session *session)
{
    return flow_tracker_succeeded(session->tracker) ? EXIT_OK : EXIT_FAILED;
}

static void settled(struct task *task)
{
    struct session *session = container_of(task, struct session, durable);

    if (session->ended)
        session_finish(session, session->exit_code);
    else if (!session_end_waits(session))
        session_finish(session, session_outcome(session));
}

static void on_finished(void *ctx)
{
    struct session *session = ctx;

    if (session->interrupts ==
        0) /* what the last turn decided (retention, statuses) is committed first */
        store_when_durable(session->backend->store, &session->durable);
}

static void on_store_failure(void *ctx, const struct error *err)
{
    struct session *session = ctx;

    cli_errorf("the store failed, stopping here; pods go on and the next run finds them: %s",
               err->message);
    session_finish(session, EXIT_INTERNAL);
}

static bool has_something_to_run(const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_flow || set->items[i].kind == &kind_job)
            return true;
    return false;
}

static struct engine *open_engine(const struct session_options *options, struct error *err)
{
    bool host = strcmp(options->runtime, "host") == 0;
    const struct engine_options engine = {
        .data_dir = options->data_dir,
        .sync = strcmp(options->durability, "relaxed") == 0 ? STORE_SYNC_NORMAL : STORE_SYNC_FULL,
        .sim = session_simulated(options),
        .compat_upstream = strcmp(options->compat, "upstream") == 0,
        .flow_steps = options->max_flow_steps,
        .max_pods = (int)options->max_pods,
        .node_resources = options->node_resources,
        .isolation = host ? "plain" : options->isolation,
        .network = options->network,
        .hosts_as_addresses = options->hosts_as_addresses,
        .scratch_limit = options->scratch_limit,
        .host_paths = {.any = true}, /* DC-08: these are the user's own manifests */
        .keep_logs = options->keep_logs,
        .keep_logs_total = options->keep_logs_total,
        .restart_backoff_ms = options->restart_backoff_ms,
        .controllers = true,
    };

    return engine_start(&engine, err);
}

/* A client of the process that holds the data directory; NULL after printing what can be done. Only
 * a daemon accepts flows of another run. Two runs in one process would end together. */
static struct client *open_client(const struct session_options *options, const struct error *in_use)
{
    struct client *client = holder_stopped(options->data_dir)
                                ? NULL
                                : client_open(options->data_dir, CLIENT_LOOK, NULL);

    if (client && !client_is_daemon(client)) {
        cli_error(in_use);
        fprintf(stderr, "See what it does with '%s get jf,vcjob,pods --data-dir %s'.\n",
                cli_program, options->data_dir);
    } else if (client && session_simulated(options)) {
        cli_errorf("a daemon is at work in %s: a simulation needs a directory of its own",
                   options->data_dir);
    } else if (client) {
        return client;
    } else {
        cli_error(in_use);
    }
    client_close(client);
    return NULL;
}

/* Serves the API for other commands while the run lasts. A simulation does not: it ends too soon,
 * and its clock differs from theirs. */
static void serve(struct session *session)
{
    struct error err = {0};

    if (!session->engine || session_simulated(session->options))
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
                    const struct store *live, const struct fit *fit, bool runs_here)
{
    const bool simulated = session_simulated(options);
    /* A simulation of this machine, unless it has resources of its own. */
    scoped(fit) struct fit *real = simulated && !options->node_resources
                                       ? fit_new(&(struct fit_options){.any_resource = true})
                                       : NULL;
    const struct preflight_options preflight_options = {
        .namespace = options->namespace,
        .sim = simulated,
        .compat_upstream = strcmp(options->compat, "upstream") == 0,
        .flow_steps = options->max_flow_steps,
        .live = live,
        .fresh = options->fresh,
        .retry_failed = options->retry_failed,
        .runs = runs_here,
        .fit = fit,
        .room = options->wait_for_resources ? ROOM_WARNED_OF : ROOM_REQUIRED,
        .simulated = real,
        .needs = simulated ? NEEDS_IGNORED : NEEDS_REQUIRED,
        .shared_network = !simulated && options->network && strcmp(options->network, "shared") == 0,
    };
    struct preflight_result result;

    return preflight(set, &preflight_options, &result);
}

static void run_to_end(struct session *session)
{
    const struct pod_logs_sink sink = {on_log, on_log_growing, session};
    struct loop *loop = session->backend->loop;
    struct error err = {0};

    session->failed_check.fire = check_failed;
    session->durable.run = settled;
    store_on_failure(session->backend->store, on_store_failure, session);
    /* Opened before the tracker, so that a program's last output is printed before its end. */
    if (session->options->logs && !session_simulated(session->options))
        session->logs =
            pod_logs_follow_all(loop, session->backend->store, session->backend->runtime, &sink);
    if (flow_tracker_start(session->tracker, &err)) {
        session_end_watch(session);
        loop_run(loop);
        session_end_rest(session);
    } else {
        cli_error(&err);
        session->exit_code = EXIT_INTERNAL;
    }
    timer_stop(loop, &session->failed_check);
    pod_logs_finish(take(session->logs));
}

/* Flags that lead other commands to this run. Owned. */
static char *flags_to_find(const struct session_options *options)
{
    bool usual_dir = strcmp(options->data_dir ? options->data_dir : ".jobflow", ".jobflow") == 0;
    bool usual_namespace = strcmp(options->namespace, "default") == 0;

    return mem_printf("%s%s%s%s", usual_dir ? "" : " --data-dir ",
                      usual_dir ? "" : options->data_dir, usual_namespace ? "" : " -n ",
                      usual_namespace ? "" : options->namespace);
}

/* Frees the documents of the manifests, which take more memory than the objects made from them. A
 * new run frees them at once, before its jobs take memory; a resumed one has most of its jobs, so
 * it frees them on another thread and its next step does not wait. */
static void release_manifests(struct session *session)
{
    if (session->store_existed)
        manifests_release_aside(session->set, session->backend->loop);
    else
        manifests_release(session->set);
}

static void run_opened(struct session *session)
{
    const struct flow_tracker_events events = {on_step, on_flow, on_finished, session};
    struct loop *loop = session->backend->loop;
    scoped_str where = flags_to_find(session->options);

    session->tracker = flow_tracker_new(loop, session->backend->store, &events);
    session->context = (struct output_context){.loop = loop,
                                               .tracker = session->tracker,
                                               .began_ms = loop_wall_ms(loop),
                                               .where = where,
                                               .kept = session->options->data_dir != NULL};
    term_look(&session->context.term, stdout);
    session->output = output_by_name(session->options->output, &session->context.term);
    session->output_state = session->output->begin(&session->context);
    serve(session);

    const struct resume_request request = {.backend = session->backend,
                                           .tracker = session->tracker,
                                           .data_dir = session->options->data_dir,
                                           .fresh = session->options->fresh,
                                           .keep_going = session->options->keep_going,
                                           .retry_failed = session->options->retry_failed,
                                           .note = on_note,
                                           .ctx = session};

    if (resume_all(&request, session->set)) {
        release_manifests(session);
        if (session->exit_code == -1) /* the daemon has not been lost */
            run_to_end(session);
    } else {
        session->exit_code = EXIT_REFUSED;
    }
    session->output->end(session->output_state);
    if (session->output->summary && session->exit_code != EXIT_REFUSED) {
        flow_tracker_complete(session->tracker);
        summary_print(&session->context, session->ended, stdout);
    }
    if (session->ended && strcmp(session->ended, OUTPUT_STALLED) == 0)
        stall_report_print(session->tracker);
    flow_tracker_free(session->tracker);
    serving_stop(session->serving);
}

/* Returns how many pods run at once here. */
static int pods_at_once(const struct session_options *options)
{
    int wanted = options->max_pods ? (int)options->max_pods : engine_default_pods();

    return session_simulated(options) ? wanted : process_limits_pods(wanted);
}

/* Checks the files for this machine. `live` holds what a previous run has stored, or NULL. */
static bool checked_here(const struct session_options *options, struct manifests *set,
                         const struct store *live)
{
    scoped(fit) struct fit *fit = fit_new(&(struct fit_options){
        .max_pods = pods_at_once(options),
        .node_resources = options->node_resources,
        .sim = session_simulated(options),
        .live = live,
    });

    return checked(options, set, live, fit, true);
}

static void run_local(struct session *session, bool known_store)
{
    session->store_existed = known_store;
    session->backend = backend_local_new(session->engine);
    if (!known_store || checked_here(session->options, session->set, session->backend->store))
        run_opened(session);
    else
        session->exit_code = EXIT_REFUSED;
    backend_local_free(session->backend);
    engine_stop(session->engine);
}

static void on_lost(void *ctx, const struct error *err)
{
    struct session *session = ctx;

    cli_errorf("%s; the run goes on when the daemon does, and '%s run' follows it again",
               err->message, cli_program);
    session_finish(session, EXIT_INTERNAL);
}

static void run_remote(struct session *session)
{
    scoped(fit) struct fit *fit = fit_of_daemon(session->client);
    struct error err = {0};

    session->backend = backend_remote_new(session->client, session->set,
                                          session->options->namespace, on_lost, session, &err);
    if (!session->backend) {
        cli_error(&err);
        session->exit_code = EXIT_INTERNAL;
    } else if (checked(session->options, session->set, session->backend->store, fit, false)) {
        run_opened(session);
    } else {
        session->exit_code = EXIT_REFUSED;
    }
    backend_remote_free(session->backend);
    client_close(session->client);
}

int session_run(const struct session_options *given, struct manifests *set)
{
    struct session_options chosen = *given;
    const struct session_options *options = &chosen;
    struct network_choice network;
    struct session session = {.options = options, .set = set, .exit_code = -1};
    bool known_store = store_exists(options->data_dir);
    bool has_something = has_something_to_run(set);
    struct error err = {0};

    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* Secrets are in our memory (SEC-33) */
    /* Mistakes in the files are told before the lack of anything to run. */
    if ((!known_store || !has_something) && !checked_here(options, set, NULL))
        return EXIT_REFUSED;
    if (!has_something) {
        cli_errorf("nothing to run: the files define no JobFlow and no Job");
        return EXIT_REFUSED;
    }
    network_choose(&chosen, set, &network);
    session.engine = open_engine(options, &err);
    if (!session.engine && err.code == ERR_UNAVAILABLE && network.manifest) {
        if (!network_choice_yield(&chosen, &network, &err))
            return EXIT_REFUSED;
        session.engine = open_engine(options, &err);
    }
    if (session.engine) {
        if (network.manifest)
            network_choice_note(&network);
        if (!known_store && options->data_dir && !session_simulated(options))
            orphans_warn(options->data_dir);
        run_local(&session, known_store);
    } else if (err.code == ERR_UNAVAILABLE) { /* this machine lacks an isolation or network */
        cli_errorf("%s", err.message);
        session.exit_code = EXIT_REFUSED;
    } else if (err.code == ERR_FORBIDDEN) { /* the data directory is not safe to use */
        cli_error(&err);
        session.exit_code = EXIT_REFUSED;
    } else if (err.code != ERR_CONFLICT) {
        cli_errorf("cannot work in the data directory: %s; choose another with --data-dir",
                   err.message);
        session.exit_code = EXIT_INTERNAL;
    } else if ((session.client = open_client(options, &err))) {
        run_remote(&session);
    } else {
        session.exit_code = EXIT_REFUSED;
    }
    return session.exit_code;
}
