#pragma once
/*
 * Job plugins: what a name in spec.plugins adds to a job. Ref: spec/job-plugins.md 1, O-P01…O-P07.
 *
 * Hooks are pure: they append to a plan, and one place (job/prepare.c for objects, job/pod.c for
 * pods) carries it out. Adding a plugin: one file with one constant, one line in JOB_PLUGINS.
 */
#include "api/types/job.h"
#include "base/arena.h"

/* Name of the constant and of the plugin, in the order in which hooks run: alphabetical, hcclrank
 * last (O-P01). */
/* clang-format off */
#define JOB_PLUGINS(X) \
    X(env)             \
    X(svc)
/* clang-format on */

/* What a hook may look at; all borrowed. */
struct job_plugin_job {
    const char *ns, *name, *uid;
    const struct job_spec *spec;
    struct str_list args;
};

/* An object the job needs, owned by the job. */
struct job_plan_object {
    const struct kind *kind;
    char *name;        /* owned by the plan */
    struct blob *body; /* owned by the plan */
    bool follow;       /* replaced when its content differs, not only made when missing */
};

struct job_object_plan {
    struct job_plan_object *items;
    size_t count, cap;
};

void job_plan_object(struct job_object_plan *plan, const struct kind *kind, const char *name,
                     struct blob *body, bool follow); /* `body` consumed */
void job_object_plan_release(struct job_object_plan *plan);

/* What is added to one pod; JSON values owned by the plan. Every container and init container gets
 * env and mounts. */
struct job_pod_plan {
    json_t *env;     /* list of env entries */
    json_t *volumes; /* list of volumes */
    json_t *mounts;  /* list of volume mounts */
    char *hostname;  /* owned; used where the template has none */
    char *subdomain;
};

void job_pod_plan_release(struct job_pod_plan *plan);
/** Append a variable; consumes `entry`. A name already planned keeps its first entry (O-P06). */
void job_pod_plan_env(struct job_pod_plan *plan, json_t *entry);
void job_pod_plan_volume(struct job_pod_plan *plan, json_t *volume);
void job_pod_plan_mount(struct job_pod_plan *plan, json_t *mount);

struct job_plugin {
    const char *name;
    bool changes_pods; /* has a pod hook: pods of the job are built one by one */
    /** The objects the job needs. May be NULL. */
    void (*objects)(const struct job_plugin_job *job, struct job_object_plan *plan);
    /** Additions for the pod of (task, index). May be NULL. */
    void (*pod)(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                struct job_pod_plan *plan);
    /** Report arguments that will be ignored, and what else the author should know. May be NULL. */
    void (*review)(const struct job_plugin_job *job, struct error_list *warnings);
};

#define JOB_PLUGIN_DECLARE(name) extern const struct job_plugin job_plugin_##name;
JOB_PLUGINS(JOB_PLUGIN_DECLARE)
#undef JOB_PLUGIN_DECLARE

/** The plugin of that name. NULL with INVALID: unknown, or known to the API but not to this
 * version. */
const struct job_plugin *job_plugin_find(const char *name, struct error *err);

/**
 * Call `visit` for each plugin of the job in the fixed order, with its arguments filled in. False
 * with the error of the first name that job_plugin_find refuses; then nothing was visited.
 */
typedef void (*job_plugin_visit_fn)(void *arg, const struct job_plugin *plugin,
                                    const struct job_plugin_job *job);
bool job_plugins_each(const struct job_plugin_job *job, job_plugin_visit_fn visit, void *arg,
                      struct error *err);

/** The two-part name of a replica: host(task, i) "." sub(task). Ref: spec/job-plugins.md 0. */
void job_host_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index);
void job_fqdn_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index);
/** How many different hosts the task has: its replicas, or one where the template fixes the host
 * name. */
int32_t job_host_count(const struct job_task *task);
/** The task's name with "_" for "-"; upper case for variables. Appended to `out`. */
void job_task_word(struct buf *out, const char *task_name, bool upper);
