/*
 * Runs tests of sandboxed pods at each level of isolation, and starts and ends their node.
 */
#include "tests/support/sandboxed_pods.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "node/shim/entry.h"

const char *level;
struct pods_fixture *fixture;
char *data_dir;

static const struct runtime_file etc_files[] = {{"a.conf", "alpha\n", 6, 0644},
                                                {"deep/b.conf", "beta\n", 5, 0600}};
static const struct runtime_file ssh_files[] = {{"id_rsa", "private\n", 8, 0600}};
const struct runtime_volume test_volumes[TEST_VOLUMES] = {
    {.name = "etc", .kind = VOLUME_FILES, .files = etc_files, .n_files = 2},
    {.name = "ssh", .kind = VOLUME_FILES, .memory = true, .files = ssh_files, .n_files = 1},
    {.name = "data", .kind = VOLUME_EMPTY_DIR},
    {.name = "fast", .kind = VOLUME_EMPTY_DIR, .memory = true, .size_bytes = 1 << 20},
};

char *shared_new(void)
{
    char *dir = mem_strdup("/tmp/jobflow-sandboxed-XXXXXX");

    check("directory", mkdtemp(dir) && chmod(dir, 0777) == 0);
    return dir;
}

void shared_free(char *dir)
{
    if (dir)
        file_remove_tree(AT_FDCWD, dir, NULL);
    mem_free(dir);
}

bool is_plain(void)
{
    return strcmp(level, "plain") == 0;
}

int sandboxed_pods_begin(void **state)
{
    scoped_str name = mem_printf("sandboxed-%s", level);
    struct runtime_host_options options = {.isolation = level, .restart_backoff_ms = 20};

    data_dir = test_path(name);
    fixture = pods_new(data_dir, &options);
    return 0;
}

int sandboxed_pods_end(void **state)
{
    pods_free(fixture);
    mem_free(data_dir);
    return 0;
}

int run(struct test_pod *pod, char **out_log)
{
    const struct pod_status *status;

    pods_start(fixture, pod);
    status = pods_final(fixture, pod->uid, LIMIT_MS);
    check(pod->uid, status);
    if (out_log)
        *out_log = pods_log(fixture, pod->uid, NULL);
    if (status->message)
        print_message("%s: %s: %s\n", pod->uid, status->reason, status->message);
    if (!status->containers.count || status->containers.items[0].state != CONTAINER_TERMINATED)
        return -1;
    if (status->containers.items[0].message)
        print_message("%s: %s\n", pod->uid, status->containers.items[0].message);
    return status->containers.items[0].exit_code;
}

void release(const char *uid)
{
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), uid);
}

long number_in_log(const char *uid, const char *name)
{
    for (int tries = 0; tries < 500; tries++) {
        scoped_str log = pods_log(fixture, uid, NULL);
        long number = log ? number_in_text(log, name) : -1;

        if (number >= 0)
            return number;
        pods_run(fixture, 20);
    }
    return -1;
}

/* covers: local-runtime.md LRT-44; reliability.md INV-N3 P-10 */
void nothing_is_left_of_pods_that_were_released(void **state)
{
    scoped_str script = mem_printf("ls %s/node/shims | grep -v pool; ls %s/node/pods; "
                                   "grep %s /proc/self/mounts; "
                                   "find /sys/fs/cgroup -name 'jobflow-hog*'",
                                   data_dir, data_dir, data_dir);
    scoped_str left = NULL;
    int pids[64];
    size_t n = 2;

    for (int tries = 0; tries < 100 && (n > 1 || !left || *left); tries++) {
        pods_run(fixture, 100);
        n = shims_of(data_dir, pids, countof(pids));
        mem_free(left);
        left = host_shell(script);
    }
    check("shims", n <= 1);
    check_str("directories and mounts", left, "");
}

/* Returns whether tests can run at the level. Under ThreadSanitizer the shim has a second thread,
 * and a process with two threads cannot enter a user namespace. */
static bool can_have_level(const char *name)
{
#ifdef __SANITIZE_THREAD__
    return strcmp(name, "full") != 0 && strcmp(name, "user") != 0;
#else
    return true;
#endif
}

int sandboxed_pods_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count,
                        const struct pod_program *modes)
{
    static const char *const levels[] = {"full", "mounts", "user", "plain"};
    int code = shim_main(argc, argv), failed = 0;

    if (code >= 0)
        return code;
    for (const struct pod_program *mode = modes; argc > 1 && mode && mode->name; mode++)
        if (strcmp(argv[1], mode->name) == 0)
            return mode->run(argv + 2);
    for (size_t i = 0; i < countof(levels); i++) {
        struct error err = {0};

        level = levels[i];
        if (!can_have_level(level))
            print_message(
                "skipped: level %s, for a program under ThreadSanitizer has two threads\n", level);
        else if (isolation_level_works(level, &err))
            failed += _cmocka_run_group_tests(level, tests, count, sandboxed_pods_begin,
                                              sandboxed_pods_end);
        else
            print_message("skipped: %s\n", err.message);
    }
    return failed;
}
