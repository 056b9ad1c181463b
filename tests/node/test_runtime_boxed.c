/*
 * Boxed pods with real processes, at every level of isolation that works for whoever runs this.
 */
#include "tests/unit.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "node/shim/entry.h"
#include "tests/support/pods.h"

enum { LIMIT_MS = 30000 };

static const char *level;
static struct bed *bed;
static char *data_dir;

/* A directory of the host that pods reach and may write to, whoever they are; owned. */
static char *shared_new(void)
{
    char *dir = mem_strdup("/tmp/jobflow-boxed-XXXXXX");

    check("directory", mkdtemp(dir) && chmod(dir, 0777) == 0);
    return dir;
}

static void shared_free(char *dir)
{
    if (dir)
        file_remove_tree(AT_FDCWD, dir, NULL);
    mem_free(dir);
}
SCOPED_DEFINE_PTR(shared, char *, shared_free)

static bool is_plain(void)
{
    return !strcmp(level, "plain");
}

static int set_up(void **state)
{
    scoped_str name = mem_printf("boxed-%s", level);
    struct runtime_host_options options = {.isolation = level, .restart_backoff_ms = 20};

    data_dir = test_path(name);
    bed = bed_new(data_dir, &options);
    return 0;
}

static int tear_down(void **state)
{
    bed_free(bed);
    mem_free(data_dir);
    return 0;
}

static const struct runtime_file etc_files[] = {{"a.conf", "alpha\n", 6, 0644},
                                                {"deep/b.conf", "beta\n", 5, 0600}};
static const struct runtime_file ssh_files[] = {{"id_rsa", "private\n", 8, 0600}};
static const struct runtime_volume volumes[] = {
    {.name = "etc", .kind = VOLUME_FILES, .files = etc_files, .n_files = 2},
    {.name = "ssh", .kind = VOLUME_FILES, .memory = true, .files = ssh_files, .n_files = 1},
    {.name = "data", .kind = VOLUME_EMPTY_DIR},
    {.name = "fast", .kind = VOLUME_EMPTY_DIR, .memory = true, .size_bytes = 1 << 20},
};

#define THE_VOLUMES .volumes = volumes, .n_volumes = countof(volumes)
#define THE_HOSTS                                                                                  \
    .hosts = "127.0.0.1 localhost\n127.10.4.2 j-0.j.default j-0\n", .hostname = "j-0",             \
    .ip = "127.10.4.2"

static int run(struct bed_pod *pod, char **out_log)
{
    const struct pod_status *status;

    bed_start(bed, pod);
    status = bed_final(bed, pod->uid, LIMIT_MS);
    check(pod->uid, status);
    if (out_log)
        *out_log = bed_log(bed, pod->uid, NULL);
    if (status->message)
        print_message("%s: %s: %s\n", pod->uid, status->reason, status->message);
    if (!status->containers.count || status->containers.items[0].state != CONTAINER_TERMINATED)
        return -1;
    if (status->containers.items[0].message)
        print_message("%s: %s\n", pod->uid, status->containers.items[0].message);
    return status->containers.items[0].exit_code;
}

static void release(const char *uid)
{
    bed_runtime(bed)->ops->release(bed_runtime(bed), uid);
}

/* What is in those directories of the host. */
static char *host_listing(void)
{
    return bed_host("ls -lA --time-style=full-iso /etc /root 2>&1; ls -A /");
}

/* covers: local-runtime.md LRT-01 LRT-02 LRT-13 */
static void volumes_are_where_the_pod_wants_them_and_nowhere_on_the_host(void **state)
{
    scoped_str before = host_listing();
    scoped_str after = NULL;
    scoped_str log = NULL;
    struct bed_pod pod = {
        "volumes",
        THE_VOLUMES,
        THE_HOSTS,
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
    struct bed_pod pod = {
        "private",
        THE_VOLUMES,
        THE_HOSTS,
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

static void the_working_directory_is_the_hosts_wherever_it_is(void **state)
{
    char cwd[4096];
    scoped_str log = NULL;
    struct bed_pod pod = {
        "cwd",
        THE_VOLUMES,
        THE_HOSTS,
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

/* covers: see 3.4 LRT-10 */
static void names_come_from_a_hosts_file_that_can_be_replaced(void **state)
{
    scoped_str log = NULL;
    struct bed_pod pod = {
        "hosts",
        THE_HOSTS,
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
    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "hosts", POD_RUNNING, LIMIT_MS));
    for (int i = 0; i < 20; i++) {
        bed_runtime(bed)->ops->set_hosts(bed_runtime(bed), "hosts",
                                         "127.0.0.1 localhost\n127.10.4.2 j-0\n");
        bed_run(bed, 5);
    }
    bed_runtime(bed)->ops->set_hosts(bed_runtime(bed), "hosts",
                                     "127.0.0.1 localhost\n127.10.4.9 j-9\n");
    check("ends", bed_final(bed, "hosts", LIMIT_MS));
    log = bed_log(bed, "hosts", NULL);
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
        struct bed_pod pod = {uid, THE_HOSTS};
        const struct pod_status *status;

        memcpy(pod.main[0].argv, cases[i].argv, sizeof cases[i].argv);
        bed_start(bed, &pod);
        status = bed_final(bed, uid, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->containers.items[0].exit_code, cases[i].code);
        check_int(cases[i].name, status->containers.items[0].signal, cases[i].signal);
        check_str(cases[i].name, status->containers.items[0].reason, cases[i].reason);
        release(uid);
    }
}

/* covers: local-runtime.md LRT-25 LRT-26 LRT-27 LRT-29; reliability.md INV-N3 */
static void stop_ends_everything_in_the_box(void **state)
{
    static const struct {
        const char *name, *script;
        int64_t grace_ms;
        int code;
        int64_t at_least_ms, at_most_ms;
    } cases[] = {
        {"handler", "trap 'exit 5' TERM; echo pid=$$; while :; do sleep 0.01; done", 5000, 5, 0,
         3000},
        {"no handler", "echo pid=$$; exec sleep 300", 5000, 143, 0, 3000},
        {"deaf",
         "trap '' TERM; setsid sh -c \"trap '' TERM; sleep 300\" & echo pid=$$; while :; do sleep "
         "0.05; done",
         400, 137, 390, 4000},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("stop-%zu", i);
        struct bed_pod pod = {uid, THE_HOSTS,
                              .main = {{.argv = {"/bin/sh", "-c", cases[i].script}}}};
        const struct pod_status *status;
        int64_t begun, took_ms;

        bed_start(bed, &pod);
        check(cases[i].name, bed_phase(bed, uid, POD_RUNNING, LIMIT_MS));
        bed_run(bed, 300);
        begun = loop_mono_ns(bed_loop(bed));
        bed_runtime(bed)->ops->stop(bed_runtime(bed), uid, cases[i].grace_ms);
        status = bed_final(bed, uid, LIMIT_MS);
        check(cases[i].name, status);
        took_ms = (loop_mono_ns(bed_loop(bed)) - begun) / 1000000;
        check_int(cases[i].name, status->containers.items[0].exit_code, cases[i].code);
        check(cases[i].name, took_ms >= cases[i].at_least_ms && took_ms <= cases[i].at_most_ms);
        release(uid);
    }
}

/* A boxed pod is on its way from the shared shim to its own when these orders are given. */
static void orders_right_behind_a_start_are_not_lost(void **state)
{
    struct runtime *rt = bed_runtime(bed);
    struct bed_pod stopped = {"stopped", THE_HOSTS, .main = {{.argv = {"sleep", "300"}}}};
    struct bed_pod named = {"named", THE_HOSTS,
                            .main = {{.argv = {"/bin/sh", "-c",
                                               "until grep -q j-7 ${VC_HOSTS_FILE:-/etc/hosts}; do "
                                               "sleep 0.01; done"}}}};
    const struct pod_status *status;

    bed_start(bed, &stopped);
    rt->ops->stop(rt, "stopped", 5000);
    bed_start(bed, &named);
    rt->ops->set_hosts(rt, "named", "127.10.4.7 j-7\n");
    status = bed_final(bed, "stopped", LIMIT_MS);
    check("stopped", status);
    check_int("phase", status->phase, POD_FAILED);
    check_int("once", bed_finals(bed, "stopped"), 1);
    check("named", bed_final(bed, "named", LIMIT_MS));
    release("stopped");
    release("named");
}

static void the_program_is_alone_in_its_box(void **state)
{
    scoped_str log = NULL;
    struct bed_pod pod = {
        "alone",
        THE_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c",
                           "set -- /proc/[0-9]*; echo $#; ls /proc/self/fd | tr '\\n' ' '; echo; "
                           "test -c /dev/null && "
                           "test -d /dev/shm && echo dev; id -u"}}},
    };
    scoped_str want = mem_printf("2\n0 1 2 3 \ndev\n%u\n", geteuid());

    if (is_plain())
        return;
    check_int("code", run(&pod, &log), 0); /* init, sh */
    check_str("log", log, want);
    release("alone");
}

static void a_pod_with_files_for_root_is_root_in_its_box(void **state)
{
    scoped_str log = NULL;
    struct bed_pod pod = {
        "root",
        THE_VOLUMES,
        THE_HOSTS,
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
static void a_termination_message_is_reported(void **state)
{
    struct bed_pod pod = {
        "message", THE_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c", "echo -n why > /dev/termination-log; exit 1"}}}};
    const struct pod_status *status;

    if (is_plain())
        return;
    bed_start(bed, &pod);
    status = bed_final(bed, "message", LIMIT_MS);
    check("ends", status);
    check_str("message", status->containers.items[0].message, "why");
    check_int("host", access("/dev/termination-log", F_OK), -1);
    release("message");
}

static void containers_of_a_pod_share_its_volumes_and_names(void **state)
{
    scoped_str log = NULL;
    struct bed_pod pod = {
        "shared",
        "OnFailure",
        THE_VOLUMES,
        THE_HOSTS,
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

    bed_start(bed, &pod);
    status = bed_final(bed, "shared", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    check_int("restarts", status->containers.items[0].restart_count, 2);
    log = bed_log(bed, "shared", "c1");
    check_has("log", log, "run 3\n");
    if (!is_plain())
        check_has("log", log, "j-0\n");
    release("shared");
}

static void what_cannot_be_mounted_is_told(void **state)
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
        struct bed_pod pod = {uid, .volumes = &cases[i].volume, .n_volumes = 1,
                              .main = {{.argv = {"true"}, .mounts = {cases[i].mount}}}};
        const struct pod_status *status;

        bed_start(bed, &pod);
        status = bed_final(bed, uid, LIMIT_MS);
        check(cases[i].name, status);
        check_int(cases[i].name, status->containers.items[0].exit_code, 128);
        check_has(cases[i].name, status->containers.items[0].message, cases[i].message);
        release(uid);
    }
}

static void host_paths_are_the_hosts(void **state)
{
    scoped(shared) char *dir = shared_new();
    scoped_str file = mem_printf("%s/file", dir);
    struct runtime_volume volume[] = {
        {.name = "v", .kind = VOLUME_HOST_PATH, .host_path = dir},
        {.name = "r", .kind = VOLUME_HOST_PATH, .host_path = dir, .read_only = true}};
    struct bed_pod pod = {
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
        const char *says; /* "" = it is mounted */
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

    mem_free(bed_host(script));
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
        struct bed_pod pod = {uid, .volumes = &volume, .n_volumes = 1,
                              .main = {{.argv = {"true"}, .mounts = {{"v", "/x", NULL, false}}}}};
        const struct pod_status *status;
        const char *said;

        bed_start(bed, &pod);
        status = bed_final(bed, uid, LIMIT_MS);
        check(cases[i].name, status);
        said = status->message ? status->message : status->containers.items[0].message;
        if (*cases[i].says)
            check_has(cases[i].name, said ? said : "it was mounted", cases[i].says);
        else
            check_str(cases[i].name, said ? said : "", "");
        release(uid);
    }
    after = mem_printf("ls %s/other; stat -c %%a %s/allowed/new/deep", dir, dir);
    found = bed_host(after);
    check_str("outside is as it was, and what was made is for all", found, "file\n755\n");
}

/* ---- addresses: the test program is server and client, too ---- */

static int listen_mode(const char *family, const char *port, const char *name)
{
    bool v6 = !strcmp(family, "6");
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6,
                                .sin6_port = htons((uint16_t)strtol(port, NULL, 10))};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = any6.sin6_port};
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, v6 ? (struct sockaddr *)&any6 : (struct sockaddr *)&any4,
             v6 ? sizeof any6 : sizeof any4) ||
        listen(fd, 8)) {
        perror("bind");
        return 1;
    }
    getsockname(fd, (struct sockaddr *)&any4, &(socklen_t){sizeof any4});
    dprintf(STDOUT_FILENO, "port=%d\n", ntohs(any4.sin_port));
    for (;;) {
        struct sockaddr_in from = {0};
        socklen_t len = sizeof from;
        int peer = accept(fd, v6 ? NULL : (struct sockaddr *)&from, v6 ? NULL : &len);

        dprintf(peer, "%s to %s\n", name, v6 ? "-" : inet_ntoa(from.sin_addr));
        close(peer);
    }
}

/* As many processes as it gets; all of them wait. */
static int bomb_mode(void)
{
    int forked = 0;

    for (pid_t pid; forked < 3000 && (pid = fork()) >= 0; forked++)
        if (pid == 0)
            for (;;)
                pause();
    dprintf(STDOUT_FILENO, "forked=%d\n", forked);
    sleep(60);
    return 0;
}

/* 200 MiB, and then wait. */
static int eat_mode(void)
{
    enum { EATEN = 200 << 20, PAGE = 4096 };
    volatile char *food = malloc(EATEN); /* or the compiler would not eat at all */

    for (int i = 0; food && i < EATEN; i += PAGE)
        food[i] = 1;
    sleep(60);
    free((char *)food);
    return 0;
}

/* What the server at an address says, as far as it fits; "" when there is none. */
static void ask(const char *address, int port, char *out, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    ssize_t n = 0, all = 0;

    inet_pton(AF_INET, address, &to.sin_addr);
    for (int i = 0; i < 500 && !all; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            while ((n = read(fd, out + all, size - 1 - (size_t)all)) > 0)
                all += n;
        close(fd);
        if (!all)
            usleep(10000);
    }
    out[all] = 0;
}

static int ask_mode(const char *address, const char *port)
{
    char text[256];

    ask(address, (int)strtol(port, NULL, 10), text, sizeof text);
    printf("%s", text);
    return !*text;
}

/* covers: local-runtime.md LRT-04 LRT-06 LRT-09 */
static void pods_that_listen_on_the_same_declared_port_each_get_their_own(void **state)
{
    static const struct {
        const char *uid, *ip, *family;
    } rows[] = {{"listen-a", "127.10.4.2", "4"},
                {"listen-b", "127.10.4.3", "4"},
                {"listen-c", "127.10.4.4", "6"}};
    int port = 20000 + getpid() % 10000; /* so that runs side by side do not meet */
    scoped_str port_text = mem_printf("%d", port);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    scoped_str log = NULL;

    self[n > 0 ? n : 0] = 0;
    for (size_t i = 0; i < countof(rows); i++) {
        struct bed_pod pod = {
            rows[i].uid, .ip = rows[i].ip,
            .main = {
                {.argv = {self, "listen", rows[i].family, port_text, rows[i].uid}, .port = port},
                {.argv = {self, "ask", "127.0.0.1", port_text}}}};

        bed_start(bed, &pod);
    }
    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str own = NULL;
        char text[256];

        check(rows[i].uid, bed_phase(bed, rows[i].uid, POD_RUNNING, LIMIT_MS));
        ask(rows[i].ip, port, text, sizeof text);
        check_has(rows[i].uid, text, rows[i].uid);
        for (int tries = 0; tries < 300 && (!own || !*own); tries++) {
            mem_free(own);
            bed_run(bed, 20);
            own = bed_log(bed, rows[i].uid, "c1");
        }
        check_has("localhost is the own pod", own, rows[i].uid);
    }

    struct bed_pod caller = {"caller", .ip = "127.10.4.9",
                             .main = {{.argv = {self, "ask", "127.10.4.2", port_text}, .port = 1}}};

    check_int("caller", run(&caller, &log), 0);
    check_str("peers see who calls", log, "listen-a to 127.10.4.9\n");
    release("caller");
    for (size_t i = 0; i < countof(rows); i++) {
        bed_runtime(bed)->ops->stop(bed_runtime(bed), rows[i].uid, 0);
        check(rows[i].uid, bed_final(bed, rows[i].uid, LIMIT_MS));
        release(rows[i].uid);
    }
}

static long number_in_log(const char *uid, const char *name)
{
    for (int tries = 0; tries < 500; tries++) {
        scoped_str log = bed_log(bed, uid, NULL);
        long number = log ? bed_number(log, name) : -1;

        if (number >= 0)
            return number;
        bed_run(bed, 20);
    }
    return -1;
}

/* covers: local-runtime.md LRT-07 */
static void a_port_the_kernel_chooses_stays_shared(void **state)
{
    char self[4096], text[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int port;

    self[n > 0 ? n : 0] = 0;
    bed_start(bed, &(struct bed_pod){
                       "chosen", .ip = "127.10.4.2",
                       .main = {{.argv = {self, "listen", "4", "0", "chosen"}, .port = 8080}}});
    check("runs", bed_phase(bed, "chosen", POD_RUNNING, LIMIT_MS));
    port = (int)number_in_log("chosen", "port");
    check("port", port > 0);
    ask("127.0.0.1", port, text, sizeof text);
    check_has("at the host's address", text, "chosen");
    ask("127.10.4.2", port, text, sizeof text);
    check_has("at the pod's", text, "chosen");
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "chosen", 0);
    check("ends", bed_final(bed, "chosen", LIMIT_MS));
    release("chosen");
}

static void a_port_that_was_not_declared_and_is_taken_is_told(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const struct pod_status *status;
    scoped_str port = NULL;
    scoped_str says = NULL;
    int number;

    self[n > 0 ? n : 0] = 0;
    bed_start(bed, &(struct bed_pod){
                       "holder", .ip = "127.10.4.2",
                       .main = {{.argv = {self, "listen", "4", "0", "holder"}, .port = 1}}});
    check("runs", bed_phase(bed, "holder", POD_RUNNING, LIMIT_MS));
    number = (int)number_in_log("holder", "port");
    port = mem_printf("%d", number);
    says = mem_printf("port %d was in use on this machine; declare it as containerPort %d", number,
                      number);
    bed_start(bed, &(struct bed_pod){
                       "loser", .ip = "127.10.4.3",
                       .main = {{.argv = {self, "listen", "4", port, "loser"}, .port = 1}}});
    status = bed_final(bed, "loser", LIMIT_MS);
    check("ends", status);
    check_str("reason", status->containers.items[0].reason, "PortConflict");
    check_has("why, and the way out", status->containers.items[0].message, says);
    release("loser");
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "holder", 0);
    check("ends", bed_final(bed, "holder", LIMIT_MS));
    release("holder");
}

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

    bed_start(bed,
              &(struct bed_pod){"reader", .hostname = "r", .hosts = "127.0.0.1 localhost\n# end\n",
                                .main = {{.argv = {"/bin/sh", "-c", script}}}});
    check("runs", bed_phase(bed, "reader", POD_RUNNING, LIMIT_MS));
    for (int i = 0; i < 300; i++) {
        scoped(buf) struct buf text = {0};

        buf_str(&text, "127.0.0.1 localhost\n");
        for (int line = 0; line < i % 100 * 10; line++)
            buf_printf(&text, "127.10.4.%d replica-%d\n", line % 250, line);
        buf_str(&text, "# end\n");
        bed_runtime(bed)->ops->set_hosts(bed_runtime(bed), "reader", text.data);
        bed_run(bed, 1);
    }
    bed_runtime(bed)->ops->set_hosts(bed_runtime(bed), "reader", "# stop\n# end\n");
    status = bed_final(bed, "reader", LIMIT_MS);
    check("ends", status);
    log = bed_log(bed, "reader", NULL);
    check_int(log, status->containers.items[0].exit_code, 0);
    check("it looked often", bed_number(log, "good") >= 10);
    release("reader");
}

/* covers: local-runtime.md LRT-42 */
static void too_much_memory_is_told_as_such(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct bed_pod pod = {"hog", THE_HOSTS,
                          .main = {{.argv = {self, "eat"}, .memory_limit = "60Mi"}}};
    const struct pod_status *status;

    self[n > 0 ? n : 0] = 0;
    bed_start(bed, &pod);
    status = bed_final(bed, "hog", LIMIT_MS);
    check("ends", status);
    check_int("code", status->containers.items[0].exit_code, 137);
    check_str("reason", status->containers.items[0].reason, "OOMKilled");
    release("hog");
}

/* covers: local-runtime.md LRT-43 */
static void processes_without_end_end_with_the_pods_share(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct bed_pod bomb = {"bomb", THE_HOSTS,
                           .main = {{.argv = {self, "bomb"}, .memory_limit = "1Gi"}}};
    struct bed_pod good = {"neighbour", THE_VOLUMES,
                           .main = {{.argv = {"/bin/sh", "-c", "for i in 1 2 3; do true; done"}}}};
    scoped_str log = NULL;
    long forked;

    if (is_plain() && !geteuid()) {
        print_message("skipped: root's processes are bounded by control groups only\n");
        return;
    }
    self[n > 0 ? n : 0] = 0;
    bed_start(bed, &bomb);
    check("runs", bed_phase(bed, "bomb", POD_RUNNING, LIMIT_MS));
    check_int("a neighbour is unharmed", run(&good, NULL), 0);
    release("neighbour");
    forked = number_in_log("bomb", "forked");
    check("it got some", forked > 100);
    check("and no more", forked <= 1024);
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "bomb", 0);
    check("ends", bed_final(bed, "bomb", LIMIT_MS));
    release("bomb");
}

static void a_volume_that_outgrows_its_limit_ends_the_pod(void **state)
{
    static const struct runtime_volume small[] = {
        {.name = "small", .kind = VOLUME_EMPTY_DIR, .size_bytes = 1 << 20},
        {.name = "fast", .kind = VOLUME_EMPTY_DIR, .memory = true, .size_bytes = 1 << 20}};
    struct bed_pod pod = {
        "glutton",
        .volumes = small,
        .n_volumes = countof(small),
        .main = {{.argv = {"/bin/sh", "-c",
                           "cd $VC_MOUNT_ROOT/; head -c 3000000 /dev/zero > fast/x && echo fits;"
                           "mkdir small/deep; head -c 3000000 /dev/zero > small/deep/x; sleep 300"},
                  .mounts = {{"small", "/small", NULL, false}, {"fast", "/fast", NULL, false}}}},
    };
    const struct pod_status *status;
    scoped_str log = NULL;

    bed_start(bed, &pod);
    status = bed_final(bed, "glutton", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_str("reason", status->reason, "Evicted");
    check_has("which", status->message, "EmptyDir volume \"small\" exceeds the limit");
    log = bed_log(bed, "glutton", NULL);
    check_int("memory is bounded by the kernel", strstr(log, "fits") != NULL, is_plain());
    release("glutton");
}

static void a_program_that_closes_its_output_goes_on(void **state)
{
    scoped_str log = NULL;
    struct bed_pod pod = {
        "mute", THE_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c", "echo before; exec >&- 2>&-; sleep 0.2; exit 6"}}}};

    check_int("its own end", run(&pod, &log), 6);
    check_str("log", log, "before\n");
    release("mute");
}

/* covers: local-runtime.md LRT-12 */
static void files_change_at_once_and_what_was_bound_from_within_does_not(void **state)
{
    static const struct runtime_file before[] = {
        {"a", "old\n", 4, 0644}, {"gone", "x\n", 2, 0644}, {"deep/b", "less\n", 5, 0644}};
    static const struct runtime_file after[] = {{"a", "new\n", 4, 0644},
                                                {"deep/b", "more\n", 5, 0644}};
    struct runtime_volume volume = {
        .name = "v", .kind = VOLUME_FILES, .files = before, .n_files = countof(before)};
    struct bed_pod pod = {
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

    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "follows", POD_RUNNING, LIMIT_MS));
    bed_run(bed, 50);
    bed_runtime(bed)->ops->set_files(bed_runtime(bed), "follows", 0, &volume); /* the same */
    volume.files = after;
    volume.n_files = countof(after);
    bed_runtime(bed)->ops->set_files(bed_runtime(bed), "follows", 0, &volume);
    status = bed_final(bed, "follows", LIMIT_MS);
    check("ends", status);
    log = bed_log(bed, "follows", NULL);
    check_int(log, status->containers.items[0].exit_code, 0);
    if (is_plain()) /* where a mount is a link */
        check_str("log", log, "new\nmore\nnew\nmore\na\ndeep\n");
    else
        check_str("log", log, "new\nmore\nold\nless\na\ndeep\n");
    release("follows");
}

static void life_with(void (*act)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        set_up(NULL);
        act();
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
}

static void start_some(void)
{
    for (int i = 0; i < 8; i++) {
        scoped_str uid = mem_printf("some-%d", i);
        scoped_str script = mem_printf("echo %d; sleep 1; exit %d", i, i);
        struct bed_pod pod = {uid, THE_VOLUMES, THE_HOSTS,
                              .main = {{.argv = {"/bin/sh", "-c", script}}}};

        bed_start(bed, &pod);
    }
    check("runs", bed_phase(bed, "some-7", POD_RUNNING, LIMIT_MS));
}

static void a_program_beside_a_container_sees_what_it_sees(void **state)
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
    struct bed_pod pod = {
        "beside",
        THE_VOLUMES,
        THE_HOSTS,
        .grace_s = 1,
        .main = {{.argv = {"/bin/sh", "-c", "exec sleep 300"},
                  .env = {{"WORD", "given"}},
                  .mounts = {{"etc", "/etc/volcano", NULL, false}}}},
    };

    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "beside", POD_RUNNING, LIMIT_MS));
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = NULL;

        check_int(cases[i].name, bed_exec(bed, "beside", cases[i].limit_ms, &text, cases[i].argv),
                  cases[i].code);
        check(cases[i].name, strstr(text, cases[i].text));
    }
    check_int("still runs", bed_finals(bed, "beside"), 0);
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "beside", 1000);
    check("ends", bed_final(bed, "beside", LIMIT_MS));
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

    bed_start(bed, &(struct bed_pod){
                       "hooks", .grace_s = 10,
                       .main = {{.argv = {"/bin/sh", "-c", script}, .lifecycle = lifecycle}}});
    check("runs", bed_phase(bed, "hooks", POD_RUNNING, LIMIT_MS));
    check("read", file_read(path, 4096, &log, NULL));
    check_str("the hook is done before the container runs", log.data, "begin\nhook\n");
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "hooks", 10000);
    check("ends", bed_final(bed, "hooks", LIMIT_MS));
    buf_clear(&log);
    check("read", file_read(path, 4096, &log, NULL));
    check_str("order", log.data, "begin\nhook\nstop\nterm\n");
    release("hooks");
}

static void a_hook_that_fails_ends_its_container_and_one_that_hangs_has_the_grace(void **state)
{
    const struct pod_status *status;
    int64_t begun;

    bed_start(bed, &(struct bed_pod){
                       "bad-hook", .grace_s = 1,
                       .main = {{.argv = {"/bin/sleep", "300"},
                                 .lifecycle = "{'postStart':{'exec':{'command':['/bin/sh','-c',"
                                              "'echo no; exit 4']}}}"}}});
    status = bed_final(bed, "bad-hook", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    check_has("why", status->containers.items[0].message, "postStart hook failed with code 4: no");
    release("bad-hook");

    bed_start(bed,
              &(struct bed_pod){"slow-hook", .grace_s = 1,
                                .main = {{.argv = {"/bin/sleep", "300"},
                                          .lifecycle = "{'preStop':{'sleep':{'seconds':100}}}"}}});
    check("runs", bed_phase(bed, "slow-hook", POD_RUNNING, LIMIT_MS));
    begun = loop_mono_ns(bed_loop(bed));
    bed_runtime(bed)->ops->stop(bed_runtime(bed), "slow-hook", 500);
    check("ends", bed_final(bed, "slow-hook", LIMIT_MS));
    check("after the grace", loop_mono_ns(bed_loop(bed)) - begun >= 490 * 1000000LL);
    check("and not much later", loop_mono_ns(bed_loop(bed)) - begun < 10 * 1000000000LL);
    release("slow-hook");
}

static void a_container_is_ended_alone_and_runs_again(void **state)
{
    struct runtime *rt = bed_runtime(bed);
    const struct pod_status *status;

    bed_start(bed,
              &(struct bed_pod){"again", "OnFailure", .grace_s = 1,
                                .main = {{.argv = {"/bin/sh", "-c", "exec sleep 300"},
                                          .lifecycle = "{'preStop':{'exec':{'command':['true']}}}"},
                                         {.argv = {"/bin/sh", "-c", "exec sleep 300"}}}});
    check("runs", bed_phase(bed, "again", POD_RUNNING, LIMIT_MS));
    rt->ops->kill(rt, "again", 0, 1000, "it was told to");
    for (int i = 0; i < 500; i++) {
        status = bed_phase(bed, "again", POD_RUNNING, LIMIT_MS);
        check("runs", status);
        if (status->containers.items[0].restart_count == 1 && status->ready)
            break;
        bed_run(bed, 10);
    }
    check_int("restarts", status->containers.items[0].restart_count, 1);
    check_int("by TERM", status->containers.items[0].last_exit_code, 143);
    check_int("the other goes on", status->containers.items[1].restart_count, 0);
    rt->ops->stop(rt, "again", 1000);
    check("ends", bed_final(bed, "again", LIMIT_MS));
    release("again");
}

/* covers: local-runtime.md LRT-30 LRT-31; reliability.md P-08 */
static void boxed_pods_outlive_the_node(void **state)
{
    tear_down(NULL);
    life_with(start_some);
    set_up(NULL);
    for (int i = 0; i < 8; i++) {
        scoped_str uid = mem_printf("some-%d", i);
        const struct pod_status *status;

        check(uid, bed_found(bed, uid));
        status = bed_final(bed, uid, LIMIT_MS);
        check(uid, status);
        check_int(uid, status->containers.items[0].exit_code, i);
        check_int(uid, bed_finals(bed, uid), 1);
        release(uid);
    }
}

/* covers: local-runtime.md LRT-32; reliability.md P-09 INV-N3 */
static void a_killed_shim_takes_its_pod_with_it_and_no_other(void **state)
{
    struct bed_pod pod = {
        "victim", THE_HOSTS,
        .main = {{.argv = {"/bin/sh", "-c", "setsid sleep 87654 & sleep 87654"}}}};
    struct bed_pod other = {"other", THE_HOSTS,
                            .main = {{.argv = {"/bin/sh", "-c", "sleep 1.5; exit 6"}}}};
    scoped_str place = mem_printf("%s/node/shims/victim", data_dir);
    scoped_str left = NULL;
    const struct pod_status *status;
    int pids[64];
    size_t n;

    bed_start(bed, &other);
    bed_start(bed, &pod);
    check("runs", bed_phase(bed, "victim", POD_RUNNING, LIMIT_MS));
    n = bed_shims(data_dir, pids, countof(pids));
    for (size_t i = 0; i < n; i++) {
        scoped_str fd = mem_printf("/proc/%d/fd/%d", pids[i], SHIM_FD_DIR);
        char target[512];
        ssize_t len = readlink(fd, target, sizeof target - 1);

        target[len > 0 ? len : 0] = 0;
        if (!strcmp(target, place))
            kill(pids[i], SIGKILL);
    }
    status = bed_final(bed, "victim", LIMIT_MS);
    check("told", status);
    check_str("reason", status->reason, "SupervisorLost");
    check_int("code", status->containers.items[0].exit_code, 137);
    bed_run(bed, 300);
    left = bed_host("pgrep -f '[s]leep 87654'");
    check_str("processes", left, "");
    release("victim");
    check_int("the other", bed_final(bed, "other", LIMIT_MS)->containers.items[0].exit_code, 6);
    release("other");
}

/* covers: local-runtime.md LRT-44; reliability.md INV-N3 P-10 */
static void nothing_is_left_of_pods_that_were_released(void **state)
{
    scoped_str script = mem_printf("ls %s/node/shims | grep -v pool; grep %s /proc/self/mounts; "
                                   "find /sys/fs/cgroup -name 'jobflow-hog*'",
                                   data_dir, data_dir);
    scoped_str left = NULL;
    int pids[64];
    size_t n = 0;

    for (int i = 0; i < 300; i++) {
        n = bed_shims(data_dir, pids, countof(pids));
        if (n <= 1)
            break;
        bed_run(bed, 20);
    }
    check("shims", n <= 1);
    bed_run(bed, 100);
    left = bed_host(script);
    check_str("directories and mounts", left, "");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_where_the_pod_wants_them_and_nowhere_on_the_host),
        cmocka_unit_test(writes_to_a_layer_are_private),
        cmocka_unit_test(the_working_directory_is_the_hosts_wherever_it_is),
        cmocka_unit_test(names_come_from_a_hosts_file_that_can_be_replaced),
        cmocka_unit_test(exit_codes_pass_through_init),
        cmocka_unit_test(stop_ends_everything_in_the_box),
        cmocka_unit_test(orders_right_behind_a_start_are_not_lost),
        cmocka_unit_test(the_program_is_alone_in_its_box),
        cmocka_unit_test(a_pod_with_files_for_root_is_root_in_its_box),
        cmocka_unit_test(a_termination_message_is_reported),
        cmocka_unit_test(containers_of_a_pod_share_its_volumes_and_names),
        cmocka_unit_test(what_cannot_be_mounted_is_told),
        cmocka_unit_test(host_paths_are_the_hosts),
        cmocka_unit_test(host_paths_stay_beneath_their_base),
        cmocka_unit_test(pods_that_listen_on_the_same_declared_port_each_get_their_own),
        cmocka_unit_test(a_port_the_kernel_chooses_stays_shared),
        cmocka_unit_test(a_port_that_was_not_declared_and_is_taken_is_told),
        cmocka_unit_test(a_reader_never_sees_half_a_hosts_file),
        cmocka_unit_test(too_much_memory_is_told_as_such),
        cmocka_unit_test(processes_without_end_end_with_the_pods_share),
        cmocka_unit_test(a_volume_that_outgrows_its_limit_ends_the_pod),
        cmocka_unit_test(a_program_that_closes_its_output_goes_on),
        cmocka_unit_test(files_change_at_once_and_what_was_bound_from_within_does_not),
        cmocka_unit_test(a_program_beside_a_container_sees_what_it_sees),
        cmocka_unit_test(hooks_run_at_the_start_and_before_the_end),
        cmocka_unit_test(a_hook_that_fails_ends_its_container_and_one_that_hangs_has_the_grace),
        cmocka_unit_test(a_container_is_ended_alone_and_runs_again),
        cmocka_unit_test(boxed_pods_outlive_the_node),
        cmocka_unit_test(a_killed_shim_takes_its_pod_with_it_and_no_other),
        cmocka_unit_test(nothing_is_left_of_pods_that_were_released),
    };
    static const char *const levels[] = {"full", "mounts", "user", "plain"};
    int code = runtime_shim_main(argc, argv), failed = 0;

    if (code >= 0)
        return code;
    if (argc == 5 && !strcmp(argv[1], "listen"))
        return listen_mode(argv[2], argv[3], argv[4]);
    if (argc == 4 && !strcmp(argv[1], "ask"))
        return ask_mode(argv[2], argv[3]);
    if (argc == 2 && !strcmp(argv[1], "bomb"))
        return bomb_mode();
    if (argc == 2 && !strcmp(argv[1], "eat"))
        return eat_mode();
    for (size_t i = 0; i < countof(levels); i++) {
        struct error err = {0};

        level = levels[i];
        if (bed_level_works(level, &err))
            failed += cmocka_run_group_tests_name(level, tests, set_up, tear_down);
        else
            print_message("skipped: %s\n", err.message);
    }
    return failed;
}
