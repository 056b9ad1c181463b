#pragma once
/*
 * Which targets of a step with probes have been met.
 *
 * A target that was met once stays met for this step, whatever happens to its job later. This is
 * stored in the status (nodes[].satisfiedTargets) and survives a restart.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "probes/probe.h"

struct step_probe {
    const struct flow_depends *depends; /* targets and probe, borrowed from the flow's spec */
    void *owner;                        /* the struct flow, for callbacks of probes */
    uint32_t step;
    bool *met; /* for each target whether it was met, [depends->targets.count] */
    uint32_t n_met;
    bool *known; /* for each target whether the tasks of its job are known */
    uint32_t n_known;
    bool *placed; /* for each entry whether it applies to some target, [entries] */
    uint32_t n_placed, entries;
    bool warned;                   /* a Warning says that an entry applies to none */
    struct probe_target **targets; /* for each target the running probe; or NULL */
    uint64_t *jobs;                /* hash of the job uid that each running probe is for */
};

struct step_probe *step_probe_new(const struct flow_depends *depends);
void step_probe_free(struct step_probe *probe); /* NULL is ignored */

/** Marks a target as met. Returns false if it was already. */
bool step_probe_mark_met(struct step_probe *probe, size_t target);
/** Marks a target as not met, because its step starts again. */
void step_probe_forget(struct step_probe *probe, const char *target);
/** Takes over which targets were met, by name. */
void step_probe_take_over(struct step_probe *probe, const struct step_probe *from);
/** Returns how many targets are still to be met: 0 = the step may start. */
uint32_t step_probe_open(const struct step_probe *probe);
/** The tasks of a target's job are known: notes which entries apply to it. `job` NULL: the job is
 * gone and may have had any task. */
void step_probe_learn_tasks(struct step_probe *probe, size_t target, const struct job_spec *job);
/** Returns an entry that applies to no target; SIZE_MAX = none, or some target's tasks are not
 * known. */
size_t step_probe_unmatched_entry(const struct step_probe *probe);
/** Stops the probes that run. */
void step_probe_stop(struct step_probe *probe);
