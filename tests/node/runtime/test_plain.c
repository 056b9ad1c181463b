/*
 * Tests node/runtime/host.c and the shared shim with plain pods, which are real processes.
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/shim/entry.h"
#include "tests/support/pods.h"

enum { LIMIT_MS = 60000 };

static struct pods_fixture *fixture;

static int set_up(void **state)
{
    scoped_str dir = test_path("bare");

    fixture = pods_new(dir, NULL);
    return 0;
}

static int tear_down(void **state)
{
    pods_free(fixture);
    return 0;
}

/* covers: local-runtime.md LRT-20 LRT-21 LRT-22; reliability.md INV-N2 */
static void exit_codes_and_signals_are_reported_as_they_were(void **state)
{
    static const struct {
        const char *name;
        const char *argv[4];
        int code, signal;
        const char *reason;
        enum pod_phase phase;
        const char *message;
    } cases[] = {
        {"exit 0", {"true"}, 0, 0, "Completed", POD_SUCCEEDED, NULL},
        {"exit 3", {"sh", "-c", "exit 3"}, 3, 0, "Error", POD_FAILED, NULL},
        {"sigsegv", {"sh", "-c", "kill -SEGV $$"}, 139, 11, "Error", POD_FAILED, NULL},
        {"sigkill", {"sh", "-c", "kill -KILL $$"}, 137, 9, "Error", POD_FAILED, NULL},
        {"exit 137", {"sh", "-c", "exit 137"}, 137, 0, "Error", POD_FAILED, NULL},
        {"not found",
         {"no-such-program"},
         127,
         0,
         "ContainerCannotRun",
         POD_FAILED,
         "not found in $PATH"},
        {"no such path",
         {"/no/such/program"},
         127,
         0,
         "ContainerCannotRun",
         POD_FAILED,
         "No such file"},
        {"not executable",
         {"/etc/passwd"},
         126,
         0,
         "ContainerCannotRun",
         POD_FAILED,
         "ermission denied"},
        {"a directory", {"/etc"}, 126, 0, "ContainerCannotRun", POD_FAILED, "ermission denied"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("exit-%zu", i);
        struct test_pod pod = {uid};
        const struct pod_status *status;

        memcpy(pod.main[0].argv, cases[i].argv, sizeof cases[i].argv);
        pods_start(fixture, &pod);
        status = pods_final(fixture, uid, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->phase, cases[i].phase);

        const struct container_status *c = &status->containers.items[0];

        check_int(cases[i].name, c->state, CONTAINER_TERMINATED);
        check_int(cases[i].name, c->exit_code, cases[i].code);
        check_int(cases[i].name, c->signal, cases[i].signal);
        check_str(cases[i].name, c->reason, cases[i].reason);
        check(cases[i].name, c->finished_ms >= c->started_ms && c->started_ms > 0);
        if (cases[i].message)
            check_has(cases[i].name, c->message, cases[i].message);
        check_int(cases[i].name, pods_finals(fixture, uid), 1);
        pods_runtime(fixture)->ops->release(pods_runtime(fixture), uid);
    }
}

static const struct pod_status *run_shell(const char *uid, const char *script)
{
    pods_start(fixture, &(struct test_pod){uid, .main = {{.argv = {"/bin/sh", "-c", script}}}});
    return pods_final(fixture, uid, LIMIT_MS);
}

/* covers: reliability.md SEC-25 */
static void a_program_starts_with_three_descriptors_and_inherits_nothing_else(void **state)
{
    scoped_str log = NULL;

    check_int("ls",
              pods_shell(
                  fixture, "clean",
                  "ls /proc/self/fd | tr '\\n' ' '; echo; grep -E 'Sig(Blk|Ign)' /proc/self/status;"
                  " umask; readlink /proc/self/fd/0; ulimit -c; env | grep -c SHOULD_NOT",
                  &log),
              1); /* the exit code of grep -c, which finds no line */
    check_str("log", log,
              "0 1 2 3 \n" /* descriptor 3 is the directory that ls reads */
              "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0022\n/dev/null\n0\n0\n");
}

/* covers: see 4.5 */
static void the_environment_is_the_base_and_the_containers_own_and_the_last_value_wins(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "env",
        .hostname = NULL,
        .main = {{.argv = {"sh", "-c",
                           "echo A=$A B=$B; echo $HOME | cut -c1; echo $HOSTNAME $"
                           "JOBFLOW_POD_UID"},
                  .env = {{"A", "1"}, {"B", "x=y"}, {"A", "2"}, {"JOBFLOW_POD_UID", "forged"}},
                  .cwd = "/usr"}},
    };

    pods_start(fixture, &pod);
    check("ends", pods_final(fixture, "env", LIMIT_MS));
    log = pods_log(fixture, "env", NULL);
    check_str("log", log, "A=2 B=x=y\n/\nenv env\n");
}

/* covers: reliability.md INV-N3; local-runtime.md LRT-26 LRT-29 */
static void processes_that_a_program_leaves_behind_are_killed_with_it(void **state)
{
    scoped_str log = NULL;
    const struct pod_status *status =
        run_shell("left", "setsid sleep 300 >/dev/null 2>&1 & "
                          "setsid sh -c 'sleep 300 & sleep 300' & echo a=$!; sleep 300 & echo "
                          "b=$!; sleep 0.2; exit 4");

    check("ends", status);
    check_int("code", status->containers.items[0].exit_code, 4);
    log = pods_log(fixture, "left", NULL);
    for (unsigned i = 0; i < 2; i++) {
        long pid = number_in_text(log, i ? "b" : "a");

        check("printed", pid > 0);
        check("gone", !process_alive(pid));
    }
}

/* The daemon was forked twice and has a session and environment of its own, while another pod runs
 * under the same supervisor. covers: reliability.md INV-N3 */
static void a_daemon_with_another_environment_is_killed_with_its_pod(void **state)
{
    scoped_str fifo = test_path("began");
    scoped_str script = mem_printf("(env -i setsid sh -c 'echo pid=$$; echo > %s; exec sleep 300' "
                                   "&); read began < %s; exit 4",
                                   fifo, fifo);
    const struct pod_status *status;
    scoped_str log = NULL;
    long pid;

    assert_int_equal(mkfifo(fifo, 0600), 0);
    pods_start(fixture, &(struct test_pod){"neighbour", .main = {{.argv = {"/bin/sleep", "300"}}}});
    check("runs", pods_phase(fixture, "neighbour", POD_RUNNING, LIMIT_MS));
    status = run_shell("daemon", script);
    check_int("code", status->containers.items[0].exit_code, 4);
    log = pods_log(fixture, "daemon", NULL);
    pid = number_in_text(log, "pid");
    check("it has printed", pid > 0);
    check("it is gone when its pod is", !process_alive(pid));
    check_int("the neighbour is not", pods_finals(fixture, "neighbour"), 0);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "neighbour", 0);
    check("ends", pods_final(fixture, "neighbour", LIMIT_MS));
}

/* covers: local-runtime.md LRT-25 LRT-26; reliability.md INV-N4 */
static void stop_sends_term_and_kills_after_the_grace_period(void **state)
{
    enum { FOR_EVER_MS = 100 * LIMIT_MS };
    static const struct {
        const char *name, *script;
        int64_t grace_ms;
        int code, signal;
        int64_t at_least_ms;
    } cases[] = {
        {"handler", "trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done", FOR_EVER_MS, 5, 0,
         0},
        {"no handler", "echo up; exec sleep 300", FOR_EVER_MS, 143, 15, 0},
        {"deaf",
         "trap '' TERM; setsid sh -c \"trap '' TERM; sleep 300\" & echo up; while :; do sleep "
         "0.05; done",
         400, 137, 9, 390},
        {"no grace", "trap '' TERM; echo up; while :; do sleep 0.05; done", 0, 137, 9, 0},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("stop-%zu", i);
        const struct pod_status *status;
        int64_t begun;

        pods_start(fixture,
                   &(struct test_pod){uid, .main = {{.argv = {"/bin/sh", "-c", cases[i].script}}}});
        check(cases[i].name, pods_phase(fixture, uid, POD_RUNNING, LIMIT_MS));
        check("the trap is set", pods_printed(fixture, uid, "up", LIMIT_MS));
        begun = loop_mono_ns(pods_loop(fixture));
        pods_runtime(fixture)->ops->stop(pods_runtime(fixture), uid, cases[i].grace_ms);
        status = pods_final(fixture, uid, LIMIT_MS);
        check(cases[i].name, status);

        int64_t took_ms = (loop_mono_ns(pods_loop(fixture)) - begun) / 1000000;

        check_int(cases[i].name, status->containers.items[0].exit_code, cases[i].code);
        check_int(cases[i].name, status->containers.items[0].signal, cases[i].signal);
        check(cases[i].name, pods_stopped(fixture, uid));
        check(cases[i].name, took_ms >= cases[i].at_least_ms);
    }
}

static void an_unknown_pod_is_reported_as_not_found_when_stopped(void **state)
{
    const struct pod_status *status;

    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "stranger", 1000);
    check_int("not inside the call", pods_finals(fixture, "stranger"), 0);
    status = pods_final(fixture, "stranger", LIMIT_MS);
    check("told", status);
    check_int("phase", status->phase, POD_FAILED);
    check_str("reason", status->reason, "NotFound");
}

/* covers: reliability.md INV-N1 */
static void a_uid_is_started_once(void **state)
{
    struct test_pod pod = {"once", .main = {{.argv = {"sh", "-c", "echo ran"}}}};
    scoped_str log = NULL;

    pods_start(fixture, &pod);
    pods_start(fixture, &pod);
    check("ends", pods_final(fixture, "once", LIMIT_MS));
    pods_start(fixture, &pod);
    pods_run(fixture, 100);
    check_int("finals", pods_finals(fixture, "once"), 1);
    log = pods_log(fixture, "once", NULL);
    check_str("log", log, "ran\n");
    check("by itself", !pods_stopped(fixture, "once"));
}

/* covers: local-runtime.md LRT-24; reliability.md INV-N5 */
static void on_failure_restarts_with_a_doubled_back_off(void **state)
{
    scoped_str dir = test_path("counter");
    scoped_str script = mem_printf(
        "mkdir -p %s; cd %s; n=$(ls | wc -l); touch $n; echo run $n; test $n -ge 3", dir, dir);
    const struct pod_status *status;
    int64_t begun = loop_mono_ns(pods_loop(fixture));
    scoped_str log = NULL;

    pods_start(fixture, &(struct test_pod){"again", "OnFailure",
                                           .main = {{.argv = {"/bin/sh", "-c", script}}}});
    status = pods_final(fixture, "again", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    check_int("restarts", status->containers.items[0].restart_count, 3);
    check("last", status->containers.items[0].has_last);
    check_int("last code", status->containers.items[0].last_exit_code, 1);
    check("20 + 40 + 80 ms", loop_mono_ns(pods_loop(fixture)) - begun >= INT64_C(140) * 1000000);
    log = pods_log(fixture, "again", NULL);
    check_str("log of the last run", log, "run 3\n");
}

static void the_log_of_the_previous_run_is_kept(void **state)
{
    struct log_query previous = {.previous = true, .tail_lines = -1, .limit_bytes = -1};
    scoped(buf) struct buf out = {0};
    int64_t offset = 0;

    check("read", pods_runtime(fixture)->ops->read_log(pods_runtime(fixture), "again", &previous,
                                                       &offset, &out, NULL));
    check_str("log", out.data, "run 2\n");
}

static void logs_of_unknown_pods_are_swept(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    scoped_str kept = NULL;
    scoped_str gone = NULL;
    scoped_str fresh = NULL;
    static const char known[] = "again";
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    scoped_str dir = test_path("bare/node/logs/once.log");

    check("both have logs", rt->ops->log_bytes(rt, "again") && rt->ops->log_bytes(rt, "once"));
    rt->ops->sweep_logs(rt, known, sizeof known);
    pods_run(fixture, 100);
    fresh = pods_log(fixture, "once", NULL);
    check_str("written just now", fresh, "ran\n");
    check_int("older", utimensat(AT_FDCWD, dir, old, 0), 0);
    rt->ops->sweep_logs(rt, known, sizeof known);
    pods_run(fixture, 100);
    kept = pods_log(fixture, "again", NULL);
    gone = pods_log(fixture, "once", NULL);
    check_str("of a known pod", kept, "run 3\n");
    check_str("of an unknown pod", gone, "");
    check_int("its size", (int)rt->ops->log_bytes(rt, "once"), 0);
}

/* covers: local-runtime.md LRT-23 */
static void init_containers_run_one_by_one_and_sidecars_beside(void **state)
{
    scoped_str dir = test_path("init");
    scoped_str first =
        mem_printf("mkdir -p %s; cd %s; n=$(ls | wc -l); touch a$n; test $n -ge 2", dir, dir);
    scoped_str second = mem_printf("ls %s | wc -l | grep -qx 3", dir);
    scoped_str main_script = mem_printf("test -e %s/sidecar", dir);
    scoped_str side = mem_printf("touch %s/sidecar; exec sleep 300", dir);
    struct test_pod pod = {
        "init",
        "OnFailure",
        .grace_s = 5,
        .init = {{.argv = {"/bin/sh", "-c", first}},
                 {.argv = {"/bin/sh", "-c", second}},
                 {.argv = {"/bin/sh", "-c", side}, .sidecar = true}},
        .main = {{.argv = {"/bin/sh", "-c", main_script}}},
    };
    const struct pod_status *status;

    pods_start(fixture, &pod);
    status = pods_final(fixture, "init", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    check_int("repeated", status->init_containers.items[0].restart_count, 2);
    check_int("not repeated", status->init_containers.items[1].restart_count, 0);
    check_int("sidecar ended by TERM", status->init_containers.items[2].exit_code, 143);
}

/* A new program takes effect when the container runs again. */
static void the_program_of_the_next_run_may_change_during_a_run(void **state)
{
    scoped_str mark = test_path("renewed");
    scoped_str first = mem_printf("echo $A; until test -e %s; do sleep 0.01; done; exit 1", mark);
    struct test_pod pod = {
        "renewed",
        "OnFailure",
        .main = {{.argv = {"/bin/sh", "-c", first}, .env = {{"A", "one"}}}},
    };
    static const char *const argv[] = {"/bin/sh", "-c", "echo $A $B"};
    static const struct runtime_env env[] = {{"A", "two"}, {"B", "new"}};
    const struct runtime_container now = {.argv = argv, .n_argv = 3, .env = env, .n_env = 2};
    const struct runtime_pod shown = {.uid = "renewed"};
    const struct pod_status *status;
    scoped_str log = NULL;

    pods_start(fixture, &pod);
    check("runs", pods_phase(fixture, "renewed", POD_RUNNING, LIMIT_MS));
    pods_runtime(fixture)->ops->set_program(pods_runtime(fixture), &shown, 0, &now);
    pods_runtime(fixture)->ops->set_program(pods_runtime(fixture), &shown, 0, &now);
    pods_runtime(fixture)->ops->set_program(pods_runtime(fixture), &shown, 7,
                                            &now); /* the pod is not known */
    pods_run(fixture, 50);
    close(open(mark, O_CREAT | O_WRONLY, 0600));
    status = pods_final(fixture, "renewed", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    log = pods_log(fixture, "renewed", NULL);
    check_has("log", log, "two new\n");
}

static void containers_wait_for_the_sidecars_startup_probe(void **state)
{
    struct test_pod pod = {
        "awaited",
        .grace_s = 5,
        .init = {{.argv = {"/bin/sh", "-c", "echo up; exec sleep 300"},
                  .sidecar = true,
                  .startup = "{'exec':{'command':['true']}}"}},
        .main = {{.argv = {"/bin/true"}}},
    };
    const struct pod_status *status;

    pods_start(fixture, &pod);
    check("the sidecar runs", pods_printed(fixture, "awaited", "up", LIMIT_MS));
    pods_run(fixture, 50);
    check_int("waits", (int64_t)pods_finals(fixture, "awaited"), 0);
    pods_runtime(fixture)->ops->startup_passed(pods_runtime(fixture), "awaited", 0);
    status = pods_final(fixture, "awaited", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
}

static void the_end_of_the_log_is_the_message_of_a_failed_run_if_the_policy_says_so(void **state)
{
    static const struct {
        const char *name, *policy, *script, *message;
    } cases[] = {
        {"tail-fail", "FallbackToLogsOnError", "echo one; echo two >&2; exit 3", "one\ntwo\n"},
        {"tail-unfinished", "FallbackToLogsOnError", "printf one; exit 3", "one"},
        {"tail-well", "FallbackToLogsOnError", "echo one", NULL},
        {"tail-silent", "FallbackToLogsOnError", "exit 3", NULL},
        {"tail-file", "File", "echo one; exit 3", NULL},
        {"tail-lines", "FallbackToLogsOnError",
         "for i in $(seq 200); do echo; done; echo x; exit 1", "LINES"},
        {"tail-bytes", "FallbackToLogsOnError", "head -c 100000 /dev/zero | tr '\\0' y; exit 1",
         "BYTES"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        const struct pod_status *status;
        const char *message;

        pods_start(fixture, &(struct test_pod){cases[i].name,
                                               .main = {{.argv = {"/bin/sh", "-c", cases[i].script},
                                                         .message_policy = cases[i].policy}}});
        status = pods_final(fixture, cases[i].name, LIMIT_MS);
        check(cases[i].name, status);
        message = status->containers.items[0].message;
        if (!cases[i].message)
            check(cases[i].name, !message);
        else if (strcmp(cases[i].message, "LINES") == 0)
            check_int(cases[i].name, strspn(message, "\n"), 79);
        else if (strcmp(cases[i].message, "BYTES") == 0)
            check_int(cases[i].name, strspn(message, "y"), 2048);
        else
            check_str(cases[i].name, message, cases[i].message);
    }
}

static void the_usage_of_a_run_is_in_its_status(void **state)
{
    const struct pod_status *status;

    pods_start(fixture,
               &(struct test_pod){"usage",
                                  .main = {{.argv = {"/bin/sh", "-c",
                                                     "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); "
                                                     "done"}}}});
    status = pods_final(fixture, "usage", LIMIT_MS);
    assert_non_null(status);
    check("cpu", status->containers.items[0].cpu_ms >= 5);
    check("memory", status->containers.items[0].memory_peak_bytes >= 256 << 10);
}

/* The other one runs until the end of the first was reported. What the first left behind is in its
 * process group, and ends with it although its pod goes on. */
static void the_end_of_a_container_is_reported_while_others_run(void **state)
{
    struct test_pod pod = {
        "two",
        .main = {
            {.argv = {"sh", "-c",
                      "sleep 300 & echo left=$!; until [ -e go ]; do sleep 0.02; done; exit 3"}},
            {.argv = {"sleep", "600"}}}};
    scoped_str dir = test_path("two");
    const struct pod_status *status;
    scoped_str log = NULL;
    int ended = 0;

    check_int("directory", mkdir(dir, 0700), 0);
    pod.main[0].cwd = dir;
    pods_start(fixture, &pod);
    check("both run", pods_phase(fixture, "two", POD_RUNNING, LIMIT_MS));

    scoped_str go = mem_printf("%s/go", dir);

    close(open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    for (int waited_ms = 0; !ended && waited_ms < LIMIT_MS; waited_ms += 20) {
        pods_run(fixture, 20);
        status = pods_phase(fixture, "two", POD_RUNNING, LIMIT_MS);
        check("the pod runs", status);
        ended = status->containers.items[0].state == CONTAINER_TERMINATED;
        if (ended)
            check_int("its code", status->containers.items[0].exit_code, 3);
    }
    check("its end is reported", ended);
    log = pods_log(fixture, "two", "c0");
    check("printed", number_in_text(log, "left") > 0);
    for (int waited_ms = 0; process_alive(number_in_text(log, "left")) && waited_ms < LIMIT_MS;
         waited_ms += 20)
        pods_run(fixture, 20);
    check("what it left is gone", !process_alive(number_in_text(log, "left")));
    check("the other runs", pods_phase(fixture, "two", POD_RUNNING, LIMIT_MS));
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "two", 0);
    check("ends", pods_final(fixture, "two", LIMIT_MS));
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), "two");
}

/* Sets the size up to which the supervisor may write files; RLIM_INFINITY: any. */
static void limit_files_of_shim(rlim_t bytes)
{
    scoped_str dir = test_path("bare");
    struct rlimit limit;
    int pid;

    check_int("one supervisor", shims_of(dir, &pid, 1), 1);
    check_int("limit", prlimit(pid, RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    check_int("limit", prlimit(pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

/* covers: reliability.md INV-N1 */
static void no_program_starts_without_a_record_of_its_start(void **state)
{
    scoped_str mark = test_path("mark");
    scoped_str script = mem_printf("touch %s", mark);
    const struct pod_status *status;

    check_int("a supervisor runs", pods_shell(fixture, "before", "exit 7", NULL), 7);
    limit_files_of_shim(0);
    pods_start(fixture, &(struct test_pod){"refused", .main = {{.argv = {"sh", "-c", script}}}});
    status = pods_final(fixture, "refused", LIMIT_MS);
    limit_files_of_shim(RLIM_INFINITY);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_str("reason", status->reason, "StartError");
    check_has("message", status->message, "the disk refuses the record");
    check("did not run", access(mark, F_OK));
    check_int("the next one runs", pods_shell(fixture, "after", "exit 7", NULL), 7);
}

static void a_failed_init_container_fails_the_pod(void **state)
{
    struct test_pod pod = {"init-fails", .init = {{.argv = {"false"}}},
                           .main = {{.argv = {"true"}}}};
    const struct pod_status *status;

    pods_start(fixture, &pod);
    status = pods_final(fixture, "init-fails", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_int("never started", status->containers.items[0].state, CONTAINER_WAITING);
}

/* covers: local-runtime.md LRT-28 */
static void a_deadline_ends_the_pod(void **state)
{
    struct test_pod pod = {"deadline", .deadline_s = 1, .grace_s = 1,
                           .main = {{.argv = {"sleep", "300"}}}};
    const struct pod_status *status;

    pods_start(fixture, &pod);
    status = pods_final(fixture, "deadline", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_str("reason", status->reason, "DeadlineExceeded");
}

static void a_deadline_may_come_while_the_pod_runs(void **state)
{
    struct test_pod pod = {"late-deadline", .deadline_s = 3600, .grace_s = 1,
                           .main = {{.argv = {"sleep", "300"}}}};
    struct test_pod freed = {"freed", .deadline_s = 3600, .grace_s = 1,
                             .main = {{.argv = {"sleep", "300"}}}};
    struct runtime *rt = pods_runtime(fixture);
    const struct pod_status *status;

    pods_start(fixture, &pod);
    pods_start(fixture, &freed);
    check("runs", pods_phase(fixture, "late-deadline", POD_RUNNING, LIMIT_MS));
    check("runs", pods_phase(fixture, "freed", POD_RUNNING, LIMIT_MS));
    rt->ops->set_deadline(rt, "freed", 1);
    rt->ops->set_deadline(rt, "freed", 0);
    rt->ops->set_deadline(rt, "late-deadline", 1);
    rt->ops->set_deadline(rt, "nobody", 1);
    status = pods_final(fixture, "late-deadline", LIMIT_MS);
    check("ends", status);
    check_str("reason", status->reason, "DeadlineExceeded");
    rt->ops->stop(rt, "freed", 1000);
    status = pods_final(fixture, "freed", LIMIT_MS);
    check("ends", status);
    check_str("not of a deadline it has no more", status->reason, NULL);
}

/* covers: reliability.md INV-N7 */
static void logs_are_whole_and_can_be_cut(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    static const struct {
        const char *name;
        int64_t tail, limit;
        const char *want;
    } cases[] = {
        {"all", -1, -1, "one\ntwo\n\nlast without newline"},
        {"tail 1", 1, -1, "last without newline"},
        {"tail 2", 2, -1, "\nlast without newline"},
        {"tail 99", 99, -1, "one\ntwo\n\nlast without newline"},
        {"tail 0", 0, -1, ""},
        {"limit", -1, 5, "one\nt"},
    };

    check("ends", run_shell("logs", "echo one; echo two >&2; echo; printf 'last without newline'"));
    for (size_t i = 0; i < countof(cases); i++) {
        struct log_query options = {.tail_lines = cases[i].tail, .limit_bytes = cases[i].limit};
        scoped(buf) struct buf out = {0};
        int64_t offset = 0;

        buf_str(&out, "");
        check(cases[i].name, rt->ops->read_log(rt, "logs", &options, &offset, &out, NULL));
        check_str(cases[i].name, out.data ? out.data : "", cases[i].want);
    }
}

static void a_follower_goes_on_where_it_was(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    scoped(buf) struct buf out = {0};
    int64_t offset = 0;
    scoped_str go = test_path("go");
    scoped_str script = mem_printf("echo one; until test -e %s; do sleep 0.01; done; echo two", go);
    struct test_pod pod = {"follow", .main = {{.argv = {"sh", "-c", script}}}};

    pods_start(fixture, &pod);
    while (!out.len) {
        pods_run(fixture, 20);
        rt->ops->read_log(rt, "follow", &all, &offset, &out, NULL);
    }
    check_str("first", out.data, "one\n");
    close(open(go, O_CREAT | O_WRONLY, 0600));
    check("ends", pods_final(fixture, "follow", LIMIT_MS));
    rt->ops->read_log(rt, "follow", &all, &offset, &out, NULL);
    check_str("both", out.data, "one\ntwo\n");
    rt->ops->read_log(rt, "follow", &all, &offset, &out, NULL);
    check_str("no more", out.data, "one\ntwo\n");
}

/* covers: local-runtime.md LRT-44; see performance.md 5.2 */
static void a_pod_that_prints_nothing_makes_no_file_and_purge_removes_what_one_made(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    scoped_str dir = test_path("bare/node/logs");
    scoped_str silent = mem_printf("%s/silent.log", dir);
    scoped_str loud = mem_printf("%s/loud.log", dir);

    check("ends", run_shell("silent", "true"));
    check("ends", run_shell("loud", "echo"));
    check_int("silent", access(silent, F_OK), -1);
    check_int("loud", access(loud, F_OK), 0);
    rt->ops->release(rt, "loud");
    rt->ops->purge(rt, "loud");
    for (int i = 0; i < LIMIT_MS / 10 && !access(loud, F_OK); i++)
        pods_run(fixture, 10);
    check_int("purged", access(loud, F_OK), -1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_and_signals_are_reported_as_they_were),
        cmocka_unit_test(a_program_starts_with_three_descriptors_and_inherits_nothing_else),
        cmocka_unit_test(
            the_environment_is_the_base_and_the_containers_own_and_the_last_value_wins),
        cmocka_unit_test(processes_that_a_program_leaves_behind_are_killed_with_it),
        cmocka_unit_test(a_daemon_with_another_environment_is_killed_with_its_pod),
        cmocka_unit_test(stop_sends_term_and_kills_after_the_grace_period),
        cmocka_unit_test(an_unknown_pod_is_reported_as_not_found_when_stopped),
        cmocka_unit_test(a_uid_is_started_once),
        cmocka_unit_test(on_failure_restarts_with_a_doubled_back_off),
        cmocka_unit_test(the_log_of_the_previous_run_is_kept),
        cmocka_unit_test(logs_of_unknown_pods_are_swept),
        cmocka_unit_test(init_containers_run_one_by_one_and_sidecars_beside),
        cmocka_unit_test(the_program_of_the_next_run_may_change_during_a_run),
        cmocka_unit_test(containers_wait_for_the_sidecars_startup_probe),
        cmocka_unit_test(the_end_of_the_log_is_the_message_of_a_failed_run_if_the_policy_says_so),
        cmocka_unit_test(the_usage_of_a_run_is_in_its_status),
        cmocka_unit_test(the_end_of_a_container_is_reported_while_others_run),
        cmocka_unit_test(no_program_starts_without_a_record_of_its_start),
        cmocka_unit_test(a_failed_init_container_fails_the_pod),
        cmocka_unit_test(a_deadline_ends_the_pod),
        cmocka_unit_test(a_deadline_may_come_while_the_pod_runs),
        cmocka_unit_test(logs_are_whole_and_can_be_cut),
        cmocka_unit_test(a_follower_goes_on_where_it_was),
        cmocka_unit_test(a_pod_that_prints_nothing_makes_no_file_and_purge_removes_what_one_made),
    };
    int code = shim_main(argc, argv);

    if (code >= 0)
        return code;
    setenv("SHOULD_NOT_REACH_PODS", "1", 1);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
