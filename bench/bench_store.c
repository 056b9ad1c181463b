/*
 * Measures the store alone, under the writes of a flow: each step creates a job, a pod group and a
 * pod, binds the pod, starts it, ends it, and completes the job. These are 8 row changes; two of
 * them (start and end) wait until they are durable. `width` steps are in flight at a time.
 *
 *   bench_store [steps [width [directory]]]       prints one JSON line
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/store/store.h"
#include "base/file.h"
#include "base/mem.h"

struct bench;

struct step {
    struct bench *bench;
    struct task task;
    long number;
    int stage;
    const char *status[4];
};

struct bench {
    struct loop *loop;
    struct store *store;
    struct blob *bodies[4]; /* bodies of a job, a pod group, a pod and a bound pod */
    struct step *steps;
    long started, finished, wanted;
};

static const char job_body[] =
    "{\"spec\":{\"minAvailable\":1,\"schedulerName\":\"volcano\",\"queue\":\"default\","
    "\"tasks\":[{\"replicas\":1,\"name\":\"main\",\"template\":{\"spec\":{\"containers\":[{"
    "\"name\":\"main\",\"image\":\"busybox\",\"command\":[\"true\"]}],\"restartPolicy\":"
    "\"OnFailure\"}}}]}}";
static const char group_body[] =
    "{\"spec\":{\"minMember\":1,\"minTaskMember\":{\"main\":1},\"queue\":\"default\"}}";
static const char pod_body[] =
    "{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"busybox\",\"command\":[\"true\"]}],"
    "\"restartPolicy\":\"OnFailure\",\"schedulerName\":\"volcano\"}}";
static const char bound_body[] =
    "{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"busybox\",\"command\":[\"true\"]}],"
    "\"restartPolicy\":\"OnFailure\",\"schedulerName\":\"volcano\",\"nodeName\":\"node\"}}";
static const char pod_status[] =
    "{\"phase\":\"%s\",\"startTime\":\"2026-01-02T03:04:05Z\",\"podIP\":\"127.0.0.1\",\"hostIP\":"
    "\"127.0.0.1\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":"
    "\"Initialized\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"True\"}],"
    "\"containerStatuses\":[{\"name\":\"main\",\"image\":\"busybox\",\"ready\":false,"
    "\"restartCount\":0,\"state\":{\"terminated\":{\"exitCode\":0,\"startedAt\":"
    "\"2026-01-02T03:04:05Z\",\"finishedAt\":\"2026-01-02T03:04:05Z\"}}}]}";
static const char job_status[] =
    "{\"state\":{\"phase\":\"%s\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"},"
    "\"minAvailable\":1,\"running\":1,\"taskStatusCount\":{\"main\":{\"phase\":{\"Running\":1}}},"
    "\"conditions\":[{\"status\":\"Running\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}]}";

static struct blob *text_blob(const char *format, const char *word)
{
    scoped(buf) struct buf text = {0};
    const char *hole = strstr(format, "%s");

    buf_add(&text, format, (size_t)(hole - format));
    buf_str(&text, word);
    buf_str(&text, hole + 2);
    return blob_from_buf(&text);
}

static struct object *make(struct bench *bench, const struct kind *kind, const char *name,
                           const char *owner_kind, const char *owner, struct blob *body)
{
    char uid[CLOCK_UUID_LEN + 1], owner_uid[64];
    const struct owner_ref reference = {
        .api_version = "batch.volcano.sh/v1alpha1",
        .kind = owner_kind,
        .name = owner,
        .uid = owner_uid,
        .controller = true,
        .block_owner_deletion = true,
    };
    const struct kv labels[] = {
        {"volcano.sh/createdByJobTemplate", "default.template"},
        {"volcano.sh/createdByJobFlow", "default.flow"},
    };
    const struct meta draft = {
        .namespace = "default",
        .name = name,
        .uid = uid,
        .generation = 1,
        .created_at_ms = 1767323045000,
        .deletion_grace_s = -1,
        .labels = labels,
        .n_labels = countof(labels),
        .annotations = labels,
        .n_annotations = countof(labels),
        .owners = &reference,
        .n_owners = owner != NULL,
    };

    if (owner && strcmp(owner_kind, "JobFlow") == 0)
        snprintf(owner_uid, sizeof owner_uid, "%s", owner);
    else if (owner)
        snprintf(owner_uid, sizeof owner_uid, "%s",
                 object_uid(store_get(bench->store, &kind_job, "default", owner)));
    clock_uuid(loop_clock(bench->loop), uid);
    return object_new(kind, meta_new(&draft), blob_ref(body), NULL);
}

static void put_status(struct bench *bench, const struct kind *kind, const char *name,
                       const char *format, const char *word)
{
    const struct object *object = store_get(bench->store, kind, "default", name);

    store_put(bench->store, object_with_status(object, text_blob(format, word)));
}

static void start_step(struct bench *bench, const char *job, const char *pod)
{
    struct object *bound;

    store_put(bench->store, make(bench, &kind_job, job, "JobFlow", "flow", bench->bodies[0]));
    store_put(bench->store, make(bench, &kind_pod_group, job, "Job", job, bench->bodies[1]));
    put_status(bench, &kind_job, job, job_status, "Pending");
    store_put(bench->store, make(bench, &kind_pod, pod, "Job", job, bench->bodies[2]));
    bound = object_with_body(store_get(bench->store, &kind_pod, "default", pod),
                             blob_ref(bench->bodies[3]));
    store_put(bench->store, bound);
    put_status(bench, &kind_pod, pod, pod_status, "Pending");
}

static void end_step(struct bench *bench, const char *job, const char *pod)
{
    put_status(bench, &kind_pod, pod, pod_status, "Succeeded");
    put_status(bench, &kind_job, job, job_status, "Completed");
}

static void advance(struct task *task)
{
    struct step *step = container_of(task, struct step, task);
    struct bench *bench = step->bench;
    char job[32], pod[48];

    if (step->stage == 2) {
        step->stage = 0;
        if (++bench->finished == bench->wanted)
            loop_stop(bench->loop);
    }
    if (step->stage == 0) {
        if (bench->started == bench->wanted)
            return;
        step->number = bench->started++;
    }
    snprintf(job, sizeof job, "flow-step-%ld", step->number);
    snprintf(pod, sizeof pod, "%s-main-0", job);
    (step->stage++ == 0 ? start_step : end_step)(bench, job, pod);
    store_when_durable(bench->store, &step->task);
}

static long long io_counter(const char *name)
{
    scoped(buf) struct buf text = {0};
    const char *at;

    if (!file_read("/proc/self/io", 4096, &text, NULL) || !(at = strstr(text.data, name)))
        return 0;
    return strtoll(at + strlen(name) + 2, NULL, 10);
}

static double seconds(const struct loop *loop, int64_t since_ns)
{
    return (double)(loop_mono_ns(loop) - since_ns) / 1e9;
}

int main(int argc, char **argv)
{
    struct bench bench = {.wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 10000};
    long width = argc > 2 ? strtol(argv[2], NULL, 10) : 64;
    scoped_str directory = argc > 3 ? mem_strdup(argv[3]) : mem_printf("bench-store.%d", getpid());
    struct store_options options = {.directory = directory};
    struct store_stats stats;
    struct error err;
    long long disk = io_counter("write_bytes"), calls = io_counter("wchar");
    double wall, load;
    int64_t from;

    bench.loop = loop_new(clock_real());
    bench.store = store_open(bench.loop, &options, &err);
    if (!bench.store || bench.wanted < 1 || width < 1) {
        fprintf(stderr, "bench_store: %s\n", bench.store ? "steps and width from 1" : err.message);
        return 1;
    }
    bench.bodies[0] = blob_intern(job_body, strlen(job_body));
    bench.bodies[1] = blob_intern(group_body, strlen(group_body));
    bench.bodies[2] = blob_intern(pod_body, strlen(pod_body));
    bench.bodies[3] = blob_intern(bound_body, strlen(bound_body));
    bench.steps = mem_array((size_t)width, sizeof *bench.steps);
    from = loop_mono_ns(bench.loop);
    for (long i = 0; i < width; i++) {
        bench.steps[i] = (struct step){.bench = &bench, .task.run = advance};
        loop_post(bench.loop, &bench.steps[i].task);
    }
    loop_run(bench.loop);
    wall = seconds(bench.loop, from);
    store_stats(bench.store, &stats);
    disk = io_counter("write_bytes") - disk;
    calls = io_counter("wchar") - calls;
    for (size_t i = 0; i < countof(bench.bodies); i++)
        blob_unref(bench.bodies[i]);
    mem_free(bench.steps);
    store_close(bench.store);

    from = loop_mono_ns(bench.loop);
    bench.store = store_open(bench.loop, &options, &err);
    load = seconds(bench.loop, from);
    printf("{\"bench\":\"store\",\"steps\":%ld,\"width\":%ld,\"wall_s\":%.3f,\"steps_per_s\":%.0f,"
           "\"changes_per_s\":%.0f,\"commits\":%llu,\"rows_per_step\":%.2f,"
           "\"bound_bytes_per_step\":%.0f,\"write_calls_bytes_per_step\":%.0f,"
           "\"disk_bytes_per_step\":%.0f,\"load_s\":%.3f,\"objects\":%zu}\n",
           bench.wanted, width, wall, (double)bench.wanted / wall, (double)stats.changes / wall,
           (unsigned long long)stats.commits, (double)stats.rows_written / (double)bench.wanted,
           (double)stats.bytes_bound / (double)bench.wanted, (double)calls / (double)bench.wanted,
           (double)disk / (double)bench.wanted, load, store_count(bench.store, NULL, NULL));
    store_close(bench.store);
    loop_settle(bench.loop);
    loop_free(bench.loop);
    if (argc <= 3)
        file_remove_tree(AT_FDCWD, directory, NULL);
    return 0;
}
