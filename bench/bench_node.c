/*
 * Measures the node alone: scheduler and kubelet with the simulated runtime, on a store in memory.
 * Each step creates a pod group and a pod, and deletes both when the pod has ended, as the job
 * controller does. `width` steps are in flight at a time.
 *
 *   bench_node [steps [width [max-pods]]]       prints one JSON line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/cluster_embedded.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "node/node.h"

struct bench {
    struct loop *loop;
    struct cluster *cluster;
    struct cluster_watcher groups, pods;
    struct blob *group_body, *pod_body;
    long started, finished, wanted, waiting_left;
};

static void create(struct bench *bench, const struct kind *kind, struct blob *body, long number)
{
    char name[32], group[32];
    const struct kv annotations[] = {{ANNOTATION_GROUP_NAME, group}};
    const struct kv labels[] = {{LABEL_JOB_NAME, group}, {LABEL_TASK_SPEC, "main"}};

    snprintf(group, sizeof group, "g%ld", number);
    snprintf(name, sizeof name, kind == &kind_pod ? "g%ld-main-0" : "g%ld", number);
    cluster_create(bench->cluster, NULL,
                   object_new(kind,
                              meta_new(&(struct meta){.namespace = "default",
                                                      .name = name,
                                                      .uid = "",
                                                      .labels = labels,
                                                      .n_labels = 2,
                                                      .annotations = annotations,
                                                      .n_annotations = 1,
                                                      .deletion_grace_s = -1}),
                              blob_ref(body), NULL));
}

static void next_step(struct bench *bench)
{
    if (bench->started < bench->wanted)
        create(bench, &kind_pod_group, bench->group_body, bench->started++);
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *group)
{
    struct bench *bench = container_of(watcher, struct bench, groups);

    if (change == CHANGE_MODIFIED && podgroup_status_of(group)->phase == PODGROUP_INQUEUE &&
        (!old->status || podgroup_status_of(old)->phase != PODGROUP_INQUEUE))
        create(bench, &kind_pod, bench->pod_body, strtol(object_name(group) + 1, NULL, 10));
}

static void removed(struct bench *bench, const struct kind *kind, const char *name)
{
    cluster_remove(bench->cluster, NULL, kind, "default", name,
                   &(struct cluster_removal){.grace_s = -1});
}

static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct bench *bench = container_of(watcher, struct bench, pods);

    if (change != CHANGE_MODIFIED || pod_status_of(pod)->phase != POD_SUCCEEDED ||
        pod_status_of(old)->phase == POD_SUCCEEDED)
        return;
    removed(bench, &kind_pod_group, meta_annotation(pod->meta, ANNOTATION_GROUP_NAME));
    removed(bench, &kind_pod, object_name(pod));
    bench->finished++;
    next_step(bench);
}

static struct blob *body(const char *text)
{
    return blob_intern(text, strlen(text));
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct bench bench = {.wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 20000};
    long width = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    const struct node_options options = {
        .name = "here", .max_pods = argc > 3 ? strtol(argv[3], NULL, 10) : 4, .sim = true};
    struct clock *clock = clock_virtual_new(1700000000000, 1);
    struct error err;
    struct store *store;
    struct registry *registry;
    struct node *node;
    double before, spent;

    bench.loop = loop_new(clock);
    store = store_open(bench.loop, &(struct store_options){.directory = NULL}, &err);
    registry = registry_new(bench.loop, store, &(struct registry_options){.virtual_runtime = true});
    bench.cluster = cluster_embedded_new(bench.loop, registry);
    node = node_start(bench.cluster, &options, &err);
    bench.groups.kind = &kind_pod_group;
    bench.groups.changed = group_changed;
    bench.pods.kind = &kind_pod;
    bench.pods.changed = pod_changed;
    cluster_watch(bench.cluster, &bench.groups);
    cluster_watch(bench.cluster, &bench.pods);
    bench.group_body =
        podgroup_spec_blob(&(struct podgroup_spec){.min_member = 1, .queue = "default"});
    bench.pod_body = body("{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"busybox\","
                          "\"command\":[\"true\"]}],\"restartPolicy\":\"OnFailure\","
                          "\"schedulerName\":\"volcano\"}}");
    loop_settle(bench.loop);

    before = cpu_s();
    for (long i = 0; i < width; i++)
        next_step(&bench);
    loop_drain(bench.loop, 1000LL * 86400 * 365);
    spent = cpu_s() - before;
    printf("{\"bench\":\"node\",\"steps\":%ld,\"width\":%ld,\"max_pods\":%d,\"finished\":%ld,"
           "\"us_per_step\":%.2f,\"revisions_per_step\":%.2f}\n",
           bench.wanted, width, options.max_pods, bench.finished,
           spent * 1e6 / (double)bench.wanted,
           (double)store_revision(store) / (double)bench.wanted);

    node_stop(node);
    cluster_unwatch(bench.cluster, &bench.groups);
    cluster_unwatch(bench.cluster, &bench.pods);
    cluster_embedded_free(bench.cluster);
    registry_free(registry);
    store_close(store);
    blob_unref(bench.group_body);
    blob_unref(bench.pod_body);
    loop_free(bench.loop);
    clock_free(clock);
    return bench.finished == bench.wanted ? 0 : 1;
}
