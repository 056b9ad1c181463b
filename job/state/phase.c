/*
 * The table of legal edges, the setter of a phase, and the entries of controlledResources.
 */
#include "job/state/phase.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define TO(phase) (1u << JOB_##phase)

/* The legal edges. A job that cannot be run at all (9.2 step 0) fails from any active phase. Ref:
 * spec/job.md 8.5. */
/* clang-format off */
static const unsigned edges[JOB_PHASE_N] = {
    [JOB_NONE]        = TO(PENDING),
    [JOB_PENDING]     = TO(RUNNING) | TO(RESTARTING) | TO(ABORTING) | TO(COMPLETING) | TO(TERMINATING) | TO(FAILED),
    [JOB_RUNNING]     = TO(PENDING) | TO(COMPLETED) | TO(FAILED) | TO(RESTARTING) | TO(ABORTING) | TO(COMPLETING) | TO(TERMINATING),
    [JOB_RESTARTING]  = TO(PENDING) | TO(FAILED) | TO(ABORTING) | TO(TERMINATING) | TO(COMPLETING),
    [JOB_ABORTING]    = TO(ABORTED) | TO(RESTARTING) | TO(TERMINATING),
    [JOB_ABORTED]     = TO(RESTARTING) | TO(TERMINATING),
    [JOB_COMPLETING]  = TO(COMPLETED),
    [JOB_TERMINATING] = TO(TERMINATED) | TO(FAILED),
};
/* clang-format on */

bool job_phase_edge(enum job_phase from, enum job_phase to)
{
    return edges[from] & (1u << to);
}

static void set_reason(struct job_state *state, const char *reason, const char *message)
{
    snprintf(state->reason, sizeof state->reason, "%s", reason ? reason : "");
    mem_free(state->message);
    state->message = message && *message ? mem_strdup(message) : NULL;
}

/* Adds the condition of a phase at the end, or moves it there. Each phase has one entry. */
static void upsert_condition(struct job_state *state, enum job_phase phase, int64_t at_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < state->n_conditions; i++)
        if (state->conditions[i].phase != phase)
            state->conditions[kept++] = state->conditions[i];
    state->conditions[kept] = (struct job_condition){phase, at_ms};
    state->n_conditions = kept + 1;
}

void job_phase_set(struct job_state *state, enum job_phase to, const struct job_transition *why)
{
    assert(job_phase_edge(state->phase, to));
    if (state->phase == JOB_RUNNING) {
        int64_t since_ms =
            why->since_ms > state->transition_ms ? why->since_ms : state->transition_ms;
        int64_t ran_ms = why->at_ms - since_ms;

        state->running_ns =
            (state->running_ns < 0 ? 0 : state->running_ns) + (ran_ms < 0 ? 0 : ran_ms) * 1000000;
    }
    state->phase = to;
    /* Stored times have whole seconds and never run backwards (D-12). */
    if (why->at_ms > state->transition_ms)
        state->transition_ms = why->at_ms;
    upsert_condition(state, to, state->transition_ms);
    set_reason(state, why->reason, why->message);
}

bool job_state_explain(struct job_state *state, const char *reason, const char *message)
{
    if (strcmp(state->reason, reason) == 0 &&
        strcmp(state->message ? state->message : "", message ? message : "") == 0)
        return false;
    set_reason(state, reason, message);
    return true;
}

void job_state_load(struct job_state *state, const struct job_status *stored)
{
    job_state_release(state);
    state->phase = stored->phase;
    set_reason(state, stored->reason, stored->message);
    state->transition_ms = stored->transition_ms;
    state->min_available = stored->min_available;
    state->version = stored->version;
    state->retry_count = stored->retry_count;
    /* A status that was never written decodes to zeroes, but zero means "has run" here. */
    state->running_ns = stored->phase == JOB_NONE ? -1 : stored->running_duration_ns;
    for (size_t i = 0; i < stored->conditions.count; i++)
        if (stored->conditions.items[i].phase < JOB_PHASE_N)
            upsert_condition(state, stored->conditions.items[i].phase,
                             stored->conditions.items[i].at_ms);
    for (size_t i = 0; i < stored->controlled.count; i++)
        job_state_control(state, stored->controlled.items[i].key,
                          stored->controlled.items[i].value);
}

static void free_text(const char *text)
{
    mem_free((char *)(uintptr_t)text);
}

void job_state_release(struct job_state *state)
{
    for (size_t i = 0; i < state->n_controlled; i++) {
        free_text(state->controlled[i].key);
        free_text(state->controlled[i].value);
    }
    mem_free(state->controlled);
    mem_free(state->message);
    *state = (struct job_state){.running_ns = -1};
}

static struct str_pair *find_resource(const struct job_state *state, const char *key)
{
    for (size_t i = 0; i < state->n_controlled; i++)
        if (strcmp(state->controlled[i].key, key) == 0)
            return &state->controlled[i];
    return NULL;
}

const char *job_state_resource(const struct job_state *state, const char *key)
{
    const struct str_pair *found = find_resource(state, key);

    return found ? found->value : NULL;
}

bool job_state_control(struct job_state *state, const char *key, const char *value)
{
    struct str_pair *found = find_resource(state, key);

    if (found && strcmp(found->value, value) == 0)
        return false;
    if (found) {
        free_text(found->value);
        found->value = mem_strdup(value);
        return true;
    }
    mem_grow(state->controlled, state->n_controlled, state->cap_controlled);
    state->controlled[state->n_controlled++] =
        (struct str_pair){mem_strdup(key), mem_strdup(value)};
    return true;
}

bool job_state_drop(struct job_state *state, const char *key)
{
    struct str_pair *found = find_resource(state, key);

    if (!found)
        return false;
    free_text(found->key);
    free_text(found->value);
    memmove(found, found + 1,
            (size_t)(state->controlled + state->n_controlled - (found + 1)) * sizeof *found);
    state->n_controlled--;
    return true;
}
