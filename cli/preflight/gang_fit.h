#pragma once
/*
 * Checks whether the gangs of a flow (spec.gangs) can ever start. The jobs of a gang start together
 * or not at all.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"
#include "cli/preflight/fit.h"

/* What the job of a step needs. */
struct step_need {
    struct amount amount; /* resources that it needs at once; 0: unknown */
    char *queue;          /* name of its queue, owned; NULL: unknown */
};

struct gangfit {
    const struct jobflow_spec *spec;
    const struct step_need *needs; /* [steps] */
    const struct fit *fit;         /* the machine that the gang must fit */
    const struct store *queues;    /* Queue objects; NULL: queues have no limits */
};

/** Sets what the job of a step needs. Replaces what `need` holds. */
void step_need_set(struct step_need *need, const struct fit *fit, const struct job_spec *job,
                   const char *queue);
void step_needs_free(struct step_need *needs, size_t count);

/** Reports each gang of an admitted flow that can never start, on the machine or in a queue of its
 * members, with its field, figures and a remedy. The estimate takes the gang's smallest minAvailable
 * members; in a queue, the smallest of those that cannot be replaced by members of other queues. */
void gangfit_check(const struct gangfit *gangs,
                   void (*found)(void *ctx, const struct error *problem), void *ctx);
