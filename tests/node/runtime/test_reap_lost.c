/*
 * node/runtime/reap_lost.c and runtime/adopt.c: in which order what dead shims left is removed and
 * told of, and that nobody else waits for that.
 */
#include "tests/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "node/runtime/internal.h"
#include "node/shim/entry.h"
#include "tests/support/node_restarts.h"

/* Keeps the only thread of the pool busy until it is told to go on: by a task, or at once. */
struct gate {
    struct pool_work work;
    struct task open;
    uv_sem_t opened;
};

static void gate_wait(struct pool_work *work)
{
    uv_sem_wait(&container_of(work, struct gate, work)->opened);
}

static void gate_passed(struct pool_work *work)
{
    uv_sem_destroy(&container_of(work, struct gate, work)->opened);
}

static void gate_open(struct task *task)
{
    uv_sem_post(&container_of(task, struct gate, open)->opened);
}

static void gate_shut(struct gate *gate, struct bed *bed)
{
    *gate = (struct gate){.work = {.run = gate_wait, .done = gate_passed}, .open.run = gate_open};
    check_int("gate", uv_sem_init(&gate->opened, 0), 0);
    loop_work(bed_loop(bed), &gate->work);
}

/* Until the runtime has seen it: before, it would be given pods. */
static void kill_shim_and_wait(struct bed *bed, const char *dir)
{
    const struct host *host = container_of(bed_runtime(bed), struct host, base);

    life_kill_shim(dir);
    while (!host->reaps)
        bed_run(bed, POLL_MS);
}

/* Files of a pod on disk, as they lie there of a boxed one. */
static char *leave_files(const char *dir, const char *name)
{
    char *path = mem_printf("%s/node/pods/%s", dir, name);
    scoped_str below = mem_printf("%s/a/b", path);
    scoped_str file = mem_printf("%s/file", below);
    struct error err = {0};

    check_ok("dirs", file_mkdirs(below, 0700, &err), err);
    check_ok("file", file_write_atomic(file, "x", 1, 0600, &err), err);
    return path;
}

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

static size_t entries(const char *dir, const char *below)
{
    scoped_str path = mem_printf("%s/%s", dir, below);
    DIR *stream = opendir(path);
    size_t n = 0;

    for (struct dirent *entry; stream && (entry = readdir(stream));) /* NOLINT */
        n += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return n;
}

/* covers: reliability.md INV-N3; see local-runtime.md 6.2 */
static void
a_pod_is_told_as_lost_when_nothing_is_left_of_it_and_others_go_on_meanwhile(void **state)
{
    scoped_str dir = life_directory("order");
    struct bed *bed = bed_new(dir, NULL);
    scoped_str files = leave_files(dir, "runs.volume");
    struct gate gate;

    life_start(bed, "done", "exit 9");
    check("ends", bed_final(bed, "done", LIMIT_MS));
    life_start(bed, "runs", "exec sleep 300");
    check("runs", bed_phase(bed, "runs", POD_RUNNING, LIMIT_MS));
    gate_shut(&gate, bed);
    kill_shim_and_wait(bed, dir);
    check_int("another pod runs to its end", bed_shell(bed, "next", "exit 3", NULL), 3);
    check_int("the lost one is not told yet", bed_finals(bed, "runs"), 0);
    check("nor removed", there(files));
    life_release(bed, "done"); /* while its supervisor is being buried */
    gate_open(&gate.open);
    life_check_lost(bed, "runs");
    check("removed before it was told", !there(files));
    check_int("told once", bed_finals(bed, "done"), 1);
    life_release(bed, "next");
    life_finish(bed, dir);
    check_int("directories of supervisors", (long)entries(dir, "node/shims"), 0);
}

static void what_is_being_removed_is_removed_when_the_runtime_is_freed_meanwhile(void **state)
{
    scoped_str dir = life_directory("freed");
    struct bed *bed = bed_new(dir, NULL);
    scoped_str files = leave_files(dir, "runs.volume");
    struct gate gate;

    life_start(bed, "runs", "exec sleep 300");
    check("runs", bed_phase(bed, "runs", POD_RUNNING, LIMIT_MS));
    gate_shut(&gate, bed);
    kill_shim_and_wait(bed, dir);
    loop_post(bed_loop(bed), &gate.open); /* runs when the runtime is freed, and the loop not */
    life_finish(bed, dir);
    check("removed", !there(files));
    bed = bed_new(dir, NULL);
    check("the records stay until it is told", bed_found(bed, "runs"));
    life_check_lost(bed, "runs");
    life_finish(bed, dir);
}

static void start_two(struct bed *bed)
{
    life_start_long(bed);
    life_start(bed, "other", "exec sleep 300");
    check("runs", bed_phase(bed, "other", POD_RUNNING, LIMIT_MS));
}

static void what_nobody_knows_is_removed_before_adoption_has_ended(void **state)
{
    scoped_str dir = life_directory("unknown");
    scoped_str unknown = NULL;
    scoped_str alike = NULL;
    scoped_str known = NULL;
    struct bed *bed;

    life(dir, start_two);
    unknown = leave_files(dir, "nobody.volume");
    alike = leave_files(dir, "lon"); /* not the uid of one, but how it begins */
    known = leave_files(dir, "long.volume");
    bed = bed_new(dir, NULL);
    check("found", bed_found(bed, "long") && bed_found(bed, "other"));
    check("the unknown one's are gone", !there(unknown) && !there(alike));
    check("the known one's are not", there(known));
    life_kill_shim(dir);
    life_check_lost(bed, "long");
    life_check_lost(bed, "other");
    check("now they are", !there(known));
    life_finish(bed, dir);
}

static void nobody_hears(void *ctx, const char *uid)
{
    check_fail("told of %s", uid);
}

static void nobody_is_told(struct task *task)
{
    check_fail("told that adoption has ended");
}

static void a_runtime_freed_while_it_adopts_tells_nobody_and_removes_what_it_began_to(void **state)
{
    scoped_str dir = life_directory("freed-adopting");
    struct runtime_host_options options = {.directory = dir};
    struct task adopted = {.run = nobody_is_told};
    scoped_str files = NULL;
    struct error err = {0};
    struct runtime *rt;
    struct loop *loop;
    struct bed *bed;

    life(dir, start_two);
    life_kill_shim(dir);
    files = leave_files(dir, "long.volume");
    loop = loop_new(clock_real());
    rt = runtime_host_new(loop, &options, NULL, NULL, &err);
    check_ok("runtime", rt != NULL, err);
    rt->ops->adopt(rt, nobody_hears, &adopted);
    rt->ops->free(rt);
    loop_settle(loop);
    loop_free(loop);
    check("removed", !there(files));
    bed = bed_new(dir, NULL);
    life_check_lost(bed, "long");
    life_check_lost(bed, "other");
    life_finish(bed, dir);
}

/* The name of the shared shim's directory, and so of its control group. */
static char *shim_id(const char *dir)
{
    scoped_str path = mem_printf("%s/node/shims", dir);
    DIR *stream = opendir(path);
    char *id = NULL;

    for (struct dirent *entry; stream && !id && (entry = readdir(stream));) /* NOLINT */
        if (entry->d_name[0] != '.')
            id = mem_strdup(entry->d_name);
    if (stream)
        closedir(stream);
    return id;
}

static bool has_groups(const char *name)
{
    scoped_str script = mem_printf("find /sys/fs/cgroup -name 'jobflow-%s-*'", name);
    scoped_str found = bed_host(script);

    return found && *found;
}

static void start_a_short_one(struct bed *bed)
{
    check_int("a plain pod", bed_shell(bed, "short", "exit 0", NULL), 0);
}

/* covers: local-runtime.md LRT-44 */
static void groups_of_supervisors_nobody_can_find_go_with_the_next_start(void **state)
{
    scoped_str dir = life_directory("groups");
    scoped_str next = life_directory("groups-next");
    scoped_str node = mem_printf("%s/node", dir);
    scoped_str id = NULL;
    struct error err = {0};
    bool had;

    life(dir, start_a_short_one);
    id = shim_id(dir);
    had = has_groups(id);
    if (!had)
        print_message("plain pods have no group here\n");
    bed_free(bed_new(next, NULL));
    check_int("a start leaves it to who lives, though nobody is in it", has_groups(id), had);
    life_kill_shim(dir);
    check_ok("remove", file_remove_tree(AT_FDCWD, node, &err), err);
    bed_free(bed_new(next, NULL));
    check("removed by a start elsewhere", !has_groups(id));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_pod_is_told_as_lost_when_nothing_is_left_of_it_and_others_go_on_meanwhile),
        cmocka_unit_test(what_is_being_removed_is_removed_when_the_runtime_is_freed_meanwhile),
        cmocka_unit_test(what_nobody_knows_is_removed_before_adoption_has_ended),
        cmocka_unit_test(a_runtime_freed_while_it_adopts_tells_nobody_and_removes_what_it_began_to),
        cmocka_unit_test(groups_of_supervisors_nobody_can_find_go_with_the_next_start),
    };
    int code = shim_main(argc, argv);

    setenv("UV_THREADPOOL_SIZE", "1", 1); /* see struct gate */
    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
