/*
 * hcclrank: the pod's rank as an annotation. A RANK that a container has, from its author or from
 * another plugin, comes first, so this plugin runs last. Ref: spec/job-plugins.md 9, O-P31.
 */
#include "job/plugins/plugin.h"

#include <stdio.h>
#include <string.h>

#define ANNOTATION_RANK "hccl/rankIndex"

struct hcclrank_args {
    const char *master, *worker;
};

/* clang-format off */
static const struct job_arg hcclrank_flags[] = {
    {"master", ARG_STR, offsetof(struct hcclrank_args, master)},
    {"worker", ARG_STR, offsetof(struct hcclrank_args, worker)},
    {0},
};
/* clang-format on */

static struct hcclrank_args read_args(const struct job_plugin_job *job)
{
    struct hcclrank_args args = {"master", "worker"};

    job_args_read(hcclrank_flags, job->args, &args, NULL);
    return args;
}

static bool has_rank(const struct job_task *task)
{
    const json_t *annotations =
        json_object_get(json_object_get(task->template_, "metadata"), "annotations");
    const char *rank = json_string_value(json_object_get(annotations, ANNOTATION_RANK));

    return rank && *rank;
}

/* The value when this is a RANK with one, else NULL. */
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
        if (planned) /* added behind the author's */
            return planned;
    }
    return NULL;
}

static void hcclrank_pod(const struct job_plugin_job *job, const struct job_task *task,
                         int32_t index, struct job_pod_plan *plan)
{
    const struct hcclrank_args args = read_args(job);
    const struct job_task *master = job_task_named(job->spec, args.master);
    const char *given = rank_of_containers(task, plan);
    char rank[16];

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
    .pod = hcclrank_pod,
    .review = hcclrank_review,
    .fixed_size = hcclrank_fixed_size,
};
