#pragma once
/*
 * Limits for the size of objects. Ref: spec/reliability.md section 3, with the flow sizes of DC-05.
 *
 * The defaults apply unless the configuration changes them; no limit may be raised beyond
 * `limits_hard`.
 */
#include <stdint.h>

struct limits {
    int64_t flow_steps;         /* steps of a flow (rule L-17) */
    int64_t flow_edges;         /* L-17: targets of all steps together */
    int64_t step_probes;        /* L-32: probe entries of one step */
    int64_t job_tasks;          /* tasks of a job (rule L-18) */
    int64_t job_replicas;       /* L-18: of all tasks together */
    int64_t retries;            /* L-19: maxRetry of a job or task */
    int64_t label_count;        /* labels of an object (rule L-15) */
    int64_t annotation_bytes;   /* L-15: keys and values */
    int64_t data_bytes;         /* L-16: data of a ConfigMap or Secret */
    int64_t probe_path;         /* bytes of a probe's path (rule L-34) */
    int64_t probe_header_name;  /* bytes of a probe header's name (rule L-34) */
    int64_t probe_header_value; /* bytes of a probe header's value (rule L-34) */
    int64_t argument_bytes;     /* L-35: one argument or variable */
    int64_t arguments_bytes;    /* L-35: all arguments of a container */
    int64_t pod_containers;     /* containers of a pod (rule L-36) */
    int64_t pod_volumes;        /* volumes of a pod (rule L-36) */
    int64_t container_mounts;   /* mounts of a container (rule L-36) */
};

extern const struct limits limits_default;
extern const struct limits limits_hard;

/** Returns in `out` the default limits for flows of up to `steps` steps (0: the default number),
 * with the number of edges in proportion. No limit exceeds `limits_hard`. */
void limits_for_flows(struct limits *out, int64_t steps);

/* Maximum lengths that are not configurable. L-13, L-14 */
enum { NAME_BYTES_MAX = 253, LABEL_BYTES_MAX = 63 };
