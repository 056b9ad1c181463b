/*
 * Ends a run early, or after its last pods.
 *
 * A signal, the timeout, a closed output or a stalled simulation ends a run early: the first asks
 * the pods to end, a second signal kills them, a third exits at once. At the normal end a job may
 * be over while its deleted pods still use their grace period; the run waits for them, so that
 * nothing is left behind. In a daemon they may take their time.
 */
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/run/internal.h"

enum {
    ABORT_POLL_MS = 50,
    LEAVING_NOTE = 20,     /* checks before a note says what the run waits for */
    STOP_TRIES = 5,        /* refusals of a daemon until the run leaves its flows to it */
    STOP_AGAIN_MS = 1000,  /* wait between two of these tries */
    DISK_FULL_CHECKS = 20, /* consecutive checks until the run gives up on a full disk */
    STUCK_TURNS = 100000,  /* number of turns of a simulation without any change */
};

static size_t count_alive(const struct session *session)
{
    return session->backend->ops->alive(session->backend, session->tracker);
}

static bool disk_is_full(const struct session *session)
{
    struct error err = {0};

    return !store_writable(session->backend->store, &err) && err.code == ERR_STORAGE;
}

/* Asks the flows and jobs to end. A daemon may refuse that, for example on a full disk: then they
 * are asked again, and after STOP_TRIES refusals the run ends and leaves them to the daemon. */
static void ask_to_stop(struct session *session)
{
    struct error_list refusals = {0};

    session->backend->ops->stop(session->backend, session->tracker, &refusals);
    session->stop_tries = refusals.count ? session->stop_tries + 1 : 0;
    if (refusals.count && (session->stop_tries == 1 || session->stop_tries == STOP_TRIES)) {
        scoped_str note = mem_printf("cannot stop it: %s%s", refusals.items[0].message,
                                     session->stop_tries == 1
                                         ? "; trying again"
                                         : "; it goes on in the daemon: 'jobflow abort' ends it");

        session_note(session, note);
    }
    error_list_release(&refusals);
}

/* Waits until no pod is alive, then for the commit of the last decisions. On a disk that stays full
 * nothing can be stored; the run then ends as if it had been killed. */
static void abort_check(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, abort_poll);

    session->disk_full_checks = disk_is_full(session) ? session->disk_full_checks + 1 : 0;
    if (session->disk_full_checks == DISK_FULL_CHECKS) {
        session_note(session, "the disk is full: the next run goes on from what was stored last");
        session_finish(session, session->exit_code);
        return;
    }
    if (session->stop_tries == STOP_TRIES) {
        session_finish(session, session->exit_code);
        return;
    }
    if (session->stop_tries) {
        ask_to_stop(session);
        timer_start(session->backend->loop, &session->abort_poll, STOP_AGAIN_MS);
        return;
    }
    /* A daemon needs a moment to act on the request. */
    if (!session->storing && count_alive(session) == 0 &&
        (!session->backend->shared || flow_tracker_finished(session->tracker))) {
        session->storing = true;
        store_when_durable(session->backend->store, &session->durable);
    }
    timer_start(session->backend->loop, &session->abort_poll, ABORT_POLL_MS);
}

static void abort_begin(struct session *session, const char *why)
{
    size_t pods = count_alive(session);
    scoped_str text = pods ? mem_printf("%s: stopping %zu pod%s (Ctrl-C kills what is left)", why,
                                        pods, pods == 1 ? "" : "s")
                           : mem_strdup(why);

    session_note(session, text);
    ask_to_stop(session);
    timer_start(session->backend->loop, &session->abort_poll, 0);
}

static void abort_kill(struct session *session)
{
    session_note(session, "killing what is left");
    session->backend->ops->kill(session->backend, session->tracker);
}

static void count_leaving(void *arg, const struct object *pod)
{
    *(size_t *)arg += object_deleting(pod) && !backend_pod_over(pod);
}

static void check_leaving(struct timer *timer)
{
    struct session *session = container_of(timer, struct session, leaving_check);

    store_when_durable(session->backend->store, &session->durable);
}

bool session_end_waits(struct session *session)
{
    size_t pods = 0;

    if (session->backend->shared)
        return false;
    store_each(session->backend->store, &kind_pod, NULL, count_leaving, &pods);
    if (pods == 0 && session->leaving_checks && !session->pods_gone) {
        session->pods_gone = true; /* the jobs of the pods react in this turn */
        store_when_durable(session->backend->store, &session->durable);
        return true;
    }
    if (pods == 0)
        return false;
    if (++session->leaving_checks == LEAVING_NOTE) {
        scoped_str note = mem_printf("waiting for the last %zu pod%s to end (Ctrl-C kills %s)",
                                     pods, pods == 1 ? "" : "s", pods == 1 ? "it" : "them");

        session_note(session, note);
    }
    timer_start(session->backend->loop, &session->leaving_check, ABORT_POLL_MS);
    return true;
}

/* A signal while only deleted pods are left: the result is known and stays. */
static void end_sooner(struct session *session)
{
    if (session->interrupts++ == 0)
        abort_kill(session);
    else
        session_finish(session, session_outcome(session));
}

/* The first call asks the pods to end, the second kills them, the third exits at once. */
static void abort_run(struct session *session, const char *why, int exit_code)
{
    if (session->leaving_checks) {
        end_sooner(session);
        return;
    }
    session->interrupts++;
    session->exit_code = exit_code;
    session->ended = why;
    if (session->interrupts == 1)
        abort_begin(session, why);
    else if (session->interrupts == 2)
        abort_kill(session);
    else
        session_finish(session, exit_code);
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

/* The reader of the output is gone (`| head`): treated as a closed terminal. */
static void on_output_closed(struct task *task)
{
    struct session *session = container_of(task, struct session, output_closed);

    if (session->interrupts == 0)
        abort_run(session, "interrupted", EXIT_INTERRUPTED);
}

/* Nothing can happen any more. A simulation ends; a real run may still be changed from outside. */
static void on_idle(struct task *task)
{
    struct session *session = container_of(task, struct session, idle);

    if (session->interrupts || session->exit_code >= 0)
        return;
    session->ended = OUTPUT_STALLED;
    session_finish(session, EXIT_FAILED);
}

/* A simulation may also retry for ever, for example a job that cannot be created: many turns
 * without an event count as stalled. */
static void count_quiet_turns(struct session *session)
{
    if (session->changes != session->seen_changes) {
        session->seen_changes = session->changes;
        session->quiet_turns = 0;
    } else if (++session->quiet_turns == STUCK_TURNS) {
        loop_post(engine_loop(session->engine), &session->idle);
    }
}

/* Flushes the output at the end of each turn, so that a pipe shows it too. */
static void flush_output(struct turn_hook *hook)
{
    struct session *session = container_of(hook, struct session, flush);

    if (session_simulated(session->options))
        count_quiet_turns(session);
    fflush(stdout);
    if (ferror(stdout) && session->interrupts == 0)
        loop_post(session->backend->loop, &session->output_closed);
}

/* The signals that end a run. */
static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* Returns whether the run leaves the signal ignored: nohup ignores SIGHUP for the programs that it
 * starts. SIGINT is not left ignored: a shell without job control ignores it for programs in the
 * background, where `kill -INT` is to end a run all the same. */
static bool stays_ignored(int number)
{
    struct sigaction now;

    return number == SIGHUP && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void on_early_signal(int number)
{
    _exit(EXIT_INTERRUPTED);
}

void session_end_early(void)
{
    const struct sigaction action = {.sa_handler = on_early_signal};

    for (size_t i = 0; i < countof(end_signals); i++)
        if (!stays_ignored(end_signals[i]))
            sigaction(end_signals[i], &action, NULL);
}

static void listen_signals(struct session *session)
{
    signal(SIGPIPE, SIG_IGN); /* a failed write tells */
    for (size_t i = 0; i < countof(end_signals); i++) {
        uv_signal_init(loop_uv(session->backend->loop), &session->signals[i]);
        session->signals[i].data = session;
        if (stays_ignored(end_signals[i]))
            continue;
        uv_signal_start(&session->signals[i], on_signal, end_signals[i]);
        uv_unref((uv_handle_t *)&session->signals[i]);
    }
}

static void close_signals(struct session *session)
{
    for (size_t i = 0; i < countof(session->signals); i++)
        uv_close((uv_handle_t *)&session->signals[i], NULL);
}

void session_end_watch(struct session *session)
{
    struct loop *loop = session->backend->loop;

    session->abort_poll.fire = abort_check;
    session->leaving_check.fire = check_leaving;
    session->timeout.fire = on_timeout;
    session->output_closed.run = on_output_closed;
    session->idle.run = on_idle;
    session->flush.end = flush_output;
    if (session->options->timeout_ms)
        timer_start(loop, &session->timeout, session->options->timeout_ms);
    listen_signals(session);
    loop_on_turn_end(loop, &session->flush);
    loop_on_idle(loop, &session->idle);
}

void session_end_rest(struct session *session)
{
    struct loop *loop = session->backend->loop;

    loop_on_idle(loop, NULL);
    loop_off_turn_end(loop, &session->flush);
    close_signals(session);
    timer_stop(loop, &session->timeout);
    timer_stop(loop, &session->abort_poll);
    timer_stop(loop, &session->leaving_check);
    store_forget(session->backend->store, &session->durable);
    loop_cancel(loop, &session->output_closed);
    loop_cancel(loop, &session->idle);
}
