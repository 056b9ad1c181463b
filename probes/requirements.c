/*
 * Turns the entries of a probe into the requirements on the tasks of one job.
 */
#include "probes/requirements.h"

#include <string.h>

#include "base/mem.h"

const char *probe_entry_task(const struct flow_probe *probe, size_t position)
{
    return flow_probe_at(probe, position).task;
}

static bool names_task(const char *wanted, const struct job_task *task)
{
    return !wanted || (task->name && strcmp(wanted, task->name) == 0);
}

static bool names_task_of(const char *wanted, const struct job_spec *job)
{
    for (size_t t = 0; t < job->tasks.count; t++)
        if (names_task(wanted, &job->tasks.items[t]))
            return true;
    return false;
}

bool probe_entry_applies(const struct flow_probe *probe, size_t position,
                         const struct job_spec *job)
{
    return names_task_of(probe_entry_task(probe, position), job);
}

/* Returns how many pods of the task must pass: as many as a task of the same job that depends on it
 * would wait for. */
static int32_t threshold_of(const struct probe_entry *entry, const struct job_task *task)
{
    int32_t pods = task->min_available.set ? task->min_available.value : task->replicas;

    return entry->one_pod_suffices || pods < 1 ? 1 : pods;
}

void probe_requirements_of(const struct flow_probe *probe, const struct job_spec *job,
                           struct probe_requirements *out)
{
    size_t n_entries = flow_probe_count(probe);

    for (size_t position = 0; position < n_entries; position++) {
        struct probe_entry entry = probe_entry_at(probe, position);

        for (size_t t = 0; t < job->tasks.count; t++) {
            const struct job_task *task = &job->tasks.items[t];

            if (!names_task(entry.task, task))
                continue;
            mem_grow(out->items, out->count, out->cap);
            out->items[out->count++] =
                (struct probe_requirement){.entry = entry,
                                           .task = task->name ? task->name : "",
                                           .threshold = threshold_of(&entry, task)};
        }
    }
}

void probe_requirements_release(struct probe_requirements *requirements)
{
    mem_free(requirements->items);
    memset(requirements, 0, sizeof *requirements);
}

static bool is_met(const struct probe_requirement *requirement)
{
    return requirement->passing >= requirement->threshold;
}

bool probe_requirements_met(const struct probe_requirements *requirements)
{
    for (size_t i = 0; i < requirements->count; i++)
        if (!is_met(&requirements->items[i]))
            return false;
    return requirements->count > 0;
}

bool probe_requirements_met_by_completion(const struct probe_requirements *requirements)
{
    for (size_t i = 0; i < requirements->count; i++)
        if (!requirements->items[i].entry.met_by_completion && !is_met(&requirements->items[i]))
            return false;
    return true;
}

bool probe_wants_failure(const struct flow_probe *probe, const struct job_spec *job)
{
    size_t n_entries = flow_probe_count(probe);

    for (size_t position = 0; position < n_entries; position++) {
        struct probe_entry entry = probe_entry_at(probe, position);

        if (entry.awaits_failure && (!job || names_task_of(entry.task, job)))
            return true;
    }
    return false;
}
