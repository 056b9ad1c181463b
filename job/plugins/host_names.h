#pragma once
/*
 * Host names of a job's pods as plugins write them, and look-ups in the job's spec. Ref:
 * spec/job-plugins.md 0.
 */
#include "api/types/kinds/job/job.h"
#include "base/buf.h"

/** Appends the name of a replica: its host name, or HOST.SUBDOMAIN. */
void job_host_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index);
void job_fqdn_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index);
/** Returns how many different hosts the task has: its replicas, or one where the template fixes the
 * host name. */
int32_t job_host_count(const struct job_task *task);
/** Appends HOST.SUBDOMAIN of every host of the task. */
void job_hosts_write(struct buf *out, const char *job_name, const struct job_task *task,
                     const char *separator);
/** The task's name with "_" for "-"; upper case for variables. Appended to `out`. */
void job_task_word(struct buf *out, const char *task_name, bool upper);
/** Returns a text member of the template's spec; NULL when absent or empty. */
const char *job_template_text(const struct job_task *task, const char *key);
/** Returns the containers (or initContainers) of the template; NULL when there are none. */
const json_t *job_template_list(const struct job_task *task, const char *key);
/** Returns the task of that name, or NULL. */
const struct job_task *job_task_named(const struct job_spec *spec, const char *name);
