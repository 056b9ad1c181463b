#pragma once
/*
 * Which targets of a step with probes have been met.
 *
 * Latched: a target once met stays met for this step, whatever happens to its job later. The latch
 * is part of the flow's status (nodes[].satisfiedTargets) and survives a restart.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "probes/probe.h"

struct step_probe {
    const struct flow_depends *depends; /* borrowed from the flow's spec */
    void *owner;                        /* whose step it is, for what looks at targets */
    uint32_t step;
    bool *met; /* [depends->targets.count] */
    uint32_t n_met;
    bool *known; /* [depends->targets.count] tasks of the target's job are known */
    uint32_t n_known;
    bool *placed; /* [entries] applies to some target */
    uint32_t n_placed, entries;
    bool warned;                   /* that an entry applies to none */
    struct probe_target **targets; /* [depends->targets.count] looking; NULL = not now */
    uint64_t *jobs;                /* hash of the uid each of them looks at */
};

struct step_probe *step_probe_new(const struct flow_depends *depends);
void step_probe_free(struct step_probe *probe); /* NULL is fine */

/** Note that a target is met. False when it was already. */
bool step_probe_mark_met(struct step_probe *probe, size_t target);
/** A target starts again: that it was met counts no more. */
void step_probe_forget(struct step_probe *probe, const char *target);
/** Take over what was met, by the targets' names. */
void step_probe_take_over(struct step_probe *probe, const struct step_probe *from);
/** How much is still open: 0 = the step may start. */
uint32_t step_probe_open(const struct step_probe *probe);
/** The tasks of a target's job are known: note which entries apply to it. NULL: the job is gone and
 * may have had any task. */
void step_probe_learn_tasks(struct step_probe *probe, size_t target, const struct job_spec *job);
/** An entry that applies to no target, now that all are known; SIZE_MAX = none, or not known yet.
 */
size_t step_probe_unmatched_entry(const struct step_probe *probe);
/** Stop looking. */
void step_probe_stop(struct step_probe *probe);
