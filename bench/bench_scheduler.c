/*
 * Measures the scheduler alone: mixed gangs on simulated nodes, on a store in memory. A bound pod
 * runs and ends at once. A finished group is deleted with its pods, and the next group is created.
 *
 *   bench_scheduler [groups [nodes [waiting]]]      prints one JSON line
 *
 * Gangs have 1, 2, 4, … 64 pods with one or two CPUs each, in four queues of different weight.
 * Every eighth group has a higher priority class. `waiting` groups are pending at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/cluster_embedded.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "node/scheduler/scheduler.h"

enum { QUEUES = 4, SIZES = 7, NODE_CPUS = 128, NODE_PODS = 64 };

struct bench {
    struct loop *loop;
    struct cluster *cluster;
    struct cluster_watcher groups, pods;
    long made, wanted, placed, gone;
};

static long number_of(const struct object *object)
{
    return strtol(object_name(object) + 1, NULL, 10);
}

static int size_of(long number)
{
    return 1 << (number * 2654435761U >> 16) % SIZES;
}

static void create(struct bench *bench, const struct kind *kind, const char *name,
                   const char *group, struct blob *body)
{
    const struct kv annotations[] = {{ANNOTATION_GROUP_NAME, group}};

    cluster_create(
        bench->cluster, NULL,
        object_new(kind,
                   meta_new(&(struct meta){.namespace = kind->namespaced ? "default" : "",
                                           .name = name,
                                           .uid = "",
                                           .annotations = annotations,
                                           .n_annotations = kind == &kind_pod,
                                           .deletion_grace_s = -1}),
                   body, NULL));
}

static void next_group(struct bench *bench)
{
    long number = bench->made;
    int size = size_of(number);
    char name[32], body[256];

    if (number == bench->wanted)
        return;
    bench->made++;
    snprintf(name, sizeof name, "g%ld", number);
    snprintf(body, sizeof body,
             "{\"spec\":{\"minMember\":%d,\"queue\":\"q%ld\",\"minResources\":{\"cpu\":\"%d\"}%s}}",
             size, number % QUEUES, size * (int)(1 + number % 2),
             number % 8 ? "" : ",\"priorityClassName\":\"high\"");
    create(bench, &kind_pod_group, name, NULL, blob_intern(body, strlen(body)));
}

static void make_pods(struct bench *bench, long number)
{
    static const char text[] = "{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"x\","
                               "\"command\":[\"true\"],\"resources\":{\"requests\":{\"cpu\":"
                               "\"%d\"}}}],\"restartPolicy\":\"Never\"}}";
    char name[32], group[32], body[256];

    snprintf(group, sizeof group, "g%ld", number);
    snprintf(body, sizeof body, text, (int)(1 + number % 2));
    for (int i = 0; i < size_of(number); i++) {
        snprintf(name, sizeof name, "p%ld-%d", number, i);
        create(bench, &kind_pod, name, group, blob_intern(body, strlen(body)));
    }
}

static void remove_object(struct bench *bench, const struct kind *kind, const char *name)
{
    cluster_remove(bench->cluster, NULL, kind, "default", name,
                   &(struct cluster_removal){.grace_s = 0});
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct bench *bench = container_of(watcher, struct bench, groups);
    enum podgroup_phase now, before;

    if (change != CHANGE_MODIFIED)
        return;
    now = podgroup_status_of(group)->phase;
    before = podgroup_status_of(old)->phase;
    if (now == before)
        return;
    if (now == PODGROUP_INQUEUE) {
        make_pods(bench, number_of(group));
    } else if (now == PODGROUP_COMPLETED) {
        for (int i = 0; i < size_of(number_of(group)); i++) {
            char name[32];

            snprintf(name, sizeof name, "p%ld-%d", number_of(group), i);
            remove_object(bench, &kind_pod, name);
        }
        remove_object(bench, &kind_pod_group, object_name(group));
        bench->gone++;
        next_group(bench);
    }
}

/* Ends each pod as soon as it is bound. */
static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct bench *bench = container_of(watcher, struct bench, pods);
    struct pod_status ended = {.phase = POD_SUCCEEDED, .scheduled = true};

    if (change != CHANGE_MODIFIED || !pod_spec_of(pod)->node_name || pod_spec_of(old)->node_name)
        return;
    bench->placed++;
    cluster_update_status(bench->cluster, NULL, pod, pod_status_blob(&ended));
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_queues(struct bench *bench)
{
    static const char class[] = "{\"value\":1000}";

    for (int i = 0; i < QUEUES; i++) {
        char name[8], body[64];

        snprintf(name, sizeof name, "q%d", i);
        snprintf(body, sizeof body, "{\"spec\":{\"weight\":%d}}", i + 1);
        create(bench, &kind_queue, name, NULL, blob_intern(body, strlen(body)));
    }
    create(bench, &kind_priority_class, "high", NULL, blob_intern(class, sizeof class - 1));
}

static void watch(struct bench *bench)
{
    bench->groups.kind = &kind_pod_group;
    bench->groups.changed = group_changed;
    bench->pods.kind = &kind_pod;
    bench->pods.changed = pod_changed;
    cluster_watch(bench->cluster, &bench->groups);
    cluster_watch(bench->cluster, &bench->pods);
}

static struct scheduler *start_scheduler(struct bench *bench, size_t n_nodes)
{
    static char names[SCHEDULER_NODES_MAX][24];
    struct scheduler_node nodes[SCHEDULER_NODES_MAX];

    for (size_t i = 0; i < n_nodes; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        nodes[i] = (struct scheduler_node){
            .name = names[i],
            .capacity = {(int64_t)NODE_CPUS * 1000, INT64_C(1) << 40, NODE_PODS, {0}}};
    }
    return scheduler_start(bench->cluster,
                           &(struct scheduler_options){nodes, n_nodes, {.count = 0}});
}

int main(int argc, char **argv)
{
    struct bench bench = {.wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 4000};
    long n_nodes = argc > 2 ? strtol(argv[2], NULL, 10) : 8,
         waiting = argc > 3 ? strtol(argv[3], NULL, 10) : 200;
    struct clock *clock = clock_virtual_new(1700000000000, 1);
    struct scheduler *scheduler;
    struct registry *registry;
    struct store *store;
    struct error err;
    double spent;

    if (n_nodes < 1 || n_nodes > SCHEDULER_NODES_MAX) {
        fprintf(stderr, "error: 1 to %d nodes\n", SCHEDULER_NODES_MAX);
        return 2;
    }
    bench.loop = loop_new(clock);
    store = store_open(bench.loop, &(struct store_options){.directory = NULL}, &err);
    registry = registry_new(bench.loop, store, &(struct registry_options){.virtual_runtime = true});
    bench.cluster = cluster_embedded_new(bench.loop, registry);
    make_queues(&bench);
    loop_settle(bench.loop);
    scheduler = start_scheduler(&bench, (size_t)n_nodes);
    watch(&bench);
    loop_settle(bench.loop);

    spent = cpu_s();
    for (long i = 0; i < waiting; i++)
        next_group(&bench);
    loop_drain(bench.loop, 1000LL * 86400 * 365);
    spent = cpu_s() - spent;
    printf("{\"bench\":\"scheduler\",\"groups\":%ld,\"nodes\":%ld,\"waiting\":%ld,\"pods\":%ld,"
           "\"finished\":%ld,\"pods_per_s\":%.0f,\"us_per_pod\":%.2f}\n",
           bench.wanted, n_nodes, waiting, bench.placed, bench.gone, (double)bench.placed / spent,
           spent * 1e6 / (double)bench.placed);

    scheduler_stop(scheduler);
    cluster_unwatch(bench.cluster, &bench.groups);
    cluster_unwatch(bench.cluster, &bench.pods);
    cluster_embedded_free(bench.cluster);
    registry_free(registry);
    store_close(store);
    loop_free(bench.loop);
    clock_free(clock);
    return bench.gone == bench.wanted ? 0 : 1;
}
