/*
 * Tests changes to a sandboxed pod while it runs: new files and names, exec helpers, hooks, the end
 * of one container.
 */
#include <stdio.h>

#include "base/file.h"
#include "tests/support/sandboxed_pods.h"

/* covers: local-runtime.md LRT-10 */
static void a_reader_never_sees_half_a_hosts_file(void **state)
{
    static const char script[] =
        "f=${VC_HOSTS_FILE:-/etc/hosts}; n=0;"
        "while ! grep -q stop $f; do"
        "  test \"$(tail -n 1 $f)\" = '# end' || { echo torn; exit 1; }; n=$((n+1)); done;"
        "echo good=$n";
    scoped_str log = NULL;
    const struct pod_status *status;

    pods_start(fixture, &(struct test_pod){"reader", .hostname = "r",
                                           .hosts = "127.0.0.1 localhost\n# end\n",
                                           .main = {{.argv = {"/bin/sh", "-c", script}}}});
    check("runs", pods_phase(fixture, "reader", POD_RUNNING, LIMIT_MS));
    for (int i = 0; i < 300; i++) {
        scoped(buf) struct buf text = {0};

        buf_str(&text, "127.0.0.1 localhost\n");
        for (int line = 0; line < i % 100 * 10; line++)
            buf_printf(&text, "127.10.4.%d replica-%d\n", line % 250, line);
        buf_str(&text, "# end\n");
        pods_runtime(fixture)->ops->set_hosts(pods_runtime(fixture), "reader", text.data);
        pods_run(fixture, 1);
    }
    pods_runtime(fixture)->ops->set_hosts(pods_runtime(fixture), "reader", "# stop\n# end\n");
    status = pods_final(fixture, "reader", LIMIT_MS);
    check("ends", status);
    log = pods_log(fixture, "reader", NULL);
    check_int(log, status->containers.items[0].exit_code, 0);
    check("it looked often", number_in_text(log, "good") >= 10);
    release("reader");
}

/* covers: local-runtime.md LRT-12 */
static void files_change_at_once_and_subpath_mounts_do_not(void **state)
{
    static const struct runtime_file before[] = {
        {"a", "old\n", 4, 0644}, {"gone", "x\n", 2, 0644}, {"deep/b", "less\n", 5, 0644}};
    static const struct runtime_file after[] = {{"a", "new\n", 4, 0644},
                                                {"deep/b", "more\n", 5, 0644}};
    struct runtime_volume volume = {
        .name = "v", .kind = VOLUME_FILES, .files = before, .n_files = countof(before)};
    struct test_pod pod = {
        "follows",
        .volumes = &volume,
        .n_volumes = 1,
        .main = {{.argv = {"/bin/sh", "-c",
                           "cd $VC_MOUNT_ROOT/; until grep -q new v/a; do"
                           " x=$(cat v/a) || exit 1; test \"$x\" = old -o \"$x\" = new || exit 2;"
                           " done; cat v/a v/deep/b one two/b; ls v"},
                  .mounts = {{"v", "/v", NULL, false},
                             {"v", "/one", "a", false},
                             {"v", "/two", "deep", false}}}},
    };
    const struct pod_status *status;
    scoped_str log = NULL;

    pods_start(fixture, &pod);
    check("runs", pods_phase(fixture, "follows", POD_RUNNING, LIMIT_MS));
    pods_run(fixture, 50);
    pods_runtime(fixture)->ops->set_files(pods_runtime(fixture), "follows", 0,
                                          &volume); /* the volume gets the same files once more */
    volume.files = after;
    volume.n_files = countof(after);
    pods_runtime(fixture)->ops->set_files(pods_runtime(fixture), "follows", 0, &volume);
    status = pods_final(fixture, "follows", LIMIT_MS);
    check("ends", status);
    log = pods_log(fixture, "follows", NULL);
    check_int(log, status->containers.items[0].exit_code, 0);
    if (is_plain()) /* at level plain a mount is a symbolic link */
        check_str("log", log, "new\nmore\nnew\nmore\na\ndeep\n");
    else
        check_str("log", log, "new\nmore\nold\nless\na\ndeep\n");
    release("follows");
}

static void an_exec_helper_sees_what_its_container_sees(void **state)
{
    static const struct {
        const char *name, *argv[4];
        int64_t limit_ms;
        int code;
        const char *text;
    } cases[] = {
        {"files", {"/bin/sh", "-c", "cat $VC_MOUNT_ROOT/etc/volcano/a.conf"}, 5000, 0, "alpha\n"},
        {"environment", {"/bin/sh", "-c", "echo $WORD >&2; exit 3"}, 5000, 3, "given\n"},
        {"signal", {"/bin/sh", "-c", "kill -9 $$"}, 5000, 137, ""},
        {"nothing of that name", {"no-such-program"}, 5000, 127, "executable file not found"},
        {"late", {"/bin/sh", "-c", "sleep 100 & wait"}, 100, 124, "not done within 100 ms"},
        {"much output", {"/bin/sh", "-c", "yes | head -c 300000"}, 5000, 0, "y\ny\n"},
    };
    struct test_pod pod = {
        "beside",
        WITH_TEST_VOLUMES,
        WITH_TEST_HOSTS,
        .grace_s = 1,
        .main = {{.argv = {"/bin/sh", "-c", "exec sleep 300"},
                  .env = {{"WORD", "given"}},
                  .mounts = {{"etc", "/etc/volcano", NULL, false}}}},
    };

    pods_start(fixture, &pod);
    check("runs", pods_phase(fixture, "beside", POD_RUNNING, LIMIT_MS));
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = NULL;

        check_int(cases[i].name,
                  pods_exec(fixture, "beside", cases[i].limit_ms, &text, cases[i].argv),
                  cases[i].code);
        check(cases[i].name, strstr(text, cases[i].text));
    }
    check_int("still runs", pods_finals(fixture, "beside"), 0);
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "beside", 1000);
    check("ends", pods_final(fixture, "beside", LIMIT_MS));
    release("beside");
}

static void hooks_run_at_the_start_and_before_the_end(void **state)
{
    scoped(shared) char *dir = shared_new();
    scoped_str path = mem_printf("%s/log", dir);
    scoped_str script = mem_printf("trap 'echo term >> %s; exit 0' TERM;"
                                   "echo begin >> %s; while :; do sleep 0.01; done",
                                   path, path);
    scoped_str lifecycle = mem_printf(
        "{'postStart':{'exec':{'command':['/bin/sh','-c','until test -s %s; do sleep 0.01; done;"
        " echo hook >> %s']}},'preStop':{'exec':{'command':['/bin/sh','-c','echo stop >> %s']}}}",
        path, path, path);
    scoped(buf) struct buf log = {0};

    pods_start(fixture, &(struct test_pod){
                            "hooks", .grace_s = 10,
                            .main = {{.argv = {"/bin/sh", "-c", script}, .lifecycle = lifecycle}}});
    check("runs", pods_phase(fixture, "hooks", POD_RUNNING, LIMIT_MS));
    check("read", file_read(path, 4096, &log, NULL));
    check_str("the hook is done before the container runs", log.data, "begin\nhook\n");
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "hooks", 10000);
    check("ends", pods_final(fixture, "hooks", LIMIT_MS));
    buf_clear(&log);
    check("read", file_read(path, 4096, &log, NULL));
    check_str("order", log.data, "begin\nhook\nstop\nterm\n");
    release("hooks");
}

static void a_hook_that_fails_ends_its_container_and_one_that_hangs_has_the_grace(void **state)
{
    const struct pod_status *status;
    int64_t begun;

    pods_start(
        fixture,
        &(struct test_pod){"bad-hook", .grace_s = 1,
                           .main = {{.argv = {"/bin/sleep", "300"},
                                     .lifecycle = "{'postStart':{'exec':{'command':['/bin/sh','-c',"
                                                  "'echo no; exit 4']}}}"}}});
    status = pods_final(fixture, "bad-hook", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_has("why", status->containers.items[0].message, "postStart hook failed with code 4: no");
    release("bad-hook");

    pods_start(fixture, &(struct test_pod){
                            "slow-hook", .grace_s = 1,
                            .main = {{.argv = {"/bin/sleep", "300"},
                                      .lifecycle = "{'preStop':{'sleep':{'seconds':100}}}"}}});
    check("runs", pods_phase(fixture, "slow-hook", POD_RUNNING, LIMIT_MS));
    begun = loop_mono_ns(pods_loop(fixture));
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), "slow-hook", 500);
    check("ends", pods_final(fixture, "slow-hook", LIMIT_MS));
    check("after the grace", loop_mono_ns(pods_loop(fixture)) - begun >= 490 * 1000000LL);
    check("and not much later", loop_mono_ns(pods_loop(fixture)) - begun < 10 * 1000000000LL);
    release("slow-hook");
}

static void a_container_is_ended_alone_and_runs_again(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    const struct pod_status *status;

    pods_start(fixture, &(struct test_pod){
                            "again", "OnFailure", .grace_s = 1,
                            .main = {{.argv = {"/bin/sh", "-c", "exec sleep 300"},
                                      .lifecycle = "{'preStop':{'exec':{'command':['true']}}}"},
                                     {.argv = {"/bin/sh", "-c", "exec sleep 300"}}}});
    check("runs", pods_phase(fixture, "again", POD_RUNNING, LIMIT_MS));
    rt->ops->kill_container(rt, "again", 0, LIMIT_MS, "it was told to");
    for (int i = 0; i < LIMIT_MS / 10; i++) {
        status = pods_phase(fixture, "again", POD_RUNNING, LIMIT_MS);
        check("runs", status);
        if (status->containers.items[0].restart_count == 1 && status->ready)
            break;
        pods_run(fixture, 10);
    }
    check_int("restarts", status->containers.items[0].restart_count, 1);
    check_int("by TERM", status->containers.items[0].last_exit_code, 143);
    check_int("the other goes on", status->containers.items[1].restart_count, 0);
    rt->ops->stop(rt, "again", 1000);
    check("ends", pods_final(fixture, "again", LIMIT_MS));
    release("again");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_never_sees_half_a_hosts_file),
        cmocka_unit_test(files_change_at_once_and_subpath_mounts_do_not),
        cmocka_unit_test(an_exec_helper_sees_what_its_container_sees),
        cmocka_unit_test(hooks_run_at_the_start_and_before_the_end),
        cmocka_unit_test(a_hook_that_fails_ends_its_container_and_one_that_hangs_has_the_grace),
        cmocka_unit_test(a_container_is_ended_alone_and_runs_again),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };

    return sandboxed_pods_main(argc, argv, tests, countof(tests), NULL);
}
