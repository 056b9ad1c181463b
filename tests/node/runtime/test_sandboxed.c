/*
 * Tests sandboxed pods with real processes: volumes, names, exit codes, host paths; at every level
 * of isolation that works for the user who runs the tests.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/sandboxed_pods.h"

/* Returns the entries of some directories of the host. */
static char *host_listing(void)
{
    return host_shell("ls -lA --time-style=full-iso /etc /root 2>&1; ls -A /");
}

/* covers: local-runtime.md LRT-01 LRT-02 LRT-13 */
static void volumes_are_at_their_mount_paths_and_nowhere_on_the_host(void **state)
{
    scoped_str before = host_listing();
    scoped_str after = NULL;
    scoped_str log = NULL;
    struct test_pod pod = {
        "volumes",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .main = {{
            .argv =
                {"/bin/sh", "-c",
                 "cd $VC_MOUNT_ROOT/; cat etc/volcano/a.conf etc/volcano/deep/b.conf "
                 "root/.ssh/id_rsa data/x/one;"
                 "stat -L -c %a root/.ssh/id_rsa; echo new > data/x/y/file && cat data/x/y/file;"
                 "echo fast > fast/file && cat fast/file"},
            .mounts = {{"etc", "/etc/volcano", NULL, false},
                       {"ssh", "/root/.ssh", NULL, false},
                       {"data", "/data/x/y", NULL, false},
                       {"etc", "/data/x/one", "a.conf", false},
                       {"fast", "/fast", NULL, false}},
        }},
    };

    check_int("code", run(&pod, &log), 0);
    check_str("log", log, "alpha\nbeta\nprivate\nalpha\n600\nnew\nfast\n");
    release("volumes");
    after = host_listing();
    check_str("host", after, before);
    check_int("no /data", access("/data/x", F_OK), -1);
}

/* covers: local-runtime.md LRT-03 */
static void writes_to_a_layer_are_private(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "private",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .main = {{
            .argv =
                {"/bin/sh", "-c",
                 "echo x > /etc/jf-test-x; cat /etc/jf-test-x; echo y > /run/jf-test-y; ls /run"},
            .mounts = {{"etc", "/etc/volcano", NULL, false}},
        }},
    };

    if (is_plain())
        return;
    if (run(&pod, &log) == 0)
        check_str("log", log, "x\njf-test-y\npod\n");
    check_int("host", access("/etc/jf-test-x", F_OK), -1);
    check_int("host", access("/run/jf-test-y", F_OK), -1);
    release("private");
}

static void the_working_directory_is_that_of_the_host(void **state)
{
    char cwd[4096];
    scoped_str log = NULL;
    struct test_pod pod = {
        "cwd",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c", "pwd; echo seen > written-by-pod; echo $HOSTNAME"},
                  .mounts = {{"etc", "/tmp/etc/volcano", NULL, false}}}},
    };
    scoped(shared) char *dir = shared_new();
    scoped_str want = NULL;

    pod.main[0].cwd = dir;
    check_int("code", run(&pod, &log), 0);
    want = mem_printf("%s\nj-0\n", dir);
    check_str("log", log, want);
    snprintf(cwd, sizeof cwd, "%s/written-by-pod", dir);
    release("cwd");
    check_int("on the host", access(cwd, F_OK), 0);
}

/* covers: see 4.3 */
static void a_volume_over_the_hosts_directory_starts_programs_at_the_root(void **state)
{
    char cwd[4096], above[4096];
    scoped_str log = NULL;
    struct test_pod pod = {
        "covered",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c", "pwd"}, .mounts = {{"etc", above, NULL, false}}}},
    };

    if (strcmp(level, "plain") == 0)
        skip(); /* at level plain nothing is mounted */
    check("cwd", getcwd(cwd, sizeof cwd) != NULL);
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(cwd, '/') - cwd), cwd);
    check_int("code", run(&pod, &log), 0);
    check_str("log", log, "/\n");
    release("covered");
}

/* covers: see 3.4 LRT-10 */
static void names_come_from_a_hosts_file_that_can_be_replaced(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "hosts",
        WITH_TEST_HOSTS,
        .main =
            {{.argv =
                  {"/bin/sh", "-c",
                   "hostname; getent hosts j-0 | cut -d' ' -f1; while ! getent hosts j-9 "
                   ">/dev/null; do "
                   "test -s ${VC_HOSTS_FILE:-/etc/hosts} || echo torn; sleep 0.02; done; "
                   "getent hosts j-9 | cut -d' ' -f1; cat /etc/hostname; readlink /etc/hosts"}}},
    };

    if (is_plain())
        return;
    pods_start(fixture, &pod);
    check("runs", pods_phase(fixture, "hosts", POD_RUNNING, LIMIT_MS));
    for (int i = 0; i < 20; i++) {
        pods_runtime(fixture)->ops->set_hosts(pods_runtime(fixture), "hosts",
                                              "127.0.0.1 localhost\n127.10.4.2 j-0\n");
        pods_run(fixture, 5);
    }
    check("it has seen that", pods_printed(fixture, "hosts", "127.10.4.2\n", LIMIT_MS));
    pods_runtime(fixture)->ops->set_hosts(pods_runtime(fixture), "hosts",
                                          "127.0.0.1 localhost\n127.10.4.9 j-9\n");
    check("ends", pods_final(fixture, "hosts", LIMIT_MS));
    log = pods_log(fixture, "hosts", NULL);
    check_str("log", log, "j-0\n127.10.4.2\n127.10.4.9\nj-0\n/run/pod/hosts\n");
    release("hosts");
}

/* covers: local-runtime.md LRT-20 LRT-21 LRT-22 LRT-27 */
static void exit_codes_pass_through_init(void **state)
{
    static const struct {
        const char *name;
        const char *argv[4];
        int code, signal;
        const char *reason;
    } cases[] = {
        {"exit 0", {"true"}, 0, 0, "Completed"},
        {"exit 3", {"sh", "-c", "exit 3"}, 3, 0, "Error"},
        {"sigsegv", {"sh", "-c", "kill -SEGV $$"}, 139, 11, "Error"},
        {"sigkill", {"sh", "-c", "kill -KILL $$"}, 137, 9, "Error"},
        {"exit 137", {"sh", "-c", "exit 137"}, 137, 0, "Error"},
        {"not found", {"no-such-program"}, 127, 0, "ContainerCannotRun"},
        {"not executable", {"/etc/passwd"}, 126, 0, "ContainerCannotRun"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("exit-%zu", i);
        struct test_pod pod = {uid, WITH_TEST_HOSTS};
        const struct pod_status *status;

        memcpy(pod.main[0].argv, cases[i].argv, sizeof cases[i].argv);
        pods_start(fixture, &pod);
        status = pods_final(fixture, uid, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->containers.items[0].exit_code, cases[i].code);
        check_int(cases[i].name, status->containers.items[0].signal, cases[i].signal);
        check_str(cases[i].name, status->containers.items[0].reason, cases[i].reason);
        release(uid);
    }
}

/* covers: local-runtime.md LRT-25 LRT-26 LRT-27 LRT-29; reliability.md INV-N3 */
static void stop_ends_everything_in_the_sandbox(void **state)
{
    enum { FOR_EVER_MS = 100 * LIMIT_MS };
    static const struct {
        const char *name, *script;
        int64_t grace_ms;
        int code;
        int64_t at_least_ms;
    } cases[] = {
        {"handler", "trap 'exit 5' TERM; echo pid=$$; while :; do sleep 0.01; done", FOR_EVER_MS, 5,
         0},
        {"no handler", "echo pid=$$; exec sleep 300", FOR_EVER_MS, 143, 0},
        {"deaf",
         "trap '' TERM; setsid sh -c \"trap '' TERM; sleep 300\" & echo pid=$$; while :; do sleep "
         "0.05; done",
         400, 137, 390},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("stop-%zu", i);
        struct test_pod pod = {uid, WITH_TEST_HOSTS,
                               .main = {{.argv = {"/bin/sh", "-c", cases[i].script}}}};
        const struct pod_status *status;
        int64_t begun, took_ms;

        pods_start(fixture, &pod);
        check(cases[i].name, pods_phase(fixture, uid, POD_RUNNING, LIMIT_MS));
        check("the trap is set", pods_printed(fixture, uid, "pid=", LIMIT_MS));
        begun = loop_mono_ns(pods_loop(fixture));
        pods_runtime(fixture)->ops->stop(pods_runtime(fixture), uid, cases[i].grace_ms);
        status = pods_final(fixture, uid, LIMIT_MS);
        check(cases[i].name, status);
        took_ms = (loop_mono_ns(pods_loop(fixture)) - begun) / 1000000;
        check_int(cases[i].name, status->containers.items[0].exit_code, cases[i].code);
        check(cases[i].name, took_ms >= cases[i].at_least_ms);
        release(uid);
    }
}

/* These commands arrive while the shared shim forks the shim of the pod. */
static void commands_right_behind_a_start_are_not_lost(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    struct test_pod stopped = {"stopped", WITH_TEST_HOSTS, .main = {{.argv = {"sleep", "300"}}}};
    struct test_pod named = {
        "named", WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c",
                           "until grep -q j-7 ${VC_HOSTS_FILE:-/etc/hosts}; do "
                           "sleep 0.01; done"}}}};
    const struct pod_status *status;

    pods_start(fixture, &stopped);
    rt->ops->stop(rt, "stopped", 5000);
    pods_start(fixture, &named);
    rt->ops->set_hosts(rt, "named", "127.10.4.7 j-7\n");
    status = pods_final(fixture, "stopped", LIMIT_MS);
    check("stopped", status);
    check_int("phase", status->phase, POD_FAILED);
    check_int("once", pods_finals(fixture, "stopped"), 1);
    check("named", pods_final(fixture, "named", LIMIT_MS));
    release("stopped");
    release("named");
}

static void the_program_is_alone_in_its_sandbox(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "alone",
        WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c",
                           "set -- /proc/[0-9]*; echo $#; ls /proc/self/fd | tr '\\n' ' '; echo; "
                           "test -c /dev/null && "
                           "test -d /dev/shm && echo dev; id -u"}}},
    };
    scoped_str want = mem_printf("2\n0 1 2 3 \ndev\n%u\n", geteuid());

    if (is_plain())
        return;
    /* Prints the commands of processes 1 and 2: init and sh. */
    check_int("code", run(&pod, &log), 0);
    check_str("log", log, want);
    release("alone");
}

static void a_pod_with_files_for_root_is_root_in_its_sandbox(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "root",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c",
                           "id -u; stat -L -c %u /root /root/.ssh/id_rsa; cat /root/.ssh/id_rsa"},
                  .mounts = {{"ssh", "/root/.ssh", NULL, false}}}},
    };

    if (is_plain())
        return;
    check_int("code", run(&pod, &log), 0);
    check_str("log", log, "0\n0\n0\nprivate\n");
    release("root");
}

/* covers: see 6.3 */
static void each_container_has_a_termination_message_of_its_own(void **state)
{
    struct test_pod pod = {
        "message", WITH_TEST_HOSTS,
        .main = {
            {.argv = {"/bin/sh", "-c", "echo -n why > $VC_MOUNT_ROOT/dev/termination-log; exit 1"}},
            {.argv = {"/bin/sh", "-c", "echo -n how > $VC_MOUNT_ROOT/dev/termination-log"}},
            {.argv = {"/bin/sh", "-c", "true"}}}};
    const struct pod_status *status;

    pods_start(fixture, &pod);
    status = pods_final(fixture, "message", LIMIT_MS);
    check("ends", status);
    check_str("failed", status->containers.items[0].message, "why");
    check_str("succeeded", status->containers.items[1].message, "how");
    check("none", !status->containers.items[2].message);
    check_int("host", access("/dev/termination-log", F_OK), -1);
    release("message");
}

static void containers_of_a_pod_share_its_volumes_and_names(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "shared",
        "OnFailure",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .init =
            {{.argv =
                  {"/bin/sh", "-c",
                   "hostname > ${VC_MOUNT_ROOT}/fast/name; touch ${VC_MOUNT_ROOT}/data/x/first"},
              .mounts = {{"fast", "/fast", NULL, false}, {"data", "/data/x", NULL, false}}}},
        .main = {{.argv = {"/bin/sh", "-c",
                           "cd $VC_MOUNT_ROOT/fast; cat name; n=$(ls | wc -l); touch $n; echo run "
                           "$n; test $n -ge 3"},
                  .mounts = {{"fast", "/fast", NULL, false}}},
                 {.argv = {"/bin/sh", "-c", "test -e $VC_MOUNT_ROOT/data/x/first"},
                  .mounts = {{"data", "/data/x", NULL, false}}}},
    };
    const struct pod_status *status;

    pods_start(fixture, &pod);
    status = pods_final(fixture, "shared", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    check_int("restarts", status->containers.items[0].restart_count, 2);
    log = pods_log(fixture, "shared", "c1");
    check_has("log", log, "run 3\n");
    if (!is_plain())
        check_has("log", log, "j-0\n");
    release("shared");
}

static void a_failed_mount_is_reported(void **state)
{
    static const struct {
        const char *name;
        struct runtime_volume volume;
        struct volume_mount mount;
        const char *message;
    } cases[] = {
        {"no host path",
         {.name = "v", .kind = VOLUME_HOST_PATH, .host_path = "/no/such"},
         {"v", "/x", NULL, false},
         "/no/such"},
        {"in proc",
         {.name = "v", .kind = VOLUME_EMPTY_DIR},
         {"v", "/proc/x", NULL, false},
         "/proc/x"},
        {"dots in subPath",
         {.name = "v", .kind = VOLUME_EMPTY_DIR},
         {"v", "/x", "../../x", false},
         "subPath"},
        {"relative",
         {.name = "v", .kind = VOLUME_EMPTY_DIR},
         {"v", "x", NULL, false},
         "not absolute"},
    };

    if (is_plain())
        return;
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("bad-%zu", i);
        struct test_pod pod = {uid, .volumes = &cases[i].volume, .n_volumes = 1,
                               .main = {{.argv = {"true"}, .mounts = {cases[i].mount}}}};
        const struct pod_status *status;

        pods_start(fixture, &pod);
        status = pods_final(fixture, uid, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->containers.items[0].exit_code, 128);
        check_has(cases[i].name, status->containers.items[0].message, cases[i].message);
        release(uid);
    }
}

static void host_paths_show_the_files_of_the_host(void **state)
{
    scoped(shared) char *dir = shared_new();
    scoped_str file = mem_printf("%s/file", dir);
    struct runtime_volume volume[] = {
        {.name = "v", .kind = VOLUME_HOST_PATH, .host_path = dir},
        {.name = "r", .kind = VOLUME_HOST_PATH, .host_path = dir, .read_only = true}};
    struct test_pod pod = {
        "host-path",
        .volumes = volume,
        .n_volumes = 2,
        .main =
            {{.argv =
                  {"/bin/sh", "-c",
                   "cd $VC_MOUNT_ROOT/; echo x > mine/file; test -d mine/sub || mkdir mine/sub; "
                   "cat theirs/file; (echo y > theirs/no) 2>/dev/null || echo read-only"},
              .mounts = {{"v", "/mine", NULL, false}, {"r", "/theirs", NULL, false}}}},
    };
    scoped_str log = NULL;

    check_int("code", run(&pod, &log), 0);
    check_int("host", access(file, F_OK), 0);
    if (!is_plain())
        check_str("log", log, "x\nread-only\n");
    release("host-path");
}

/* covers: reliability.md SEC-20; see SEC-18 */
static void host_paths_stay_beneath_their_base(void **state)
{
    scoped_str dir = test_path("base");
    scoped_str script =
        mem_printf("mkdir %s && cd %s && mkdir -p allowed/in/real allowed/data/node other; "
                   "echo secret > other/file; ln -s ../other allowed/out; "
                   "ln -s /etc allowed/etc; ln -s real allowed/in/link; "
                   "echo x > allowed/in/real/f",
                   dir, dir);
    static const struct {
        const char *name, *path, *type;
        bool read_only;
        const char *says; /* part of the refusal; "" = the path is mounted */
    } cases[] = {
        {"itself, with the data directory in it", "allowed", NULL, false, "own data"},
        {"below", "allowed/in", "Directory", false, ""},
        {"a link that stays", "allowed/in/link", "Directory", false, ""},
        {"a file", "allowed/in/real/f", "File", false, ""},
        {"a link that leaves", "allowed/out", NULL, false, "leads out of"},
        {"a link that leaves, of a type", "allowed/out", "Directory", false, "leads out of"},
        {"made behind a link that leaves", "allowed/out/x/y", "DirectoryOrCreate", false,
         "leads out of"},
        {"an absolute link", "allowed/etc", NULL, false, "leads out of"},
        {"the data directory", "allowed/data", NULL, false, "own data"},
        {"in the data directory", "allowed/data/node", NULL, false, "own data"},
        {"made", "allowed/new/deep", "DirectoryOrCreate", false, ""},
        {"made, a file", "allowed/in/touched", "FileOrCreate", false, ""},
        {"made, a file nowhere", "allowed/no/file", "FileOrCreate", false, "No such file"},
        {"not made where nothing is written", "allowed/fresh", "DirectoryOrCreate", true,
         "No such file"},
        {"of another type", "allowed/in", "File", false, "is not a File"},
        {"no socket", "allowed/in/real/f", "Socket", false, "is not a Socket"},
        {"not there", "allowed/none", NULL, false, "No such file"},
    };
    scoped_str after = NULL;
    scoped_str found = NULL;
    scoped_str base = mem_printf("%s/allowed", dir);
    scoped_str keep = mem_printf("%s/allowed/data", dir);

    mem_free(host_shell(script));
    if (is_plain())
        return;
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("beneath-%zu", i);
        scoped_str path = mem_printf("%s/%s", dir, cases[i].path);
        struct runtime_volume volume = {.name = "v",
                                        .kind = VOLUME_HOST_PATH,
                                        .host_path = path,
                                        .host_base = base,
                                        .host_keep = keep,
                                        .host_type = cases[i].type,
                                        .read_only = cases[i].read_only};
        struct test_pod pod = {uid, .volumes = &volume, .n_volumes = 1,
                               .main = {{.argv = {"true"}, .mounts = {{"v", "/x", NULL, false}}}}};
        const struct pod_status *status;
        const char *said;

        pods_start(fixture, &pod);
        status = pods_final(fixture, uid, LIMIT_MS);
        check(cases[i].name, status);
        said = status->message ? status->message : status->containers.items[0].message;
        if (*cases[i].says)
            check_has(cases[i].name, said ? said : "it was mounted", cases[i].says);
        else
            check_str(cases[i].name, said ? said : "", "");
        release(uid);
    }
    after = mem_printf("ls %s/other; stat -c %%a %s/allowed/new/deep", dir, dir);
    found = host_shell(after);
    check_str("outside is as it was, and what was made is for all", found, "file\n755\n");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_at_their_mount_paths_and_nowhere_on_the_host),
        cmocka_unit_test(writes_to_a_layer_are_private),
        cmocka_unit_test(the_working_directory_is_that_of_the_host),
        cmocka_unit_test(a_volume_over_the_hosts_directory_starts_programs_at_the_root),
        cmocka_unit_test(names_come_from_a_hosts_file_that_can_be_replaced),
        cmocka_unit_test(exit_codes_pass_through_init),
        cmocka_unit_test(stop_ends_everything_in_the_sandbox),
        cmocka_unit_test(commands_right_behind_a_start_are_not_lost),
        cmocka_unit_test(the_program_is_alone_in_its_sandbox),
        cmocka_unit_test(a_pod_with_files_for_root_is_root_in_its_sandbox),
        cmocka_unit_test(each_container_has_a_termination_message_of_its_own),
        cmocka_unit_test(containers_of_a_pod_share_its_volumes_and_names),
        cmocka_unit_test(a_failed_mount_is_reported),
        cmocka_unit_test(host_paths_show_the_files_of_the_host),
        cmocka_unit_test(host_paths_stay_beneath_their_base),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return sandboxed_pods_main(argc, argv, tests, countof(tests), NULL);
}
