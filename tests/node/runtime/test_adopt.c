/*
 * Tests node/runtime/adopt.c and the records of shims: pods are found again after the node or a
 * shim has died.
 */
/* wraps: records_sync */
#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "node/runtime/running.h"
#include "node/shim/entry.h"
#include "node/shim/records.h"
#include "node/wire/message.h"
#include "tests/support/node_restarts.h"

enum { PODS = 100 };

void __real_records_sync(struct records *records);
void __wrap_records_sync(struct records *records);

/* Runs in the shim, whose directory is two below that of the node. */
void __wrap_records_sync(struct records *records)
{
    __real_records_sync(records);
    close(openat(records->dir_fd, "../../synced", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Returns whether a shim of this node has synced its records, and forgets it. */
static bool shim_has_synced(const char *dir)
{
    scoped_str mark = mem_printf("%s/node/synced", dir);

    return unlink(mark) == 0;
}

static void start_many(struct pods_fixture *fixture)
{
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("many-%d", i);
        scoped_str script =
            mem_printf("echo begin %d; sleep 1.%d; echo end %d; exit %d", i, i % 10, i, i);

        start_shell_pod(fixture, uid, script);
    }
    check("last one runs", pods_phase(fixture, "many-99", POD_RUNNING, LIMIT_MS));
}

/* covers: local-runtime.md LRT-30; reliability.md P-08 INV-N1 INV-N2 INV-N7 */
static void pods_outlive_the_node_and_are_found_with_codes_and_logs(void **state)
{
    scoped_str dir = node_directory("many");
    struct pods_fixture *fixture;

    node_run(dir, start_many);
    fixture = pods_new(dir, NULL);
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("many-%d", i);
        scoped_str want = mem_printf("begin %d\nend %d\n", i, i);
        const struct pod_status *status;
        scoped_str log = NULL;

        check(uid, pods_found(fixture, uid));
        status = pods_final(fixture, uid, LIMIT_MS);
        check(uid, status);
        check_int(uid, status->containers.items[0].exit_code, i);
        check_int(uid, pods_finals(fixture, uid), 1);
        log = pods_log(fixture, uid, NULL);
        check_str(uid, log, want);
        release_pod(fixture, uid);
    }
    node_finish(fixture, dir);
}

static void note_uid(void *ctx, const char *uid)
{
    buf_printf(ctx, "%s ", uid);
}

static void start_three(struct pods_fixture *fixture)
{
    start_shell_pod(fixture, "ends", "true");
    start_shell_pod(fixture, "stays-a", "while [ ! -e stays-go ]; do sleep 0.01; done");
    start_shell_pod(fixture, "stays-b", "while [ ! -e stays-go ]; do sleep 0.01; done");
    check("ended", pods_final(fixture, "ends", LIMIT_MS));
    check("a runs", pods_phase(fixture, "stays-a", POD_RUNNING, LIMIT_MS));
    check("b runs", pods_phase(fixture, "stays-b", POD_RUNNING, LIMIT_MS));
}

static void running_pods_are_named_while_no_node_runs(void **state)
{
    scoped_str dir = node_directory("named");
    scoped_str node_dir = mem_printf("%s/node", dir);
    scoped(buf) struct buf uids = {0};
    struct pods_fixture *fixture;
    struct error err = {0};

    check_ok("no supervisors", running_pods(node_dir, note_uid, &uids, &err), err);
    check_int("no pods", uids.len, 0);
    node_run(dir, start_three);
    check_ok("asked", running_pods(node_dir, note_uid, &uids, &err), err);
    check_str("those that have not ended", uids.data, "stays-a stays-b ");
    fixture = pods_new(dir, NULL);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "stays-a", 0);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "stays-b", 0);
    check("a was left running", pods_final(fixture, "stays-a", LIMIT_MS));
    check("b was left running", pods_final(fixture, "stays-b", LIMIT_MS));
    node_finish(fixture, dir);
}

static void start_short(struct pods_fixture *fixture)
{
    start_shell_pod(fixture, "short", "sleep 0.2; exit 7");
    check("runs", pods_phase(fixture, "short", POD_RUNNING, LIMIT_MS));
}

/* A shim whose pods have ended ends too, and its records stay. covers: local-runtime.md LRT-31;
 * reliability.md P-08 */
static void an_end_while_no_node_runs_is_reported_with_its_time_until_released(void **state)
{
    scoped_str dir = node_directory("short");
    struct pods_fixture *fixture;
    int64_t left_ms;

    node_run(dir, start_short);
    wait_for_shims_to_end(dir);
    check("nothing else has the end of the pod, so it is on disk", shim_has_synced(dir));
    left_ms = clock_wall_ms(clock_real());
    usleep(200000); /* the pod must end well before the next node finds it */
    for (int restarts = 0; restarts < 2; restarts++) {
        const struct pod_status *status;

        fixture = pods_new(dir, NULL);
        check("found", pods_found(fixture, "short"));
        status = pods_final(fixture, "short", LIMIT_MS);
        check("told", status);
        check_int("code", status->containers.items[0].exit_code, 7);
        check("when it was", status->containers.items[0].finished_ms <= left_ms);
        if (restarts == 1)
            release_pod(fixture, "short");
        pods_run(fixture, 50);
        pods_free(fixture);
    }
    fixture = pods_new(dir, NULL);
    check("released", !pods_found(fixture, "short"));
    node_finish(fixture, dir);
}

static long pid_printed(struct pods_fixture *fixture, const char *uid)
{
    for (int i = 0; i < LIMIT_MS / POLL_MS; i++) {
        scoped_str log = pods_log(fixture, uid, NULL);
        long pid = number_in_text(log, "pid");

        if (pid > 0)
            return pid;
        pods_run(fixture, POLL_MS);
    }
    return -1;
}

/* covers: local-runtime.md LRT-32; reliability.md P-09 FT-09 INV-N3 */
static void a_killed_shim_loses_running_pods_and_no_others(void **state)
{
    scoped_str dir = node_directory("killed");
    struct pods_fixture *fixture = pods_new(dir, NULL);
    long pid, changed;

    start_shell_pod(fixture, "done", "exit 9");
    check("ends", pods_final(fixture, "done", LIMIT_MS));
    start_shell_pod(fixture, "runs", "setsid sh -c 'echo pid=$$; exec sleep 300'");
    start_shell_pod(fixture, "changed", "env -i setsid sh -c 'echo pid=$$; exec sleep 300' & wait");
    pid = pid_printed(fixture, "runs");
    changed = pid_printed(fixture, "changed");
    check("runs", process_alive(pid));
    check("changed runs", process_alive(changed));
    kill(shim_pid(dir), SIGKILL);
    check_lost(fixture, "runs");
    check_lost(fixture, "changed");
    wait_for_end(pid);
    wait_for_end(changed);
    check_int("told once", pods_finals(fixture, "done"), 1);
    check_int("the next pod gets a new shim", pods_shell(fixture, "next", "exit 3", NULL), 3);
    release_pod(fixture, "done");
    release_pod(fixture, "next");
    node_finish(fixture, dir);
}

static void start_two_and_kill_the_shim(struct pods_fixture *fixture)
{
    start_shell_pod(fixture, "done", "exit 9");
    check("ends", pods_final(fixture, "done", LIMIT_MS));
    start_shell_pod(fixture, "runs", "exec sleep 300");
    check("runs", pods_phase(fixture, "runs", POD_RUNNING, LIMIT_MS));
}

/* covers: reliability.md P-09 FT-09 */
static void pods_of_a_shim_killed_while_the_node_is_down_are_known_from_its_records(void **state)
{
    scoped_str dir = node_directory("both");
    struct pods_fixture *fixture;

    node_run(dir, start_two_and_kill_the_shim);
    kill_shim(dir);
    fixture = pods_new(dir, NULL);
    check("found", pods_found(fixture, "done") && pods_found(fixture, "runs"));
    check_int("code", pods_final(fixture, "done", LIMIT_MS)->containers.items[0].exit_code, 9);
    check_lost(fixture, "runs");
    release_pod(fixture, "done");
    node_finish(fixture, dir);
}

static void write_records_of_another_boot(const char *dir, pid_t victim)
{
    scoped(buf) struct buf frames = {0}, file = {0};
    scoped_str place = mem_printf("%s/node/shims/old", dir);
    scoped_str path = mem_printf("%s/records", place);
    scoped_str boot = mem_printf("%s/node/boot", dir);
    struct container_status c = {.name = "main", .state = CONTAINER_RUNNING};
    struct container_status d = {.name = "main", .state = CONTAINER_TERMINATED, .exit_code = 6};
    struct shim_status runs = {.uid = "runs", .status = {.phase = POD_RUNNING}};
    struct shim_status done = {.uid = "done", .final = true, .status = {.phase = POD_FAILED}};
    struct error err = {0};
    size_t begun = frame_begin(&frames, 200);

    frame_put_u32(&frames, SHIM_VERSION);
    frame_put_text(&frames, "another-boot");
    frame_end(&frames, begun);
    records_put_block(&file, &frames);
    buf_clear(&frames);
    runs.status.containers.items = &c;
    runs.status.containers.count = 1;
    done.status.containers.items = &d;
    done.status.containers.count = 1;
    shim_put_status(&frames, &runs);
    shim_put_status(&frames, &done);
    records_put_block(&file, &frames);
    buf_add(&file, "torn", 4);
    check_ok("dir", file_mkdirs(place, 0700, &err), err);
    check_ok("records", file_write_atomic(path, file.data, file.len, 0600, &err), err);
    check_ok("boot", file_write_atomic(boot, "another-boot", 12, 0600, &err), err);
}

/* covers: local-runtime.md LRT-33; reliability.md D-10 FT-10 INV-N4 */
static void records_of_another_boot_lose_pods_and_kill_nothing(void **state)
{
    scoped_str dir = node_directory("reboot");
    pid_t victim = fork();
    const struct pod_status *status;
    struct pods_fixture *fixture;

    if (victim == 0) { /* this process has the same mark, but belongs to the present boot */
        execle("/bin/sleep", "sleep", "300", NULL,
               (char *[]){(char[]){"JOBFLOW_POD_UID=runs"}, NULL});
        _exit(1);
    }
    write_records_of_another_boot(dir, victim);
    fixture = pods_new(dir, NULL);
    check("flag", pods_runtime(fixture)->machine_restarted);
    status = pods_final(fixture, "runs", LIMIT_MS);
    check("told", status);
    check_str("reason", status->reason, "NodeRestarted");
    check_int("code", status->containers.items[0].exit_code, 137);
    check_int("what had ended is believed",
              pods_final(fixture, "done", LIMIT_MS)->containers.items[0].exit_code, 6);
    check_int("nothing was killed", kill(victim, 0), 0);
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
    release_pod(fixture, "runs");
    release_pod(fixture, "done");
    node_finish(fixture, dir);
    fixture = pods_new(dir, NULL);
    check("flag once", !pods_runtime(fixture)->machine_restarted);
    check("directory is gone", !pods_found(fixture, "done"));
    node_finish(fixture, dir);
}

static const char *stopped_dir;

static void start_behind_a_stopped_shim(struct pods_fixture *fixture)
{
    check_int("first", pods_shell(fixture, "first", "exit 0", NULL), 0);
    release_pod(fixture, "first");
    pods_run(fixture, 50);
    kill(shim_pid(stopped_dir), SIGSTOP);
    start_shell_pod(fixture, "sent", "echo ran; exit 5");
    pods_run(fixture, 50);
}

/* covers: local-runtime.md LRT-34; reliability.md D-09 INV-N1 */
static void a_start_on_its_way_when_the_node_died_happens_once(void **state)
{
    scoped_str dir = node_directory("on-its-way");
    scoped_str log = NULL;
    struct pods_fixture *fixture;
    pid_t waker;

    stopped_dir = dir;
    node_run(dir, start_behind_a_stopped_shim);
    waker = fork();
    if (waker == 0) { /* the shim continues after the new node has sent LIST */
        usleep(200000);
        kill(shim_pid(dir), SIGCONT);
        _exit(0);
    }
    fixture = pods_new(dir, NULL);
    waitpid(waker, NULL, 0);
    check("found", pods_found(fixture, "sent"));
    check_int("code", pods_final(fixture, "sent", LIMIT_MS)->containers.items[0].exit_code, 5);
    log = pods_log(fixture, "sent", NULL);
    check_str("log", log, "ran\n");
    release_pod(fixture, "sent");
    node_finish(fixture, dir);
}

/* covers: local-runtime.md LRT-34; reliability.md D-09 */
static void a_start_that_never_arrived_is_not_found_and_may_be_given_again(void **state)
{
    scoped_str dir = node_directory("never");
    struct pods_fixture *fixture;

    stopped_dir = dir;
    node_run(dir, start_behind_a_stopped_shim);
    kill_shim(dir);
    fixture = pods_new(dir, NULL);
    check("not found", !pods_found(fixture, "sent"));
    check_int("started", pods_shell(fixture, "sent", "exit 4", NULL), 4);
    release_pod(fixture, "sent");
    node_finish(fixture, dir);
}

static void a_start_given_to_a_dying_shim_goes_to_the_next_one(void **state)
{
    scoped_str dir = node_directory("dying");
    struct pods_fixture *fixture = pods_new(dir, NULL);
    pid_t shim;

    check_int("first", pods_shell(fixture, "first", "exit 0", NULL), 0);
    shim = shim_pid(dir);
    kill(shim, SIGSTOP);
    start_shell_pod(fixture, "sent", "exit 5");
    pods_run(fixture, 50);
    kill(shim, SIGKILL);
    check_int("code", pods_final(fixture, "sent", LIMIT_MS)->containers.items[0].exit_code, 5);
    check_int("told once", pods_finals(fixture, "sent"), 1);
    release_pod(fixture, "first");
    release_pod(fixture, "sent");
    node_finish(fixture, dir);
}

/* covers: reliability.md INV-R1 */
static void a_shim_without_pods_ends_with_its_node(void **state)
{
    scoped_str dir = node_directory("idle");
    struct pods_fixture *fixture = pods_new(dir, NULL);

    check_int("ran", pods_shell(fixture, "one", "exit 0", NULL), 0);
    release_pod(fixture, "one");
    pods_run(fixture, 50);
    node_finish(fixture, dir);
}

/* covers: reliability.md INV-N3 */
static void pods_whose_shim_directory_is_removed_are_ended(void **state)
{
    scoped_str dir = node_directory("forsaken");
    scoped_str node = mem_printf("%s/node", dir);
    struct error err = {0};
    pid_t shim;

    node_run(dir, start_long_pod);
    shim = shim_pid(dir);
    check_ok("remove", file_remove_tree(AT_FDCWD, node, &err), err);
    wait_for_end(shim); /* the pod ends with its shim */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_outlive_the_node_and_are_found_with_codes_and_logs),
        cmocka_unit_test(running_pods_are_named_while_no_node_runs),
        cmocka_unit_test(an_end_while_no_node_runs_is_reported_with_its_time_until_released),
        cmocka_unit_test(a_killed_shim_loses_running_pods_and_no_others),
        cmocka_unit_test(pods_of_a_shim_killed_while_the_node_is_down_are_known_from_its_records),
        cmocka_unit_test(records_of_another_boot_lose_pods_and_kill_nothing),
        cmocka_unit_test(a_start_on_its_way_when_the_node_died_happens_once),
        cmocka_unit_test(a_start_that_never_arrived_is_not_found_and_may_be_given_again),
        cmocka_unit_test(a_start_given_to_a_dying_shim_goes_to_the_next_one),
        cmocka_unit_test(a_shim_without_pods_ends_with_its_node),
        cmocka_unit_test(pods_whose_shim_directory_is_removed_are_ended),
    };
    int code = shim_main(argc, argv);

    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
