/*
 * Measures the job controller alone, on a store in memory: one job is created, its pods run, the
 * job is restarted, its pods run again and succeed. The benchmark plays scheduler and kubelet.
 *
 *   bench_job [replicas]        one JSON line for 1%, 10% and 100% of the replicas
 *
 * Times are CPU time of the whole process: store, registry and controller. `event_us` is the cost
 * of one more change of one pod of the job at its full size; it must not grow with the size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/cluster_embedded.h"
#include "api/types/kinds/command.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/text/yaml.h"
#include "base/mem.h"
#include "job/controller.h"

struct bench {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *cluster;
    struct job_controller *controller;
    struct cluster_watcher groups, pods;
};

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void report(struct bench *bench, const struct object *pod, enum pod_phase phase, bool ready)
{
    struct container_status container = {.name = "main",
                                         .ready = ready,
                                         .state = phase == POD_RUNNING ? CONTAINER_RUNNING
                                                                       : CONTAINER_TERMINATED};

    cluster_update_status(
        bench->cluster, NULL, pod,
        pod_status_blob(&(struct pod_status){.phase = phase, .containers = {&container, 1}}));
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    if (change == CHANGE_ADDED)
        report(container_of(watcher, struct bench, pods), pod, POD_RUNNING, true);
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct bench *bench = container_of(watcher, struct bench, groups);

    if (change == CHANGE_ADDED)
        cluster_update(bench->cluster, NULL,
                       object_with_status(group, podgroup_status_blob(&(struct podgroup_status){
                                                     .phase = PODGROUP_INQUEUE})));
}

static void apply(struct bench *bench, const char *yaml)
{
    struct error err = {0};
    struct error_list errors = {0};
    scoped(yaml) struct yaml_stream *stream =
        yaml_parse(yaml, strlen(yaml), &yaml_limits_default, &err);
    const struct registry_write how = {.unknown = UNKNOWN_ERROR};
    const struct object *out;

    if (!stream || !registry_create(bench->registry, yaml_document(stream, 0), &how, &out, &errors))
        mem_fatal("the manifest is not accepted");
    error_list_release(&errors);
}

static const struct job_status *status_of(struct bench *bench)
{
    return job_status_of(cluster_get(bench->cluster, &kind_job, "default", "j"));
}

static void expect(struct bench *bench, const char *what, int got, int want)
{
    if (got == want)
        return;
    fprintf(stderr, "bench_job: %s is %d, not %d, while %s\n", what, got, want,
            job_phase_text(status_of(bench)->phase));
    abort();
}

/* Runs the loop until the counters of the status are stored. Returns the milliseconds it took. */
static double settle(struct bench *bench, double from)
{
    loop_advance(bench->loop, 100);
    return cpu_ms() - from;
}

static const struct object *pod_at(struct bench *bench, int index)
{
    char name[32];

    snprintf(name, sizeof name, "j-t-%d", index);
    return cluster_get(bench->cluster, &kind_pod, "default", name);
}

enum { EVENTS = 2000 };

/* Makes pods ready and unready again one by one, so that each is a separate change. Returns the
 * microseconds per change. */
static double event_us(struct bench *bench, int replicas)
{
    double from = cpu_ms();

    for (int i = 0; i < EVENTS; i++) {
        report(bench, pod_at(bench, (int)((unsigned)i * 7919u % (unsigned)replicas)), POD_RUNNING,
               i / replicas % 2);
        loop_settle(bench->loop);
    }
    return settle(bench, from) * 1e3 / EVENTS;
}

static void restart(struct bench *bench)
{
    scoped_str command = mem_printf(
        "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, namespace: "
        "default}, action: RestartJob, target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, "
        "name: j, uid: %s}}",
        object_uid(cluster_get(bench->cluster, &kind_job, "default", "j")));

    apply(bench, command);
}

static void run(int replicas)
{
    static const struct registry_options rules = {.virtual_runtime = true};
    static const struct job_options options = {.scheduler_name = "volcano", .max_requeue = 15};
    struct bench bench = {.clock = clock_virtual_new(1800000000000, 1)};
    scoped_str job = mem_printf(
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: "
        "default}, spec: {tasks: [{name: t, replicas: %d, template: {spec: {restartPolicy: Never, "
        "containers: [{name: main, image: x, command: [run]}]}}}]}}",
        replicas);
    double create_ms, restart_ms, complete_ms, event, from;

    bench.loop = loop_new(bench.clock);
    bench.store = store_open(bench.loop, &(struct store_options){0}, NULL);
    bench.registry = registry_new(bench.loop, bench.store, &rules);
    bench.cluster = cluster_embedded_new(bench.loop, bench.registry);
    bench.groups = (struct cluster_watcher){group_changed, &kind_pod_group};
    bench.pods = (struct cluster_watcher){pod_changed, &kind_pod};
    cluster_watch(bench.cluster, &bench.groups);
    cluster_watch(bench.cluster, &bench.pods);
    bench.controller = job_controller_start(bench.cluster, &options);
    loop_settle(bench.loop);

    from = cpu_ms();
    apply(&bench, job);
    create_ms = settle(&bench, from);
    expect(&bench, "running", status_of(&bench)->running, replicas);
    event = event_us(&bench, replicas);
    from = cpu_ms();
    restart(&bench);
    restart_ms = settle(&bench, from);
    expect(&bench, "running", status_of(&bench)->running, replicas);
    expect(&bench, "retryCount", status_of(&bench)->retry_count, 1);
    from = cpu_ms();
    for (int i = 0; i < replicas; i++)
        report(&bench, pod_at(&bench, i), POD_SUCCEEDED, false);
    complete_ms = settle(&bench, from);
    expect(&bench, "succeeded", status_of(&bench)->succeeded, replicas);
    expect(&bench, "phase", status_of(&bench)->phase, JOB_COMPLETED);
    printf("{\"bench\":\"job\",\"replicas\":%d,\"create_us_per_pod\":%.1f,\"restart_us_per_pod\":%."
           "1f,\"complete_us_per_pod\":%.1f,\"event_us\":%.1f}\n",
           replicas, create_ms * 1e3 / replicas, restart_ms * 1e3 / replicas,
           complete_ms * 1e3 / replicas, event);

    job_controller_stop(bench.controller);
    cluster_unwatch(bench.cluster, &bench.pods);
    cluster_unwatch(bench.cluster, &bench.groups);
    loop_settle(bench.loop);
    cluster_embedded_free(bench.cluster);
    registry_free(bench.registry);
    store_close(bench.store);
    loop_free(bench.loop);
    clock_free(bench.clock);
}

int main(int argc, char **argv)
{
    int replicas = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10000;

    if (replicas < 100) {
        fputs("usage: bench_job [replicas]    at least 100\n", stderr);
        return 2;
    }
    for (int n = replicas / 100; n <= replicas; n *= 10)
        run(n);
    return 0;
}
