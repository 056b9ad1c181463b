#pragma once
/*
 * Names of the objects that the job controller creates, and well-known keys of their labels and
 * annotations. Ref: spec/job.md 3, O-05, O-53, O-54.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/types/kinds/pod/pod.h"

#define JOB_COMPONENT   "vc-controller-manager"
#define JOB_API_VERSION "batch.volcano.sh/v1alpha1"

#define ANNOTATION_TASK_INDEX          LABEL_TASK_INDEX
#define ANNOTATION_TASK_SPEC           LABEL_TASK_SPEC
#define ANNOTATION_JOB_NAME            LABEL_JOB_NAME
#define ANNOTATION_QUEUE_NAME          LABEL_QUEUE_NAME
#define ANNOTATION_GROUP_NAME_OLD      "scheduling.volcano.sh/group-name"
#define ANNOTATION_TEMPLATE_KEY_OLD    "volcano.sh/pod-template-key"
#define LABEL_PARTITION_ID_OLD         "volcano.sh/task-partition-id"
#define ANNOTATION_NUMA_POLICY         "volcano.sh/numa-topology-policy"
#define ANNOTATION_JOB_FORWARDING      "volcano.sh/job-forwarding"
#define ANNOTATION_PREEMPTABLE         "volcano.sh/preemptable"
#define ANNOTATION_COOLDOWN_TIME       "volcano.sh/cooldown-time"
#define ANNOTATION_REVOCABLE_ZONE      "volcano.sh/revocable-zone"
#define ANNOTATION_JDB_MIN_AVAILABLE   "volcano.sh/jdb-min-available"
#define ANNOTATION_JDB_MAX_UNAVAILABLE "volcano.sh/jdb-max-unavailable"
#define ANNOTATION_RESUME_COUNT        "volcano.sh/job-resume-count"
#define ANNOTATION_RESUME_VERSION      "volcano.sh/job-resume-version"
#define ANNOTATION_VOLUME_FALLBACK     "volcano.sh/volume-fallback"
#define ANNOTATION_DEPENDSON_GANG      "volcano.sh/dependson-gang"
#define LABEL_MANAGED_BY               "app.kubernetes.io/managed-by"
#define MANAGED_BY_US                  "jobflow"
#define LABEL_COSCHEDULING_GROUP       "scheduling.x-k8s.io/pod-group"
#define LABEL_KUEUE_QUEUE              "kueue.x-k8s.io/queue-name"
#define LABEL_KUEUE_GROUP              "kueue.x-k8s.io/pod-group-name"
#define ANNOTATION_KUEUE_COUNT         "kueue.x-k8s.io/pod-group-total-count"
#define ANNOTATION_KEEP_SUCCEEDED      "volcano.sh/keep-succeeded"
#define ANNOTATION_RESTART_BUDGET      "volcano.sh/restart-budget"

/** A decimal int32 with nothing around it, as Go's strconv reads it. */
bool job_parse_int(const char *text, int32_t *out);

/** Returns the name `<job>-<task>-<index>`, owned. */
char *job_pod_name(const char *job, const char *task, int32_t index);
/** Returns the name `<job>-<uid>`, owned. */
char *job_podgroup_name(const struct object *job);
/** Returns the claim made for the volume at `position`: `<job>-pvc-` and 12 characters from uid and
 * position; owned. */
char *job_claim_name(const struct object *job, size_t position);
/** Returns the name of a claim's volume inside pods: the same for every pod and at most 63 bytes;
 * owned. */
char *job_claim_volume_name(const char *claim);

/** Returns the job with these annotations set, owned. */
struct object *job_annotated(const struct object *job, const struct kv *set, size_t n);

/** Partition of a replica: index / size; 0 for a size that is not positive. */
int32_t job_partition_of(int32_t index, int32_t size);
