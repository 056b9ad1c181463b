#pragma once
/*
 * Job plugins: each name in spec.plugins adds objects, and variables, mounts and ports of pods, to
 * a job. Ref: spec/job-plugins.md.
 *
 * Hooks are pure: they append to a plan that job/plugin_objects.c (objects) and job/objects/pod_plugins.c
 * (pods) carry out. To add a plugin: one file with one constant, one line in JOB_PLUGINS;
 * admission, implied plugins, argument findings and the records in the job's status follow from the
 * constant (docs/plugins.md).
 */
#include "api/types/kinds/job/job.h"
#include "job/plugins/args.h"
#include "job/plugins/host_names.h"
#include "job/plugins/plan.h"

/* Names of the constants and of the plugins, in the order in which hooks run: alphabetical, with
 * hcclrank last because it reads what the others have planned (O-P01). */
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

/* The job as a hook sees it; all borrowed. */
struct job_plugin_job {
    const char *ns, *name, *uid; /* name is NULL in a review that may not depend on it */
    const struct job_spec *spec;
    struct str_list args;
    bool local;       /* pods run on this machine: loopback network, one known user */
    bool own_network; /* pods on this machine have a network of their own, with interfaces */
    /** The pod of (task position, index) as it is now, or NULL. The member is NULL at admission,
     * where there are no pods. A plugin that uses it has `uses_pod_addresses`. */
    const struct object *(*pod)(const void *pods, size_t task, int32_t index);
    const void *pods;
};

/* Findings of a review. Either list may be NULL. A warning's field is its event's reason. */
struct job_review {
    const char *plugin;
    const char *path; /* path of the spec in messages: "spec" */
    struct error_list *errors, *warnings;
    bool no_key_arguments; /* private keys in arguments are not taken here (SEC-29) */
    bool no_low_ports;     /* pods cannot listen below 1024 here */
};

#define REASON_ARGUMENT_IGNORED   "PluginArgumentIgnored"
#define REASON_HOSTS_ENV_TOO_LONG "HostsEnvTooLong"
#define REASON_PLUGIN_WARNING     "PluginWarning"

/** Refuses the job. `field` is a path below the spec; NULL: the plugin's entry in spec.plugins. */
void job_review_refuse(struct job_review *review, const char *field, const char *format, ...)
    PRINTF_LIKE(3, 4);
/** Warn the author of the job. `reason` is static text. */
void job_review_warn(struct job_review *review, const char *reason, const char *format, ...)
    PRINTF_LIKE(3, 4);
/** Refuses the author's mounts at `path`, unless they mount the object that the plugin mounts
 * there: a volume whose `source` names `object` (O-P07). */
void job_review_mount(const struct job_plugin_job *job, struct job_review *review, const char *path,
                      const char *source, const char *member, const char *object);

enum { JOB_PLUGIN_IMPLIES_MAX = 2 };

struct job_plugin {
    const char *name;
    const char *implies[JOB_PLUGIN_IMPLIES_MAX + 1]; /* added, without arguments, where missing */
    const struct job_arg *flags; /* flags of the plugin; NULL: any arguments, all ignored */
    size_t flags_size;           /* size of the struct that the flags are read
                                                      * into */
    bool unrecorded; /* leaves a record in the job's status only when it has made objects */
    /** Returns whether the objects of the plugin depend on the addresses of pods. NULL: they do
     * not. */
    bool (*uses_pod_addresses)(const struct job_plugin_job *job);
    /** The objects the job needs. May be NULL. */
    void (*objects)(const struct job_plugin_job *job, struct job_object_plan *plan);
    /** Additions for the pod of (task, index). May be NULL. */
    void (*pod)(const struct job_plugin_job *job, const struct job_task *task, int32_t index,
                struct job_pod_plan *plan);
    /** Returns whether the plugin sets the command of this container, so that the author may leave
     * it out. NULL: it never does. */
    bool (*commands)(const struct job_plugin_job *job, const struct job_task *task,
                     const char *container);
    /** Finds errors and warnings in the spec alone. May be NULL. */
    void (*review)(const struct job_plugin_job *job, struct job_review *review);
    /** Finds errors and warnings that depend on the job's name. May be NULL. */
    void (*review_name)(const struct job_plugin_job *job, struct job_review *review);
    /** Returns why this task's replicas must not change while the job exists; NULL: they may. */
    const char *(*fixed_size)(const struct job_plugin_job *job, const struct job_task *task);
};

#define JOB_PLUGIN_DECLARE(name) extern const struct job_plugin job_plugin_##name;
JOB_PLUGINS(JOB_PLUGIN_DECLARE)
#undef JOB_PLUGIN_DECLARE

/** Returns the plugin of that name. NULL with INVALID when there is none. */
const struct job_plugin *job_plugin_find(const char *name, struct error *err);

/**
 * Calls `visit` for each plugin of the job in the fixed order, with its arguments filled in. False
 * with the error of the first name that job_plugin_find refuses; then nothing was visited.
 */
typedef void (*job_plugin_visit_fn)(void *arg, const struct job_plugin *plugin,
                                    const struct job_plugin_job *job);
bool job_plugins_each(const struct job_plugin_job *job, job_plugin_visit_fn visit, void *arg,
                      struct error *err);

/** The arguments of a plugin of the job; false when it does not have the plugin. */
bool job_plugin_args(const struct job_spec *spec, const char *name, struct str_list *out);

/** Appends the findings of all plugins: with a name in `job` those that depend on the name, without
 * it the others. */
void job_plugins_review(const struct job_plugin_job *job, const char *path,
                        struct error_list *errors, struct error_list *warnings);

/** Adds the plugins that those of `spec` imply; memory of the arena. */
void job_plugins_imply(struct job_spec *spec, struct arena *arena);

/* The functions that admission calls; see api/types/admission.h. */
struct plugin_rules;
extern const struct plugin_rules job_plugin_rules;
