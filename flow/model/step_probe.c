/*
 * The targets of one step with probes: which are met, which tasks they have, and the probe that is
 * running for each open target.
 */
#include "flow/model/step_probe.h"

#include <string.h>

#include "base/mem.h"
#include "probes/requirements.h"

struct step_probe *step_probe_new(const struct flow_depends *depends)
{
    struct step_probe *probe = mem_alloc(sizeof *probe);
    size_t targets = depends->targets.count;

    probe->depends = depends;
    probe->entries = (uint32_t)flow_probe_count(depends->probe);
    probe->met = mem_array(targets, sizeof *probe->met);
    probe->known = mem_array(targets, sizeof *probe->known);
    probe->placed = mem_array(probe->entries + 1, sizeof *probe->placed);
    probe->targets = mem_array(targets, sizeof(struct probe_target *));
    probe->jobs = mem_array(targets, sizeof *probe->jobs);
    return probe;
}

void step_probe_stop(struct step_probe *probe)
{
    for (size_t i = 0; i < probe->depends->targets.count; i++)
        probe_target_free(take(probe->targets[i]));
}

void step_probe_free(struct step_probe *probe)
{
    if (!probe)
        return;
    step_probe_stop(probe);
    mem_free(probe->met);
    mem_free(probe->known);
    mem_free(probe->placed);
    mem_free(probe->targets);
    mem_free(probe->jobs);
    mem_free(probe);
}

bool step_probe_mark_met(struct step_probe *probe, size_t target)
{
    if (probe->met[target])
        return false;
    probe->met[target] = true;
    probe->n_met++;
    return true;
}

void step_probe_forget(struct step_probe *probe, const char *target)
{
    for (size_t i = 0; i < probe->depends->targets.count; i++) {
        if (!probe->met[i] || strcmp(probe->depends->targets.items[i], target) != 0)
            continue;
        probe->met[i] = false;
        probe->n_met--;
    }
}

void step_probe_take_over(struct step_probe *probe, const struct step_probe *from)
{
    for (size_t i = 0; i < probe->depends->targets.count; i++)
        for (size_t j = 0; j < from->depends->targets.count; j++)
            if (from->met[j] &&
                strcmp(probe->depends->targets.items[i], from->depends->targets.items[j]) == 0)
                step_probe_mark_met(probe, i);
}

void step_probe_learn_tasks(struct step_probe *probe, size_t target, const struct job_spec *job)
{
    if (probe->known[target])
        return;
    probe->known[target] = true;
    probe->n_known++;
    for (uint32_t e = 0; e < probe->entries; e++) {
        if (probe->placed[e] || (job && !probe_entry_applies(probe->depends->probe, e, job)))
            continue;
        probe->placed[e] = true;
        probe->n_placed++;
    }
}

size_t step_probe_unmatched_entry(const struct step_probe *probe)
{
    if (probe->n_known < probe->depends->targets.count)
        return SIZE_MAX;
    for (uint32_t e = 0; e < probe->entries; e++)
        if (!probe->placed[e])
            return e;
    return SIZE_MAX;
}

uint32_t step_probe_open(const struct step_probe *probe)
{
    if (probe->depends->strategy == STRATEGY_ANY)
        return probe->n_met ? 0 : 1;
    return (uint32_t)probe->depends->targets.count - probe->n_met +
           (probe->n_placed < probe->entries);
}
