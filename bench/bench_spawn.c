/*
 * Measures a pod from its start in the runtime to its last report, by level of isolation. pods.py
 * runs it alternately with bench_floor, because only ratios measured at the same time are reliable.
 *
 *   bench_spawn LEVEL [volumes [pods [flight]]]       prints one JSON line
 *
 * LEVEL is one of
 *
 *   shared                      no isolation requested: the shared shim starts the pod
 *   plain, mounts, user, full   a pod with its own shim, host names and an address
 *   unfiltered                  full without a filter of system calls
 *   confined                    full in a confined namespace
 *   private                     the best level with the private network
 *
 * `volumes` is 0, or 4: two of files, an emptyDir on disk, one in memory. Each pod runs /bin/echo,
 * so each has a log; `flight` pods are in flight at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/runtime/runtime.h"
#include "node/shim/entry.h"

enum { VOLUMES = 4 };

struct bench {
    struct loop *loop;
    struct runtime *rt;
    struct task adopted;
    bool sandboxed, ready, confined, unfiltered;
    unsigned volumes;
    int total, started, finished, failed, flight, serial;
};

static void start_one(struct bench *bench)
{
    static const char *const argv[] = {"/bin/echo", "done"};
    static const struct runtime_file files[] = {{"key", "value", 5, 0644}};
    static const struct runtime_volume volumes[VOLUMES] = {
        {.name = "a", .kind = VOLUME_FILES, .files = files, .n_files = 1},
        {.name = "b", .kind = VOLUME_FILES, .files = files, .n_files = 1},
        {.name = "c", .kind = VOLUME_EMPTY_DIR},
        {.name = "d", .kind = VOLUME_EMPTY_DIR, .memory = true},
    };
    static struct volume_mount mounts[VOLUMES] = {{"a", "/etc/volcano", NULL, true},
                                                  {"b", "/root/.ssh", NULL, true},
                                                  {"c", "/data/x/y", NULL, false},
                                                  {"d", "/scratch", NULL, false}};
    static struct pod_container container = {.name = "main"};
    static const struct pod_spec spec = {.restart_policy = "Never"};
    const struct runtime_container main_container = {.spec = &container, .argv = argv, .n_argv = 2};
    char uid[CLOCK_UUID_LEN + 1], ip[32];

    container.mounts.items = mounts;
    container.mounts.count = bench->volumes;
    if (bench->unfiltered && !container.security_context)
        container.security_context = json_pack("{s:{s:s}}", "seccompProfile", "type", "Unconfined");
    clock_uuid(clock_real(), uid);
    /* Each pod has its own address of the private network; at other levels any address will do. */
    snprintf(ip, sizeof ip, "10.127.%d.%d", 4 + bench->serial / 250 % 250, 1 + bench->serial % 250);
    bench->serial++;
    bench->started++;
    bench->rt->ops->start(bench->rt, &(struct runtime_pod){
                                         .uid = uid,
                                         .ns = "default",
                                         .name = "pod",
                                         .confined = bench->confined,
                                         .spec = &spec,
                                         .hostname = "pod",
                                         .pod_ip = ip,
                                         .hosts = bench->sandboxed ? "127.0.0.1 localhost\n" : NULL,
                                         .containers = &main_container,
                                         .n_containers = 1,
                                         .volumes = volumes,
                                         .n_volumes = bench->volumes,
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

static void run_pods(struct bench *bench, int total)
{
    bench->total = total;
    bench->started = bench->finished = 0;
    while (bench->started < bench->flight && bench->started < total)
        start_one(bench);
    loop_run(bench->loop);
}

static bool open_runtime(struct bench *bench, const char *dir, const char *level)
{
    bool private = strcmp(level, "private") == 0;
    bool named = bench->sandboxed && !private && !bench->confined;
    const struct runtime_host_options options = {.directory = dir,
                                                 .isolation = !named              ? "auto"
                                                              : bench->unfiltered ? "full"
                                                                                  : level,
                                                 .network = private ? "private" : "shared"};
    struct error err = {0};

    bench->rt = runtime_host_new(bench->loop, &options, on_report, bench, &err);
    if (!bench->rt) {
        printf("{\"way\":\"%s\",\"skipped\":\"%s\"}\n", level, err.message);
        return false;
    }
    bench->rt->ops->adopt(bench->rt, on_found, &bench->adopted);
    while (!bench->ready)
        loop_run(bench->loop);
    run_pods(bench, 1); /* starts the supervisor before the measurement */
    return true;
}

static void measure(struct bench *bench, const char *level, int total)
{
    int64_t begun = clock_mono_ns(clock_real());

    run_pods(bench, total);
    printf("{\"way\":\"%s\",\"volumes\":%u,\"flight\":%d,\"pods\":%d,\"us_per_pod\":%.1f}\n", level,
           bench->volumes, bench->flight, total,
           (double)(clock_mono_ns(clock_real()) - begun) / 1e3 / total);
}

int main(int argc, char **argv)
{
    int code = shim_main(argc, argv);

    if (code >= 0)
        return code;

    const char *level = argc > 1 ? argv[1] : "shared";
    int total = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 200;
    const char *where = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */
    scoped_str dir = mem_printf("%s/bench_spawn.XXXXXX", where ? where : "/tmp");
    struct bench bench = {
        .loop = loop_new(clock_real()),
        .adopted = {.run = on_adopted},
        .sandboxed = strcmp(level, "shared") != 0,
        .confined = strcmp(level, "confined") == 0,
        .unfiltered = strcmp(level, "unfiltered") == 0,
        .volumes = argc > 2 && strcmp(argv[2], "0") != 0 ? VOLUMES : 0,
        .flight = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1,
    };

    if (!mkdtemp(dir))
        return 1;
    if (open_runtime(&bench, dir, level)) {
        measure(&bench, level, total);
        bench.rt->ops->free(bench.rt);
        loop_settle(bench.loop);
    }
    loop_free(bench.loop);
    file_remove_tree(AT_FDCWD, dir, NULL);
    return bench.failed > 0;
}
