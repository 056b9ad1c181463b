/*
 * Entries to needs, and the table of taskStatus phases.
 */
#include "probes/entries.h"

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
static struct probe_need need_at(const struct flow_probe *probe, size_t entry)
{
    if (entry < probe->http.count)
        return (struct probe_need){
            .kind = PROBE_HTTP, .entry = (uint32_t)entry, .http = &probe->http.items[entry]};
    entry -= probe->http.count;
    if (entry < probe->tcp.count)
        return (struct probe_need){
            .kind = PROBE_TCP, .entry = (uint32_t)entry, .tcp = &probe->tcp.items[entry]};
    entry -= probe->tcp.count;
    return (struct probe_need){.kind = PROBE_TASK_STATUS,
                               .entry = (uint32_t)entry,
                               .status = &probe->task_status.items[entry]};
}

const char *probe_entry_task(const struct flow_probe *probe, size_t entry)
{
    struct probe_need need = need_at(probe, entry);
    const char *task = need.http     ? need.http->task
                       : need.tcp    ? need.tcp->task
                       : need.status ? need.status->task
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
static int32_t threshold_of(const struct probe_need *need, const struct job_task *task)
{
    const struct status_phase *row = need->status ? status_phase_of(need->status->phase) : NULL;
    int32_t pods = task->min_available.set ? task->min_available.value : task->replicas;

    return (row && row->one) || pods < 1 ? 1 : pods;
}

void probe_needs_of(const struct flow_probe *probe, const struct job_spec *job,
                    struct probe_needs *out)
{
    for (size_t entry = 0; entry < probe_entry_count(probe); entry++)
        for (size_t t = 0; t < job->tasks.count; t++) {
            const struct job_task *task = &job->tasks.items[t];
            struct probe_need need = need_at(probe, entry);

            if (!names_task(probe_entry_task(probe, entry), task))
                continue;
            need.task = task->name ? task->name : "";
            need.threshold = threshold_of(&need, task);
            mem_grow(out->items, out->count, out->cap);
            out->items[out->count++] = need;
        }
}

void probe_needs_release(struct probe_needs *needs)
{
    mem_free(needs->items);
    memset(needs, 0, sizeof *needs);
}

bool probe_needs_met(const struct probe_needs *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i].passing < needs->items[i].threshold)
            return false;
    return needs->count > 0;
}

bool probe_needs_met_by_completion(const struct probe_needs *needs)
{
    for (size_t i = 0; i < needs->count; i++) {
        const struct probe_need *need = &needs->items[i];
        const struct status_phase *row = need->status ? status_phase_of(need->status->phase) : NULL;
        bool implied = !need->status || (row && row->passed_on);

        if (!implied && need->passing < need->threshold)
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
