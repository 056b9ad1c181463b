#pragma once
/*
 * Job plugins: what a name in spec.plugins adds to a job. Ref: spec/job-plugins.md.
 *
 * Hooks are pure: they append to a plan, and one place carries it out: job/plugin_objects.c for
 * objects, job/pod_plugins.c for pods. Adding a plugin: one file with one constant, one line in
 * JOB_PLUGINS; admission, implied plugins, argument findings and the records in the job's status
 * follow from the constant (docs/plugins.md).
 */
#include "api/types/kinds/job/job.h"
#include "job/plugins/args.h"
#include "job/plugins/host_names.h"
#include "job/plugins/plan.h"

/* Name of the constant and of the plugin, in the order in which hooks run: alphabetical, hcclrank
 * last, for it looks at what the others have planned (O-P01). */
/* clang-format off */
#define JOB_PLUGINS(X) \
    X(env)             \
    X(mpi)             \
    X(pytorch)         \
    X(ray)             \
    X(ssh)             \
    X(svc)             \
    X(tensorflow)      \
    X(hcclrank)
/* clang-format on */

/* What a hook may look at; all borrowed. */
struct job_plugin_job {
    const char *ns, *name, *uid; /* name is NULL in a review that may not depend on it */
    const struct job_spec *spec;
    struct str_list args;
    bool local;       /* pods run on this machine: loopback network, one known user */
    bool own_network; /* not that of loopback: theirs has interfaces */
    /** The pod of (task position, index) as it is now, or NULL. NULL itself where nobody knows
     * pods; a plugin that asks says so in `uses_pod_addresses`. */
    const struct object *(*pod)(const void *pods, size_t task, int32_t index);
    const void *pods;
};

/* Findings of a review. Either list may be NULL. A warning's field is its event's reason. */
struct job_review {
    const char *plugin;
    const char *path; /* of the spec: "spec" */
    struct error_list *errors, *warnings;
    bool no_key_arguments; /* private keys in arguments are not taken here (SEC-29) */
};

#define REASON_ARGUMENT_IGNORED   "PluginArgumentIgnored"
#define REASON_HOSTS_ENV_TOO_LONG "HostsEnvTooLong"
#define REASON_PLUGIN_WARNING     "PluginWarning"

/** The job cannot be run so. `field` below the spec; NULL: the plugin's own. */
void job_review_refuse(struct job_review *review, const char *field, const char *format, ...)
    PRINTF_LIKE(3, 4);
/** The author should know. `reason` is static text. */
void job_review_warn(struct job_review *review, const char *reason, const char *format, ...)
    PRINTF_LIKE(3, 4);
/** Refuse a mount of the author's at `path`, unless it is of the object the plugin mounts there: a
 * volume whose `source` names `object` (O-P07). */
void job_review_mount(const struct job_plugin_job *job, struct job_review *review, const char *path,
                      const char *source, const char *member, const char *object);

enum { JOB_PLUGIN_IMPLIES_MAX = 2 };

struct job_plugin {
    const char *name;
    const char *implies[JOB_PLUGIN_IMPLIES_MAX + 1]; /* added, without arguments, where missing */
    const struct job_arg *flags;                     /* NULL: any arguments, all ignored */
    size_t flags_size;                               /* of the struct they are read into */
    bool unrecorded; /* leaves a record in the job's status only when it has made objects */
    /** Do its objects depend on the addresses of pods? NULL: no. */
    bool (*uses_pod_addresses)(const struct job_plugin_job *job);
    /** The objects the job needs. May be NULL. */
    void (*objects)(const struct job_plugin_job *job, struct job_object_plan *plan);
    /** Additions for the pod of (task, index). May be NULL. */
    void (*pod)(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                struct job_pod_plan *plan);
    /** Does it give this container of the task its command, which the author then may leave out?
     * NULL: never. */
    bool (*commands)(const struct job_plugin_job *job, const struct job_task *task,
                     const char *container);
    /** What the author should know, and what cannot be; of the spec alone. May be NULL. */
    void (*review)(const struct job_plugin_job *job, struct job_review *review);
    /** The same of what depends on the job's name. May be NULL. */
    void (*review_name)(const struct job_plugin_job *job, struct job_review *review);
    /** May this task's replicas change while the job lives? NULL: yes. Otherwise the reason. */
    const char *(*fixed_size)(const struct job_plugin_job *job, const struct job_task *task);
};

#define JOB_PLUGIN_DECLARE(name) extern const struct job_plugin job_plugin_##name;
JOB_PLUGINS(JOB_PLUGIN_DECLARE)
#undef JOB_PLUGIN_DECLARE

/** The plugin of that name. NULL with INVALID when there is none. */
const struct job_plugin *job_plugin_find(const char *name, struct error *err);

/**
 * Call `visit` for each plugin of the job in the fixed order, with its arguments filled in. False
 * with the error of the first name that job_plugin_find refuses; then nothing was visited.
 */
typedef void (*job_plugin_visit_fn)(void *arg, const struct job_plugin *plugin,
                                    const struct job_plugin_job *job);
bool job_plugins_each(const struct job_plugin_job *job, job_plugin_visit_fn visit, void *arg,
                      struct error *err);

/** The arguments of a plugin of the job; false when it does not have the plugin. */
bool job_plugin_args(const struct job_spec *spec, const char *name, struct str_list *out);

/** Findings of all plugins. With a name in `job`, of those that depend on it; without, of the
 * others. */
void job_plugins_review(const struct job_plugin_job *job, const char *path,
                        struct error_list *errors, struct error_list *warnings);

/** The plugins of `spec` with those they imply, in `arena`. */
void job_plugins_imply(struct job_spec *spec, struct arena *arena);

/* What admission asks; see api/types/admission.h. */
struct plugin_rules;
extern const struct plugin_rules job_plugin_rules;
