/*
 * Entries to needs, and the table of taskStatus phases.
 */
#include "probes/requirements.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define BIT(phase) (1u << (phase))
#define ANY_PHASE  (BIT(POD_PHASE_N) - 1)

/* What counts for a wanted phase; `one` pod is enough where the phase tells of trouble;
 * `passed_on`: a job that completed has gone through it. */
static const struct status_phase {
    const char *text;
    unsigned counts;
    bool one;
    bool passed_on;
} status_phases[] = {
    /* clang-format off */
    {"Running",   BIT(POD_RUNNING) | BIT(POD_SUCCEEDED), false, true}, /* first: the default */
    {"Pending",   ANY_PHASE,                             false, true},
    {"Succeeded", BIT(POD_SUCCEEDED),                    false, true},
    {"Completed", BIT(POD_SUCCEEDED),                    false, true},
    {"Failed",    BIT(POD_FAILED),                       true,  false},
    {"Unknown",   BIT(POD_UNKNOWN),                      true,  false},
    /* clang-format on */
};

static const struct status_phase *status_phase_of(const char *wanted)
{
    if (!wanted || !*wanted)
        return &status_phases[0];
    for (size_t i = 0; i < countof(status_phases); i++)
        if (strcasecmp(status_phases[i].text, wanted) == 0)
            return &status_phases[i];
    return NULL;
}

bool probe_phase_reached(const char *wanted, enum pod_phase phase)
{
    const struct status_phase *row = status_phase_of(wanted);

    return row && (row->counts & BIT(phase));
}

size_t probe_entry_count(const struct flow_probe *probe)
{
    return probe->http.count + probe->tcp.count + probe->task_status.count;
}

/* The entry at a position counted over all lists, as a need without task and threshold. */
static struct probe_requirement need_at(const struct flow_probe *probe, size_t entry)
{
    if (entry < probe->http.count)
        return (struct probe_requirement){
            .kind = PROBE_HTTP, .entry = (uint32_t)entry, .http = &probe->http.items[entry]};
    entry -= probe->http.count;
    if (entry < probe->tcp.count)
        return (struct probe_requirement){
            .kind = PROBE_TCP, .entry = (uint32_t)entry, .tcp = &probe->tcp.items[entry]};
    entry -= probe->tcp.count;
    return (struct probe_requirement){.kind = PROBE_TASK_STATUS,
                                      .entry = (uint32_t)entry,
                                      .status = &probe->task_status.items[entry]};
}

const char *probe_entry_task(const struct flow_probe *probe, size_t entry)
{
    struct probe_requirement requirement = need_at(probe, entry);
    const char *task = requirement.http     ? requirement.http->task
                       : requirement.tcp    ? requirement.tcp->task
                       : requirement.status ? requirement.status->task
                                            : NULL;

    return task && *task ? task : NULL;
}

static bool names_task(const char *wanted, const struct job_task *task)
{
    return !wanted || (task->name && strcmp(wanted, task->name) == 0);
}

bool probe_entry_applies(const struct flow_probe *probe, size_t entry, const struct job_spec *job)
{
    const char *wanted = probe_entry_task(probe, entry);

    for (size_t t = 0; t < job->tasks.count; t++)
        if (names_task(wanted, &job->tasks.items[t]))
            return true;
    return false;
}

/* As many pods as a task-level dependency inside a job asks for; one where one tells enough. */
static int32_t threshold_of(const struct probe_requirement *requirement,
                            const struct job_task *task)
{
    const struct status_phase *row =
        requirement->status ? status_phase_of(requirement->status->phase) : NULL;
    int32_t pods = task->min_available.set ? task->min_available.value : task->replicas;

    return (row && row->one) || pods < 1 ? 1 : pods;
}

void probe_requirements_of(const struct flow_probe *probe, const struct job_spec *job,
                           struct probe_requirements *out)
{
    for (size_t entry = 0; entry < probe_entry_count(probe); entry++)
        for (size_t t = 0; t < job->tasks.count; t++) {
            const struct job_task *task = &job->tasks.items[t];
            struct probe_requirement requirement = need_at(probe, entry);

            if (!names_task(probe_entry_task(probe, entry), task))
                continue;
            requirement.task = task->name ? task->name : "";
            requirement.threshold = threshold_of(&requirement, task);
            mem_grow(out->items, out->count, out->cap);
            out->items[out->count++] = requirement;
        }
}

void probe_requirements_release(struct probe_requirements *requirements)
{
    mem_free(requirements->items);
    memset(requirements, 0, sizeof *requirements);
}

bool probe_requirements_met(const struct probe_requirements *requirements)
{
    for (size_t i = 0; i < requirements->count; i++)
        if (requirements->items[i].passing < requirements->items[i].threshold)
            return false;
    return requirements->count > 0;
}

bool probe_requirements_met_by_completion(const struct probe_requirements *requirements)
{
    for (size_t i = 0; i < requirements->count; i++) {
        const struct probe_requirement *requirement = &requirements->items[i];
        const struct status_phase *row =
            requirement->status ? status_phase_of(requirement->status->phase) : NULL;
        bool implied = !requirement->status || (row && row->passed_on);

        if (!implied && requirement->passing < requirement->threshold)
            return false;
    }
    return true;
}

bool probe_wants_failure(const struct flow_probe *probe, const struct job_spec *job)
{
    size_t before = probe->http.count + probe->tcp.count;

    for (size_t i = 0; i < probe->task_status.count; i++)
        if (status_phase_of(probe->task_status.items[i].phase) == status_phase_of("Failed") &&
            (!job || probe_entry_applies(probe, before + i, job)))
            return true;
    return false;
}
