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
#include <unistd.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/engine/orphans.h"
#include "cli/engine/process_limits.h"
#include "cli/preflight/preflight.h"
#include "cli/run/approvals.h"
#include "cli/run/internal.h"
#include "cli/run/network_choice.h"
#include "cli/run/page.h"
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

/* Returns whether a program names the usual path of termination messages. The path alone, between
 * quotes, is a default of containers. */
static bool names_message(const char *body)
{
    static const char path[] = "/dev/termination-log";
    const char *at = strstr(body, path);

    while (at && at > body && at[-1] == '"')
        at = strstr(at + 1, path);
    return at != NULL;
}

static void find_mounts(void *found, const struct object *object)
{
    const char *body = object->body->text;

    if (strstr(body, "\"mountPath\"") || names_message(body))
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
        session_note(
            session,
            "pods have no file system of their own on this machine: mount paths are "
            "below $VC_MOUNT_ROOT, as is /dev/termination-log (why: jobflow describe node)");
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
    if (flow_view_step_over(step) && !session_simulated(session->options))
        timer_start(session->backend->loop, &session->waiting_check, FAILED_CHECK_MS);
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

static void note_never_starts(struct session *session, const struct flow_view *flow)
{
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const struct flow_view_step *step = &flow->steps[i], *missed;

        if (step->state != VIEW_WAITING || !(missed = flow_view_missed_target(flow, i)))
            continue;
        scoped_str note = mem_printf("%s never starts: its probe did not pass before %s was "
                                     "Completed; %s stays Running (Ctrl-C ends it)",
                                     step->name, missed->name, flow->name);

        session_note(session, note);
        return; /* the others are told by `jobflow explain` */
    }
}

/* Steps that wait for a failure which did not happen keep their flow Running. A note says so once
 * nothing else is at work. */
static void check_waiting(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, waiting_check);

    if (session->interrupts || flow_tracker_active(session->tracker))
        return;
    flow_tracker_complete(session->tracker);
    for (const struct flow_view *flow = flow_tracker_flows(session->tracker); flow;
         flow = flow->next)
        if (!flow->bare_job && flow->phase == FLOW_RUNNING)
            note_never_starts(session, flow);
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

/* Counts the flows and jobs of the files that a run follows, and their schedules. */
static void count_work(const struct manifests *set, size_t *work, size_t *schedules)
{
    *work = *schedules = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct manifest *manifest = &set->items[i];

        *work += manifest->kind == &kind_job ||
                 (manifest->kind == &kind_job_flow && !resume_is_pattern(set, manifest));
        *schedules += manifest->kind == &kind_flow_trigger || manifest->kind == &kind_cron_job;
    }
}

/* Says why a run has nothing to follow. Returns false when that is so. */
static bool has_work(size_t work, size_t schedules)
{
    if (!work && schedules)
        cli_errorf("nothing to run: FlowTriggers and CronJobs need a process that stays, "
                   "'%s serve', and are handed to it by '%s apply -f FILE'",
                   cli_program, cli_program);
    else if (!work)
        cli_errorf("nothing to run: the files define no JobFlow and no Job");
    return work > 0;
}

/* Serves the API for other commands while the run lasts. A simulation does not: it ends too soon,
 * and its clock is not that of the other commands. */
static void serve(struct session *session)
{
    struct error err = {0};

    if (!session->engine || session_simulated(session->options))
        return;
    session->serving = serving_start(session->engine, session->options->data_dir, &err);
    if (!session->serving)
        cli_warnf("other commands cannot look at this run: %s", err.message);
}

/* Returns the name of the only flow of the manifests; NULL: there are several, or it gets one. */
static const char *only_flow(const struct manifests *set)
{
    const char *name = NULL;
    size_t flows = 0;

    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_flow && ++flows == 1)
            name = doc_text(set->items[i].doc, "metadata.name");
    return flows == 1 ? name : NULL;
}

static void open_page(struct session *session)
{
    const struct session_options *options = session->options;

    if (!options->ui)
        return;
    if (session_simulated(options) || !options->data_dir) {
        cli_warnf("--ui: a simulation has no page");
        return;
    }
    session->page = page_start(session->backend->loop,
                               &(const struct page_request){.data_dir = options->data_dir,
                                                            .namespace = options->namespace,
                                                            .flow = only_flow(session->set)});
}

static bool store_exists(const char *data_dir)
{
    scoped_str path = data_dir ? mem_printf("%s/store.db", data_dir) : NULL;
    struct stat info;

    return path && stat(path, &info) == 0;
}

/* Whether flows that have ended may run again in part. */
static bool runs_in_part(const struct session_options *options)
{
    return options->retry_failed || options->from || options->only;
}

static bool checked(const struct session_options *options, struct manifests *set,
                    const struct store *live, const struct fit *fit, bool runs_here,
                    struct edits *edits)
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
        .retry_failed = runs_in_part(options),
        .edits = edits,
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
    session->waiting_check.fire = check_waiting;
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
    timer_stop(loop, &session->waiting_check);
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
    open_page(session);

    const struct resume_request request = {
        .backend = session->backend,
        .tracker = session->tracker,
        .data_dir = session->options->data_dir,
        .fresh = session->options->fresh,
        .keep_going = session->options->keep_going,
        .retry_failed = session->options->retry_failed,
        .reuse = session->options->only_changed ? REUSE_CHANGED
                 : session->options->no_cache   ? REUSE_NONE
                                                : NULL,
        .rerun = {.from = session->options->from, .only = session->options->only},
        .edits = session->edits,
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
    page_release(take(session->page));
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
                         const struct store *live, struct edits *edits)
{
    scoped(fit) struct fit *fit = fit_new(&(struct fit_options){
        .max_pods = pods_at_once(options),
        .node_resources = options->node_resources,
        .devices = options->devices,
        .sim = session_simulated(options),
        .live = live,
    });

    return checked(options, set, live, fit, true, edits);
}

static void run_local(struct session *session, bool known_store)
{
    session->store_existed = known_store;
    session->backend = backend_local_new(session->engine);
    if (!known_store ||
        checked_here(session->options, session->set, session->backend->store, session->edits))
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
    } else if (checked(session->options, session->set, session->backend->store, fit, false,
                       session->edits)) {
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
    scoped(environment) struct environment environment = {0};
    scoped(approvals) struct approvals approvals = {0};
    struct session session = {.options = options, .set = set, .exit_code = -1};
    scoped(edits) struct edits *edits = runs_in_part(options) ? edits_new() : NULL;
    bool known_store = store_exists(options->data_dir);
    size_t work, schedules;
    struct error err = {0};
    enum session_opened opened;

    count_work(set, &work, &schedules);
    session.edits = edits;
    if (!environment_collect(&environment, &options->environment))
        return EXIT_REFUSED;
    chosen.collected = &environment;
    if (!approvals_check(&options->approve, set))
        return EXIT_REFUSED;
    approvals_init(&approvals, &options->approve);
    chosen.answers = options->approve.count ? &approvals.answers : NULL;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* Secrets are in our memory (SEC-33) */
    /* Mistakes in the files are told before the lack of anything to run. */
    if ((!known_store || !work) && !checked_here(options, set, NULL, NULL))
        return EXIT_REFUSED;
    if (!has_work(work, schedules))
        return EXIT_REFUSED;
    if (!network_choose(&chosen, set, &network))
        return EXIT_REFUSED;
    opened = session_open(&session, &err);
    if (opened == OPENED_FAILED && err.code == ERR_UNAVAILABLE && network.manifest) {
        if (!network_choice_yield(&chosen, &network, &err))
            return EXIT_REFUSED;
        opened = session_open(&session, &err);
    }
    switch (opened) {
    case OPENED_HERE:
        if (schedules)
            cli_warnf("a run fires no FlowTrigger and no CronJob: '%s serve' does, after '%s "
                      "apply'",
                      cli_program, cli_program);
        if (network.manifest)
            network_choice_note(&network);
        if (!known_store && options->data_dir && !session_simulated(options))
            orphans_warn(options->data_dir);
        run_local(&session, known_store);
        break;
    case OPENED_CLIENT:
        if (options->approve.count) {
            session.exit_code = EXIT_REFUSED;
            cli_errorf("--approve is for flows of this process, and a daemon is at work in %s: "
                       "write '%s approve jf/NAME STEP' when the step waits",
                       options->data_dir, cli_program);
            client_close(session.client);
        } else if (environment_is_asked(&options->environment)) {
            session.exit_code = EXIT_REFUSED;
            cli_errorf("--env, --env-file and --inherit-env are for pods of this process, and a "
                       "daemon is at work in %s: write env in the file",
                       options->data_dir);
            client_close(session.client);
        } else {
            run_remote(&session);
        }
        break;
    case OPENED_REFUSED:
        session.exit_code = EXIT_REFUSED;
        break;
    case OPENED_FAILED:
        session.exit_code = session_say_failed(&err);
        break;
    }
    return session.exit_code;
}
