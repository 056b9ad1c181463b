/*
 * Pods per second by ways and levels: the runtime against a posix_spawn loop in the same run, in
 * turns, so that only the ratio is to be believed. One JSON line per measurement, and at the end a
 * table of the best of each:
 *
 *   bench_spawn [pods] [rounds] [level]      that level alone
 *
 * spawn: posix_spawn + waitid. logged: the same with a log file for each. bare: runtime, cheap
 * pods. boxed: runtime, a private root as the level has it, four volumes, names, an address. All
 * with as many in flight as `flight` says; what is started is /bin/true.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/runtime.h"

enum { FLIGHT_MAX = 4, WAYS_MAX = 16 };

struct bench {
    struct loop *loop;
    struct runtime *rt;
    struct task adopted;
    const char *way;
    bool boxed, ready;
    int total, started, finished, failed, flight, serial;
};

/* The best of each way, for the table. */
static struct best {
    char way[32];
    double per_s[FLIGHT_MAX + 1];
} bests[WAYS_MAX];

static int64_t now_ns(void)
{
    return clock_mono_ns(clock_real());
}

static double own_cpu_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void keep_best(const char *way, int flight, double per_s)
{
    for (size_t i = 0; i < countof(bests); i++) {
        struct best *best = &bests[i];

        if (*best->way && strcmp(best->way, way) != 0)
            continue;
        snprintf(best->way, sizeof best->way, "%s", way);
        if (per_s > best->per_s[flight])
            best->per_s[flight] = per_s;
        return;
    }
}

/* Times are against `logged`, which does what a pod does at least: start, log, reap. */
static void print_table(void)
{
    const struct best *logged = &bests[1];

    printf("%-22s %10s %8s %10s %8s\n", "way", "pods/s", "time", "pods/s x4", "time");
    for (size_t i = 0; i < countof(bests) && *bests[i].way; i++)
        if (bests[i].per_s[1] > 0)
            printf("%-22s %10.0f %7.2fx %10.0f %7.2fx\n", bests[i].way, bests[i].per_s[1],
                   logged->per_s[1] / bests[i].per_s[1], bests[i].per_s[FLIGHT_MAX],
                   logged->per_s[FLIGHT_MAX] / bests[i].per_s[FLIGHT_MAX]);
}

static void print(const char *what, int flight, int pods, int64_t ns, double cpu_us)
{
    keep_best(what, flight, pods * 1e9 / (double)ns);
    printf("{\"bench\":\"spawn\",\"what\":\"%s\",\"flight\":%d,\"pods\":%d,\"per_s\":%.0f,"
           "\"us_per_pod\":%.1f,\"own_cpu_us_per_pod\":%.1f}\n",
           what, flight, pods, pods * 1e9 / (double)ns, (double)ns / 1e3 / pods, cpu_us / pods);
    fflush(stdout);
}

static pid_t spawn_one(const char *log_path)
{
    char *const argv[] = {(char[]){"/bin/true"}, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    if (log_path)
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log_path,
                                         O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (posix_spawn(&pid, argv[0], &files, NULL, argv, environ))
        abort();
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

static void spawn_loop(const char *dir, int total, int flight)
{
    int64_t begun = now_ns();
    double cpu = own_cpu_us();
    siginfo_t info;

    for (int started = 0, done = 0; done < total; done++) {
        for (; started < total && started - done < flight; started++) {
            scoped_str log = dir ? mem_printf("%s/%d.log", dir, started) : NULL;

            spawn_one(log);
        }
        if (waitid(P_ALL, 0, &info, WEXITED))
            abort();
    }
    print(dir ? "logged" : "spawn", flight, total, now_ns() - begun, own_cpu_us() - cpu);
}

static void start_one(struct bench *bench)
{
    static const char *const argv[] = {"/bin/true"};
    static const struct runtime_file files[] = {{"key", "value", 5, 0644}};
    static const struct runtime_volume volumes[] = {
        {.name = "a", .kind = VOLUME_FILES, .files = files, .n_files = 1},
        {.name = "b", .kind = VOLUME_FILES, .files = files, .n_files = 1},
        {.name = "c", .kind = VOLUME_EMPTY_DIR},
        {.name = "d", .kind = VOLUME_EMPTY_DIR, .memory = true},
    };
    static struct volume_mount mounts[] = {{"a", "/etc/volcano", NULL, true},
                                           {"b", "/root/.ssh", NULL, true},
                                           {"c", "/data/x/y", NULL, false},
                                           {"d", "/scratch", NULL, false}};
    static struct pod_container container = {.name = "main"};
    static const struct pod_spec spec = {.restart_policy = "Never"};
    const struct runtime_container main_container = {.spec = &container, .argv = argv, .n_argv = 1};
    char uid[CLOCK_UUID_LEN + 1], ip[32];

    container.mounts.items = mounts;
    container.mounts.count = bench->boxed ? countof(mounts) : 0;
    clock_uuid(clock_real(), uid);
    /* of the private network, where each has its own; elsewhere any address will do */
    snprintf(ip, sizeof ip, "10.127.%d.%d", 4 + bench->serial / 250 % 250, 1 + bench->serial % 250);
    bench->serial++;
    bench->started++;
    bench->rt->ops->start(bench->rt, &(struct runtime_pod){
                                         .uid = uid,
                                         .ns = "default",
                                         .name = "pod",
                                         .spec = &spec,
                                         .hostname = "pod",
                                         .pod_ip = ip,
                                         .hosts = bench->boxed ? "127.0.0.1 localhost\n" : NULL,
                                         .containers = &main_container,
                                         .n_containers = 1,
                                         .volumes = volumes,
                                         .n_volumes = bench->boxed ? countof(volumes) : 0,
                                     });
}

static void on_report(void *ctx, const struct runtime_report *report)
{
    struct bench *bench = ctx;

    if (!report->final)
        return;
    if (report->status.phase != POD_SUCCEEDED && !bench->failed++)
        fprintf(stderr, "pod failed: %s %s\n", report->status.reason ? report->status.reason : "",
                report->status.containers.count && report->status.containers.items[0].message
                    ? report->status.containers.items[0].message
                    : "");
    bench->rt->ops->release(bench->rt, report->uid);
    bench->rt->ops->purge(bench->rt, report->uid);
    bench->finished++;
    if (bench->started < bench->total)
        start_one(bench);
    else if (bench->finished == bench->total)
        loop_stop(bench->loop);
}

static void on_found(void *ctx, const char *uid)
{
}

static void on_adopted(struct task *task)
{
    struct bench *bench = container_of(task, struct bench, adopted);

    bench->ready = true;
    loop_stop(bench->loop);
}

static void pods(struct bench *bench, int total)
{
    int64_t begun = now_ns();
    double cpu = own_cpu_us();

    bench->total = total;
    bench->started = bench->finished = 0;
    while (bench->started < bench->flight && bench->started < total)
        start_one(bench);
    loop_run(bench->loop);
    print(bench->way, bench->flight, total, now_ns() - begun, own_cpu_us() - cpu);
}

static bool open_level(struct bench *bench, const char *dir, const char *level, const char *network)
{
    scoped_str own = mem_printf("%s/%s.%s", dir, level, network);
    const struct runtime_host_options options = {
        .directory = own, .isolation = level, .network = network};
    struct error err = {0};

    bench->ready = false;
    bench->rt = runtime_host_new(bench->loop, &options, on_report, bench, &err);
    if (!bench->rt) {
        printf("{\"bench\":\"spawn\",\"level\":\"%s\",\"skipped\":\"%s\"}\n", level, err.message);
        return false;
    }
    bench->rt->ops->adopt(bench->rt, on_found, &bench->adopted);
    while (!bench->ready)
        loop_run(bench->loop);
    bench->way = "first";
    bench->flight = 2;
    pods(bench, 1); /* the supervisor is up */
    return true;
}

static void close_level(struct bench *bench)
{
    bench->rt->ops->free(bench->rt);
    loop_settle(bench->loop);
}

static void measure(struct bench *bench, const char *dir, const char *level, const char *network,
                    int total)
{
    scoped_str boxed = mem_printf("boxed %s%s", level, strcmp(network, "shared") ? " private" : "");

    bench->boxed = true;
    if (!open_level(bench, dir, level, network))
        return;
    bench->way = boxed;
    for (bench->flight = 1; bench->flight <= FLIGHT_MAX; bench->flight *= FLIGHT_MAX)
        pods(bench, total / 10 ? total / 10 : 1);
    close_level(bench);
}

static void measure_bare(struct bench *bench, const char *dir, int total)
{
    bench->boxed = false;
    if (!open_level(bench, dir, "auto", "shared"))
        return;
    bench->way = "bare";
    for (bench->flight = 1; bench->flight <= FLIGHT_MAX; bench->flight *= FLIGHT_MAX)
        pods(bench, total);
    close_level(bench);
}

int main(int argc, char **argv)
{
    static const char *const levels[] = {"full", "mounts", "user", "plain"};
    int code = runtime_shim_main(argc, argv);

    if (code >= 0)
        return code;

    int total = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2000;
    int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
    const char *only = argc > 3 ? argv[3] : NULL;
    char dir[] = "/tmp/bench_spawn.XXXXXX";
    struct bench bench = {.loop = loop_new(clock_real()), .adopted = {.run = on_adopted}};

    if (!mkdtemp(dir))
        return 1;
    for (int round = 0; round < rounds; round++) {
        for (int flight = 1; flight <= FLIGHT_MAX; flight *= FLIGHT_MAX) {
            spawn_loop(NULL, total, flight);
            spawn_loop(dir, total, flight);
        }
        if (!only)
            measure_bare(&bench, dir, total);
        for (size_t i = 0; i < countof(levels); i++)
            if (!only || !strcmp(only, levels[i]))
                measure(&bench, dir, levels[i], "shared", total);
        if (!only)
            measure(&bench, dir, "auto", "private", total);
    }
    print_table();
    loop_free(bench.loop);
    file_remove_tree(AT_FDCWD, dir, NULL);
    return bench.failed > 0;
}
