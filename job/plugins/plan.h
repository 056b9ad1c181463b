#pragma once
/*
 * Plans: what the hooks of plugins ask for. An object plan lists objects that the job needs; a pod
 * plan lists additions to one pod. Plans are carried out by job/plugin_objects.c and
 * job/objects/pod_plugins.c. Ref: spec/job-plugins.md 1.4, O-P02, O-P06, O-P07.
 */
#include <jansson.h>

#include "api/types/object.h"
#include "base/error.h"

/** The body that an existing object should have, owned. The object's own body when nothing is to be
 * changed. */
typedef struct blob *(*job_adapt_fn)(const struct object *is, const struct blob *wanted);
/** The whole body of a new object, made from the planned one; appended to `out`. Runs on a worker
 * thread: touches nothing but its arguments. */
typedef bool (*job_complete_fn)(const char *body, size_t len, struct buf *out, struct error *err);

struct job_plan_object {
    const struct kind *kind;
    char *name;               /* name of the object; owned by the plan */
    struct blob *body;        /* body of the object; owned by the plan */
    job_adapt_fn adapt;       /* changes an existing object; NULL: it stays as it is */
    job_complete_fn complete; /* completes the body; NULL: `body` is complete */
    bool shared;              /* an object of that name and another owner serves as well */
    char *record;             /* name of a record of its own, owned; NULL = none */
    const char *plugin;       /* name of the plugin; filled in by job/plugin_objects.c */
};

struct job_object_plan {
    struct job_plan_object *items;
    size_t count, cap;
};

/** Appends an object; `body` is consumed. The row is returned for its other members, borrowed until
 * the next call. */
struct job_plan_object *job_plan_object(struct job_object_plan *plan, const struct kind *kind,
                                        const char *name, struct blob *body);
/** A job_adapt_fn: always the planned body. */
struct blob *job_adapt_replace(const struct object *is, const struct blob *wanted);
void job_object_plan_release(struct job_object_plan *plan);

enum job_pod_scope {
    SCOPE_ALL,  /* containers and init containers, also those that plugins add (O-P14) */
    SCOPE_MAIN, /* the main containers */
};

struct job_pod_env {
    json_t *entry;
    enum job_pod_scope scope;
    bool yields; /* left out when the container has a variable of the name */
};

struct job_pod_port {
    const char *container; /* name of the container; NULL: every one in scope */
    const char *name;      /* name of the port; static text */
    int32_t number;
    enum job_pod_scope scope;
};

/* JSON values are owned by the plan, container names borrowed from the job. */
struct job_pod_plan {
    struct job_pod_env *env;
    size_t n_env, cap_env;
    struct job_pod_port *ports;
    size_t n_ports, cap_ports;
    json_t *init;              /* list of containers behind the author's init containers */
    json_t *volumes;           /* JSON list of volumes */
    json_t *mounts;            /* list of volume mounts, for every container */
    const char *run_container; /* container whose command is replaced and whose arguments go */
    json_t *run;               /* command for the containers */
    json_t *annotations;       /* annotations of the pod */
    char *hostname;            /* host name, owned; used where the template has none */
    char *subdomain;
};

void job_pod_plan_release(struct job_pod_plan *plan);
/** Appends a variable; consumes `entry`. A name already planned keeps its first entry (O-P06). */
void job_pod_plan_env(struct job_pod_plan *plan, enum job_pod_scope scope, json_t *entry);
/** Appends a variable with a literal value. */
void job_pod_plan_value(struct job_pod_plan *plan, enum job_pod_scope scope, const char *name,
                        const char *value);
/** Appends a variable for containers that have none of that name. */
void job_pod_plan_default(struct job_pod_plan *plan, enum job_pod_scope scope, const char *name,
                          const char *value);
/** Declare a port in each container that does not declare the number. */
void job_pod_plan_port(struct job_pod_plan *plan, enum job_pod_scope scope, const char *container,
                       const char *name, int64_t number);
/** `volume` is freed with the plan */
void job_pod_plan_volume(struct job_pod_plan *plan, json_t *volume);
/** `mount` is freed with the plan */
void job_pod_plan_mount(struct job_pod_plan *plan, json_t *mount);
/** `container` is freed with the plan */
void job_pod_plan_init(struct job_pod_plan *plan, json_t *container);
void job_pod_plan_run(struct job_pod_plan *plan, const char *container, json_t *command);
void job_pod_plan_annotation(struct job_pod_plan *plan, const char *key, const char *value);
