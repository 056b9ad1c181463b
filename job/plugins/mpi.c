/*
 * Plugin mpi: gives the launcher the list of its workers, and declares the port that sshd listens
 * on in every container. Host names come from plugin svc, keys from plugin ssh. Ref:
 * spec/job-plugins.md 5, O-P27…O-P29.
 */
#include "job/plugins/mpi.h"

#include <string.h>

#include "job/plugins/wait_container.h"

enum { PORT_DEFAULT = 22, TIMEOUT_DEFAULT_S = 300 };

struct mpi_args {
    const char *master, *worker;
    int64_t port;
    bool wait;
    int64_t timeout_s;
    const char *image;
};

/* clang-format off */
static const struct job_arg mpi_flags[] = {
    {"master",               ARG_STR,   offsetof(struct mpi_args, master)},
    {"worker",               ARG_STR,   offsetof(struct mpi_args, worker)},
    {"port",                 ARG_PORT,  offsetof(struct mpi_args, port)},
    {"wait-workers",         ARG_BOOL,  offsetof(struct mpi_args, wait)},
    {"wait-workers-timeout", ARG_COUNT, offsetof(struct mpi_args, timeout_s)},
    {"wait-workers-image",   ARG_STR,   offsetof(struct mpi_args, image)},
    {0},
};
/* clang-format on */

static struct mpi_args read_args(struct str_list words)
{
    struct mpi_args args = {"master", "worker",          PORT_DEFAULT,
                            false,    TIMEOUT_DEFAULT_S, "busybox:1.36.1"};

    job_args_read(mpi_flags, words, &args, NULL);
    return args;
}

int64_t job_mpi_port(const struct job_spec *spec)
{
    struct str_list words;

    return job_plugin_args(spec, "mpi", &words) ? read_args(words).port : 0;
}

static void add_waiting(const struct job_plugin_job *job, const struct mpi_args *args,
                        const struct job_task *worker, struct job_pod_plan *plan)
{
    scoped(buf) struct buf hosts = {0};

    job_hosts_write(&hosts, job->name, worker, " ");
    job_pod_plan_init(
        plan, job_wait_container(&(struct job_wait_container){
                  "wait-for-workers", args->image, hosts.data, args->port, args->timeout_s}));
}

static void mpi_pod(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                    struct job_pod_plan *plan)
{
    const struct mpi_args args = read_args(job->args);
    const struct job_task *worker = job_task_named(job->spec, args.worker);
    scoped(buf) struct buf hosts = {0};

    if (strcmp(task->name, args.master) == 0) {
        if (!worker)
            return;
        job_hosts_write(&hosts, job->name, worker, ",");
        job_pod_plan_value(plan, SCOPE_ALL, "MPI_HOST", hosts.len ? hosts.data : "");
        if (job->local && !job->own_network) { /* Open MPI leaves out loopback by default (O-P28) */
            job_pod_plan_default(plan, SCOPE_MAIN, "OMPI_MCA_btl_tcp_if_include", "lo");
            job_pod_plan_default(plan, SCOPE_MAIN, "OMPI_MCA_oob_tcp_if_include", "lo");
        }
        if (args.wait && worker->replicas > 0)
            add_waiting(job, &args, worker, plan);
    }
    job_pod_plan_port(plan, SCOPE_ALL, NULL, "mpijob-port", args.port);
}

static void mpi_review(const struct job_plugin_job *job, struct job_review *review)
{
    const struct mpi_args args = read_args(job->args);

    if (!job_task_named(job->spec, args.master))
        job_review_refuse(review, NULL,
                          "the specified mpi master task was not found: the job has no task "
                          "\"%s\"; name it with the argument --master=TASK",
                          args.master);
    if (!job_task_named(job->spec, args.worker))
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin mpi gives no pod MPI_HOST: the job has no task \"%s\"; name the "
                        "workers with the argument --worker=TASK",
                        args.worker);
}

const struct job_plugin job_plugin_mpi = {
    .name = "mpi",
    .implies = {"svc", "ssh"},
    .flags = mpi_flags,
    .flags_size = sizeof(struct mpi_args),
    .pod = mpi_pod,
    .review = mpi_review,
};
