#pragma once
/*
 * Admission of one write: schema check, defaults, mutation and validation, and the context that
 * they may look up.
 */
#include "api/types/limits.h"
#include "api/types/object.h"
#include "api/types/schema/schema.h"

struct admission;
struct job_spec;
struct job_task;

/* The rules for the plugins in a Job's spec.plugins. The plugins themselves are above this layer;
 * job/plugins holds the one constant of this type. */
struct plugin_rules {
    /** Adds to the object `plugins` the plugins that those in it require. */
    void (*imply)(json_t *plugins);
    /** Checks the plugins of a spec at `path`. With `name` NULL it reports all that does not depend
     * on the job's name, otherwise only what does. */
    void (*check)(const struct admission *adm, const struct job_spec *spec, const char *name,
                  const char *path, struct error_list *errors);
    /** Returns whether a plugin sets the command of a task's container. */
    bool (*commands)(const struct job_spec *spec, const struct job_task *task,
                     const char *container);
    /** Reports changes that plugins forbid while a job exists. */
    void (*check_update)(const struct job_spec *before, const struct job_spec *after,
                         struct error_list *errors);
};

struct admission {
    /** Looks an object up. Borrowed until the loop's next turn; NULL when there is none. */
    const struct object *(*get)(void *ctx, const struct kind *kind, const char *ns,
                                const char *name);
    void (*each)(void *ctx, const struct kind *kind, const char *ns,
                 void (*visit)(void *arg, const struct object *object), void *arg);
    void *ctx;
    const char *scheduler_name;         /* the first configured one: "volcano" */
    bool upstream_compat;               /* setting --jobflow-compat=upstream */
    bool virtual_runtime;               /* --runtime sim: containers need no command (DC-10) */
    bool allow_flow_updates;            /* setting --jobflow-updates=allow (DC-02) */
    const struct limits *limits;        /* limits that apply; NULL = limits_default */
    const struct plugin_rules *plugins; /* rules of the job plugins; NULL: every plugin is accepted
                                         * unchecked */
    bool strict_plugin_arguments;       /* arguments that plugins would ignore are errors */
    bool no_key_arguments;              /* private keys in plugin arguments are errors */
    bool no_low_ports;                  /* pods cannot listen below 1024 */
    struct error_list *warnings;        /* receives warnings; may be NULL */
    /* Receives the members of the admitted body when they exist as a document (owned). NULL: not
     * wanted. */
    json_t **out_body;
};

/**
 * Admits a document: strict or pruning schema check with defaults, the kind's mutation, conversion
 * to an object, validation. `old` is NULL on create. Returns an owned object whose body is marked
 * as admitted, or NULL with every finding in `errors`. `doc` is borrowed; defaults are written into
 * it.
 */
struct object *admission_admit(const struct admission *adm, json_t *doc, const struct object *old,
                               enum schema_unknown unknown, struct error_list *errors);

/** Admits an object made by a controller, as admission_admit does. A body already admitted as this
 * kind is not checked again. Consumes `draft`. */
struct object *admission_admit_object(const struct admission *adm, struct object *draft,
                                      const struct object *old, struct error_list *errors);
