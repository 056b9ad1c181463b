#pragma once
/*
 * Whether the gangs of a flow (spec.gangs) can ever start: their jobs begin together or not at all.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"
#include "node/machine/amount.h"

struct gangfit {
    const struct jobflow_spec *spec;
    const struct amount *needs; /* [steps] what the job of each needs at once; 0: not known */
    int max_pods;               /* of -j; 0: any number, as far as the machine goes */
    bool sim;                   /* everything but pods has room */
};

/** Tell of each gang of an admitted flow that can never start, with its field, figures and a way
 * out. At least as many members as its minAvailable are needed, the smallest of them at best. */
void gangfit_check(const struct gangfit *gangs,
                   void (*found)(void *ctx, const struct error *problem), void *ctx);
