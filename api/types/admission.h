#pragma once
/*
 * What admission may look up, and the whole of admission for one write: schema check, defaults,
 * mutation, validation.
 */
#include "api/types/limits.h"
#include "api/types/object.h"
#include "api/types/schema/schema.h"

struct admission;
struct job_spec;
struct job_task;

/* What the names in a Job's spec.plugins mean. The plugins themselves are above this layer; the one
 * constant of this type is in job/plugins. */
struct plugin_rules {
    /** Add to the object `plugins` what those in it need. */
    void (*imply)(json_t *plugins);
    /** Findings of a spec at `path`: with `name` NULL of all that needs no name, otherwise of what
     * depends on the job's name. */
    void (*check)(const struct admission *adm, const struct job_spec *spec, const char *name,
                  const char *path, struct error_list *errors);
    /** Does one of them give the container of a task its command? */
    bool (*commands)(const struct job_spec *spec, const struct job_task *task,
                     const char *container);
    /** What plugins forbid to change while a job lives. */
    void (*check_update)(const struct job_spec *before, const struct job_spec *after,
                         struct error_list *errors);
};

struct admission {
    /** Borrowed until the loop's next turn, or NULL. */
    const struct object *(*get)(void *ctx, const struct kind *kind, const char *ns,
                                const char *name);
    void (*each)(void *ctx, const struct kind *kind, const char *ns,
                 void (*visit)(void *arg, const struct object *object), void *arg);
    void *ctx;
    const char *scheduler_name;         /* first configured: "volcano" */
    bool upstream_compat;               /* --jobflow-compat=upstream */
    bool virtual_runtime;               /* --runtime sim: containers need no command (DC-10) */
    bool allow_flow_updates;            /* --jobflow-updates=allow (DC-02) */
    const struct limits *limits;        /* NULL = limits_default */
    const struct plugin_rules *plugins; /* NULL: any plugin is taken as it is */
    bool strict_plugin_arguments;       /* what plugins would ignore is refused */
    bool no_key_arguments;              /* private keys in arguments of plugins are refused */
    struct error_list *warnings;        /* may be NULL */
    json_t **out_body; /* NULL, or gets the members of an admitted body that is at hand (owned) */
};

/**
 * Admit a document: strict or pruning schema check with defaults, the kind's mutation, conversion
 * to an object, validation. `old` is NULL on create. Returns an owned object whose body is marked
 * admitted, or NULL with every finding in `errors`. `doc` is borrowed and changed (defaults).
 */
struct object *admission_admit(const struct admission *adm, json_t *doc, const struct object *old,
                               enum schema_unknown unknown, struct error_list *errors);

/** The same for an object made by a controller: nothing is repeated for a body already admitted as
 * this kind. Consumes `draft`. */
struct object *admission_admit_object(const struct admission *adm, struct object *draft,
                                      const struct object *old, struct error_list *errors);
