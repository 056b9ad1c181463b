#pragma once
/*
 * The jobs of a flow, by name: those of all steps, or of one step.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/scoped.h"

struct log_jobs {
    json_t *ranks;  /* job → place of its step in the order of the flow */
    json_t *loops;  /* job name before "-NUMBER" of an iteration → the same */
    char *flow;     /* name of the flow, or of the record of an earlier run; owned */
    char *prefix;   /* name with which the names of the jobs begin; owned */
    bool is_record; /* the run is an earlier one: its pods are gone */
};

/** Reads the steps of a JobFlow's document, of which a reference is kept during the call. `step` is
 * a step, an iteration of a loop, or NULL for all. False with NOT_FOUND when there is no such
 * step. */
bool log_jobs_read(json_t *flow, const char *step, struct log_jobs *out, struct error *err);
void log_jobs_release(struct log_jobs *jobs);
SCOPED_DEFINE(log_jobs, struct log_jobs, log_jobs_release)

/** Returns whether the job is one of these, and its rank. */
bool log_jobs_find(const struct log_jobs *jobs, const char *job, int64_t *out_rank);
