/*
 * Plugin svc: host names for the pods of a job. It creates a ConfigMap with the lists of hosts, a
 * headless Service, and a NetworkPolicy that admits only the job's own pods. Each pod gets a host
 * name, and the lists as variables and as files in /etc/volcano. Ref: spec/job-plugins.md 3.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/labels.h"
#include "api/types/limits.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

/* The kernel's limit for one string of the environment, MAX_ARG_STRLEN, less the NUL. */
enum { ENV_STRING_MAX = 131071 };

#define PUBLISH    "publishNotReadyAddresses"
#define MOUNT_PATH "/etc/volcano"

struct svc_args {
    bool publish_not_ready;
    bool no_policy;
    bool hosts_env;
};

/* clang-format off */
static const struct job_arg svc_flags[] = {
    {"publish-not-ready-addresses", ARG_BOOL, offsetof(struct svc_args, publish_not_ready)},
    {"disable-network-policy",      ARG_BOOL, offsetof(struct svc_args, no_policy)},
    {"inject-hosts-env",            ARG_BOOL, offsetof(struct svc_args, hosts_env)},
    {0},
};
/* clang-format on */

static struct svc_args read_args(const struct job_plugin_job *job)
{
    struct svc_args args = {.hosts_env = true};

    job_args_read(svc_flags, job->args, &args, NULL);
    return args;
}

/* Returns the length of the comma-separated list, computed: the names differ only in the digits of
 * their index. */
static size_t hosts_length(const struct job_plugin_job *job, const struct job_task *task)
{
    scoped(buf) struct buf first = {0};
    size_t count = (size_t)job_host_count(task), total;

    if (count == 0)
        return 0;
    job_fqdn_write(&first, job->name, task, 0);
    total = count * (first.len + 1) - 1;
    for (size_t bound = 10; bound < count; bound *= 10)
        total += count - bound; /* numbers from here on have one digit more */
    return total;
}

static void variable_name(struct buf *out, const struct job_task *task, const char *suffix)
{
    buf_clear(out);
    buf_str(out, "VC_");
    job_task_word(out, task->name, true);
    buf_str(out, suffix);
}

static struct blob *hosts_body(const struct job_plugin_job *job)
{
    scoped(buf) struct buf body = {0};
    scoped(buf) struct buf key = {0};
    scoped(buf) struct buf value = {0};
    struct jsonw w = jsonw_to(&body);

    jsonw_open(&w);
    jsonw_member_open(&w, "data");
    for (size_t t = 0; t < job->spec->tasks.count; t++) {
        const struct job_task *task = &job->spec->tasks.items[t];

        buf_clear(&key);
        job_task_word(&key, task->name, false);
        buf_str(&key, ".host");
        buf_clear(&value);
        job_hosts_write(&value, job->name, task, "\n");
        jsonw_member_str(&w, key.data, value.len ? value.data : "");

        variable_name(&key, task, "_HOSTS");
        buf_clear(&value);
        job_hosts_write(&value, job->name, task, ",");
        jsonw_member_str(&w, key.data, value.len ? value.data : "");

        variable_name(&key, task, "_NUM");
        buf_clear(&value);
        buf_int(&value, job_host_count(task));
        jsonw_member_str(&w, key.data, value.data);
    }
    jsonw_close(&w);
    jsonw_close(&w);
    return blob_intern(body.data, body.len);
}

static void write_selector(struct jsonw *w, const char *key, const struct job_plugin_job *job)
{
    jsonw_member_open(w, key);
    jsonw_member_str(w, LABEL_JOB_NAME, job->name);
    jsonw_member_str(w, LABEL_JOB_NAMESPACE, job->ns);
    jsonw_close(w);
}

static struct blob *service_body(const struct job_plugin_job *job, bool publish_not_ready)
{
    scoped(buf) struct buf body = {0};
    struct jsonw w = jsonw_to(&body);

    jsonw_open(&w);
    jsonw_member_open(&w, "spec");
    jsonw_member_str(&w, "clusterIP", "None");
    write_selector(&w, "selector", job);
    jsonw_member_bool_opt(&w, PUBLISH, publish_not_ready);
    jsonw_close(&w);
    jsonw_close(&w);
    return blob_intern(body.data, body.len);
}

static struct blob *policy_body(const struct job_plugin_job *job)
{
    scoped(buf) struct buf body = {0};
    struct jsonw w = jsonw_to(&body);

    jsonw_open(&w);
    jsonw_member_open(&w, "spec");
    jsonw_member_open(&w, "podSelector");
    write_selector(&w, "matchLabels", job);
    jsonw_close(&w);
    jsonw_member_open_list(&w, "ingress");
    jsonw_open(&w);
    jsonw_member_open_list(&w, "from");
    jsonw_open(&w);
    jsonw_member_open(&w, "podSelector");
    write_selector(&w, "matchLabels", job);
    jsonw_close(&w);
    jsonw_close(&w);
    jsonw_close_list(&w);
    jsonw_close(&w);
    jsonw_close_list(&w);
    jsonw_member_open_list(&w, "policyTypes");
    jsonw_str(&w, "Ingress");
    jsonw_close_list(&w);
    jsonw_close(&w);
    jsonw_close(&w);
    return blob_intern(body.data, body.len);
}

/* Returns the changed body of a Service. In an existing Service only the member that an argument
 * decides is updated. */
static struct blob *adapt_service(const struct object *is, const struct blob *wanted)
{
    scoped(json) json_t *body = object_body_json(is);
    scoped(json) json_t *planned = json_loadb(wanted->text, wanted->len, 0, NULL);
    bool publish = json_is_true(json_object_get(json_object_get(planned, "spec"), PUBLISH));
    json_t *spec = json_object_get(body, "spec");

    if (json_is_true(json_object_get(spec, PUBLISH)) == publish)
        return blob_ref(is->body);
    if (publish)
        json_object_set_new(spec, PUBLISH, json_true());
    else
        json_object_del(spec, PUBLISH);
    return object_body_from_json(body);
}

static bool is_first_with_subdomain(const struct job_spec *spec, size_t t, const char *subdomain)
{
    for (size_t i = 0; i < t; i++) {
        const char *other = job_template_text(&spec->tasks.items[i], "subdomain");

        if (other && strcmp(other, subdomain) == 0)
            return false;
    }
    return true;
}

/* A task with its own subdomain needs a Service of that name, unless one exists (O-P16). */
static void plan_subdomains(const struct job_plugin_job *job, const struct svc_args *args,
                            struct job_object_plan *plan)
{
    for (size_t t = 0; t < job->spec->tasks.count; t++) {
        const char *subdomain = job_template_text(&job->spec->tasks.items[t], "subdomain");
        struct job_plan_object *service;

        if (!subdomain || strcmp(subdomain, job->name) == 0 ||
            !is_first_with_subdomain(job->spec, t, subdomain))
            continue;
        service = job_plan_object(plan, &kind_service, subdomain,
                                  service_body(job, args->publish_not_ready));
        service->adapt = adapt_service;
        service->shared = true;
        service->record = mem_printf("svc-%s", subdomain);
    }
}

static void svc_objects(const struct job_plugin_job *job, struct job_object_plan *plan)
{
    struct svc_args args = read_args(job);
    scoped_str config_map = mem_printf("%s-svc", job->name);

    job_plan_object(plan, &kind_config_map, config_map, hosts_body(job))->adapt = job_adapt_replace;
    job_plan_object(plan, &kind_service, job->name, service_body(job, args.publish_not_ready))
        ->adapt = adapt_service;
    if (!args.no_policy)
        job_plan_object(plan, &kind_network_policy, job->name, policy_body(job));
    plan_subdomains(job, &args, plan);
}

static json_t *from_config_map(const char *variable, const char *config_map)
{
    return json_pack("{s:s, s:{s:{s:s, s:s}}}", "name", variable, "valueFrom", "configMapKeyRef",
                     "name", config_map, "key", variable);
}

static bool hosts_fit(const struct job_plugin_job *job, const struct job_task *task,
                      const char *variable)
{
    return hosts_length(job, task) + strlen(variable) + 1 <= ENV_STRING_MAX;
}

static void add_variables(const struct job_plugin_job *job, const char *config_map,
                          struct job_pod_plan *plan)
{
    scoped(buf) struct buf name = {0};

    for (size_t t = 0; t < job->spec->tasks.count; t++) {
        const struct job_task *task = &job->spec->tasks.items[t];

        variable_name(&name, task, "_HOSTS");
        /* Too many hosts do not fit into the variable (O-P10). */
        if (hosts_fit(job, task, name.data))
            job_pod_plan_env(plan, SCOPE_ALL, from_config_map(name.data, config_map));
        variable_name(&name, task, "_NUM");
        job_pod_plan_env(plan, SCOPE_ALL, from_config_map(name.data, config_map));
    }
}

static void svc_pod(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                    struct job_pod_plan *plan)
{
    scoped_str config_map = mem_printf("%s-svc", job->name);
    scoped(buf) struct buf host = {0};

    job_host_write(&host, job->name, task, index);
    mem_free(plan->hostname);
    plan->hostname = buf_take(&host);
    mem_free(plan->subdomain);
    plan->subdomain = mem_strdup(job->name);
    if (read_args(job).hosts_env)
        add_variables(job, config_map, plan);
    job_pod_plan_volume(
        plan, json_pack("{s:s, s:{s:s}}", "name", config_map, "configMap", "name", config_map));
    job_pod_plan_mount(plan, json_pack("{s:s, s:s}", "name", config_map, "mountPath", MOUNT_PATH));
}

/* Plugin svc names a Service after the job and a volume <job>-svc, so the job's name must fit
 * (O-P15). */
static void review_job_name(const char *name, struct job_review *review)
{
    static const char field[] = "metadata.name";

    if (!name_is_dns_label(name, NULL) || (*name >= '0' && *name <= '9'))
        error_list_add(review->errors, ERR_INVALID, field,
                       "Invalid value: \"%s\": with plugin svc the job's name is a host name: a "
                       "DNS label that starts with a letter",
                       name);
    else if (strlen(name) + strlen("-svc") > LABEL_BYTES_MAX)
        error_list_add(review->errors, ERR_INVALID, field,
                       "Invalid value: \"%s\": with plugin svc at most %zu characters are allowed",
                       name, LABEL_BYTES_MAX - strlen("-svc"));
}

static void svc_review_name(const struct job_plugin_job *job, struct job_review *review)
{
    struct svc_args args = read_args(job);
    scoped_str config_map = mem_printf("%s-svc", job->name);
    scoped(buf) struct buf name = {0};

    if (review->errors)
        review_job_name(job->name, review);
    job_review_mount(job, review, MOUNT_PATH, "configMap", "name", config_map);
    for (size_t t = 0; args.hosts_env && t < job->spec->tasks.count; t++) {
        const struct job_task *task = &job->spec->tasks.items[t];

        variable_name(&name, task, "_HOSTS");
        if (!hosts_fit(job, task, name.data))
            job_review_warn(
                review, REASON_HOSTS_ENV_TOO_LONG,
                "%s: the host list of task %s is too long for a variable; read " MOUNT_PATH
                "/%s instead",
                name.data, task->name, name.data);
    }
}

static bool has_shared_hostname(const struct job_task *task)
{
    return task->replicas > 1 && job_template_text(task, "hostname");
}

/* Returns the name of a port that clients outside the job are likely to use, or NULL. */
static const char *open_port(const struct job_task *task)
{
    const json_t *container, *port;
    size_t c, p;

    json_array_foreach(job_template_list(task, "containers"), c, container)
    {
        json_array_foreach(json_object_get(container, "ports"), p, port)
        {
            const char *name = json_string_value(json_object_get(port, "name"));

            if (name && (strcmp(name, "dashboard") == 0 || strncmp(name, "http", 4) == 0))
                return name;
        }
    }
    return NULL;
}

static void review_task(const struct job_task *task, bool has_policy, struct job_review *review)
{
    const char *port = has_policy ? open_port(task) : NULL;

    if (has_shared_hostname(task))
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin svc: all %d pods of task %s have the hostname %s, so the lists "
                        "of hosts have it once: leave out hostname to tell them apart",
                        task->replicas, task->name, job_template_text(task, "hostname"));
    if (port)
        job_review_warn(review, REASON_PLUGIN_WARNING,
                        "plugin svc: where NetworkPolicies are enforced (a cluster) port %s of "
                        "task %s is for pods of this job alone; add "
                        "--disable-network-policy=true if others are to reach it",
                        port, task->name);
}

static void svc_review(const struct job_plugin_job *job, struct job_review *review)
{
    const bool has_policy = !read_args(job).no_policy;

    for (size_t t = 0; t < job->spec->tasks.count; t++)
        review_task(&job->spec->tasks.items[t], has_policy, review);
}

const struct job_plugin job_plugin_svc = {
    .name = "svc",
    .flags = svc_flags,
    .flags_size = sizeof(struct svc_args),
    .objects = svc_objects,
    .pod = svc_pod,
    .review = svc_review,
    .review_name = svc_review_name,
};
