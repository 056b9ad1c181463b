#pragma once
/*
 * Builds pods and other objects of a job as the job controller and its plugins do, without a
 * cluster, and prints parts of pods as one line of text for comparison.
 */
#include "job/objects/pod.h"
#include "job/objects/pod_plugins.h"

struct job_bench {
    struct job_spec_cache *cache;
    struct object *job;
    struct job_model model;
    char *text; /* the text that the functions below returned last */
};

/** Reads a job from a manifest, without admission. */
struct job_bench job_bench_new(const char *yaml);
void job_bench_free(struct job_bench *bench);

/** Returns the body of the pod; owned by the caller. */
json_t *job_bench_pod(struct job_bench *bench, const char *task, int32_t index);
/** Returns a container or init container of the pod by name. */
const json_t *job_bench_container(const json_t *pod, const char *name);

/* Each of these functions returns environment variables, ports or volume mounts as text, for
 * example "A=1 B=<j-svc/B>", "22:mpijob-port", "j-svc:/etc/volcano j-ssh/.ssh:/root/.ssh". The text
 * is valid until the next of these calls. */
const char *job_bench_env(struct job_bench *bench, const json_t *pod, const char *container);
const char *job_bench_ports(struct job_bench *bench, const json_t *pod, const char *container);
const char *job_bench_mounts(struct job_bench *bench, const json_t *pod, const char *container);
/** Returns the value of a variable with a literal value, or NULL. */
const char *job_bench_value(const json_t *pod, const char *container, const char *variable);
