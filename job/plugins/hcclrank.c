/*
 * Plugin hcclrank: writes the rank of each pod into an annotation. A RANK variable of a container,
 * from the author or from another plugin, takes precedence; therefore this plugin runs last. On
 * request it also keeps the rank table that Ascend's libraries read in a ConfigMap that follows the
 * pods. Ref: spec/job-plugins.md 9, O-P31, O-P37.
 */
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/labels.h"
#include "api/types/limits.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

#define ANNOTATION_RANK    "hccl/rankIndex"
#define ANNOTATION_DEVICES "ascend.kubectl.kubernetes.io/ascend-910-configuration"
#define TABLE_PATH         "/etc/hccl"
#define TABLE_FILE         "rank_table.json"

struct hcclrank_args {
    const char *master, *worker;
    bool table;
};

/* clang-format off */
static const struct job_arg hcclrank_flags[] = {
    {"master",     ARG_STR,  offsetof(struct hcclrank_args, master)},
    {"worker",     ARG_STR,  offsetof(struct hcclrank_args, worker)},
    {"rank-table", ARG_BOOL, offsetof(struct hcclrank_args, table)},
    {0},
};
/* clang-format on */

static struct hcclrank_args read_args(const struct job_plugin_job *job)
{
    struct hcclrank_args args = {"master", "worker", false};

    job_args_read(hcclrank_flags, job->args, &args, NULL);
    return args;
}

static bool has_rank(const struct job_task *task)
{
    const json_t *annotations =
        json_object_get(json_object_get(task->template, "metadata"), "annotations");
    const char *rank = json_string_value(json_object_get(annotations, ANNOTATION_RANK));

    return rank && *rank;
}

/* Returns the value of the variable when it is RANK and not empty, otherwise NULL. */
static const char *rank_in(const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *value = json_string_value(json_object_get(entry, "value"));

    return name && strcmp(name, "RANK") == 0 && value && *value ? value : NULL;
}

static const char *rank_of_containers(const struct job_task *task, const struct job_pod_plan *plan)
{
    const char *planned = NULL;
    json_t *container, *entry;
    size_t c, e;

    for (size_t i = 0; !planned && i < plan->n_env; i++)
        planned = rank_in(plan->env[i].entry);
    json_array_foreach(job_template_list(task, "containers"), c, container)
    {
        json_array_foreach(json_object_get(container, "env"), e,
                           entry) if (rank_in(entry)) return rank_in(entry);
        if (planned) /* appended behind the author's variables */
            return planned;
    }
    return NULL;
}

static char *table_name(const struct job_plugin_job *job)
{
    return mem_printf("%s-hccl", job->name);
}

/* Writes the devices of a pod from the annotation of its node: {"devices": [{"device_id",
 * "device_ip"}]}. Ranks count up from `first`; returns the next rank. */
static int write_devices(struct jsonw *w, const struct object *pod, int first)
{
    const char *text = meta_annotation(pod->meta, ANNOTATION_DEVICES);
    scoped(json) json_t *doc = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *device;
    size_t i;

    jsonw_member_open_list(w, "device");
    json_array_foreach(json_object_get(doc, "devices"), i, device)
    {
        const char *id = json_string_value(json_object_get(device, "device_id"));
        const char *ip = json_string_value(json_object_get(device, "device_ip"));
        char rank[16];

        snprintf(rank, sizeof rank, "%d", first++);
        jsonw_open(w);
        jsonw_member_str(w, "device_id", id ? id : "");
        jsonw_member_str(w, "device_ip", ip ? ip : "");
        jsonw_member_str(w, "rank_id", rank);
        jsonw_close(w);
    }
    jsonw_close_list(w);
    return first;
}

struct table {
    struct jsonw servers; /* the list being written */
    int listed, devices;
    bool whole; /* every pod has an address */
};

static void list_task(const struct job_plugin_job *job, const struct job_task *task,
                      struct table *table)
{
    for (int32_t i = 0; task && i < task->replicas; i++) {
        const struct object *pod = job->pod(job->pods, (size_t)(task - job->spec->tasks.items), i);
        const char *ip = pod && !object_deleting(pod) ? pod_status_of(pod)->pod_ip : NULL;

        if (!ip || !*ip) {
            table->whole = false;
            continue;
        }
        jsonw_open(&table->servers);
        jsonw_member_str(&table->servers, "server_id", ip);
        jsonw_member_str(&table->servers, "host_nic_ip", "reserve");
        table->devices = write_devices(&table->servers, pod, table->devices);
        jsonw_close(&table->servers);
        table->listed++;
    }
}

/* Returns the rank table: servers in the order of their ranks. */
static char *table_text(const struct job_plugin_job *job, const struct hcclrank_args *args)
{
    const struct job_task *master = job_task_named(job->spec, args->master);
    const struct job_task *worker = job_task_named(job->spec, args->worker);
    scoped(buf) struct buf servers = {0};
    struct table table = {.servers = jsonw_to(&servers), .whole = true};
    struct buf text = {0};

    jsonw_open_list(&table.servers);
    list_task(job, master, &table);
    list_task(job, worker == master ? NULL : worker, &table);
    jsonw_close_list(&table.servers);
    buf_printf(
        &text,
        "{\"version\":\"1.0\",\"server_count\":\"%d\",\"server_list\":%s,\"status\":\"%s\"}\n",
        table.listed, servers.data, table.whole ? "completed" : "initializing");
    return buf_take(&text);
}

static void hcclrank_objects(const struct job_plugin_job *job, struct job_object_plan *plan)
{
    const struct hcclrank_args args = read_args(job);
    scoped(json) json_t *body = NULL;
    scoped_str name = NULL;
    scoped_str text = NULL;

    if (!args.table || !job->pod)
        return;
    name = table_name(job);
    text = table_text(job, &args);
    body = json_pack("{s:{s:s}}", "data", TABLE_FILE, text);
    job_plan_object(plan, &kind_config_map, name, object_body_from_json(body))->adapt =
        job_adapt_replace;
}

static bool hcclrank_sees_pods(const struct job_plugin_job *job)
{
    return read_args(job).table;
}

/* The file; and a name of its own, for on this machine only pods with one have an address. */
static void add_table(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                      struct job_pod_plan *plan)
{
    scoped_str name = table_name(job);
    scoped(buf) struct buf host = {0};

    job_host_write(&host, job->name, task, index);
    mem_free(plan->hostname);
    plan->hostname = buf_take(&host);
    job_pod_plan_value(plan, SCOPE_ALL, "RANK_TABLE_FILE", TABLE_PATH "/" TABLE_FILE);
    job_pod_plan_volume(plan, json_pack("{s:s, s:{s:s}}", "name", name, "configMap", "name", name));
    job_pod_plan_mount(plan, json_pack("{s:s, s:s}", "name", name, "mountPath", TABLE_PATH));
}

static void hcclrank_review_name(const struct job_plugin_job *job, struct job_review *review)
{
    scoped_str name = table_name(job);

    if (!read_args(job).table)
        return;
    if (!name_is_dns_label(name, NULL))
        job_review_refuse(review, NULL,
                          "rank-table: \"%s\" would be the name of a volume, which is a DNS label "
                          "of at most %d characters: give the job another name",
                          name, LABEL_BYTES_MAX);
    job_review_mount(job, review, TABLE_PATH, "configMap", "name", name);
}

static void hcclrank_pod(const struct job_plugin_job *job, const struct job_task *task,
                         int32_t index, struct job_pod_plan *plan)
{
    const struct hcclrank_args args = read_args(job);
    const struct job_task *master = job_task_named(job->spec, args.master);
    const char *given = rank_of_containers(task, plan);
    char rank[16];

    if (args.table)
        add_table(job, task, index, plan);
    if (has_rank(task))
        return;
    if (!given) {
        bool leads = strcmp(task->name, args.master) == 0;

        if (!leads && strcmp(task->name, args.worker) != 0)
            return;
        snprintf(rank, sizeof rank, "%lld",
                 (long long)index + (leads || !master ? 0 : master->replicas));
        given = rank;
    }
    job_pod_plan_annotation(plan, ANNOTATION_RANK, given);
}

static void hcclrank_review(const struct job_plugin_job *job, struct job_review *review)
{
    const struct hcclrank_args args = read_args(job);

    if (!job_task_named(job->spec, args.master) && !job_task_named(job->spec, args.worker))
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin hcclrank ranks no pod: the job has neither task \"%s\" nor task "
                        "\"%s\"; name them with --master=TASK and --worker=TASK",
                        args.master, args.worker);
}

static const char *hcclrank_fixed_size(const struct job_plugin_job *job,
                                       const struct job_task *task)
{
    return strcmp(task->name, read_args(job).master) == 0
               ? "the ranks of running workers follow from the number of masters"
               : NULL;
}

const struct job_plugin job_plugin_hcclrank = {
    .name = "hcclrank",
    .flags = hcclrank_flags,
    .flags_size = sizeof(struct hcclrank_args),
    .unrecorded = true,
    .uses_pod_addresses = hcclrank_sees_pods,
    .objects = hcclrank_objects,
    .pod = hcclrank_pod,
    .review = hcclrank_review,
    .review_name = hcclrank_review_name,
    .fixed_size = hcclrank_fixed_size,
};
