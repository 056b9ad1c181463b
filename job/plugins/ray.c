/*
 * Plugin ray: runs one head with a Service, and workers that join it. The plugin sets the commands.
 * Ref: spec/job-plugins.md 8, O-P05, O-P34…O-P36.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

enum { PORTS = 3 };
enum { PORT_GCS, PORT_DASHBOARD, PORT_CLIENT };
static const char *const port_names[PORTS] = {"gcs", "dashboard", "client-server"};

struct ray_args {
    const char *head, *worker, *head_container, *worker_container;
    int64_t ports[PORTS];
};

/* clang-format off */
static const struct job_arg ray_flags[] = {
    {"head",             ARG_STR,  offsetof(struct ray_args, head)},
    {"worker",           ARG_STR,  offsetof(struct ray_args, worker)},
    {"headContainer",    ARG_STR,  offsetof(struct ray_args, head_container)},
    {"workerContainer",  ARG_STR,  offsetof(struct ray_args, worker_container)},
    {"port",             ARG_PORT, offsetof(struct ray_args, ports[PORT_GCS])},
    {"dashboardPort",    ARG_PORT, offsetof(struct ray_args, ports[PORT_DASHBOARD])},
    {"clientPort",       ARG_PORT, offsetof(struct ray_args, ports[PORT_CLIENT])},
    /* another name of clientPort (O-P05) */
    {"clientServerPort", ARG_PORT, offsetof(struct ray_args, ports[PORT_CLIENT])},
    {0},
};
/* clang-format on */

static struct ray_args read_args(const struct job_plugin_job *job)
{
    struct ray_args args = {"head", "worker", "head", "worker", {6379, 8265, 10001}};

    job_args_read(ray_flags, job->args, &args, NULL);
    return args;
}

static const json_t *container_named(const struct job_task *task, const char *name)
{
    size_t i;
    json_t *container;

    json_array_foreach(job_template_list(task, "containers"), i, container)
    {
        const char *has = json_string_value(json_object_get(container, "name"));

        if (has && strcmp(has, name) == 0)
            return container;
    }
    return NULL;
}

/* Returns the name of a declared port of the container: NULL = not declared, "" = declared without
 * a name. */
static const char *name_of_port(const json_t *container, int64_t number)
{
    size_t i;
    json_t *port;

    json_array_foreach(json_object_get(container, "ports"), i, port)
    {
        const char *name = json_string_value(json_object_get(port, "name"));

        if (json_integer_value(json_object_get(port, "containerPort")) == number)
            return name ? name : "";
    }
    return NULL;
}

static json_t *shell(const char *line)
{
    return json_pack("[s, s, s]", "sh", "-c", line);
}

static void add_head(const struct ray_args *args, struct job_pod_plan *plan)
{
    scoped_str line =
        mem_printf("ray start --head --block --dashboard-host=0.0.0.0 --port=%lld "
                   "--dashboard-port=%lld --ray-client-server-port=%lld",
                   (long long)args->ports[PORT_GCS], (long long)args->ports[PORT_DASHBOARD],
                   (long long)args->ports[PORT_CLIENT]);

    for (int i = 0; i < PORTS; i++)
        job_pod_plan_port(plan, SCOPE_MAIN, args->head_container, port_names[i], args->ports[i]);
    job_pod_plan_run(plan, args->head_container, shell(line));
}

static void add_worker(const struct job_plugin_job *job, const struct ray_args *args,
                       const struct job_task *head, struct job_pod_plan *plan)
{
    scoped(buf) struct buf line = {0};

    buf_str(&line, "ray start --block --address=");
    job_fqdn_write(&line, job->name, head, 0);
    buf_char(&line, ':');
    buf_int(&line, args->ports[PORT_GCS]);
    job_pod_plan_run(plan, args->worker_container, shell(line.data));
}

static bool ray_commands(const struct job_plugin_job *job, const struct job_task *task,
                         const char *container)
{
    const struct ray_args args = read_args(job);

    if (strcmp(task->name, args.head) == 0)
        return strcmp(container, args.head_container) == 0;
    return strcmp(task->name, args.worker) == 0 && strcmp(container, args.worker_container) == 0;
}

static void ray_pod(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                    struct job_pod_plan *plan)
{
    const struct ray_args args = read_args(job);
    const struct job_task *head = job_task_named(job->spec, args.head);

    if (!head) /* ray_review refuses such jobs */
        return;
    if (task == head && container_named(task, args.head_container))
        add_head(&args, plan);
    else if (strcmp(task->name, args.worker) == 0 && container_named(task, args.worker_container))
        add_worker(job, &args, head, plan);
}

static struct blob *service_body(const struct job_plugin_job *job, const struct ray_args *args)
{
    const struct job_task *head = job_task_named(job->spec, args->head);
    const json_t *container = head ? container_named(head, args->head_container) : NULL;
    scoped(buf) struct buf body = {0};
    struct jsonw w = jsonw_to(&body);

    jsonw_open(&w);
    jsonw_member_open(&w, "spec");
    jsonw_member_open(&w, "selector");
    jsonw_member_str(&w, LABEL_JOB_NAME, job->name);
    jsonw_member_str(&w, LABEL_JOB_NAMESPACE, job->ns);
    jsonw_member_str(&w, LABEL_TASK_SPEC, args->head);
    jsonw_close(&w);
    jsonw_member_open_list(&w, "ports");
    for (int i = 0; i < PORTS; i++) {
        const char *given = name_of_port(container, args->ports[i]);

        jsonw_open(&w);
        jsonw_member_str(&w, "name", port_names[i]);
        jsonw_member_str(&w, "protocol", "TCP");
        jsonw_member_int(&w, "port", args->ports[i]);
        if (given && strcmp(given, port_names[i]) !=
                         0) /* the Service's port name would match none (O-P34) */
            jsonw_member_int(&w, "targetPort", args->ports[i]);
        else
            jsonw_member_str(&w, "targetPort", port_names[i]);
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
    jsonw_close(&w);
    return blob_intern(body.data, body.len);
}

static void ray_objects(const struct job_plugin_job *job, struct job_object_plan *plan)
{
    const struct ray_args args = read_args(job);
    scoped_str name = mem_printf("%s-head-svc", job->name);

    job_plan_object(plan, &kind_service, name, service_body(job, &args));
}

static void warn_of_lost_args(const struct job_task *task, const char *container,
                              struct job_review *review)
{
    const json_t *has = task ? container_named(task, container) : NULL;

    if (task && json_array_size(json_object_get(has, "args")) > 0)
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin ray runs its own command in container %s of task %s: its args are "
                        "dropped",
                        container, task->name);
}

static void warn_of_missing(const struct job_task *task, const char *container, const char *role,
                            struct job_review *review)
{
    if (task && !container_named(task, container))
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin ray starts no %s: task %s has no container \"%s\"; name it with "
                        "the argument --%sContainer=CONTAINER",
                        role, task->name, container, role);
}

/* All ports are in one Service, so they must differ. */
static void refuse_equal_ports(const struct ray_args *args, struct job_review *review)
{
    for (int i = 0; i < PORTS; i++)
        for (int other = 0; other < i; other++)
            if (args->ports[i] == args->ports[other])
                job_review_refuse(
                    review, NULL,
                    "%s and %s have both port %lld: give them ports of their own with "
                    "port, dashboardPort and clientPort",
                    port_names[other], port_names[i], (long long)args->ports[i]);
}

static void ray_review(const struct job_plugin_job *job, struct job_review *review)
{
    const struct ray_args args = read_args(job);
    const struct job_task *head = job_task_named(job->spec, args.head);
    const struct job_task *worker = job_task_named(job->spec, args.worker);

    if (!head)
        job_review_refuse(review, NULL,
                          "the specified ray head task was not found: the job has no task \"%s\"; "
                          "name it with the argument --head=TASK",
                          args.head);
    warn_of_missing(head, args.head_container, "head", review);
    warn_of_missing(worker, args.worker_container, "worker", review);
    refuse_equal_ports(&args, review);
    warn_of_lost_args(head, args.head_container, review);
    warn_of_lost_args(worker, args.worker_container, review);
}

const struct job_plugin job_plugin_ray = {
    .name = "ray",
    .implies = {"svc"},
    .flags = ray_flags,
    .flags_size = sizeof(struct ray_args),
    .objects = ray_objects,
    .pod = ray_pod,
    .commands = ray_commands,
    .review = ray_review,
};
