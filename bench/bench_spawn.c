/*
 * Pods per second: the runtime against a bare posix_spawn loop in the same run, in turns, so that
 * only the ratio is to be believed. One JSON line per measurement:
 *
 *   bench_spawn [pods] [rounds]
 *
 * spawn: posix_spawn + waitid. bare: runtime, cheap pods. boxed: runtime, private root and four
 * volumes. All with as many in flight as `flight` says; what is started is /bin/true.
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/runtime.h"

struct bench {
    struct loop *loop;
    struct runtime *rt;
    struct task adopted;
    bool boxed, ready;
    int total, started, finished, failed, flight;
};

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

static void print(const char *what, int flight, int pods, int64_t ns, double cpu_us)
{
    printf("{\"bench\":\"spawn\",\"what\":\"%s\",\"flight\":%d,\"pods\":%d,\"per_s\":%.0f,"
           "\"us_per_pod\":%.1f,\"own_cpu_us_per_pod\":%.1f}\n",
           what, flight, pods, pods * 1e9 / (double)ns, (double)ns / 1e3 / pods, cpu_us / pods);
    fflush(stdout);
}

static void spawn_loop(int total, int flight)
{
    char *const argv[] = {(char[]){"/bin/true"}, NULL};
    int64_t begun = now_ns();
    double cpu = own_cpu_us();
    siginfo_t info;

    for (int started = 0, done = 0; done < total; done++) {
        for (; started < total && started - done < flight; started++) {
            pid_t pid;

            if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ))
                abort();
        }
        if (waitid(P_ALL, 0, &info, WEXITED))
            abort();
    }
    print("spawn", flight, total, now_ns() - begun, own_cpu_us() - cpu);
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
    char uid[CLOCK_UUID_LEN + 1];

    container.mounts.items = mounts;
    container.mounts.count = bench->boxed ? countof(mounts) : 0;
    clock_uuid(clock_real(), uid);
    bench->started++;
    bench->rt->ops->start(bench->rt, &(struct runtime_pod){
                                         .uid = uid,
                                         .ns = "default",
                                         .name = "pod",
                                         .spec = &spec,
                                         .hostname = "pod",
                                         .pod_ip = "127.10.4.1",
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
    print(bench->boxed ? "boxed" : "bare", bench->flight, total, now_ns() - begun,
          own_cpu_us() - cpu);
}

int main(int argc, char **argv)
{
    int code = runtime_shim_main(argc, argv);

    if (code >= 0)
        return code;

    int total = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2000;
    int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
    char dir[] = "/tmp/bench_spawn.XXXXXX";
    struct bench bench = {.loop = loop_new(clock_real()), .adopted = {.run = on_adopted}};
    struct error err = {0};

    if (!mkdtemp(dir))
        return 1;
    bench.rt = runtime_host_new(bench.loop, &(struct runtime_host_options){.directory = dir},
                                on_report, &bench, &err);
    if (!bench.rt) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    bench.rt->ops->adopt(bench.rt, on_found, &bench.adopted);
    while (!bench.ready)
        loop_run(bench.loop);
    printf("{\"bench\":\"spawn\",\"level\":\"%s\"}\n", bench.rt->ops->describe(bench.rt));
    bench.flight = 1;
    pods(&bench, 1); /* the supervisor is up */
    for (int round = 0; round < rounds; round++)
        for (bench.flight = 1; bench.flight <= 4; bench.flight *= 2) {
            spawn_loop(total, bench.flight);
            bench.boxed = false;
            pods(&bench, total);
            bench.boxed = true;
            pods(&bench, total / 10 ? total / 10 : 1);
        }
    bench.rt->ops->free(bench.rt);
    loop_settle(bench.loop);
    loop_free(bench.loop);
    file_remove_tree(-100 /* AT_FDCWD */, dir, NULL);
    return bench.failed > 0;
}
