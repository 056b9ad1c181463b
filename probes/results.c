/*
 * Gathers results from pods, answers questions about them, and writes them into a status.
 * Termination messages are bounded by the runtime (4096 bytes), outputs by RESULT_OUTPUT_BYTES, and
 * pods by the limit on the pods of a job.
 */
#include "probes/results.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/mem.h"

enum { KEY_MAX = 63 };

struct job_results *job_results_new(void)
{
    return mem_alloc(sizeof(struct job_results));
}

void job_results_free(struct job_results *results)
{
    if (!results)
        return;
    for (size_t i = 0; i < results->n_pods; i++) {
        mem_free(results->pods[i].name);
        mem_free(results->pods[i].uid);
        mem_free(results->pods[i].task);
    }
    for (size_t i = 0; i < results->n_outputs; i++) {
        mem_free(results->outputs[i].key);
        mem_free(results->outputs[i].value);
    }
    for (size_t i = 0; i < results->n_kept; i++) {
        mem_free(results->kept[i].name);
        mem_free(results->kept[i].uid);
    }
    mem_free(results->pods);
    mem_free(results->kept);
    mem_free(results->outputs);
    mem_free(results);
}

const char *job_results_output(const struct job_results *results, const char *key)
{
    for (size_t i = 0; results && i < results->n_outputs; i++)
        if (strcmp(results->outputs[i].key, key) == 0)
            return results->outputs[i].value;
    return NULL;
}

static struct result_output *find_output(const struct job_results *results, const char *key,
                                         size_t len)
{
    for (size_t i = 0; i < results->n_outputs; i++)
        if (strncmp(results->outputs[i].key, key, len) == 0 && !results->outputs[i].key[len])
            return &results->outputs[i];
    return NULL;
}

static char *copy(const char *text, size_t len)
{
    char *made = mem_alloc(len + 1);

    memcpy(made, text, len);
    return made;
}

void job_results_add_output(struct job_results *results, const char *key, size_t key_len,
                            const char *value, size_t value_len, size_t index)
{
    if (find_output(results, key, key_len) ||
        results->output_bytes + key_len + value_len > RESULT_OUTPUT_BYTES)
        return;
    results->output_bytes += key_len + value_len;
    results->outputs =
        mem_resize(results->outputs, (results->n_outputs + 1) * sizeof *results->outputs);
    results->outputs[results->n_outputs++] =
        (struct result_output){copy(key, key_len), copy(value, value_len), index};
}

static bool is_key(const char *text, size_t len)
{
    if (!len || len > KEY_MAX || !(isalpha((unsigned char)text[0]) || text[0] == '_'))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("_.-", text[i]))
            return false;
    return true;
}

static void read_message(struct job_results *results, const char *message, size_t index)
{
    while (*message) {
        size_t len = strcspn(message, "\n"), used = len;
        const char *equals = memchr(message, '=', len);

        if (used && message[used - 1] == '\r')
            used--;
        if (equals && is_key(message, (size_t)(equals - message)))
            job_results_add_output(results, message, (size_t)(equals - message), equals + 1,
                                   used - (size_t)(equals - message) - 1, index);
        message += len + (message[len] == '\n');
    }
}

void job_results_add_pod(struct job_results *results, const struct result_pod *pod)
{
    struct result_pod *kept;

    results->pods = mem_resize(results->pods, (results->n_pods + 1) * sizeof *results->pods);
    kept = &results->pods[results->n_pods++];
    *kept = *pod;
    kept->name = mem_strdup(pod->name);
    kept->uid = mem_strdup(pod->uid);
    kept->task = mem_strdup(pod->task);
}

static bool code_of(const struct pod_status *status, int32_t *out)
{
    bool known = false;

    for (size_t i = 0; i < status->containers.count; i++) {
        const struct container_status *container = &status->containers.items[i];

        if (container->state != CONTAINER_TERMINATED || (known && !container->exit_code))
            continue;
        *out = container->exit_code;
        known = true;
        if (*out)
            break;
    }
    return known;
}

struct found_pod {
    const struct object *pod;
    const char *task;
    size_t rank; /* position of the pod's task in the job */
    size_t index;
};

struct gathering {
    const struct job_spec *job;
    const struct object *owner;
    struct found_pod *items;
    size_t count, cap;
};

static size_t rank_of(const struct job_spec *job, const char *task)
{
    for (size_t t = 0; t < job->tasks.count; t++)
        if (job->tasks.items[t].name && strcmp(job->tasks.items[t].name, task) == 0)
            return t;
    return job->tasks.count;
}

static void visit_pod(void *arg, const struct object *pod)
{
    struct gathering *g = arg;
    const struct owner_ref *owner = meta_controller(pod->meta);
    const char *task = meta_annotation(pod->meta, LABEL_TASK_SPEC);
    const char *index = meta_label(pod->meta, LABEL_TASK_INDEX);

    if (!task)
        task = meta_label(pod->meta, LABEL_TASK_SPEC);
    if (!owner || strcmp(owner->uid, object_uid(g->owner)) != 0 || !task)
        return;
    mem_grow(g->items, g->count, g->cap);
    g->items[g->count++] =
        (struct found_pod){pod, task, rank_of(g->job, task), index ? strtoul(index, NULL, 10) : 0};
}

static int in_order(const void *a, const void *b)
{
    const struct found_pod *left = a, *right = b;

    if (left->index != right->index)
        return left->index < right->index ? -1 : 1;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static void keep_pod(struct job_results *results, const struct found_pod *found)
{
    const struct pod_status *status = pod_status_of(found->pod);
    struct result_pod pod = {
        .name = (char *)object_name(found->pod),
        .uid = (char *)object_uid(found->pod),
        .task = (char *)found->task,
        .index = found->index,
        .phase = status->phase,
    };

    pod.has_code = code_of(status, &pod.code);
    job_results_add_pod(results, &pod);
    for (size_t i = 0; i < status->containers.count; i++)
        if (status->containers.items[i].state == CONTAINER_TERMINATED &&
            status->containers.items[i].message)
            read_message(results, status->containers.items[i].message, found->index);
}

static struct result_log *find_kept(const struct job_results *results, const char *pod)
{
    for (size_t i = 0; i < results->n_kept; i++)
        if (strcmp(results->kept[i].name, pod) == 0)
            return &results->kept[i];
    return NULL;
}

static bool has_pod(const struct job_results *results, const char *name)
{
    for (size_t i = 0; i < results->n_pods; i++)
        if (strcmp(results->pods[i].name, name) == 0)
            return true;
    return false;
}

/* Logs come in the order in which they were kept. */
static void visit_log(void *arg, const struct object *log)
{
    struct job_results *results = arg;
    const struct pod_log *facts = pod_log_of(log);
    struct result_log *known;

    if (results->n_pods >= RESULT_PODS_SHOWN || !facts->pod || !facts->uid ||
        has_pod(results, facts->pod))
        return;
    known = find_kept(results, facts->pod);
    if (known) {
        mem_free(known->uid);
        known->uid = mem_strdup(facts->uid);
    } else if (results->n_kept < RESULT_PODS_SHOWN) {
        results->kept = mem_resize(results->kept, (results->n_kept + 1) * sizeof *results->kept);
        results->kept[results->n_kept++] =
            (struct result_log){mem_strdup(facts->pod), mem_strdup(facts->uid)};
    }
}

struct job_results *job_results_gather(struct cluster *cluster, const struct object *job)
{
    struct job_results *results = job_results_new();
    struct gathering g = {.job = job_spec_of(job), .owner = job};

    cluster_each_owned(cluster, &kind_pod, object_uid(job), visit_pod, &g);
    if (g.count)
        qsort(g.items, g.count, sizeof *g.items, in_order);
    for (size_t i = 0; i < g.count; i++)
        keep_pod(results, &g.items[i]);
    cluster_each_owned(cluster, &kind_pod_log, object_uid(job), visit_log, results);
    mem_free(g.items);
    return results;
}

bool job_results_exit_code(const struct job_results *results, const char *task, int32_t *out)
{
    for (size_t i = 0; results && i < results->n_pods; i++) {
        const struct result_pod *pod = &results->pods[i];

        if (task && strcmp(pod->task, task) != 0)
            continue;
        if (pod->index || !pod->has_code)
            return false;
        *out = pod->code;
        return true;
    }
    return false;
}

bool job_results_failure_code(const struct job_results *results, int32_t *out)
{
    for (size_t i = 0; results && i < results->n_pods; i++) {
        const struct result_pod *pod = &results->pods[i];

        if (!pod->has_code || !pod->code)
            continue;
        *out = pod->code;
        return true;
    }
    return false;
}

int32_t job_results_count(const struct job_results *results, const char *task, enum pod_phase phase)
{
    int32_t count = 0;

    for (size_t i = 0; results && i < results->n_pods; i++)
        if (results->pods[i].phase == phase && strcmp(results->pods[i].task, task) == 0)
            count++;
    return count;
}

void job_results_write_outputs(const struct job_results *results, struct jsonw *w)
{
    if (!results || !results->n_outputs)
        return;
    jsonw_member_open(w, "outputs");
    for (size_t i = 0; i < results->n_outputs; i++)
        jsonw_member_str(w, results->outputs[i].key, results->outputs[i].value);
    jsonw_close(w);
}

static bool first_of_task(const struct job_results *results, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(results->pods[i].task, results->pods[at].task) == 0)
            return false;
    return true;
}

static void write_codes(const struct job_results *results, size_t shown, struct jsonw *w)
{
    jsonw_member_open(w, "exitCodes");
    for (size_t i = 0; i < shown; i++) {
        if (!first_of_task(results, i))
            continue;
        jsonw_member_open_list(w, results->pods[i].task);
        for (size_t k = i; k < shown; k++)
            if (results->pods[k].has_code &&
                strcmp(results->pods[k].task, results->pods[i].task) == 0)
                jsonw_int(w, results->pods[k].code);
        jsonw_close_list(w);
    }
    jsonw_close(w);
}

static void write_logs(const struct job_results *results, size_t shown, struct jsonw *w)
{
    jsonw_member_open(w, "logs");
    for (size_t i = 0; i < shown; i++)
        jsonw_member_str(w, results->pods[i].name, results->pods[i].uid);
    for (size_t i = 0; i < results->n_kept && shown + i < RESULT_PODS_SHOWN; i++)
        jsonw_member_str(w, results->kept[i].name, results->kept[i].uid);
    jsonw_close(w);
}

void job_results_write_pods(const struct job_results *results, struct jsonw *w)
{
    size_t shown = results ? results->n_pods : 0;

    if (shown > RESULT_PODS_SHOWN)
        shown = RESULT_PODS_SHOWN;
    if (shown)
        write_codes(results, shown, w);
    if (results && !results->restored && (shown || results->n_kept))
        write_logs(results, shown, w);
}
