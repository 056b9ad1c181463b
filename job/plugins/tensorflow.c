/*
 * Plugin tensorflow: sets TF_CONFIG, which has the addresses of all tasks and the pod's own role.
 * Ref: spec/job-plugins.md 6, O-P30.
 */
#include <string.h>

#include "base/encoding/jsonw.h"
#include "job/plugins/plugin.h"

enum { ROLES = 4 };

struct tensorflow_args {
    const char *tasks[ROLES]; /* names of the tasks, in the order of `roles` */
    int64_t port;
    bool evaluator_in_cluster;
};

enum { ROLE_PS, ROLE_WORKER, ROLE_CHIEF, ROLE_EVALUATOR };
static const char *const roles[ROLES] = {"ps", "worker", "chief",
                                         "evaluator"}; /* the names are those used in a cluster */

/* clang-format off */
static const struct job_arg tensorflow_flags[] = {
    {"ps",                   ARG_STR,  offsetof(struct tensorflow_args, tasks[ROLE_PS])},
    {"worker",               ARG_STR,  offsetof(struct tensorflow_args, tasks[ROLE_WORKER])},
    {"chief",                ARG_STR,  offsetof(struct tensorflow_args, tasks[ROLE_CHIEF])},
    {"evaluator",            ARG_STR,  offsetof(struct tensorflow_args, tasks[ROLE_EVALUATOR])},
    {"port",                 ARG_PORT, offsetof(struct tensorflow_args, port)},
    {"evaluator-in-cluster", ARG_BOOL, offsetof(struct tensorflow_args, evaluator_in_cluster)},
    {0},
};
/* clang-format on */

static struct tensorflow_args read_args(const struct job_plugin_job *job)
{
    struct tensorflow_args args = {{"ps", "worker", "chief", "evaluator"}, 2222, true};

    job_args_read(tensorflow_flags, job->args, &args, NULL);
    return args;
}

static void write_tasks(struct jsonw *w, const struct job_plugin_job *job,
                        const struct tensorflow_args *args, int role)
{
    const struct job_task *task = job_task_named(job->spec, args->tasks[role]);
    scoped(buf) struct buf entry = {0};

    for (int earlier = 0; earlier < role; earlier++) /* one task plays one role */
        if (strcmp(args->tasks[earlier], args->tasks[role]) == 0)
            return;
    if (!task || task->replicas <= 0 || (role == ROLE_EVALUATOR && !args->evaluator_in_cluster))
        return;
    jsonw_member_open_list(w, roles[role]);
    for (int32_t i = 0; i < job_host_count(task); i++) {
        buf_clear(&entry);
        job_fqdn_write(&entry, job->name, task, i);
        buf_char(&entry, ':');
        buf_int(&entry, args->port);
        jsonw_str(w, entry.data);
    }
    jsonw_close_list(w);
}

static const char *role_of(const struct tensorflow_args *args, const char *task)
{
    static const int order[] = {ROLE_CHIEF, ROLE_WORKER, ROLE_PS, ROLE_EVALUATOR};

    for (size_t i = 0; i < countof(order); i++)
        if (strcmp(args->tasks[order[i]], task) == 0)
            return roles[order[i]];
    return task;
}

static void tensorflow_pod(const struct job_plugin_job *job, const struct job_task *task,
                           int32_t index, struct job_pod_plan *plan)
{
    const struct tensorflow_args args = read_args(job);
    scoped(buf) struct buf config = {0};
    struct jsonw w = jsonw_to(&config);

    if (job->spec->tasks.count == 1 && job->spec->tasks.items[0].replicas == 1)
        return; /* the job is not distributed */
    jsonw_open(&w);
    jsonw_member_open(&w, "cluster");
    for (int role = 0; role < ROLES; role++)
        write_tasks(&w, job, &args, role);
    jsonw_close(&w);
    jsonw_member_open(&w, "task");
    jsonw_member_str(&w, "type", role_of(&args, task->name));
    jsonw_member_int(&w, "index", index);
    jsonw_close(&w);
    jsonw_close(&w);
    job_pod_plan_value(plan, SCOPE_MAIN, "TF_CONFIG", config.data);
    if (job->local) /* servers listen on all addresses: each pod's port is its own only if declared
                     */
        job_pod_plan_port(plan, SCOPE_MAIN, NULL, "tfjob-port", args.port);
}

static void tensorflow_review(const struct job_plugin_job *job, struct job_review *review)
{
    const struct tensorflow_args args = read_args(job);

    for (int role = 0; role < ROLES; role++)
        if (job_task_named(job->spec, args.tasks[role]))
            return;
    job_review_warn(review, REASON_PLUGIN_WARNING,
                    "plugin tensorflow: no task of the job plays a role: name them ps, worker, "
                    "chief or evaluator, or tell with --worker=TASK and the like");
}

const struct job_plugin job_plugin_tensorflow = {
    .name = "tensorflow",
    .implies = {"svc"},
    .flags = tensorflow_flags,
    .flags_size = sizeof(struct tensorflow_args),
    .pod = tensorflow_pod,
    .review = tensorflow_review,
};
