/*
 * A host name is JOB-TASK-INDEX unless the template has one; the domain is the job's name unless
 * the template has a subdomain.
 */
#include "job/plugins/host_names.h"

#include <ctype.h>
#include <string.h>

const json_t *job_template_list(const struct job_task *task, const char *key)
{
    return json_object_get(json_object_get(task->template, "spec"), key);
}

const char *job_template_text(const struct job_task *task, const char *key)
{
    const char *text = json_string_value(job_template_list(task, key));

    return text && *text ? text : NULL;
}

void job_host_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index)
{
    const char *fixed = job_template_text(task, "hostname");

    if (fixed) {
        buf_str(out, fixed);
        return;
    }
    buf_str(out, job_name);
    buf_char(out, '-');
    buf_str(out, task->name);
    buf_char(out, '-');
    buf_int(out, index);
}

void job_fqdn_write(struct buf *out, const char *job_name, const struct job_task *task,
                    int32_t index)
{
    const char *subdomain = job_template_text(task, "subdomain");

    job_host_write(out, job_name, task, index);
    buf_char(out, '.');
    buf_str(out, subdomain ? subdomain : job_name);
}

int32_t job_host_count(const struct job_task *task)
{
    if (task->replicas <= 0)
        return 0;
    return job_template_text(task, "hostname") ? 1 : task->replicas;
}

void job_hosts_write(struct buf *out, const char *job_name, const struct job_task *task,
                     const char *separator)
{
    int32_t count = job_host_count(task);

    for (int32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_str(out, separator);
        job_fqdn_write(out, job_name, task, i);
    }
}

void job_task_word(struct buf *out, const char *task_name, bool upper)
{
    for (; *task_name; task_name++) {
        char c = *task_name == '-' ? '_' : *task_name;

        buf_char(out, upper ? (char)toupper((unsigned char)c) : c);
    }
}

const struct job_task *job_task_named(const struct job_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->tasks.count; i++)
        if (spec->tasks.items[i].name && strcmp(spec->tasks.items[i].name, name) == 0)
            return &spec->tasks.items[i];
    return NULL;
}
