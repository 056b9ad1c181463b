#pragma once
/*
 * Pods and objects of a job as the core and its plugins make them, without a cluster; and parts of
 * pods as one line of text, to be compared at a glance.
 */
#include "job/pod.h"
#include "job/pod_plugins.h"

struct job_bench {
    struct job_spec_cache *cache;
    struct object *job;
    struct job_model model;
    char *text; /* the last one of the functions below */
};

/** From a manifest that admission has not seen. */
struct job_bench job_bench_new(const char *yaml);
void job_bench_free(struct job_bench *bench);

/** The body of the pod; owned. */
json_t *job_bench_pod(struct job_bench *bench, const char *task, int32_t index);
/** A container of the pod by name, whichever list it is in. */
const json_t *job_bench_container(const json_t *pod, const char *name);

/* "A=1 B=<j-svc/B>", "22:mpijob-port", "j-svc:/etc/volcano j-ssh/.ssh:/root/.ssh". Valid until the
 * next of these calls. */
const char *job_bench_env(struct job_bench *bench, const json_t *pod, const char *container);
const char *job_bench_ports(struct job_bench *bench, const json_t *pod, const char *container);
const char *job_bench_mounts(struct job_bench *bench, const json_t *pod, const char *container);
/** The value of a literal variable, or NULL. */
const char *job_bench_value(const json_t *pod, const char *container, const char *variable);
