/*
 * Tests node/runtime/reap_lost.c and runtime/adopt.c: files of dead shims are removed before their
 * pods are reported, and other pods do not wait for that.
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

/* A task that keeps the only thread of the pool busy until it is opened. */
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

static void gate_shut(struct gate *gate, struct pods_fixture *fixture)
{
    *gate = (struct gate){.work = {.run = gate_wait, .done = gate_passed}, .open.run = gate_open};
    check_int("gate", uv_sem_init(&gate->opened, 0), 0);
    loop_work(pods_loop(fixture), &gate->work);
}

/* Kills the shim, and returns when the runtime knows that it has died; before that it would send
 * pods to it. */
static void kill_shim_and_wait(struct pods_fixture *fixture, const char *dir)
{
    const struct host *host = container_of(pods_runtime(fixture), struct host, base);

    kill_shim(dir);
    while (!host->reaps)
        pods_run(fixture, POLL_MS);
}

/* Makes files as a sandboxed pod has them on disk. */
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
    scoped_str dir = node_directory("order");
    struct pods_fixture *fixture = pods_new(dir, NULL);
    scoped_str files = leave_files(dir, "runs.volume");
    struct gate gate;

    start_shell_pod(fixture, "done", "exit 9");
    check("ends", pods_final(fixture, "done", LIMIT_MS));
    start_shell_pod(fixture, "runs", "exec sleep 300");
    check("runs", pods_phase(fixture, "runs", POD_RUNNING, LIMIT_MS));
    gate_shut(&gate, fixture);
    kill_shim_and_wait(fixture, dir);
    check_int("another pod runs to its end", pods_shell(fixture, "next", "exit 3", NULL), 3);
    check_int("the lost one is not told yet", pods_finals(fixture, "runs"), 0);
    check("nor removed", there(files));
    release_pod(fixture, "done"); /* released while the pods of its shim are being reaped */
    gate_open(&gate.open);
    check_lost(fixture, "runs");
    check("removed before it was told", !there(files));
    check_int("told once", pods_finals(fixture, "done"), 1);
    release_pod(fixture, "next");
    node_finish(fixture, dir);
    check_int("directories of supervisors", (long)entries(dir, "node/shims"), 0);
}

static void a_removal_goes_on_when_the_runtime_is_freed(void **state)
{
    scoped_str dir = node_directory("freed");
    struct pods_fixture *fixture = pods_new(dir, NULL);
    scoped_str files = leave_files(dir, "runs.volume");
    struct gate gate;

    start_shell_pod(fixture, "runs", "exec sleep 300");
    check("runs", pods_phase(fixture, "runs", POD_RUNNING, LIMIT_MS));
    gate_shut(&gate, fixture);
    kill_shim_and_wait(fixture, dir);
    loop_post(pods_loop(fixture), &gate.open); /* runs when the runtime is freed but not the loop */
    node_finish(fixture, dir);
    check("removed", !there(files));
    fixture = pods_new(dir, NULL);
    check("the records stay until it is told", pods_found(fixture, "runs"));
    check_lost(fixture, "runs");
    node_finish(fixture, dir);
}

static void start_two(struct pods_fixture *fixture)
{
    start_long_pod(fixture);
    start_shell_pod(fixture, "other", "exec sleep 300");
    check("runs", pods_phase(fixture, "other", POD_RUNNING, LIMIT_MS));
}

static void files_of_unknown_pods_are_removed_before_adoption_ends(void **state)
{
    scoped_str dir = node_directory("unknown");
    scoped_str unknown = NULL;
    scoped_str alike = NULL;
    scoped_str known = NULL;
    struct pods_fixture *fixture;

    node_run(dir, start_two);
    unknown = leave_files(dir, "nobody.volume");
    alike = leave_files(dir, "lon"); /* a name that is no uid of a pod, but the beginning of one */
    known = leave_files(dir, "long.volume");
    fixture = pods_new(dir, NULL);
    check("found", pods_found(fixture, "long") && pods_found(fixture, "other"));
    check("the unknown one's are gone", !there(unknown) && !there(alike));
    check("the known one's are not", there(known));
    kill_shim(dir);
    check_lost(fixture, "long");
    check_lost(fixture, "other");
    check("now they are", !there(known));
    node_finish(fixture, dir);
}

static void nobody_hears(void *ctx, const char *uid)
{
    check_fail("told of %s", uid);
}

static void nobody_is_told(struct task *task)
{
    check_fail("told that adoption has ended");
}

static void a_runtime_freed_while_it_adopts_reports_nothing_and_finishes_its_removals(void **state)
{
    scoped_str dir = node_directory("freed-adopting");
    struct runtime_host_options options = {.directory = dir};
    struct task adopted = {.run = nobody_is_told};
    scoped_str files = NULL;
    struct error err = {0};
    struct runtime *rt;
    struct loop *loop;
    struct pods_fixture *fixture;

    node_run(dir, start_two);
    kill_shim(dir);
    files = leave_files(dir, "long.volume");
    loop = loop_new(clock_real());
    rt = runtime_host_new(loop, &options, NULL, NULL, &err);
    check_ok("runtime", rt != NULL, err);
    rt->ops->adopt(rt, nobody_hears, &adopted);
    rt->ops->free(rt);
    loop_settle(loop);
    loop_free(loop);
    check("removed", !there(files));
    fixture = pods_new(dir, NULL);
    check_lost(fixture, "long");
    check_lost(fixture, "other");
    node_finish(fixture, dir);
}

/* Returns the name of the shared shim's directory, and so of its control group. */
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
    scoped_str found = host_shell(script);

    return found && *found;
}

static void start_a_short_one(struct pods_fixture *fixture)
{
    check_int("a plain pod", pods_shell(fixture, "short", "exit 0", NULL), 0);
}

/* covers: local-runtime.md LRT-44 */
static void control_groups_of_shims_without_directory_are_removed_at_the_next_start(void **state)
{
    scoped_str dir = node_directory("groups");
    scoped_str next = node_directory("groups-next");
    scoped_str node = mem_printf("%s/node", dir);
    scoped_str id = NULL;
    struct error err = {0};
    bool had;

    node_run(dir, start_a_short_one);
    id = shim_id(dir);
    had = has_groups(id);
    if (!had)
        print_message("plain pods have no group here\n");
    pods_free(pods_new(next, NULL));
    check_int("a start leaves it to the live owner, though it is empty", has_groups(id), had);
    kill_shim(dir);
    check_ok("remove", file_remove_tree(AT_FDCWD, node, &err), err);
    pods_free(pods_new(next, NULL));
    check("removed by a start elsewhere", !has_groups(id));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_pod_is_told_as_lost_when_nothing_is_left_of_it_and_others_go_on_meanwhile),
        cmocka_unit_test(a_removal_goes_on_when_the_runtime_is_freed),
        cmocka_unit_test(files_of_unknown_pods_are_removed_before_adoption_ends),
        cmocka_unit_test(a_runtime_freed_while_it_adopts_reports_nothing_and_finishes_its_removals),
        cmocka_unit_test(control_groups_of_shims_without_directory_are_removed_at_the_next_start),
    };
    int code = shim_main(argc, argv);

    setenv("UV_THREADPOOL_SIZE", "1", 1); /* one thread only, see struct gate */
    return code >= 0 ? code : cmocka_run_group_tests(tests, NULL, NULL);
}
