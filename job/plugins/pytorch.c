/*
 * Plugin pytorch: sets the variables of a rendezvous at the first master, with ranks without gaps,
 * and on request adds an init container that waits for the master. Ref: spec/job-plugins.md 7,
 * O-P31…O-P33.
 */
#include <stdio.h>
#include <string.h>

#include "job/plugins/plugin.h"
#include "job/plugins/wait_container.h"

#define WORKER_DEFAULT "worker"

struct pytorch_args {
    const char *master, *worker;
    int64_t port;
    bool wait;
    int64_t timeout_s;
    const char *image;
    bool torchrun;
};

/* clang-format off */
static const struct job_arg pytorch_flags[] = {
    {"master",              ARG_STR,   offsetof(struct pytorch_args, master)},
    {"worker",              ARG_STR,   offsetof(struct pytorch_args, worker)},
    {"port",                ARG_PORT,  offsetof(struct pytorch_args, port)},
    {"wait-master-enabled", ARG_BOOL,  offsetof(struct pytorch_args, wait)},
    {"wait-master-timeout", ARG_COUNT, offsetof(struct pytorch_args, timeout_s)},
    {"wait-master-image",   ARG_STR,   offsetof(struct pytorch_args, image)},
    {"torchrun-env",        ARG_BOOL,  offsetof(struct pytorch_args, torchrun)},
    {0},
};
/* clang-format on */

static struct pytorch_args read_args(const struct job_plugin_job *job)
{
    struct pytorch_args args = {"master", WORKER_DEFAULT,   23456, false,
                                300,      "busybox:1.36.1", false};

    job_args_read(pytorch_flags, job->args, &args, NULL);
    return args;
}

struct rendezvous {
    const char *address; /* address of the first master */
    char port[16], nodes[16], rank[16];
};

static void add_variables(const struct rendezvous *r, bool ranked, bool torchrun,
                          struct job_pod_plan *plan)
{
    job_pod_plan_value(plan, SCOPE_MAIN, "MASTER_ADDR", r->address);
    job_pod_plan_value(plan, SCOPE_MAIN, "MASTER_PORT", r->port);
    job_pod_plan_value(plan, SCOPE_MAIN, "WORLD_SIZE", r->nodes);
    if (ranked)
        job_pod_plan_value(plan, SCOPE_MAIN, "RANK", r->rank);
    if (!torchrun)
        return;
    job_pod_plan_default(plan, SCOPE_MAIN, "PET_MASTER_ADDR", r->address);
    job_pod_plan_default(plan, SCOPE_MAIN, "PET_MASTER_PORT", r->port);
    job_pod_plan_default(plan, SCOPE_MAIN, "PET_NNODES", r->nodes);
    if (ranked)
        job_pod_plan_default(plan, SCOPE_MAIN, "PET_NODE_RANK", r->rank);
}

static void pytorch_pod(const struct job_plugin_job *job, const struct job_task *task,
                        int32_t index, struct job_pod_plan *plan)
{
    const struct pytorch_args args = read_args(job);
    const struct job_task *master = job_task_named(job->spec, args.master);
    const struct job_task *worker = job_task_named(job->spec, args.worker);
    scoped(buf) struct buf address = {0};
    struct rendezvous r;

    if (!master)
        return;
    job_fqdn_write(&address, job->name, master, 0);
    r.address = address.data;
    snprintf(r.port, sizeof r.port, "%lld", (long long)args.port);
    snprintf(r.nodes, sizeof r.nodes, "%lld",
             (long long)master->replicas + (worker && worker != master ? worker->replicas : 0));
    snprintf(r.rank, sizeof r.rank, "%lld",
             (long long)index + (task == master ? 0 : master->replicas));
    add_variables(&r, task == master || task == worker, args.torchrun, plan);
    job_pod_plan_port(plan, SCOPE_MAIN, NULL, "pytorchjob-port", args.port);
    if (args.wait && task == worker && task != master)
        job_pod_plan_init(
            plan, job_wait_container(&(struct job_wait_container){
                      "wait-for-master", args.image, address.data, args.port, args.timeout_s}));
}

static void pytorch_review(const struct job_plugin_job *job, struct job_review *review)
{
    const struct pytorch_args args = read_args(job);

    if (!job_task_named(job->spec, args.master))
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin pytorch does nothing: the job has no task \"%s\"; name the master "
                        "with the argument --master=TASK",
                        args.master);
    else if (strcmp(args.master, args.worker) == 0)
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin pytorch counts every pod twice: task \"%s\" is master and workers; "
                        "name two tasks with --master=TASK and --worker=TASK",
                        args.master);
    if (strcmp(args.worker, WORKER_DEFAULT) != 0 && !job_task_named(job->spec, args.worker))
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin pytorch counts no workers: the job has no task \"%s\"; name them "
                        "with the argument --worker=TASK",
                        args.worker);
}

/* Workers' ranks start after the masters'. */
static const char *pytorch_fixed_size(const struct job_plugin_job *job, const struct job_task *task)
{
    return strcmp(task->name, read_args(job).master) == 0
               ? "the ranks of running pytorch workers follow from the number of masters"
               : NULL;
}

const struct job_plugin job_plugin_pytorch = {
    .name = "pytorch",
    .implies = {"svc"},
    .flags = pytorch_flags,
    .flags_size = sizeof(struct pytorch_args),
    .pod = pytorch_pod,
    .review = pytorch_review,
    .fixed_size = pytorch_fixed_size,
};
