#pragma once
/*
 * Steps that serve others (`until: dependents`): a database, a model server.
 *
 *   its pods are ready ──► its dependents start ──► all have ended ──► its job is completed
 *
 * Nothing about it is stored: readiness is looked for again after a restart, and the rest follows
 * from the states of the steps. When the job fails, dependents that have not started wait for the
 * next attempt, or are lost with the last one. Ref: spec/everyday.md 14.
 */
#include "flow/model/control.h"

/** The pods of the step's job have become ready. */
void flow_model_server_ready(struct flow_model *m, uint32_t step);
/** Returns whether all steps that depend on this one have ended, so that its job may be completed.
 * `closed`: what has not started never will. O(dependents). */
bool flow_model_users_ended(const struct flow_model *m, uint32_t step, bool closed);
/** Counts the steps that depend on this one, and those of them that have ended. O(dependents). */
uint32_t flow_model_count_users(const struct flow_model *m, uint32_t step, uint32_t *out_ended);
/** All steps that serve others are looked at again: the flow starts nothing any more. */
void flow_model_look_at_servers(struct flow_model *m);
/** Lets the steps begin again, with a manual retry that is being prepared, that serve a step which
 * does. Returns whether there are any. */
bool flow_model_prepare_servers(struct flow_model *m);
