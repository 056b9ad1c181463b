/*
 * node/runtime/adopt.c and the shim's records: what is left of pods when the node or a shim dies.
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "node/shim/entry.h"
#include "node/shim/records.h"
#include "node/wire/message.h"
#include "tests/support/node_restarts.h"

enum { PODS = 100 };

static void start_many(struct bed *bed)
{
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("many-%d", i);
        scoped_str script =
            mem_printf("echo begin %d; sleep 1.%d; echo end %d; exit %d", i, i % 10, i, i);

        life_start(bed, uid, script);
    }
    check("last one runs", bed_phase(bed, "many-99", POD_RUNNING, LIMIT_MS));
}

/* covers: local-runtime.md LRT-30; reliability.md P-08 INV-N1 INV-N2 INV-N7 */
static void pods_outlive_the_node_and_are_found_with_codes_and_logs(void **state)
{
    scoped_str dir = life_directory("many");
    struct bed *bed;

    life(dir, start_many);
    bed = bed_new(dir, NULL);
    for (int i = 0; i < PODS; i++) {
        scoped_str uid = mem_printf("many-%d", i);
        scoped_str want = mem_printf("begin %d\nend %d\n", i, i);
        const struct pod_status *status;
        scoped_str log = NULL;

        check(uid, bed_found(bed, uid));
        status = bed_final(bed, uid, LIMIT_MS);
        check(uid, status);
        check_int(uid, status->containers.items[0].exit_code, i);
        check_int(uid, bed_finals(bed, uid), 1);
        log = bed_log(bed, uid, NULL);
        check_str(uid, log, want);
        life_release(bed, uid);
    }
    life_finish(bed, dir);
}

static void start_short(struct bed *bed)
{
    life_start(bed, "short", "sleep 0.2; exit 7");
    check("runs", bed_phase(bed, "short", POD_RUNNING, LIMIT_MS));
}

/* A shim without anything that runs leaves; what it knew stays in its records.
 * covers: local-runtime.md LRT-31; reliability.md P-08 */
static void an_end_nobody_was_there_for_is_told_with_its_time_until_released(void **state)
{
    scoped_str dir = life_directory("short");
    struct bed *bed;
    int64_t left_ms;

    life(dir, start_short);
    life_shims_leave(dir);
    left_ms = clock_wall_ms(clock_real());
    usleep(200000); /* so that the time of the end is not the time at which it is found */
    for (int lives = 0; lives < 2; lives++) {
        const struct pod_status *status;

        bed = bed_new(dir, NULL);
        check("found", bed_found(bed, "short"));
        status = bed_final(bed, "short", LIMIT_MS);
        check("told", status);
        check_int("code", status->containers.items[0].exit_code, 7);
        check("when it was", status->containers.items[0].finished_ms <= left_ms);
        if (lives == 1)
            life_release(bed, "short");
        bed_run(bed, 50);
        bed_free(bed);
    }
    bed = bed_new(dir, NULL);
    check("released", !bed_found(bed, "short"));
    life_finish(bed, dir);
}

static long pid_printed(struct bed *bed, const char *uid)
{
    for (int i = 0; i < LIMIT_MS / POLL_MS; i++) {
        scoped_str log = bed_log(bed, uid, NULL);
        long pid = bed_number(log, "pid");

        if (pid > 0)
            return pid;
        bed_run(bed, POLL_MS);
    }
    return -1;
}

/* covers: local-runtime.md LRT-32; reliability.md P-09 FT-09 INV-N3 */
static void a_killed_shim_loses_what_ran_and_nothing_else(void **state)
{
    scoped_str dir = life_directory("killed");
    struct bed *bed = bed_new(dir, NULL);
    long pid, changed;

    life_start(bed, "done", "exit 9");
    check("ends", bed_final(bed, "done", LIMIT_MS));
    life_start(bed, "runs", "setsid sh -c 'echo pid=$$; exec sleep 300'");
    life_start(bed, "changed", "env -i setsid sh -c 'echo pid=$$; exec sleep 300' & wait");
    pid = pid_printed(bed, "runs");
    changed = pid_printed(bed, "changed");
    check("runs", bed_alive(pid) && bed_alive(changed));
    kill(life_shim(dir), SIGKILL);
    life_check_lost(bed, "runs");
    life_check_lost(bed, "changed");
    life_wait_for_end(pid);
    life_wait_for_end(changed);
    check_int("told once", bed_finals(bed, "done"), 1);
    check_int("the next pod gets a new shim", bed_shell(bed, "next", "exit 3", NULL), 3);
    life_release(bed, "done");
    life_release(bed, "next");
    life_finish(bed, dir);
}

static void start_two_and_kill_the_shim(struct bed *bed)
{
    life_start(bed, "done", "exit 9");
    check("ends", bed_final(bed, "done", LIMIT_MS));
    life_start(bed, "runs", "exec sleep 300");
    check("runs", bed_phase(bed, "runs", POD_RUNNING, LIMIT_MS));
}

/* covers: reliability.md P-09 FT-09 */
static void a_shim_killed_while_the_node_is_down_is_known_by_its_records(void **state)
{
    scoped_str dir = life_directory("both");
    struct bed *bed;

    life(dir, start_two_and_kill_the_shim);
    life_kill_shim(dir);
    bed = bed_new(dir, NULL);
    check("found", bed_found(bed, "done") && bed_found(bed, "runs"));
    check_int("code", bed_final(bed, "done", LIMIT_MS)->containers.items[0].exit_code, 9);
    life_check_lost(bed, "runs");
    life_release(bed, "done");
    life_finish(bed, dir);
}

static void write_records_of_another_boot(const char *dir, pid_t victim)
{
    scoped(buf) struct buf frames = {0}, file = {0};
    scoped_str place = mem_printf("%s/node/shims/old", dir);
    scoped_str path = mem_printf("%s/records", place);
    scoped_str boot = mem_printf("%s/node/boot", dir);
    struct container_status c = {.name = "main", .state = CONTAINER_RUNNING};
    struct container_status d = {.name = "main", .state = CONTAINER_TERMINATED, .exit_code = 6};
    struct shim_status runs = {"runs", false, {.phase = POD_RUNNING}};
    struct shim_status done = {"done", true, {.phase = POD_FAILED}};
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
    scoped_str dir = life_directory("reboot");
    pid_t victim = fork();
    const struct pod_status *status;
    struct bed *bed;

    if (victim == 0) { /* a process of this boot that carries the same mark */
        execle("/bin/sleep", "sleep", "300", NULL,
               (char *[]){(char[]){"JOBFLOW_POD_UID=runs"}, NULL});
        _exit(1);
    }
    write_records_of_another_boot(dir, victim);
    bed = bed_new(dir, NULL);
    check("flag", bed_runtime(bed)->machine_restarted);
    status = bed_final(bed, "runs", LIMIT_MS);
    check("told", status);
    check_str("reason", status->reason, "NodeRestarted");
    check_int("code", status->containers.items[0].exit_code, 137);
    check_int("what had ended is believed",
              bed_final(bed, "done", LIMIT_MS)->containers.items[0].exit_code, 6);
    check_int("nothing was killed", kill(victim, 0), 0);
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
    life_release(bed, "runs");
    life_release(bed, "done");
    life_finish(bed, dir);
    bed = bed_new(dir, NULL);
    check("flag once", !bed_runtime(bed)->machine_restarted);
    check("directory is gone", !bed_found(bed, "done"));
    life_finish(bed, dir);
}

static const char *stopped_dir;

static void start_behind_a_stopped_shim(struct bed *bed)
{
    check_int("first", bed_shell(bed, "first", "exit 0", NULL), 0);
    life_release(bed, "first");
    bed_run(bed, 50);
    kill(life_shim(stopped_dir), SIGSTOP);
    life_start(bed, "sent", "echo ran; exit 5");
    bed_run(bed, 50);
}

/* covers: local-runtime.md LRT-34; reliability.md D-09 INV-N1 */
static void a_start_on_its_way_when_the_node_died_happens_once(void **state)
{
    scoped_str dir = life_directory("on-its-way");
    scoped_str log = NULL;
    struct bed *bed;
    pid_t waker;

    stopped_dir = dir;
    life(dir, start_behind_a_stopped_shim);
    waker = fork();
    if (waker == 0) { /* the shim goes on when the new node has already asked */
        usleep(200000);
        kill(life_shim(dir), SIGCONT);
        _exit(0);
    }
    bed = bed_new(dir, NULL);
    waitpid(waker, NULL, 0);
    check("found", bed_found(bed, "sent"));
    check_int("code", bed_final(bed, "sent", LIMIT_MS)->containers.items[0].exit_code, 5);
    log = bed_log(bed, "sent", NULL);
    check_str("log", log, "ran\n");
    life_release(bed, "sent");
    life_finish(bed, dir);
}

/* covers: local-runtime.md LRT-34; reliability.md D-09 */
static void a_start_that_never_arrived_is_not_found_and_may_be_given_again(void **state)
{
    scoped_str dir = life_directory("never");
    struct bed *bed;

    stopped_dir = dir;
    life(dir, start_behind_a_stopped_shim);
    life_kill_shim(dir);
    bed = bed_new(dir, NULL);
    check("not found", !bed_found(bed, "sent"));
    check_int("started", bed_shell(bed, "sent", "exit 4", NULL), 4);
    life_release(bed, "sent");
    life_finish(bed, dir);
}

static void a_start_given_to_a_dying_shim_goes_to_the_next_one(void **state)
{
    scoped_str dir = life_directory("dying");
    struct bed *bed = bed_new(dir, NULL);
    pid_t shim;

    check_int("first", bed_shell(bed, "first", "exit 0", NULL), 0);
    shim = life_shim(dir);
    kill(shim, SIGSTOP);
    life_start(bed, "sent", "exit 5");
    bed_run(bed, 50);
    kill(shim, SIGKILL);
    check_int("code", bed_final(bed, "sent", LIMIT_MS)->containers.items[0].exit_code, 5);
    check_int("told once", bed_finals(bed, "sent"), 1);
    life_release(bed, "first");
    life_release(bed, "sent");
    life_finish(bed, dir);
}

/* covers: reliability.md INV-R1 */
static void a_shim_without_pods_ends_with_its_node(void **state)
{
    scoped_str dir = life_directory("idle");
    struct bed *bed = bed_new(dir, NULL);

    check_int("ran", bed_shell(bed, "one", "exit 0", NULL), 0);
    life_release(bed, "one");
    bed_run(bed, 50);
    life_finish(bed, dir);
}

/* covers: reliability.md INV-N3 */
static void pods_nobody_can_find_any_more_are_ended(void **state)
{
    scoped_str dir = life_directory("forsaken");
    scoped_str node = mem_printf("%s/node", dir);
    struct error err = {0};
    pid_t shim;

    life(dir, life_start_long);
    shim = life_shim(dir);
    check_ok("remove", file_remove_tree(AT_FDCWD, node, &err), err);
    life_wait_for_end(shim); /* and its pod with it */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_outlive_the_node_and_are_found_with_codes_and_logs),
        cmocka_unit_test(an_end_nobody_was_there_for_is_told_with_its_time_until_released),
        cmocka_unit_test(a_killed_shim_loses_what_ran_and_nothing_else),
        cmocka_unit_test(a_shim_killed_while_the_node_is_down_is_known_by_its_records),
        cmocka_unit_test(records_of_another_boot_lose_pods_and_kill_nothing),
        cmocka_unit_test(a_start_on_its_way_when_the_node_died_happens_once),
        cmocka_unit_test(a_start_that_never_arrived_is_not_found_and_may_be_given_again),
        cmocka_unit_test(a_start_given_to_a_dying_shim_goes_to_the_next_one),
        cmocka_unit_test(a_shim_without_pods_ends_with_its_node),
        cmocka_unit_test(pods_nobody_can_find_any_more_are_ended),
    };
    int code = shim_main(argc, argv);

    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
